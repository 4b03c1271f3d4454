/** Models of each twin. Numbers below `FIRST` are for tests that name their model. */
export const TWIN_MODELS = 300
const FIRST = 100

let used = 0

/** A model of the twins that no test of this isolate has called: an isolate keeps what it learns of an endpoint. */
export function newTwinModel(): string {
  const number = FIRST + (used % (TWIN_MODELS - FIRST))
  used += 1
  return `acme/chat-${number}`
}
