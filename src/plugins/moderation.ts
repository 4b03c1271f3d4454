import { isObject, type Json, objectsOf } from "../support/text/json.ts"
import * as z from "zod"
import { GatewayError } from "../errors/errors.ts"
import { configOf, credential } from "../config/config.ts"
import type { Env } from "../config/env.ts"
import { BASE_URL_RULE, BaseUrl } from "../config/base-url.ts"
import { readAtMost } from "../support/bytes.ts"
import { withDeadline } from "../outbound/deadline.ts"

export type ModerationSettings = { baseUrl: string; apiKey: string | undefined; model: string; timeoutMs: number }
export type ModerationInput = { texts: readonly string[]; images: readonly string[] }
export type Verdict = { flagged: boolean; categories: string[] }

export const MODERATION_VARIABLES = "OPENAI_API_KEY, MODERATION_API_KEY or MODERATION_BASE_URL"

const OPENAI_URL = "https://api.openai.com/v1"
const TIMEOUT_MS = 15_000
const MAX_RESPONSE_BYTES = 2_000_000
const MAX_IMAGES = 20

/**
 * The moderation model of this deployment. The OpenAI key is sent only where that provider's calls are sent: a
 * MODERATION_BASE_URL has a separate key or none.
 */
export function configuredModeration(env: Env): ModerationSettings | undefined {
  const ownUrl = credential(env, "MODERATION_BASE_URL")
  const ownKey = credential(env, "MODERATION_API_KEY")
  const openaiKey = credential(env, "OPENAI_API_KEY")
  if ((ownUrl ?? ownKey ?? openaiKey) === undefined) return undefined
  const usesOpenai = ownUrl === undefined && ownKey === undefined
  const name = usesOpenai ? "OPENAI_BASE_URL" : "MODERATION_BASE_URL"
  const baseUrl = BaseUrl.safeParse(credential(env, name) ?? OPENAI_URL)
  if (!baseUrl.success) throw new GatewayError("misconfigured", `${name}: ${BASE_URL_RULE}.`)
  return {
    baseUrl: baseUrl.data,
    apiKey: usesOpenai ? openaiKey : ownKey,
    model: configOf(env).MODERATION_MODEL,
    timeoutMs: TIMEOUT_MS,
  }
}

const ModerationResponse = z.object({
  results: z
    .array(z.object({ flagged: z.boolean(), categories: z.record(z.string(), z.boolean().nullish()).nullish() }))
    .min(1),
})

/** Whether the input is flagged. Throws if it could not be moderated, so that it is not sent upstream. */
export async function moderate(
  input: ModerationInput,
  settings: ModerationSettings,
  deps: { fetch: typeof fetch; signal: AbortSignal },
): Promise<Verdict> {
  if (input.images.length > MAX_IMAGES) {
    throw new GatewayError("invalid_request", `messages: at most ${MAX_IMAGES} images are moderated in one request.`)
  }
  const texts = input.texts.filter((text) => text.trim() !== "")
  // The model accepts one image per request, and all texts together.
  const inputs: unknown[] = input.images.map((url) => [{ type: "image_url", image_url: { url } }])
  if (texts.length > 0) inputs.push(texts)
  if (inputs.length === 0) return { flagged: false, categories: [] }
  const timed = await withDeadline(settings.timeoutMs, deps.signal, (signal) =>
    Promise.all(inputs.map((one) => requestModeration(one, settings, { ...deps, signal }))),
  ).catch((cause: unknown) => throwUnavailable(cause))
  if (!("value" in timed)) return throwUnavailable(timed.stopped)
  const verdicts = timed.value
  return {
    flagged: verdicts.some(({ flagged }) => flagged),
    categories: [...new Set(verdicts.flatMap(({ categories }) => categories))].sort(),
  }
}

function throwUnavailable(cause: unknown): never {
  throw new GatewayError(
    "unavailable",
    "The moderation model is not available, so the request was not sent. Retry later.",
    {
      metadata: { reason: "moderation_unavailable", retryable: true },
      cause,
    },
  )
}

async function requestModeration(
  input: unknown,
  { baseUrl, apiKey, model }: ModerationSettings,
  { fetch: send, signal }: { fetch: typeof fetch; signal: AbortSignal },
): Promise<Verdict> {
  const response = await send(`${baseUrl}/moderations`, {
    method: "POST",
    headers: { "content-type": "application/json", ...(apiKey !== undefined && { authorization: `Bearer ${apiKey}` }) },
    body: JSON.stringify({ model, input }),
    redirect: "manual",
    signal,
  })
  if (!response.ok || !response.body) {
    await response.body?.cancel()
    throw new Error(`The moderation model returned ${response.status}`)
  }
  const bytes = await readAtMost(response.body, MAX_RESPONSE_BYTES)
  const { results } = ModerationResponse.parse(JSON.parse(new TextDecoder().decode(bytes)))
  const isCount = Array.isArray(input) && typeof input[0] === "string" && results.length !== input.length
  if (isCount) throw new Error("The moderation model returned a different number of results than inputs")
  return {
    flagged: results.some(({ flagged }) => flagged),
    categories: results.flatMap((result) =>
      Object.entries(result.categories ?? {}).flatMap(([name, is]) => (is ? [name] : [])),
    ),
  }
}

/** Input of the client: all texts and images of its messages except those of the assistant. */
export function toModerationInput(messages: readonly Json[]): ModerationInput {
  const texts: string[] = []
  const images: string[] = []
  for (const { role, content } of messages) {
    if (role === "assistant") continue
    if (typeof content === "string") texts.push(content)
    for (const { text, image_url: image } of objectsOf(content)) {
      if (typeof text === "string") texts.push(text)
      if (isObject(image) && typeof image["url"] === "string") images.push(image["url"])
    }
  }
  return { texts, images }
}
