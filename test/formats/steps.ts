import type { Json } from "./messages/recorded.ts"

/** A chunk of a chat stream. */
export function chunkOf(delta: Json, finishReason: string | null = null, further: Json = {}): Json {
  return {
    id: "c",
    object: "chat.completion.chunk",
    choices: [{ index: 0, delta, finish_reason: finishReason }],
    ...further,
  }
}

/** The events of all steps, each of which starts from the state after the one before. */
export function runSteps<State, Event>(
  first: State,
  steps: readonly ((state: State) => readonly [State, readonly Event[]])[],
): Event[] {
  let state = first
  return steps.flatMap((step) => {
    const [next, events] = step(state)
    state = next
    return events
  })
}
