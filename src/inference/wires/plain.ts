import { errorIn, readAnswer } from "../chat/reading.ts"
import type { Wire } from "./wire.ts"

/** A wire of whole documents alone, such as embeddings: nothing of it streams. */
export function plainWire(isAnswer: Wire["isAnswer"]): Wire {
  return {
    name: "plain",
    read: readAnswer,
    isMeaningful: () => false,
    errorIn,
    isAnswer,
    normalise: (event) => event,
    toOpening: () => null,
    toResult: () => ({ result: undefined, error: null }),
  }
}
