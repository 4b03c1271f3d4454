import * as z from "zod"
import { isArray, type Json } from "../../support/text/json.ts"
import type { CHECK_FORMATS } from "./check.ts"

/** A text with the role of its author: of a message, or `assistant` for a response. */
export type CheckedText = { role: string; text: string }

export type CheckInput = {
  stage: "request" | "tool_result" | "response"
  texts: readonly CheckedText[]
  requestId: string
}

/** Result of a check. `texts`: replacements of the texts that it received, in their order. */
export type CheckResult = { isFlagged: boolean; categories: string[]; texts?: string[] | undefined }

/** The API of a check: its request and its response. */
type CheckFormat = {
  /** The body that it receives; undefined if it reads none of the texts. */
  body: (input: CheckInput, parameters: Json) => Json | undefined
  /** Throws if the response is not of this format. */
  result: (response: unknown) => CheckResult
}

const categories = z.array(z.string()).nullish()
const texts = z.array(z.string()).nullish()

const WebhookResponse = z.object({ flagged: z.boolean(), categories, texts })
const OpenaiResponse = z.object({
  results: z
    .array(z.object({ flagged: z.boolean(), categories: z.record(z.string(), z.boolean().nullish()).nullish() }))
    .min(1),
})
const LakeraResponse = z.object({
  flagged: z.boolean(),
  breakdown: z.array(z.object({ detector_type: z.string(), detected: z.boolean() })).nullish(),
})
const LitellmResponse = z.object({ action: z.enum(["NONE", "BLOCKED", "GUARDRAIL_INTERVENED"]), texts })

const LAKERA_ROLES = new Set(["system", "user", "assistant", "developer", "tool"])

export const formats: Readonly<Record<(typeof CHECK_FORMATS)[number], CheckFormat>> = {
  webhook: {
    body: ({ stage, texts: list, requestId }, parameters) => ({
      ...parameters,
      stage,
      texts: list,
      request_id: requestId,
    }),
    result: (response) => {
      const { flagged, categories: names, texts: changed } = WebhookResponse.parse(response)
      return { isFlagged: flagged, categories: names ?? [], texts: changed ?? undefined }
    },
  },
  // The model does not judge what the assistant wrote before.
  openai: {
    body: ({ stage, texts: list }, parameters) => {
      const judged = list.filter(({ role }) => stage === "response" || role !== "assistant")
      return judged.length > 0 ? { ...parameters, input: judged.map(({ text }) => text) } : undefined
    },
    result: (response) => {
      const { results } = OpenaiResponse.parse(response)
      const found = results.flatMap((one) => Object.entries(one.categories ?? {}).filter(([, isFound]) => isFound))
      return { isFlagged: results.some(({ flagged }) => flagged), categories: found.map(([name]) => name) }
    },
  },
  lakera: {
    body: ({ texts: list }, parameters) => ({
      breakdown: true,
      ...parameters,
      messages: list.map(({ role, text }) => ({ role: LAKERA_ROLES.has(role) ? role : "user", content: text })),
    }),
    result: (response) => {
      const { flagged, breakdown } = LakeraResponse.parse(response)
      const found = (breakdown ?? []).filter(({ detected }) => detected).map((one) => one.detector_type)
      return { isFlagged: flagged, categories: found }
    },
  },
  litellm: {
    body: ({ stage, texts: list, requestId }, parameters) => ({
      texts: list.map(({ text }) => text),
      input_type: stage === "response" ? "response" : "request",
      litellm_call_id: requestId,
      request_data: {},
      additional_provider_specific_params: parameters,
    }),
    result: (response) => {
      const { action, texts: changed } = LitellmResponse.parse(response)
      return {
        isFlagged: action !== "NONE",
        categories: [],
        // A blocked request has no texts to continue with.
        texts: action === "GUARDRAIL_INTERVENED" && isArray(changed) ? changed : undefined,
      }
    },
  },
}
