/** Models of each twin. Lower numbers than `FIRST` are those of tests that name their model. */
export const TWIN_MODELS = 300
const FIRST = 100

let used = 0

/** A model of the twins that no test of this isolate has called before: what an isolate learns of an endpoint stays. */
export function newTwinModel(): string {
  const number = FIRST + (used % (TWIN_MODELS - FIRST))
  used += 1
  return `acme/chat-${number}`
}
