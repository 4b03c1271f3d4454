import { createRoute } from "@hono/zod-openapi"
import * as z from "zod"
import { limitsInForce } from "../../calls/limits-in-force.ts"
import { LimitInForce } from "../../calls/limit-schemas.ts"
import { ChatRequest } from "../../formats/schemas.ts"
import { acceptJson, newRouter } from "../../http/router.ts"
import { jsonBody, ok } from "../../http/schema.ts"
import { openLedger } from "../../ledger/client.ts"
import { nanoToUsd } from "../../money/money.ts"
import { callerFor, callerWithMetadata } from "../../policy/call-policy.ts"
import { bodyBytes, createDeps, FAILURES, incomingCall, MAX_INFERENCE_BYTES, requestMetaOf } from "../context.ts"
import { chatFormat } from "../endpoints/chat/format.ts"
import { endUserOf } from "../draft.ts"
import { estimateCall } from "./estimate.ts"

const usd = (description: string) => z.number().meta({ description })

const Estimate = z
  .object({
    currency: z.literal("USD"),
    hold: usd("USD that the call would reserve: the maximum cost of its most expensive target."),
    least: usd("USD that must remain under every limit. Between `least` and `hold` the output is shortened."),
    expected: usd("Estimated cost in USD, from the length of the prompt and earlier responses of the endpoint."),
    prompt_tokens: z.int().meta({ description: "Estimated." }),
    targets: z
      .array(
        z.object({
          model: z.string(),
          provider: z.string(),
          is_byok: z.boolean(),
          hold: usd("USD that this target alone would reserve."),
          prompt_price: z.string().meta({ description: "USD a token." }),
          completion_price: z.string().meta({ description: "USD a token." }),
        }),
      )
      .meta({ description: "In the order of failover." }),
    limits: z.array(LimitInForce),
    fits: z.boolean().meta({ description: "Whether at least `least` remains under every limit." }),
    excludes: z.array(z.string()).meta({
      description: "Parts of the call that the estimate does not include: `plugins`, `server_tools`.",
    }),
  })
  .meta({ id: "Estimate" })

const estimate = createRoute({
  method: "post",
  path: "/estimate",
  operationId: "estimateCall",
  tags: ["Calls"],
  summary: "Estimate a call",
  description:
    "The hold and the targets of a chat request. Runs presets, guardrails and routing as for POST /chat/completions, with the same errors. Nothing is sent to a provider, held or charged.",
  middleware: [acceptJson(MAX_INFERENCE_BYTES)] as const,
  request: { body: jsonBody(ChatRequest) },
  responses: { 200: ok(z.object({ data: Estimate })), ...FAILURES },
})

export const estimates = newRouter({ relaysText: true }).openapi(estimate, async (c) => {
  const body = c.req.valid("json")
  const incoming = incomingCall(c)
  const { caller, env } = incoming
  const call = {
    format: chatFormat,
    body,
    bodyBytes: bodyBytes(c.req.raw, body),
    meta: requestMetaOf(incoming),
    caller,
  }
  const { leastNano, mostNano, estimateNano, promptTokens, targets, excludes } = await estimateCall(
    call,
    await createDeps(incoming),
  )
  const counted = callerFor(callerWithMetadata(caller, body.metadata), endUserOf(body))
  const limits = await limitsInForce(env.DB, openLedger(env, caller.organizationId), counted)
  const paysAccount = targets.some(({ isByok }) => !isByok)
  const applying = paysAccount ? limits : limits.filter((limit) => limit.includes_byok)
  return c.json(
    {
      data: {
        currency: "USD" as const,
        hold: nanoToUsd(mostNano),
        least: nanoToUsd(leastNano),
        expected: nanoToUsd(estimateNano),
        prompt_tokens: promptTokens,
        targets: targets.map(({ model, provider, isByok, mostNano: holdNano, pricing }) => ({
          model,
          provider,
          is_byok: isByok,
          hold: nanoToUsd(holdNano),
          prompt_price: pricing.prompt,
          completion_price: pricing.completion,
        })),
        limits,
        fits: applying.every(({ left }) => left >= nanoToUsd(leastNano)),
        excludes,
      },
    },
    200,
  )
})
