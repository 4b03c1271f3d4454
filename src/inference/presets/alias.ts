import { GatewayError } from "../../errors/errors.ts"
import { PRESET_MARK } from "../../models/known-names.ts"
import type { Caller } from "../../policy/call-policy.ts"
import { seededRandom } from "../../routing/plan.ts"
import { chooseArm, findNamedAlias } from "../../workspaces/alias.ts"
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
  const found = names.flatMap((requested) => {
    const named = findNamedAlias(aliases, requested)
    return named ? [{ requested: named.name + named.suffix, name: named.name }] : []
  })
  const [first] = found
  if (first === undefined) return call
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
      alias: call.meta.alias ?? first.requested,
      aliases: {
        names: [...(call.meta.aliases?.names ?? []), ...found.map(({ name }) => name)],
        coverAllModels: found.length === names.length,
      },
    },
  }
}

/** The model of the chosen arm with the variants and the preset of the request; the name itself if it is no alias. */
function armOf<Body extends NamedModels>(
  requested: string,
  { body, bodyBytes = 0, meta, caller }: Named<Body>,
): string {
  const named = findNamedAlias(caller.defaults.aliases, requested)
  if (!named) return requested
  const { alias, name, suffix } = named
  const { session_id: inBody } = body
  const session = sessionIdOf(typeof inBody === "string" ? inBody : null, meta.sessionId)
  const chance = session === null ? 1 - Math.random() : seededRandom(session)(name)
  const facts = {
    region: meta.region ?? "global",
    keyHash: caller.keyHash,
    promptTokens: Math.ceil(bodyBytes / BYTES_PER_TOKEN),
  }
  const arm = chooseArm(alias, facts, chance)
  if (arm) return withSuffix(arm.model, suffix, name)
  throw new GatewayError(
    "not_found",
    `No arm of the alias ${name} matches this request: its regions, keys or prompt lengths exclude it.`,
  )
}

/** Adds the variants and the preset of a requested name to the model of an arm, which may have both itself. */
function withSuffix(arm: string, suffix: string, alias: string): string {
  const { model, preset: ofArm } = splitPreset(arm)
  const { model: variants, preset: ofRequest } = splitPreset(suffix)
  if (model === "" && variants !== "") {
    const message = `model: ${alias} selects a preset, which sets the model, so ${variants} cannot follow it.`
    throw new GatewayError("invalid_request", message)
  }
  if (ofArm !== "" && ofRequest !== "" && ofArm !== ofRequest) {
    const message = `model: ${alias} selects ${ofArm}, and the request names ${ofRequest}; name one preset.`
    throw new GatewayError("invalid_request", message)
  }
  return model + variants + (ofRequest || ofArm)
}

function splitPreset(text: string): { model: string; preset: string } {
  const at = text.indexOf(PRESET_MARK)
  return at === -1 ? { model: text, preset: "" } : { model: text.slice(0, at), preset: text.slice(at) }
}
