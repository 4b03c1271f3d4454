import { errorIn, readAnswer, toTokens } from "../chat/meter.ts"
import { isObject } from "../../support/json.ts"
import type { Wire } from "./reader.ts"

/** A wire of whole documents alone, such as embeddings: nothing of it streams. */
export function plainWire(isAnswer: Wire["isAnswer"]): Wire {
  return {
    name: "plain",
    read: (reading, answer) => {
      readAnswer(reading, answer)
      reading.tokens ??= toTokens(allPrompt(answer["usage"]))
    },
    isMeaningful: () => false,
    errorIn,
    isAnswer,
    normalise: (event) => event,
    toOpening: () => null,
    toResult: () => ({ result: undefined, error: null }),
  }
}

/** Where nothing is said there is nothing but prompt: a total alone is its count. */
function allPrompt(usage: unknown): unknown {
  if (!isObject(usage) || usage["total_tokens"] === undefined) return undefined
  return { prompt_tokens: usage["total_tokens"], completion_tokens: 0 }
}
