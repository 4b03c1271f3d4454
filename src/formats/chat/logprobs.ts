import { isArray, isInteger, isObject, type Json } from "../../support/text/json.ts"

/**
 * Log probabilities as strict clients of the chat format read them: each token has `bytes` and `top_logprobs`. Returns
 * the same object if it conforms, and undefined if nothing can be read.
 */
export function normalizeLogprobs(logprobs: unknown): Json | undefined {
  if (!isObject(logprobs)) return undefined
  const { tokens } = logprobs
  if (isArray(tokens)) return { content: fromColumns(tokens, logprobs) }
  const content = tokenList(logprobs["content"])
  const refusal = tokenList(logprobs["refusal"])
  const isConforming = content === logprobs["content"] && (!("refusal" in logprobs) || refusal === logprobs["refusal"])
  if (isConforming) return logprobs
  return { ...logprobs, content, ...("refusal" in logprobs && { refusal }) }
}

/** The form of legacy text completions: one list for each field. */
function fromColumns(tokens: readonly unknown[], columns: Json): readonly unknown[] {
  const [logprobs, alternatives] = ["token_logprobs", "top_logprobs"].map((key) => columns[key])
  const listed = tokens.map((token, at) => {
    const other: unknown = isArray(alternatives) ? alternatives[at] : undefined
    const top = isObject(other) ? Object.entries(other).map(([name, logprob]) => ({ token: name, logprob })) : []
    return { token, logprob: isArray(logprobs) ? logprobs[at] : undefined, top_logprobs: top }
  })
  return tokenList(listed) ?? []
}

function tokenList(list: unknown): readonly unknown[] | null {
  if (!isArray(list)) return null
  const normal = list.flatMap((one) => toToken(one) ?? [])
  return normal.length === list.length && normal.every((one, at) => one === list[at]) ? list : normal
}

function toToken(value: unknown): Json | undefined {
  const token = toEntry(value)
  if (!token) return undefined
  const listed = token["top_logprobs"]
  if (!isArray(listed)) return { ...token, top_logprobs: [] }
  const top = listed.flatMap((one) => toEntry(one) ?? [])
  return top.length === listed.length && top.every((one, at) => one === listed[at])
    ? token
    : { ...token, top_logprobs: top }
}

function toEntry(value: unknown): Json | undefined {
  if (!isObject(value) || typeof value["token"] !== "string" || typeof value["logprob"] !== "number") return undefined
  const { bytes } = value
  return bytes === null || (isArray(bytes) && bytes.every(isInteger)) ? value : { ...value, bytes: null }
}
