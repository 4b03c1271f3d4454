import { GatewayError } from "../../errors/errors.ts"
import type { Caller } from "../../policy/call-policy.ts"
import type { Target } from "../../routing/target.ts"
import type { Deps, RequestMeta } from "../deps.ts"
import { CLOSE, type Closing } from "./events/events.ts"
import { planSession, requireReadable } from "./open.ts"

/** The current policy of a key. */
export type CurrentPolicy = { caller: Caller; deps: Deps }

type RecheckInput = { model: string; meta: RequestMeta; target: Target }

/** Why a running session must end; undefined where its key is valid and its policy still allows it. */
export function endOfPolicy(
  policy: CurrentPolicy | undefined,
  { model, meta, target }: RecheckInput,
): Closing | undefined {
  if (!policy) {
    const message = "This API key is no longer valid."
    return { code: CLOSE.keyInvalid, error: { type: "authentication_error", code: "invalid_api_key", message } }
  }
  try {
    requireReadable(policy.caller)
    const { targets } = planSession(model, { ...policy, meta })
    if (targets.some(({ provider }) => provider.slug === target.provider.slug)) return undefined
    return forbiddenClosing("guardrail", "The policy of this key no longer allows this session.")
  } catch (thrown) {
    if (!(thrown instanceof GatewayError)) throw thrown
    return forbiddenClosing(thrown.metadata?.reason ?? thrown.code, thrown.message)
  }
}

function forbiddenClosing(code: string, message: string): Closing {
  return { code: CLOSE.guardrail, error: { type: "permission_error", code, message } }
}
