import { mapBase64 } from "../../guardrails/content/texts/encoded-text.ts"
import { mapFree, namesIn, textsOf, type Visit, withTexts } from "../../guardrails/content/texts/json-texts.ts"
import type { Screening } from "../../guardrails/screening.ts"
import { isArray, isObject, type Json } from "../../support/text/json.ts"
import { type McpMessage, paramsOf } from "./message.ts"

/** Content filters of guardrails on MCP messages: every text in them is checked like text of a chat. */

/** Protocol fields with keywords and ids. They are checked but never changed. */
const NAMES = new Set(
  "type mimeType role method progressToken requestId level annotations cursor protocolVersion".split(" "),
)
/** Base64 data of an image, audio or file. That of a text file is read. */
const BYTES = new Set(["data", "blob"])

function mapTexts(value: unknown, visit: Visit, visitName: Visit = (name) => name): unknown {
  if (typeof value === "string") return visit(value)
  if (isArray(value)) return value.map((one) => mapTexts(one, visit, visitName))
  if (!isObject(value)) return value
  const isMedia = typeof value["mimeType"] === "string"
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => {
      if (typeof inner === "string" && NAMES.has(key)) return [key, visitName(inner)]
      if (typeof inner === "string" && isMedia && BYTES.has(key)) {
        return [key, mapBase64(inner, { type: String(value["mimeType"]) }, visit)]
      }
      // Names in a free-form structure are content too.
      return [key, key === "structuredContent" ? mapFree(inner, visit, visit) : mapTexts(inner, visit, visitName)]
    }),
  )
}

/**
 * Checks what a client sends. Names of tools, prompts, arguments and headers are checked but never changed. Throws the
 * error of the guardrail that blocks it.
 */
export async function screenSent(
  message: McpMessage,
  screening: Screening,
  headers: readonly string[] = [],
): Promise<McpMessage> {
  const { name, arguments: args, ...params } = paramsOf(message)
  const mapped = (visit: Visit, visitName?: Visit) => ({
    ...("params" in message && { params: mapTexts(params, visit, visitName) }),
    ...("result" in message && { result: mapTexts(message["result"], visit, visitName) }),
    ...("error" in message && { error: mapTexts(message["error"], visit, visitName) }),
    ...(args !== undefined && { args: mapFree(args, visit, (key) => key) }),
  })
  const keywords = textsOf((visit) => mapped((text) => text, visit))
  const request = {
    messages: textsOf(mapped).map((content) => ({ role: "user", content })),
    names: [message["id"], name, ...keywords, ...namesIn(args), ...headers],
  }
  const screened = await screening.request(request)
  if (screened === request) return message
  const passed = screened.messages.map(({ content }) => content)
  const { args: passedArgs, params: passedParams, ...rest } = withTexts((visit) => mapped(visit), passed) as Json
  const outer = { ...(name !== undefined && { name }), ...(passedArgs !== undefined && { arguments: passedArgs }) }
  return { ...message, ...rest, ...(isObject(passedParams) && { params: { ...passedParams, ...outer } }) }
}

/** Checks what the server sends. Throws the error of the guardrail that blocks it. */
export async function screenReceived(message: McpMessage, screening: Screening): Promise<McpMessage> {
  const mapped = (visit: Visit) => mapFields(message, ["params", "result", "error"], visit)
  const texts = textsOf(mapped)
  if (texts.length === 0) return message
  const response = await screening.response({ choices: texts.map((content) => ({ message: { content } })) })
  const passed = (response["choices"] as { message: Json }[]).map((choice) => choice.message["content"])
  return withTexts(mapped, passed) as McpMessage
}

function mapFields(message: Json, fields: readonly string[], visit: Visit): Json {
  const mapped = fields.flatMap((field) =>
    field in message ? [[field, mapTexts(message[field], visit)] as const] : [],
  )
  return { ...message, ...Object.fromEntries(mapped) }
}
