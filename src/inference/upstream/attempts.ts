import { GatewayError } from "../../errors/errors.ts"
import { type Attempt, toFailure } from "../../formats/attempt.ts"
import type { Provider } from "../../providers/provider.ts"
import type { Rejection } from "../../providers/responses/rejection.ts"
import type { Target } from "../../routing/target.ts"
import type { Deps } from "../deps.ts"
import { failure } from "./upstream-response.ts"

/** Shared by calls and realtime sessions, which try targets in order. */

/**
 * Tries to hold for all targets. If the account or a limit rejects the hold, only the targets with a BYOK credential
 * that charge neither remain. Rejects with the error of the limit.
 */
export async function holdOrByok<T>(
  targets: readonly Target[],
  tryHold: (covered: readonly Target[], isByok: boolean) => Promise<T>,
): Promise<T> {
  const byok = targets.filter((target) => target.byok)
  const isByok = byok.length === targets.length
  try {
    return await tryHold(targets, isByok)
  } catch (thrown) {
    const isPaid = thrown instanceof GatewayError && ["payment_required", "forbidden"].includes(thrown.code)
    if (isByok || byok.length === 0 || !isPaid) throw thrown
    return tryHold(byok, true)
  }
}

/** Sends with the key of the target: the gateway's, or that of its BYOK credential. */
export async function sendWithKey<T extends object>(
  { byok, provider }: Target,
  openKey: Deps["openKey"],
  send: (provider: Provider) => Promise<T | Rejection>,
): Promise<T | Rejection> {
  if (!byok) return send(provider)
  const apiKey = await openKey(byok)
  if (apiKey === undefined) {
    const message = `The workspace's credential for ${provider.name} could not be decrypted.`
    return failure(provider, "provider_failed", message, null)
  }
  const result = await send({ ...provider, apiKey })
  return "code" in result && result.blamesKey ? asByokRejection(result) : result
}

/** The customer must fix the key. The provider's message is left out: it can quote the key. */
export function asByokRejection(rejection: Rejection): Rejection {
  const { provider, status } = rejection
  if (status === null) return rejection
  const message = `${provider} rejected the workspace's credential with status ${status}. Check that key and its account there, or change it at PATCH /byok/{id}.`
  return { ...rejection, message }
}

type Outcome = Rejection | { status: number; cache?: "hit" | "miss" | undefined }

/** Record of a finished attempt. `startedAt`: epoch milliseconds. */
export function toAttempt(
  { provider, endpoint, byok, keyNumber }: Target,
  startedAt: number,
  outcome: Outcome,
): Attempt {
  return {
    provider: provider.name,
    model: endpoint.model,
    status: outcome.status,
    latencyMs: Date.now() - startedAt,
    isByok: byok !== undefined,
    ...(keyNumber !== undefined && { keyNumber }),
    ...("code" in outcome ? { error: toFailure(outcome) } : outcome.cache && { cache: outcome.cache }),
  }
}

/** Whether failover must not use the gateway's key after this rejection: a BYOK credential marked required failed. */
export function requiresByok({ byok }: Target, { blamesKey }: Rejection): boolean {
  return blamesKey === true && (byok?.isRequired === true || byok?.isByokOnly === true)
}
