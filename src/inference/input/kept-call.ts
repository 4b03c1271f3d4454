import type { InferenceCall } from "../call.ts"
import { keptCallOf } from "../deferred/deferral.ts"
import type { Deps, RequestMeta } from "../deps.ts"
import type { Preparable } from "../prepare/needs.ts"
import { type NamedModels, resolveAliases } from "../presets/alias.ts"
import { applyPreset } from "../presets/apply.ts"
import type { UnscreenedCall } from "../screening/screen.ts"

/** Step 1 of calls in batches of providers, whose second run continues with the result of the first. */

/** `call`: before the data of stored files is in it, which would not fit a stored request. */
export async function resolveOnce<Body extends Preparable>(
  call: InferenceCall<Body>,
  withFiles: InferenceCall<Body>,
  deps: Deps,
): Promise<InferenceCall<Body>> {
  if (keptCallOf(deps.deferral)) return withFiles
  const resolved = await applyPreset(withFiles, deps)
  if (deps.deferral) keep(call === withFiles ? resolved : await applyPreset(call, deps), deps)
  return resolved
}

/** The same for a request without a preset. */
export function resolveAliasesOnce<Body extends NamedModels>(
  call: UnscreenedCall<Body>,
  deps: Deps,
): UnscreenedCall<Body> {
  if (keptCallOf(deps.deferral)) return call
  const resolved = resolveAliases<Body, UnscreenedCall<Body>>(call)
  if (deps.deferral) keep(resolved, deps)
  return resolved
}

function keep({ body, meta: { alias, presetId } }: { body: object; meta: RequestMeta }, { deferral }: Deps): void {
  if (!deferral || !("keep" in deferral)) return
  deferral.keep({ body, ...(alias !== undefined && { alias }), ...(presetId !== undefined && { presetId }) })
}
