import { GatewayError } from "../../errors/errors.ts"
import { decodeEscapes } from "../../guardrails/content/texts/encoded-text.ts"
import { mapFree, namesIn, textsOf, withTexts } from "../../guardrails/content/texts/json-texts.ts"
import { isTooDeep } from "../../support/text/depth.ts"
import type { Screening } from "../../guardrails/screening.ts"
import { elementAt } from "../../support/arrays.ts"
import { isObject, objectsOf, parseJson } from "../../support/text/json.ts"

/** Content filters of guardrails for service requests and responses. */

const isJson = (type: string) => /^application\/(?:[\w.+-]+\+)?json\b/i.test(type)
const isText = (type: string) => /^text\//i.test(type)
/** Other text of responses. Without a type, a client may read the body as any of them. */
const isOtherText = (type: string) =>
  /^(?:\s*$|application\/(?:[\w.-]+\+xml|(?:x-)?(?:xml|ndjson|jsonl|json-seq|javascript|yaml|www-form-urlencoded))\b)/i.test(
    type,
  )

/** The charset of a type; UTF-8 if it names none. */
const charsetOf = (type: string) => /;\s*charset\s*=\s*"?([^\s";]+)/i.exec(type)?.[1]?.toLowerCase() ?? "utf-8"

/** A request to a service. `headers`: those of the client that are forwarded. */
export type ScreenedRequest = {
  path: string
  query: URLSearchParams
  headers: Readonly<Record<string, string>>
  body: string | undefined
}

/** Headers with keywords and ids, which are checked but never changed. */
const KEYWORDS = /^(?:accept|accept-.*|content-.*|user-agent|if-.*|range|priority|.*-id|.*-key|.*-version)$/

/** The request after the guardrails. Throws if one blocks it or cannot read it. */
export async function screenSent(sent: ScreenedRequest, type: string, screening: Screening): Promise<ScreenedRequest> {
  const { path, query, headers, body } = sent
  const value = body === undefined || body === "" ? undefined : readable(body, type)
  const parameters = [...query]
  const fields = Object.entries(headers)
  const map = (visit: (text: string) => string) => ({
    path: path.split("/").map((segment) => mapSegment(segment, visit)),
    query: parameters.map(([, text]) => visit(text)),
    headers: fields.map(([name, text]) => (KEYWORDS.test(name) ? text : visit(text))),
    body: mapFree(value, visit, (name) => name),
  })
  const keywords = fields.flatMap(([name, text]) => (KEYWORDS.test(name) ? [name, text] : [name]))
  const request = {
    messages: textsOf(map).map((content) => ({ role: "user", content })),
    names: [decodeEscapes(path), ...parameters.map(([name]) => name), ...keywords, ...namesIn(value)],
  }
  const screened = await screening.request(request)
  if (screened === request) return sent
  const passed = withTexts(
    map,
    screened.messages.map(({ content }) => content),
  ) as ReturnType<typeof map>
  return {
    path: passed.path.join("/"),
    query: new URLSearchParams(parameters.map(([name], at): [string, string] => [name, elementAt(passed.query, at)])),
    headers: Object.fromEntries(fields.map(([name], at) => [name, elementAt(passed.headers, at)])),
    body: value === undefined ? body : written(passed.body, type),
  }
}

/** Maps the text of a segment; one that is not changed keeps its escapes. */
function mapSegment(segment: string, visit: (text: string) => string): string {
  const text = decodeEscapes(segment)
  const mapped = visit(text)
  return mapped === text ? segment : encodeURIComponent(mapped)
}

function readable(body: string, type: string): unknown {
  // In another charset, the service reads another text than the one that is checked.
  if (isText(type) && IN_UTF8.has(charsetOf(type))) return body
  const value = isJson(type) ? parseJson(body) : undefined
  if (value !== undefined && !isTooDeep(value)) return value
  const rule = "A guardrail of this key filters requests: send a body of JSON or text in UTF-8."
  throw new GatewayError("forbidden", rule, { metadata: { reason: "guardrail_unchecked" } })
}

const written = (value: unknown, type: string) => (isText(type) ? String(value) : JSON.stringify(value))

const IN_UTF8: ReadonlySet<string> = new Set(["utf-8", "utf8", "us-ascii", "ascii"])

/** Whether guardrails read a response of this type. Other types pass unchanged. */
export function isRead(type: string): boolean {
  return isJson(type) || isText(type) || isOtherText(type)
}

/** The text of a response in the charset of its type; undefined if that is unknown. */
export function decodeReceived(bytes: Uint8Array, type: string): string | undefined {
  try {
    return new TextDecoder(charsetOf(type)).decode(bytes)
  } catch {
    return undefined
  }
}

/** The type of a response that was decoded, which is sent in UTF-8. */
export function typeInUtf8(type: string): string {
  return IN_UTF8.has(charsetOf(type)) ? type : type.replace(/;\s*charset\s*=\s*(?:"[^"]*"|[^\s;]*)/i, "; charset=utf-8")
}

/** The response after the guardrails. Throws the error of a guardrail that blocks it. */
export async function screenReceived(body: string, type: string, screening: Screening): Promise<string> {
  const parsed = isJson(type) ? parseJson(body) : undefined
  const value = parsed === undefined || isTooDeep(parsed) ? body : parsed
  const map = (visit: (text: string) => string) => mapFree(value, visit, visit)
  const texts = textsOf(map)
  if (texts.length === 0) return body
  const screened = await screening.response({ choices: texts.map((content) => ({ message: { content } })) })
  const passed = objectsOf(screened["choices"]).map(({ message }) =>
    isObject(message) ? message["content"] : undefined,
  )
  const result = withTexts(map, passed)
  return typeof value === "string" ? String(result) : JSON.stringify(result)
}
