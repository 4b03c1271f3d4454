import { isObject, type Json } from "../../support/text/json.ts"
import { GatewayError } from "../../errors/errors.ts"
import { PRESET_MARK } from "../../models/known-names.ts"
import { type ActivePreset, requireActive } from "../../presets/preset.ts"
import type { InferenceCall } from "../call.ts"
import { withDefaults } from "../input/defaults.ts"
import type { Deps } from "../deps.ts"
import { resolveAliases } from "./alias.ts"
import { namesOf, type Preparable } from "../prepare/needs.ts"
import type { ApiFormat } from "../endpoints/api-format.ts"

/** The preset that a request names, and the request without that name; undefined if it names none. */
export function presetOf<Request extends Preparable>(request: Request): { slug: string; request: Request } | undefined {
  const field = request["preset"]
  if (field == null && !namesOf(request).some((name) => name.includes(PRESET_MARK))) return undefined
  const split = (name: string) => {
    const [model = "", slug] = name.split(PRESET_MARK)
    return { model, slug }
  }
  const references = namesOf(request).map(split)
  const inField = typeof field === "string" ? (split(field).slug ?? field) : undefined
  const slugs = new Set([inField, ...references.map(({ slug }) => slug)].filter((slug) => slug !== undefined))
  const [slug = "", other] = slugs
  if (other !== undefined) {
    throw new GatewayError("invalid_request", `preset: the request names both ${slug} and ${other}; name one preset.`)
  }
  const { model, models } = request
  const modelOf = (name: string) => split(name).model
  const bare = {
    ...request,
    preset: undefined,
    model: model === undefined ? undefined : modelOf(model) || undefined,
    models: models?.map(modelOf).filter((name) => name !== ""),
  }
  return { slug, request: bare }
}

/** Step 1: aliases of models, the fields of the preset that the request names, then the defaults of the workspace. */
export async function applyPreset<Body extends Preparable>(
  call: InferenceCall<Body>,
  deps: Pick<Deps, "presetOf" | "presetCache">,
): Promise<InferenceCall<Body>> {
  const resolved = resolveAliases<Body, InferenceCall<Body>>(withDefaultModel(call))
  const { format, body, bodyBytes, caller, meta } = resolved
  const reference = presetOf(body)
  const preset = reference && requireActive(reference.slug, await deps.presetOf(reference.slug))
  if (!preset) return { ...resolved, body: withDefaults(body, caller.defaults) }
  const { response_cache_seconds: cacheSeconds } = preset.config
  const cache = cacheSeconds === undefined ? undefined : deps.presetCache(cacheSeconds)
  const filled = {
    ...resolved,
    body: withDefaults(withPreset(format, reference.request, preset), caller.defaults),
    bodyBytes: bodyBytes + preset.bytes,
    meta: { ...meta, presetId: preset.id, ...(cache && { cache }) },
  }
  // Names of the request are resolved above; the arms of an alias are not resolved again.
  return namesOf(reference.request).length > 0 ? filled : resolveAliases<Body, InferenceCall<Body>>(filled)
}

/** Runs before aliases and presets, which the default may name. A preset of the request may set the model itself. */
function withDefaultModel<Body extends Preparable>(call: InferenceCall<Body>): InferenceCall<Body> {
  const { body, caller } = call
  const { textModel } = caller.defaults
  if (textModel === null || body["preset"] != null || namesOf(body).length > 0) return call
  return { ...call, body: { ...body, model: textModel } }
}

/** Fills omitted fields of the request from the preset, and prepends the preset's instructions. */
export function withPreset<Request extends Preparable>(
  { presetFields, prependInstructions }: Pick<ApiFormat<Request>, "presetFields" | "prependInstructions">,
  request: Request,
  { config, systemPrompt }: ActivePreset,
): Request {
  const { response_cache_seconds: _, ...fields } = config
  const merged = merge(request, presetFields(fields)) as Request
  return systemPrompt === null ? merged : prependInstructions(merged, systemPrompt)
}

/** Fields with alternative names or dependent fields: any of these in the request overrides the preset. */
const SET_BY: Readonly<Record<string, readonly string[]>> = {
  model: ["model", "models"],
  models: ["model", "models"],
  max_tokens: ["max_tokens", "max_completion_tokens"],
  reasoning: ["reasoning", "reasoning_effort"],
  tool_choice: ["tool_choice", "tools"],
}
/** Object fields that are merged key by key. */
const COMPOUND = ["text", "output_config"]

/** Null and an empty list of models count as omitted. */
function isSet(request: Json, name: string): boolean {
  const value = request[name]
  return value != null && !(name === "models" && Array.isArray(value) && value.length === 0)
}

/** The fields of the request, and fields of the preset that the request does not set. */
export function merge(request: Readonly<Json>, preset: Readonly<Json>): Json {
  const merged: Json = { ...request }
  for (const [name, value] of Object.entries(preset)) {
    const requestValue = request[name]
    if (value === undefined) continue
    if (COMPOUND.includes(name) && isObject(requestValue) && isObject(value)) merged[name] = merge(requestValue, value)
    else if (!(SET_BY[name] ?? [name]).some((one) => isSet(request, one))) merged[name] = value
  }
  return merged
}
