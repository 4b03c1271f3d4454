import { isArray, isObject, type Json, objectsOf } from "../../support/text/json.ts"

/** The choices of a chat completion or chunk as those of a text completion. */
export function toTextChoices(choices: unknown): Json[] {
  return objectsOf(choices).map((choice) => {
    const { delta, message, logprobs, index, finish_reason: finishReason, native_finish_reason: nativeReason } = choice
    const content = isObject(message) ? message : isObject(delta) ? delta : {}
    const { reasoning } = content
    return {
      index,
      text: textOf(content["content"]),
      logprobs: isObject(logprobs) ? toTextLogprobs(logprobs) : null,
      finish_reason: finishReason ?? null,
      ...(typeof nativeReason === "string" && { native_finish_reason: nativeReason }),
      ...(typeof reasoning === "string" && reasoning !== "" && { reasoning }),
    }
  })
}

function textOf(content: unknown): string {
  if (typeof content === "string") return content
  return objectsOf(content)
    .map(({ text }) => (typeof text === "string" ? text : ""))
    .join("")
}

/** Log probabilities of the chat format as parallel lists. A provider with this format has sent the lists itself. */
function toTextLogprobs(logprobs: Json): Json {
  if (isArray(logprobs["tokens"])) return logprobs
  const tokens = objectsOf(logprobs["content"])
  let offset = 0
  const offsets = tokens.map(({ token }) => {
    const start = offset
    offset += typeof token === "string" ? token.length : 0
    return start
  })
  return {
    tokens: tokens.map(({ token }) => token),
    token_logprobs: tokens.map(({ logprob }) => logprob),
    top_logprobs: tokens.map(({ top_logprobs: top }) =>
      Object.fromEntries(objectsOf(top).map(({ token, logprob }) => [String(token), logprob])),
    ),
    text_offset: offsets,
  }
}
