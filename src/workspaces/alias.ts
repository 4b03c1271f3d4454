import { PRESET_MARK } from "../models/known-names.ts"

/** One of an alias's models, with the conditions for choosing it. Absent conditions always hold. */
export type AliasArm = {
  /** `author/slug`, optionally with variants and `@preset/slug`. */
  model: string
  /** Weight among the arms whose conditions hold. */
  weight: number
  regions?: readonly string[] | undefined
  key_hashes?: readonly string[] | undefined
  min_prompt_tokens?: number | undefined
  max_prompt_tokens?: number | undefined
}

export type Alias = { description?: string | null | undefined; arms: readonly AliasArm[] }

/** By name. */
export type Aliases = Readonly<Record<string, Alias>>

/** Input of the conditions. `region`: of the hostname, or `global`; `promptTokens`: estimated. */
export type ArmFacts = { region: string; keyHash: string; promptTokens: number }

/** The arm for a call; undefined if no arm's conditions hold. `chance`: above 0, at most 1. */
export function chooseArm({ arms }: Alias, facts: ArmFacts, chance: number): AliasArm | undefined {
  const open = arms.filter((arm) => holds(arm, facts))
  let remaining = chance * open.reduce((all, { weight }) => all + weight, 0)
  for (const arm of open) {
    remaining -= arm.weight
    if (remaining <= 0) return arm
  }
  return open.at(-1)
}

function holds(arm: AliasArm, { region, keyHash, promptTokens }: ArmFacts): boolean {
  return (
    (arm.regions?.includes(region) ?? true) &&
    (arm.key_hashes?.includes(keyHash) ?? true) &&
    promptTokens >= (arm.min_prompt_tokens ?? 0) &&
    promptTokens <= (arm.max_prompt_tokens ?? Infinity)
  )
}

/** An alias as a request names it. `name`: as stored. `suffix`: the variants and the preset after its name. */
export type NamedAlias = { alias: Alias; name: string; suffix: string }

/**
 * Finds `requested`, or the longest alias that variants (`:nitro`) or a preset follow in it. Names match without regard
 * to case, as those of models do; the exact spelling counts first.
 */
export function findNamedAlias(aliases: Aliases | null, requested: string): NamedAlias | undefined {
  if (aliases === null) return undefined
  const startBefore = (end: number) =>
    Math.max(requested.lastIndexOf(":", end - 1), requested.lastIndexOf(PRESET_MARK, end - 1))
  for (let end = requested.length; end > 0; end = startBefore(end)) {
    const name = spelledName(aliases, requested.slice(0, end))
    const alias = name === undefined ? undefined : aliases[name]
    if (name !== undefined && alias) return { alias, name, suffix: requested.slice(end) }
  }
  return undefined
}

const namesByLowerCase = new WeakMap<Aliases, ReadonlyMap<string, string>>()

function spelledName(aliases: Aliases, requested: string): string | undefined {
  if (Object.hasOwn(aliases, requested)) return requested
  let names = namesByLowerCase.get(aliases)
  if (!names) {
    names = new Map(Object.keys(aliases).map((name) => [name.toLowerCase(), name]))
    namesByLowerCase.set(aliases, names)
  }
  return names.get(requested.toLowerCase())
}

/** The alias with this name; undefined for an unknown name. Names such as `constructor` are not special. */
export function findAlias(aliases: Aliases, name: string): Alias | undefined {
  return Object.hasOwn(aliases, name) ? aliases[name] : undefined
}
