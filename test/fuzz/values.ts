import type { Schema } from "./document.ts"
import type { Random } from "./random.ts"

/** Text that parsers, stores and templates may mishandle. */
export const ODD_TEXT: readonly string[] = [
  "",
  " ",
  "\u0000",
  "a\u0000b",
  "\ud800",
  "\udfff\ud800",
  "\ufeff",
  "\u202e\u2066abc",
  "e\u0301\u0301\u0301",
  "👩‍👩‍👧‍👦",
  "ﷺ".repeat(50),
  "a".repeat(70_000),
  "\r\nx-injected: 1",
  "'; DROP TABLE api_keys; --",
  "<script>alert(1)</script>",
  "${7*7}{{7*7}}",
  "../../../../etc/passwd",
  "%00%0d%0a",
  "__proto__",
  "constructor",
  "toString",
  "NaN",
  "-0",
  "1e309",
  "null",
  "true",
  "0x10",
  "(a+)+$",
  "\\",
  '"',
  "data:text/html,<b>",
  "http://127.0.0.1:1/",
  "http://[::1]/",
  "http://169.254.169.254/latest/meta-data",
  "file:///etc/passwd",
  "javascript:alert(1)",
]

const ODD_NUMBERS = [0, -0, -1, 1.5, 1e-9, 1e308, -1e308, 2 ** 53, 2 ** 53 + 2, 2 ** 31, -(2 ** 63), 1e21]

export function oddValue(random: Random): unknown {
  return random.pick<() => unknown>([
    () => null,
    () => true,
    () => random.pick(ODD_NUMBERS),
    () => random.pick(ODD_TEXT),
    () => [],
    () => ({}),
    () => [[[[[[]]]]]],
    () => [null, 1, "x", {}],
    () => deep(random.pick([10, 100, 1_000])),
    () => Object.fromEntries(Array.from({ length: 2_000 }, (_, at) => [`k${at}`, at])),
    () => Array.from({ length: 5_000 }, () => 0),
  ])()
}

function deep(levels: number): unknown {
  let value: unknown = 1
  for (let at = 0; at < levels; at++) value = at % 2 === 0 ? [value] : { a: value }
  return value
}

/** A value that mostly fits the schema. `ids`: of existing records. */
export class Sampler {
  readonly #random: Random
  readonly #ids: readonly string[]
  readonly #resolve: (schema: Schema) => Schema

  constructor(random: Random, ids: readonly string[], resolve: (schema: Schema) => Schema) {
    this.#random = random
    this.#ids = ids
    this.#resolve = resolve
  }

  sample(given: Schema | undefined, name = "", depth = 0): unknown {
    const random = this.#random
    const schema = given && this.#resolve(given)
    if (!schema || depth > 6) return random.chance(0.5) ? {} : "x"
    if (schema.const !== undefined) return schema.const
    if (schema.enum && schema.enum.length > 0) return random.pick(schema.enum)
    if (schema.example !== undefined && random.chance(0.5)) return schema.example
    const parts = schema.oneOf ?? schema.anyOf
    if (parts && parts.length > 0) return this.sample(random.pick(parts), name, depth)
    if (schema.allOf) return Object.assign({}, ...schema.allOf.map((part) => this.sample(part, name, depth)))
    const type = Array.isArray(schema.type) ? random.pick(schema.type) : schema.type
    if (type === "object" || schema.properties) return this.#object(schema, depth)
    if (type === "array") return this.#array(schema, name, depth)
    if (type === "boolean") return random.chance(0.5)
    if (type === "null") return null
    if (type === "integer" || type === "number") return this.#number(schema)
    return this.string(schema, name)
  }

