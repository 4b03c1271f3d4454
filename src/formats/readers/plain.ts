import { errorIn, readResponse, toTokens } from "../chat/meter.ts"
import { isObject } from "../../support/json.ts"
import type { ResponseReader } from "./reader.ts"

/** A wire of whole documents alone, such as embeddings: nothing of it streams. */
export function plainReader(isAnswer: ResponseReader["isResponse"]): ResponseReader {
  return {
    name: "plain",
    read: (meter, answer) => {
      readResponse(meter, answer)
      meter.tokens ??= toTokens(allPrompt(answer["usage"]))
    },
    hasContent: () => false,
    errorIn,
    isResponse: isAnswer,
    normalise: (event) => event,
    toStreamHead: () => null,
    toResult: () => ({ result: undefined, error: null }),
  }
}

/** Where nothing is said there is nothing but prompt: a total alone is its count. */
function allPrompt(usage: unknown): unknown {
  if (!isObject(usage) || usage["total_tokens"] === undefined) return undefined
  return { prompt_tokens: usage["total_tokens"], completion_tokens: 0 }
}
