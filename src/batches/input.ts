import { concat } from "../support/bytes.ts"
import { isObject, type Json, parseJson } from "../support/text/json.ts"
import { type BatchError, MAX_LINE_BYTES, MAX_LINES, pathOfEndpoint } from "./batch.ts"

/** A request of the input file: its number, counted from 1, and the position of its bytes. */
export type InputLine = { line: number; customId: string; offset: number; length: number }

export type ParsedInput = { lines: InputLine[]; errors: BatchError[] }

/** Maximum number of errors that are listed. */
const MAX_ERRORS = 50
const MAX_CUSTOM_ID_LENGTH = 512
const LINE_END = 10

type RawLine = { line: number; offset: number; length: number; text: string | undefined }

/** The lines of a file with their positions; `text` is undefined for a line that is too long. */
export async function* linesOf(content: AsyncIterable<Uint8Array>, maxBytes = MAX_LINE_BYTES): AsyncGenerator<RawLine> {
  const decoder = new TextDecoder()
  let pending: Uint8Array[] = []
  let [line, offset, length] = [1, 0, 0]
  const take = (bytes: Uint8Array) => {
    length += bytes.byteLength
    if (length <= maxBytes) pending.push(bytes.slice())
  }
  const end = (): RawLine => {
    const text = length > maxBytes ? undefined : decoder.decode(concat(pending))
    const raw = { line, offset, length, text }
    pending = []
    return raw
  }
  for await (const chunk of content) {
    let start = 0
    for (let at = chunk.indexOf(LINE_END); at >= 0; at = chunk.indexOf(LINE_END, start)) {
      take(chunk.subarray(start, at))
      yield end()
      start = at + 1
      ;[line, offset, length] = [line + 1, offset + length + 1, 0]
    }
    take(chunk.subarray(start))
  }
  yield end()
}

/** Reads and checks an input file. Returns errors or lines, never both. */
export async function parseInput(content: AsyncIterable<Uint8Array>, endpoint: string): Promise<ParsedInput> {
  const path = pathOfEndpoint(endpoint)
  const lines: InputLine[] = []
  const errors: BatchError[] = []
  const seen = new Map<string, number>()
  for await (const { text, ...position } of linesOf(content)) {
    if (text?.trim() === "") continue
    if (lines.length + errors.length >= MAX_LINES) {
      const rule = `The file has more than ${MAX_LINES} requests. Split it.`
      errors.push({ code: "too_many_requests", message: rule, param: null, line: position.line })
      break
    }
    const checked = checkLine(text, path, seen)
    if (typeof checked !== "string") {
      errors.push({ ...checked, line: position.line })
      if (errors.length >= MAX_ERRORS) break
      continue
    }
    seen.set(checked, position.line)
    lines.push({ ...position, customId: checked })
  }
  if (lines.length === 0 && errors.length === 0) {
    errors.push({ code: "empty_file", message: "The file has no request.", param: null, line: null })
  }
  return errors.length > 0 ? { lines: [], errors } : { lines, errors }
}

type LineError = Omit<BatchError, "line">

/** The custom_id of a line, or its error. */
function checkLine(text: string | undefined, path: string, seen: ReadonlyMap<string, number>): string | LineError {
  if (text === undefined) return fault("line_too_long", null, `A line must be at most ${MAX_LINE_BYTES} bytes.`)
  const request = parseJson(text)
  if (!isObject(request)) return fault("invalid_json_line", null, "The line must be one JSON object.")
  const { custom_id: customId } = request
  if (typeof customId !== "string" || customId === "" || customId.length > MAX_CUSTOM_ID_LENGTH) {
    const rule = `custom_id: must be a string of 1 to ${MAX_CUSTOM_ID_LENGTH} characters.`
    return fault(customId === undefined ? "missing_required_parameter" : "invalid_parameter", "custom_id", rule)
  }
  const first = seen.get(customId)
  if (first !== undefined) {
    return fault("duplicate_custom_id", "custom_id", `custom_id: must be unique; line ${first} has the same.`)
  }
  return checkRequest(request, path) ?? customId
}

function checkRequest({ method, url, body }: Json, path: string): LineError | undefined {
  if (method !== "POST") return fault("invalid_method", "method", 'method: must be "POST".')
  if (url !== `/v1${path}` && url !== `/api/v1${path}`) {
    return fault("mismatched_url", "url", `url: must be the endpoint of the batch, "/v1${path}".`)
  }
  if (!isObject(body)) return fault("invalid_parameter", "body", "body: must be an object.")
  if (body["stream"] !== undefined && body["stream"] !== null && body["stream"] !== false) {
    return fault("invalid_parameter", "body.stream", "body.stream: must be false in a batch.")
  }
  return undefined
}

function fault(code: string, param: string | null, message: string): LineError {
  return { code, message, param }
}

/** The body of a line that was checked. */
export function bodyOf(text: string): Json | undefined {
  const request = parseJson(text)
  return isObject(request) && isObject(request["body"]) ? request["body"] : undefined
}
