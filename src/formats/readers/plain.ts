import { readResponse, readTokens, toTokens } from "../chat/meter.ts"
import { errorIn } from "../chat/provider-error.ts"
import { isObject } from "../../support/text/json.ts"
import type { ResponseReader } from "./reader.ts"

/** Reads JSON documents that never stream, such as embeddings. */
export function plainReader(isResponse: ResponseReader["isResponse"]): ResponseReader {
  return {
    name: "plain",
    read: (meter, body) => {
      readResponse(meter, body)
      if (meter.tokens === null) readTokens(meter, toTokens(allPrompt(body["usage"])))
    },
    hasContent: () => false,
    errorIn,
    isResponse,
    normalize: (event) => event,
    toStreamHead: () => null,
    toResult: () => ({ result: undefined, error: null }),
  }
}

/** Without output, the total is the prompt count. */
function allPrompt(usage: unknown): unknown {
  if (!isObject(usage) || usage["total_tokens"] === undefined) return undefined
  return { prompt_tokens: usage["total_tokens"], completion_tokens: 0 }
}
