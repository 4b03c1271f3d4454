import { GatewayError } from "../../errors/errors.ts"
import { mapFree, namesIn, textsOf, withTexts } from "../../guardrails/content/json-texts.ts"
import { isTooDeep } from "../../support/depth.ts"
import type { Screening } from "../../guardrails/screening.ts"
import { isArray, isObject, objectsOf, parseJson } from "../../support/json.ts"

/** Content filters of guardrails for service requests and responses. */

const isJson = (type: string) => /^application\/(?:[\w.+-]+\+)?json\b/i.test(type)
const isText = (type: string) => /^text\//i.test(type)

export type ScreenedRequest = { query: URLSearchParams; body: string | undefined }

/** The request after the guardrails. Throws if one blocks it or cannot read it. */
export async function screenSent(
  { query, body }: ScreenedRequest,
  type: string,
  screening: Screening,
): Promise<ScreenedRequest> {
  const value = body === undefined || body === "" ? undefined : readable(body, type)
  const parameters = [...query].map(([name, text]) => ({ name, text }))
  const map = (visit: (text: string) => string) => ({
    query: parameters.map(({ text }) => visit(text)),
    body: mapFree(value, visit, (name) => name),
  })
  const request = {
    messages: textsOf(map).map((content) => ({ role: "user", content })),
    names: [...parameters.map(({ name }) => name), ...namesIn(value)],
  }
  const screened = await screening.request(request)
  if (screened === request) return { query, body }
  const passed = withTexts(
    map,
    screened.messages.map(({ content }) => content),
  )
  if (!isObject(passed) || !isArray(passed["query"])) return { query, body }
  const texts = passed["query"]
  return {
    query: new URLSearchParams(parameters.map(({ name }, at): [string, string] => [name, String(texts[at])])),
    body: value === undefined ? body : written(passed["body"], type),
  }
}

function readable(body: string, type: string): unknown {
  if (isText(type)) return body
  const value = isJson(type) ? parseJson(body) : undefined
  if (value !== undefined && !isTooDeep(value)) return value
  const rule = "A guardrail of this key filters requests: send a body of JSON or text."
  throw new GatewayError("forbidden", rule, { metadata: { reason: "guardrail_unchecked" } })
}

const written = (value: unknown, type: string) => (isText(type) ? String(value) : JSON.stringify(value))

/** Whether guardrails read a response of this type. Other types pass unchanged. */
export function isRead(type: string): boolean {
  return isJson(type) || isText(type)
}

/** The response after the guardrails. Throws the error of a guardrail that blocks it. */
export async function screenReceived(body: string, type: string, screening: Screening): Promise<string> {
  const parsed = isJson(type) ? parseJson(body) : undefined
  const value = parsed === undefined || isTooDeep(parsed) ? body : parsed
  const map = (visit: (text: string) => string) => mapFree(value, visit, visit)
  const texts = textsOf(map)
  if (texts.length === 0) return body
  const answer = await screening.response({ choices: texts.map((content) => ({ message: { content } })) })
  const passed = objectsOf(answer["choices"]).map(({ message }) => (isObject(message) ? message["content"] : undefined))
  const result = withTexts(map, passed)
  return typeof value === "string" ? String(result) : JSON.stringify(result)
}