  #object({ properties = {}, required = [], additionalProperties }: Schema, depth: number): Record<string, unknown> {
    const random = this.#random
    const fields: [string, unknown][] = []
    for (const [name, schema] of Object.entries(properties)) {
      if (required.includes(name) || random.chance(depth === 0 ? 0.25 : 0.15)) {
        fields.push([name, this.sample(schema, name, depth + 1)])
      }
    }
    if (additionalProperties && typeof additionalProperties === "object" && random.chance(0.3)) {
      fields.push([random.hex(4), this.sample(additionalProperties, "", depth + 1)])
    }
    return Object.fromEntries(fields)
  }

  #array({ items, minItems = 0, maxItems = 3 }: Schema, name: string, depth: number): unknown[] {
    const length = Math.min(minItems + this.#random.int(3), Math.max(minItems, maxItems))
    return Array.from({ length }, () => this.sample(items, name, depth + 1))
  }

  #number({ minimum = 0, maximum = 1_000, type }: Schema): number {
    const random = this.#random
    if (random.chance(0.2)) return random.pick([minimum, maximum])
    const value = minimum + random.next() * Math.min(maximum - minimum, 1_000)
    return type === "number" ? Math.round(value * 100) / 100 : Math.round(value)
  }

  string({ format, pattern = "", minLength = 0, maxLength = 64 }: Schema, name: string): string {
    const random = this.#random
    if (name === "model" || name === "models") return random.pick(["scripted/model-0", "scripted/model-1", "none/none"])
    if (/(_id|_ids|hash|hashes|ref|slug|id|vault)$/i.test(name) && this.#ids.length > 0 && random.chance(0.7)) {
      return random.pick(this.#ids)
    }
    if (format === "uuid") return this.#ids.length > 0 && random.chance(0.5) ? random.pick(this.#ids) : random.uuid()
    if (format === "date-time") return new Date(1.79e12 + random.int(1e9)).toISOString()
    if (format === "date") return new Date(1.79e12 + random.int(1e9)).toISOString().slice(0, 10)
    if (format === "uri" || /url$/i.test(name))
      return random.pick(["https://hooks.example.com/x", "http://127.0.0.1:1/"])
    if (format === "email" || name === "email") return `${random.hex(6)}@example.com`
    if (pattern.includes("{64}")) return random.hex(64)
    const text = random.pick(["Hello", "name-1", "a", "release-notes", random.hex(8)])
    return text.padEnd(minLength, "x").slice(0, Math.max(maxLength, minLength))
  }
}

/** The same value with one of its parts exchanged, doubled, renamed or removed. */
export function mutate(value: unknown, random: Random): unknown {
  if (Array.isArray(value) && value.length > 0 && random.chance(0.7)) {
    const at = random.int(value.length)
    return value.map((item: unknown, index) => (index === at ? mutate(item, random) : item))
  }
  if (value !== null && typeof value === "object" && !Array.isArray(value) && random.chance(0.8)) {
    const entries = Object.entries(value)
    const at = random.int(entries.length + 1)
    const [name, old] = entries[at] ?? []
    if (name === undefined) return { ...value, [random.pick(ODD_TEXT)]: oddValue(random) }
    const others = entries.filter(([other]) => other !== name)
    return random.pick<() => unknown>([
      () => Object.fromEntries(others),
      () => Object.fromEntries([...others, [name, mutate(old, random)]]),
      () => Object.fromEntries([...others, [name, oddValue(random)]]),
      () => Object.fromEntries([...others, [`${name}_`, old]]),
    ])()
  }
  return oddValue(random)
}

/** JSON text, valid or slightly broken, that `JSON.stringify` never writes. */
export function brokenJson(value: unknown, random: Random): string {
  const text = JSON.stringify(value) ?? "null"
  return random.pick<() => string>([
    () => text.slice(0, random.int(text.length + 1)),
    () => `${text}${text}`,
    () => `\ufeff${text}`,
    () => `{"__proto__":{"isAdmin":true},${text.slice(1)}`,
    () => `{"constructor":{"prototype":{"isAdmin":true}},${text.slice(1)}`,
    () => text.replace(/^\{"(\w+)":/, '{"$1":null,"$1":'),
    () => text.replaceAll('"', "'"),
    () => "[".repeat(random.pick([10, 10_000, 100_000])),
    () => `{"a":`.repeat(50_000),
    () => text.replace(/\d+/, "1e999"),
    () => text.replace(/:\s*"/, ':"\\ud800'),
    () => text.replace(/:\s*"/, ':"\\u00'),
    () => text.replace(/\}$/, ",}"),
    () => `/* c */${text}`,
    () => `"${"a".repeat(1_100_000)}"`,
    () => "",
    () => "null",
    () => "0",
    () => '"text"',
    () => "[]",
  ])()
}
