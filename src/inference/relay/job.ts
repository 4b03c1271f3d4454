import type { HeldCall, RelayResult } from "../call.ts"
import type { DispatchResult } from "../dispatch.ts"
import type { OutputFilter } from "../screening/output-guardrails.ts"
import type { Settlement } from "../settle.ts"

export type RelayJob = {
  call: HeldCall
  /** Never rejects. */
  upstream: Promise<DispatchResult>
  filter: OutputFilter | null
  settle: (result: RelayResult) => Settlement
}

/** `finished` resolves when the response has been sent and the call is recorded. It never rejects. */
export type Reply = { response: Promise<Response>; finished: Promise<unknown> }
