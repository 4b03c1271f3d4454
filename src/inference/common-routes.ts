import type { Context } from "hono"
import type { App } from "../access/app.ts"
import { callerWithMetadata } from "../policy/call-policy.ts"
import type { InferenceCall } from "./call.ts"
import { bodyBytes, createDeps, incomingCall, requestMetaOf } from "./context.ts"
import type { Deps } from "./deps.ts"
import type { ApiFormat } from "./endpoints/api-format.ts"
import { openMcpTools } from "./mcp/tools.ts"

/** The dependencies of a call whose tools may be on MCP servers. */
export async function depsOf(c: Context<App>): Promise<Deps> {
  const incoming = incomingCall(c)
  const deps = await createDeps(incoming)
  return { ...deps, openMcp: (choices, takenNames) => openMcpTools(incoming, deps, choices, takenNames) }
}

export function newCall<Body extends object>(
  c: Context<App>,
  format: ApiFormat<Body>,
  body: Body,
): InferenceCall<Body> {
  const incoming = incomingCall(c)
  const caller = callerWithMetadata(incoming.caller, Reflect.get(body, "metadata"))
  return { format, body, bodyBytes: bodyBytes(c.req.raw, body), meta: requestMetaOf(incoming), caller }
}
