import * as z from "zod"
import { type Filter, parse } from "scim2-parse-filter"
import { invalid } from "./errors.ts"

const MAX_FILTER_LENGTH = 2_000

const QUOTED = /"(?:[^"\\]|\\.)*"/gs
/** Some clients capitalize them. */
const LITERAL = /(?<=\s)(?:true|false|null)(?=[\s)\]]|$)/gi
/** `emails[type eq "work"].value eq "x"`, as Entra sends it: both conditions on the same value. */
const PART = /\[([^[\]]*)\]\.([\w$-]+)\s+(pr\b|\w+\s+[^\s()[\]]+)/gi

/** A filter of RFC 7644, section 3.4.2.2, as a tree. */
export function readFilter(rule: string): Filter {
  if (rule.length > MAX_FILTER_LENGTH) {
    throw invalid("invalidFilter", `filter: takes at most ${MAX_FILTER_LENGTH} characters.`)
  }
  // The parser handles escapes differently: strings are replaced by their indexes.
  const strings: string[] = []
  const bare = rule
    .replaceAll(QUOTED, (quoted) => `"${strings.push(toText(quoted)) - 1}"`)
    .replaceAll(LITERAL, (literal) => literal.toLowerCase())
    .replaceAll(PART, "[($1) and $2 $3]")
  try {
    return withStrings(parse(bare), strings)
  } catch {
    throw invalid("invalidFilter", 'filter: is not a SCIM filter. Write, for example: userName eq "ada@example.com"')
  }
}

/** Strings are JSON. Others are taken literally, such as a domain and a name with a single backslash. */
function toText(quoted: string): string {
  try {
    return z.string().parse(JSON.parse(quoted))
  } catch {
    return quoted.slice(1, -1).replaceAll('\\"', '"')
  }
}

function withStrings(filter: Filter, strings: readonly string[]): Filter {
  switch (filter.op) {
    case "and":
    case "or":
      return { ...filter, filters: filter.filters.map((one) => withStrings(one, strings)) }
    case "not":
      return { ...filter, filter: withStrings(filter.filter, strings) }
    case "[]":
      return { ...filter, valFilter: withStrings(filter.valFilter, strings) }
    case "pr":
      return filter
    default: {
      const { compValue } = filter
      return typeof compValue === "string" ? { ...filter, compValue: strings[Number(compValue)] ?? "" } : filter
    }
  }
}
