import { shortHash } from "../../support/hash.ts"

/**
 * Names of tools in the chat format, which allows fewer characters than the other formats: a name that it does not allow
 * is replaced, and restored in the response. Equal names get equal replacements, in every turn of a conversation.
 */

const ALLOWED = /^[\w-]{1,64}$/
const MAX_LENGTH = 64

export function toChatName(name: string): string {
  if (ALLOWED.test(name)) return name
  const suffix = `_${shortHash(name)}`
  return name.replaceAll(/[^\w-]/g, "_").slice(0, MAX_LENGTH - suffix.length) + suffix
}

/** The names that were replaced, by their replacement. */
export function replacedNames(names: Iterable<string>): ReadonlyMap<string, string> {
  const entries = [...names].map((name) => [toChatName(name), name] as const)
  return new Map(entries.filter(([chatName, name]) => chatName !== name))
}
