import * as z from "zod"

/** A variable or secret of the Worker. An empty value counts as unset. */
export type Variable<Schema extends z.ZodType = z.ZodType> = {
  schema: Schema
  section: "general" | "timeouts" | "limits" | "providers" | "tools" | "identity" | "interns"
  /** For the reference: what the variable does. */
  effect: string
  /** For the reference, where the schema has no default. */
  unset?: string
  /** Messages never quote the value. */
  isSecret?: true
}

export function integerOf(unit: string, min: number, fallback: number) {
  const error = `must be a whole number of ${unit}, at least ${min}`
  return z
    .string()
    .regex(/^\d{1,15}$/, { error })
    .transform(Number)
    .refine((value) => value >= min, { error })
    .default(fallback)
}

export const milliseconds = (fallback: number) => integerOf("milliseconds", 1, fallback)

export function oneOf<const Values extends readonly [string, ...string[]]>(values: Values) {
  return z.enum(values, { error: `must be one of ${values.join(", ")}` })
}

const USD = "must be an amount of USD, such as 10 or 2.5"
export const usd = z
  .string()
  .regex(/^\d{1,9}(?:\.\d{1,6})?$/, { error: USD })
  .transform(Number)

export function url(example: string) {
  const error = `must be an http or https URL, such as ${example}`
  return z.string().refine((text) => /^https?:$/.test(URL.parse(text)?.protocol ?? ""), { error })
}

export const DNS_URL = "https://cloudflare-dns.com/dns-query"

const DOMAIN = "must be a domain name, such as interns.example.com"
export const domain = z
  .string()
  .transform((text) => text.toLowerCase().replaceAll(/^\.+|\.+$/g, ""))
  .refine((text) => /^[a-z0-9-]+(?:\.[a-z0-9-]+)*$/.test(text), { error: DOMAIN })

const TOOL_TYPES = "must be types of tools, separated by commas, such as code_interpreter"
export const toolTypes = z
  .string()
  .transform((text) =>
    text
      .split(",")
      .map((type) => type.trim())
      .filter((type) => type !== ""),
  )
  .refine((types) => types.every((type) => /^[\w.-]{1,64}$/.test(type)), { error: TOOL_TYPES })

export const text = z.string()

export const header = z
  .string()
  .transform((name) => name.toLowerCase())
  .refine((name) => /^[a-z0-9-]{1,64}$/.test(name), { error: "must be the name of a header, such as x-forwarded-for" })

export function define<Schema extends z.ZodType>(variable: Variable<Schema>): Variable<Schema> {
  return variable
}
