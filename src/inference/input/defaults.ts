import { GatewayError } from "../../errors/errors.ts"
import { serverToolName } from "../../server-tools/read-tools.ts"
import type { CallDefaults } from "../../workspaces/settings.ts"
import { namesOf, type Preparable } from "../prepare/needs.ts"

/**
 * Applies the defaults of the workspace to fields that the request omits. Fails for a tool that the workspace
 * disables.
 */
export function withDefaults<Request extends Preparable>(request: Request, defaults: CallDefaults): Request {
  if (defaults.disabledTools.length > 0) {
    rejectDisabled(
      (request.tools ?? []).map(({ type }) => serverToolName(type ?? "")),
      defaults.disabledTools,
    )
  }
  if (namesOf(request).length > 0) return request
  return { ...request, model: modelOrDefault(undefined, defaults.textModel) }
}

/** The model that the request names, or the default of the workspace. */
export function modelOrDefault(requested: string | undefined, fallback: string | null): string {
  const model = requested ?? fallback
  if (model !== null) return model
  throw new GatewayError("invalid_request", "model: is required: author/slug, as GET /models lists.")
}

/** Throws 403 for a disabled tool. `used`: names of server tools without prefix; undefined for other tools. */
export function rejectDisabled(used: readonly (string | undefined)[], disabled: readonly string[]): void {
  const disabledName = used.find((name) => name !== undefined && disabled.includes(name))
  if (disabledName === undefined) return
  throw new GatewayError("forbidden", `The workspace of this key has disabled the server tool ${disabledName}.`, {
    metadata: { reason: "server_tool_disabled" },
  })
}
