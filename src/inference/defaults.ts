import { GatewayError } from "../errors/errors.ts"
import { serverToolName } from "../server-tools/read-tools.ts"
import type { CallDefaults } from "../workspaces/settings.ts"
import { namesOf, type Preparable } from "./prepare/needs.ts"

/** A request with what its workspace sets where it is silent itself, or a refusal of what the workspace does not allow. */
export function withDefaults<Request extends Preparable>(request: Request, defaults: CallDefaults): Request {
  if (defaults.disabledTools.length > 0) {
    refuseDisabled(
      (request.tools ?? []).map(({ type }) => serverToolName(type ?? "")),
      defaults.disabledTools,
    )
  }
  if (namesOf(request).length > 0) return request
  return { ...request, model: modelOr(undefined, defaults.textModel) }
}

/** The model that a request names, or else the workspace's own for such requests. */
export function modelOr(named: string | undefined, fallback: string | null): string {
  const model = named ?? fallback
  if (model !== null) return model
  throw new GatewayError("invalid_request", "model: is required: author/slug, as GET /models lists.")
}

/** Names of tools that are about to be used, without prefixes; undefined for those that the gateway has no say in. */
export function refuseDisabled(used: readonly (string | undefined)[], disabled: readonly string[]): void {
  const refused = used.find((name) => name !== undefined && disabled.includes(name))
  if (refused === undefined) return
  throw new GatewayError("forbidden", `The workspace of this key has disabled the server tool ${refused}.`, {
    metadata: { reason: "server_tool_disabled" },
  })
}
