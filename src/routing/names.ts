import type { Catalogue, Model } from "../models/catalogue.ts"

/**
 * Resolves model names: an id, an id with a variant suffix, or an alias of the newest model of a family.
 */

export type Sort = "price" | "throughput" | "latency" | "exacto"

export type ResolvedModel = {
  name: string
  model: Model | undefined
  sort?: Sort
  /** Only free endpoints. */
  isFree?: true
}

/** Variants that select a sort instead of a model. */
const SORT_VARIANTS: ReadonlyMap<string, Sort> = new Map([
  ["floor", "price"],
  ["nitro", "throughput"],
  ["exacto", "exacto"],
])
/** Variants that change the request and are applied before routing. */
const REQUEST_VARIANTS: readonly string[] = ["online", "thinking"]

/** Whether a name has a variant, in any letter case. */
export function hasVariant(name: string, variant: string): boolean {
  return name.toLowerCase().split(":").slice(1).includes(variant)
}

export function findModel(name: string, catalogue: Catalogue): ResolvedModel {
  const model = catalogue.models.get(name) ?? findLatest(name, catalogue) ?? findLoose(name, catalogue)
  if (model) return { name, model }
  const colon = name.lastIndexOf(":")
  if (colon === -1) return { name, model: undefined }
  const variant = name.slice(colon + 1).toLowerCase()
  const base = findModel(name.slice(0, colon), catalogue)
  const sort = SORT_VARIANTS.get(variant)
  if (sort !== undefined) return { ...base, name, sort }
  return variant === "free" ? { ...base, name, isFree: true } : { name, model: undefined }
}

type LooseNames = ReadonlyMap<string, Model | "several">
const looseNames = new WeakMap<Catalogue, LooseNames>()

/** Finds a name in another letter case, or without author if only one author has such a model. */
function findLoose(name: string, catalogue: Catalogue): Model | undefined {
  const names = looseNames.get(catalogue) ?? readLooseNames(catalogue)
  looseNames.set(catalogue, names)
  const found = names.get(name.toLowerCase())
  return found === "several" ? undefined : found
}

function readLooseNames(catalogue: Catalogue): LooseNames {
  const names = new Map<string, Model | "several">()
  const add = (name: string, model: Model) => names.set(name, names.has(name) ? "several" : model)
  for (const model of catalogue.models.values()) {
    const id = model.id.toLowerCase()
    add(id, model)
    const slug = id.slice(id.indexOf("/") + 1)
    if (slug !== id && !slug.includes("/")) add(slug, model)
  }
  return names
}

/**
 * Splits off variants that change the request. A variant that is part of a model's own name stays.
 */
export function splitRequestVariants(name: string, catalogue: Catalogue): { name: string; variants: string[] } {
  const parts = name.split(":")
  const variants: string[] = []
  const remaining = parts.filter((part, at) => {
    const variant = part.toLowerCase()
    const isVariant = at > 0 && REQUEST_VARIANTS.includes(variant)
    if (!isVariant || isModel(parts.slice(0, at + 1).join(":"), catalogue)) return true
    variants.push(variant)
    return false
  })
  return { name: remaining.join(":"), variants }
}

function isModel(name: string, catalogue: Catalogue): boolean {
  return catalogue.models.has(name) || findLoose(name, catalogue) !== undefined
}

/**
 * `~author/family-latest`: the highest version among the author's models whose name has the family's terms and a
 * version; a preview only if there is no other. `claude-sonnet` matches `claude-sonnet-4.5` and `claude-3.7-sonnet`,
 * but not `…-thinking`.
 */
function findLatest(name: string, catalogue: Catalogue): Model | undefined {
  const [, author, family] = /^~([^/]+)\/(.+)-latest$/.exec(name.toLowerCase()) ?? []
  if (author === undefined || family === undefined) return undefined
  const familySlug = readSlug(family)
  const candidates = [...catalogue.models.values()].flatMap((model) => {
    const id = model.id.toLowerCase()
    if (!id.startsWith(`${author}/`)) return []
    const slug = readSlug(id.slice(author.length + 1))
    const isOfFamily =
      slug.stem === familySlug.stem &&
      familySlug.version.every((part, at) => slug.version[at] === part) &&
      !slug.hasVariant
    return isOfFamily ? [{ model, ...slug }] : []
  })
  return candidates.toSorted(
    (a, b) =>
      Number(a.isPreview) - Number(b.isPreview) ||
      compare(b.version, a.version) ||
      compare(b.dates, a.dates) ||
      b.model.created - a.model.created ||
      (a.model.id < b.model.id ? -1 : 1),
  )[0]?.model
}

const PREVIEWS = new Set(["preview", "beta", "exp", "experimental", "alpha"])
/** A date in a name is not a version, but orders models of the same version. */
const MIN_DATE = 100

type Slug = { stem: string; version: number[]; dates: number[]; isPreview: boolean; hasVariant: boolean }

function readSlug(text: string): Slug {
  const [slug = "", ...variants] = text.split(":")
  const tokens = slug.split(/[-_]/).filter((token) => token !== "")
  const numbered = tokens.filter((token) => /\d/.test(token))
  const numbers = numbered.flatMap((token) => [...token.matchAll(/\d+/g)].map(([digits]) => Number(digits)))
  const stemTokens = tokens.filter((token) => !/\d/.test(token) && !PREVIEWS.has(token))
  return {
    stem: stemTokens.toSorted().join("-"),
    version: numbers.filter((one) => one < MIN_DATE),
    dates: numbers.filter((one) => one >= MIN_DATE),
    isPreview: tokens.some((token) => PREVIEWS.has(token)),
    hasVariant: variants.length > 0,
  }
}

function compare(a: readonly number[], b: readonly number[]): number {
  for (let at = 0; at < Math.max(a.length, b.length); at++) {
    const difference = (a[at] ?? -1) - (b[at] ?? -1)
    if (difference !== 0) return difference
  }
  return 0
}
