import type { Transcript } from "../../formats/transcript.ts"
import type { Generation } from "../../ledger/generation.ts"
import { logError } from "../../support/log.ts"
import { logFieldsOf } from "../call.ts"
import type { Deps } from "../deps.ts"
import type { Message } from "./transcript.ts"

export type SettleDeps = Pick<
  Deps,
  "ledger" | "timers" | "logCall" | "recordMetric" | "waitUntil" | "contents" | "saveCallContent"
>

/** Charges and records a generation. If the ledger cannot be reached, its alarm settles the hold at its estimate. */
export function settleGeneration(generation: Generation, deps: SettleDeps): void {
  deps.logCall(generation)
  deps.recordMetric?.(generation)
  const settled = deps.ledger
    .settle(generation)
    .catch((cause: unknown) =>
      logError("settlement failed; the ledger alarm will settle the hold", logFieldsOf(generation), cause),
    )
  deps.waitUntil(settled)
}

/** Saves what a response read and said where content logging or a destination needs it. */
export function saveText(generation: Generation, text: { messages: Message[]; output: Transcript }, deps: SettleDeps) {
  const { id, organizationId, workspaceId, broadcast } = generation
  const save = (saved: Promise<void> | undefined) =>
    saved &&
    deps.waitUntil(
      saved.catch((cause: unknown) => logError("call content was not saved", logFieldsOf(generation), cause)),
    )
  if (deps.contents?.keeps(id)) save(deps.contents.put(generation, { organizationId, workspaceId, ...text }))
  if (broadcast?.hasContent) save(deps.saveCallContent?.(id, text))
}
