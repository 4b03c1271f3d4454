import type { Generation } from "../../ledger/generation.ts"
import { type CallText, MAX_SETTLED_CONTENT } from "../../observability/call-content.ts"
import { logError } from "../../support/log.ts"
import { logFieldsOf } from "../call.ts"
import type { Deps } from "../deps.ts"

type RecordDeps = Pick<Deps, "ledger" | "exports">

/**
 * Charges and records a call, with the content for its destinations. Resolves when the ledger has stored both; never
 * rejects. `text` is called only if a destination receives content.
 */
export function recordGeneration(
  { ledger, exports }: RecordDeps,
  generation: Generation,
  text?: () => CallText | undefined,
): Promise<void> {
  const content = text && exports && generation.broadcast?.hasContent ? toContent(generation, exports, text) : undefined
  return settle(ledger, generation, exports && content !== undefined ? { content, put: exports.put } : undefined)
}

type Exports = NonNullable<Deps["exports"]>

/** A serialization error must not prevent the charge. */
function toContent(generation: Generation, exports: Exports, text: () => CallText | undefined): string | undefined {
  try {
    const content = text()
    return content && exports.toContent(content)
  } catch (cause) {
    notSaved(generation, cause)
    return undefined
  }
}

type Exported = Pick<Exports, "put"> & { content: string }

/**
 * If the ledger cannot be reached, its alarm settles the hold at its estimate, so nothing is retried here. While this
 * waits it references only its parameters, so that the memory of the call can be freed. Content that is too long for a
 * settlement is saved separately, so that a storage error cannot delay or prevent the charge.
 */
async function settle(ledger: Deps["ledger"], generation: Generation, exported: Exported | undefined): Promise<void> {
  const isLong = exported !== undefined && exported.content.length > MAX_SETTLED_CONTENT
  const saved = isLong ? save(generation, exported) : undefined
  try {
    await ledger.settle(generation, isLong ? undefined : exported?.content)
  } catch (cause) {
    logError("settlement failed; the ledger alarm will settle the hold", logFieldsOf(generation), cause)
    if (exported && !isLong) await save(generation, exported)
  }
  await saved
}

async function save(generation: Generation, { put, content }: Exported): Promise<void> {
  await put(generation.id, content).catch((cause: unknown) => notSaved(generation, cause))
}

function notSaved(generation: Generation, cause: unknown): void {
  logError("call content was not saved", logFieldsOf(generation), cause)
}
