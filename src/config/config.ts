import type { Env } from "./env.ts"
import { type Config, type ParsedConfig, parseVariables, valueOf } from "./variables.ts"

const parsed = new WeakMap<object, ParsedConfig>()

/** The variables of a deployment, parsed once for each `env`. */
export function parseConfig(env: Env): ParsedConfig {
  const cached = parsed.get(env)
  if (cached) return cached
  const outcome = parseVariables(env)
  parsed.set(env, outcome)
  return outcome
}

/** Parses the variables again at the next use: for tests that change them. */
export function clearConfig(env: Env): void {
  parsed.delete(env)
}

/** A variable that does not parse has its default here: such a deployment serves nothing (app/configuration.ts). */
export function configOf(env: Env): Config {
  return parseConfig(env).config
}

/** The key or base URL of a provider or search engine, whose names are open-ended. */
export function credential(env: Env, name: string): string | undefined {
  return valueOf(env, name)
}
