import { GatewayError } from "../errors/errors.ts"
import type { Catalogue } from "./catalogue.ts"
import { findBuiltInProvider, builtInProviders } from "../providers/table.ts"
import type { Provider } from "../providers/provider.ts"
import { anyOf, suggestNames } from "../support/text/suggest.ts"
import { matcher } from "../support/text/wildcard.ts"

/** Models, providers and aliases that the rules of a guardrail may name. */
export type KnownNames = {
  catalogue: Catalogue
  providers: ReadonlyMap<string, Pick<Provider, "name">>
  /** Model aliases of the workspace. */
  aliases: readonly string[]
}

const MODEL_LISTS = ["allowed_models", "ignored_models"] as const
const PROVIDER_LISTS = ["allowed_providers", "ignored_providers"] as const
type Lists = Partial<
  Record<(typeof MODEL_LISTS)[number] | (typeof PROVIDER_LISTS)[number], string[] | null | undefined>
>

export function namesAnything(input: Lists): boolean {
  return [...MODEL_LISTS, ...PROVIDER_LISTS].some((field) => (input[field]?.length ?? 0) > 0)
}

/**
 * The lists in the spelling of the catalogue. A mistyped name would allow nothing or exclude nothing, so it is rejected
 * with the nearest names.
 */
export function withKnownNames<T extends Lists>(input: T, knownNames: KnownNames): T {
  const models = modelReader(knownNames)
  const providers = providerReader(knownNames)
  const read = (fields: readonly (keyof Lists)[], { spell, all, what: noun }: Reader) =>
    fields.flatMap((field) => {
      const names = input[field]
      if (!names) return []
      const spelled = names.map((name, index) => spell(name) ?? rejectName(`${field}[${index}]`, name, noun, all()))
      return [[field, [...new Set(spelled)]] as const]
    })
  return { ...input, ...Object.fromEntries([...read(MODEL_LISTS, models), ...read(PROVIDER_LISTS, providers)]) }
}

/** Names and patterns of models, in the spelling of the catalogue. Throws 400 for an unknown one, or keeps it. */
export function spellPatterns(
  names: readonly string[],
  field: string,
  catalogue: Catalogue,
  { allowsUnknown }: { allowsUnknown: boolean },
): string[] {
  const { spell, all, what: noun } = modelReader({ catalogue, aliases: [] })
  const asIs = (name: string, index: number) =>
    allowsUnknown ? name : rejectName(`${field}[${index}]`, name, noun, all())
  return [...new Set(names.map((name, index) => spell(name) ?? asIs(name, index)))]
}

type Reader = {
  what: "model" | "provider"
  /** Undefined for an unknown name. */
  spell: (name: string) => string | undefined
  all: () => Iterable<string>
}

function modelReader({ catalogue, aliases }: Pick<KnownNames, "catalogue" | "aliases">): Reader {
  const ids = [...catalogue.models.keys(), ...(catalogue.unconfigured?.keys() ?? []), ...aliases]
  const byName = new Map(ids.map((id) => [id.toLowerCase(), id]))
  const bySlug = Map.groupBy(new Set(ids), (id) => id.slice(id.indexOf("/") + 1).toLowerCase())
  const authors = new Set(ids.map((id) => id.slice(0, id.indexOf("/")).toLowerCase()))
  const spell = (name: string): string | undefined => {
    const lower = name.toLowerCase()
    if (lower.includes("*")) return isKnownPattern(lower) ? name : undefined
    const found = byName.get(lower)
    if (found !== undefined) return found
    const colon = lower.lastIndexOf(":")
    if (colon > 0) {
      const base = spell(name.slice(0, colon))
      return base === undefined ? undefined : base + name.slice(colon)
    }
    if (lower.startsWith("~")) return authors.has(lower.slice(1, lower.indexOf("/"))) ? name : undefined
    const [only, ...others] = bySlug.get(lower) ?? []
    return others.length === 0 ? only : undefined
  }
  const isKnownPattern = (pattern: string) => {
    const author = /^([^*/]+)\//.exec(pattern)?.[1]
    if (author === undefined || authors.has(author) || findBuiltInProvider(author)) return true
    return ids.some(matcher([pattern]))
  }
  return { what: "model", spell, all: () => ids }
}

function providerReader({ providers }: KnownNames): Reader {
  const slugs = new Map<string, string>()
  for (const { slug, name } of builtInProviders) slugs.set(name.toLowerCase(), slug).set(slug, slug)
  for (const [slug, { name }] of providers) slugs.set(name.toLowerCase(), slug).set(slug, slug)
  const spell = (name: string) => {
    const lower = name.toLowerCase()
    const found = slugs.get(lower)
    if (found !== undefined) return found
    const [slug = "", ...quantization] = lower.split("/")
    return quantization.length === 1 && slugs.has(slug) ? lower : undefined
  }
  return { what: "provider", spell, all: () => slugs.values() }
}

/** Marks the preset of a model name: `author/slug@preset/slug`. */
export const PRESET_MARK = "@preset/"

/** Aliases for which the gateway chooses a model per request. */
export const AUTO_MODEL = /^(?:service|openrouter)\/auto(?::.+)?$/i

/**
 * Names of models to call, in the spelling of the catalogue; `@preset/…` is unchanged. `fields`: the field of each
 * name, for the error about an unknown one.
 */
export function spellModels(
  names: readonly string[],
  fields: (index: number) => string,
  { catalogue, aliases = [] }: { catalogue: Catalogue; aliases?: readonly string[] },
): string[] {
  const { spell, all, what: noun } = modelReader({ catalogue, aliases })
  return names.map((name, index) => {
    const at = name.indexOf(PRESET_MARK)
    const [model, preset] = at < 0 ? [name, ""] : [name.slice(0, at), name.slice(at)]
    if (model === "" && preset !== "") return name
    const found = model.includes("*") ? undefined : spell(model)
    return found === undefined ? rejectName(fields(index), model, noun, all()) : found + preset
  })
}

function rejectName(field: string, name: string, noun: Reader["what"], ids: Iterable<string>): never {
  const nearest = suggestNames(name, new Set(ids))
  const hint = nearest.length > 0 ? ` Did you mean ${anyOf(nearest)}?` : ""
  const advice = `To name it before it exists, send "allow_unknown": true.`
  throw new GatewayError("invalid_request", `${field}: there is no ${noun} ${name} here.${hint} ${advice}`)
}
