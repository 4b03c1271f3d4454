import { fieldsOf, toFieldsDetail } from "../call-fields.ts"
import type { CallDraft } from "./drafts.ts"
import { addCarried } from "./on-reasoning.ts"
import type { Turn } from "./turn.ts"

/** Stores nonstandard fields of a delta for the call that it changed. `before`: the calls before the delta. */
export function onFields({ state }: Turn, delta: unknown, before: readonly CallDraft[]): void {
  const fields = fieldsOf(delta)
  // A new call may release buffered calls, which changes them too.
  const isNew = state.calls.length > before.length
  const at = isNew ? before.length : state.calls.findIndex((call, index) => call !== before[index])
  if (!fields || at === -1) return
  state.callFields = new Map(state.callFields).set(at, { ...state.callFields.get(at), ...fields })
}

/** Emits an item for each call with such fields, when the calls have the ids that clients receive. */
export function emitFields(turn: Turn): void {
  const { calls, callFields } = turn.state
  for (const [at, fields] of callFields) {
    const call = calls[at]
    if (call && call.position !== null) addCarried(turn, toFieldsDetail(call.callId, fields))
  }
}
