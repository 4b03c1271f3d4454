import type { Transcript } from "../../formats/transcript.ts"
import type { Generation } from "../../ledger/generation.ts"
import { logError } from "../../support/log.ts"
import { logFieldsOf } from "../call.ts"
import type { Deps } from "../deps.ts"
import { recordGeneration } from "../accounting/record.ts"
import type { Message } from "./events/transcript.ts"

export type SettleDeps = Pick<
  Deps,
  "ledger" | "timers" | "logCall" | "recordMetric" | "waitUntil" | "contents" | "exports"
>

type ResponseText = { messages: Message[]; output: Transcript }

/** Charges and records a generation. `text`: the response text for content logging and destinations. */
export function settleGeneration(generation: Generation, deps: SettleDeps, text?: ResponseText): void {
  if (text) logContent(generation, text, deps)
  deps.logCall(generation)
  deps.recordMetric?.(generation)
  deps.waitUntil(recordGeneration(deps, generation, text && (() => text)))
}

function logContent(generation: Generation, text: ResponseText, { contents, waitUntil }: SettleDeps): void {
  const { id, organizationId, workspaceId } = generation
  if (!contents?.keeps(id)) return
  const saved = contents.put(generation, { organizationId, workspaceId, ...text })
  waitUntil(saved.catch((cause: unknown) => logError("call content was not saved", logFieldsOf(generation), cause)))
}
