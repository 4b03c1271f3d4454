/** Checks of a file before upload. The gateway checks every line when the batch starts. */
export type Input = {
  file: File
  endpoint: string | undefined
  models: readonly string[]
  /** Undefined if the file is too large to count. */
  requests: number | undefined
  fault: string | undefined
}

export const ENDPOINTS = ["/v1/chat/completions", "/v1/responses", "/v1/messages", "/v1/embeddings"]
const MAX_BYTES = 100 * 1024 * 1024
const MAX_REQUESTS = 50_000
/** Only the beginning of larger files is read. */
const READ_BYTES = 8 * 1024 * 1024

type Line = { custom_id?: unknown; url?: unknown; body?: { model?: unknown } | null }

export async function inspect(file: File): Promise<Input> {
  const isComplete = file.size <= READ_BYTES
  const text = await file.slice(0, READ_BYTES).text()
  const lines = text.split("\n").slice(0, isComplete ? undefined : -1)
  const filled = lines.map((line, at) => ({ text: line.trim(), number: at + 1 })).filter((line) => line.text !== "")
  const models = new Set<string>()
  let endpoint: string | undefined
  let fault = file.size > MAX_BYTES ? "The file is larger than 100 MiB. Split it." : undefined
  for (const line of filled) {
    const parsed = parse(line.text)
    fault ??= parsed ? faultOf(parsed, line.number) : `Line ${line.number} is not a JSON object.`
    if (fault !== undefined) break
    endpoint ??= String(parsed?.url).replace(/^\/api(?=\/)/, "")
    const model = parsed?.body?.model
    if (typeof model === "string") models.add(model)
  }
  const requests = isComplete ? filled.length : undefined
  if (filled.length === 0) fault ??= "The file has no request."
  if ((requests ?? 0) > MAX_REQUESTS) fault ??= "A batch has at most 50,000 requests. Split the file."
  return { file, endpoint, models: [...models], requests, fault }
}

function parse(text: string): Line | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === "object" && value !== null && !Array.isArray(value) ? value : undefined
  } catch {
    return undefined
  }
}

function faultOf({ custom_id: id, url }: Line, number: number): string | undefined {
  if (typeof id !== "string" || id === "") return `Line ${number} has no custom_id.`
  const path = typeof url === "string" ? url.replace(/^\/api(?=\/)/, "") : ""
  return ENDPOINTS.includes(path) ? undefined : `Line ${number}: url must be one of ${ENDPOINTS.join(", ")}.`
}
