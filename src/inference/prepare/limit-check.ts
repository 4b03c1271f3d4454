import { objectsOf } from "../../support/text/json.ts"
import { type Caller, callerFor, limitsOf } from "../../policy/call-policy.ts"
import { maxCost } from "../../money/money.ts"
import { plainCall, pricesOf } from "../../money/price-list.ts"
import type { Plugins } from "../../plugins/read-plugins.ts"
import { limitError } from "../errors/limit-error.ts"
import { endUserOf } from "../draft.ts"
import { findModel } from "../../routing/names.ts"
import type { ChatRequest } from "../../formats/schemas.ts"
import type { Deps } from "../deps.ts"
import { namesOf } from "./needs.ts"

/**
 * Throws the error of the later hold if nothing is left under a limit, before files are read or plugins send requests.
 * If the call may be free or a BYOK credential may pay, the hold itself decides.
 */
export async function requireUnexhaustedLimits(
  chat: ChatRequest,
  plugins: Plugins,
  keyCaller: Caller,
  deps: Deps,
): Promise<void> {
  const isWork = plugins.moderation ?? plugins.web ?? (plugins.fileParser && hasFiles(chat))
  if (!isWork || deps.byok || mayBeFree(chat, deps)) return
  const caller = callerFor(keyCaller, endUserOf(chat))
  const verdict = await deps.ledger.checkLimits(limitsOf(caller), true)
  if (!verdict.ok) throw limitError(verdict, caller)
}

function hasFiles({ messages }: ChatRequest): boolean {
  return messages.some(({ content }) => objectsOf(content).some(({ type }) => type === "file"))
}

function mayBeFree(chat: ChatRequest, { catalogue }: Deps): boolean {
  return namesOf(chat).some((name) =>
    findModel(name, catalogue).model?.endpoints.some(
      ({ pricing }) => pricing !== null && maxCost(1, 1, pricesOf(pricing, 1, plainCall()), { images: 0 }) === 0,
    ),
  )
}
