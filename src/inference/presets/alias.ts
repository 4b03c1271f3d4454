import { GatewayError } from "../../errors/errors.ts"
import type { Caller } from "../../policy/call-policy.ts"
import { seededRandom } from "../../routing/plan.ts"
import { chooseArm, findAlias } from "../../workspaces/alias.ts"
import type { RequestMeta } from "../deps.ts"
import { sessionIdOf } from "../draft.ts"

/** A request body that may name models. */
export type NamedModels = {
  model?: string | undefined
  models?: readonly string[] | null | undefined
  session_id?: unknown
}
type Named<Body> = { body: Body; bodyBytes?: number; meta: RequestMeta; caller: Caller }

const BYTES_PER_TOKEN = 4

/** Replaces aliases of the workspace by their models in the request, its preset and the defaults. */
export function resolveAliases<Body extends NamedModels, Call extends Named<Body>>(call: Call): Call {
  const { body, caller } = call
  const { aliases } = caller.defaults
  if (aliases === null) return call
  const { model, models } = body
  const names = [...(model === undefined ? [] : [model]), ...(models ?? [])]
  const found = names.filter((name) => findAlias(aliases, name))
  const [alias] = found
  if (alias === undefined) return call
  const resolve = (name: string) => armOf(name, call)
  return {
    ...call,
    body: {
      ...body,
      ...(model !== undefined && { model: resolve(model) }),
      ...(models && { models: models.map(resolve) }),
    },
    meta: {
      ...call.meta,
      alias: call.meta.alias ?? alias,
      aliases: {
        names: [...(call.meta.aliases?.names ?? []), ...found],
        coverAllModels: found.length === names.length,
      },
    },
  }
}

/** The model of the chosen arm; the name itself if it is no alias. */
function armOf<Body extends NamedModels>(name: string, { body, bodyBytes = 0, meta, caller }: Named<Body>): string {
  const alias = findAlias(caller.defaults.aliases, name)
  if (!alias) return name
  const { session_id: inBody } = body
  const session = sessionIdOf(typeof inBody === "string" ? inBody : null, meta.sessionId)
  const chance = session === null ? 1 - Math.random() : seededRandom(session)(name)
  const facts = {
    region: meta.region ?? "global",
    keyHash: caller.keyHash,
    promptTokens: Math.ceil(bodyBytes / BYTES_PER_TOKEN),
  }
  const arm = chooseArm(alias, facts, chance)
  if (arm) return arm.model
  throw new GatewayError(
    "not_found",
    `No arm of the alias ${name} matches this request: its regions, keys or prompt lengths exclude it.`,
  )
}
