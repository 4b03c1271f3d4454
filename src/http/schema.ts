import * as z from "zod"
import { errors, type ErrorName } from "../errors/errors.ts"
import { isPrintableLine, CONTROLS } from "../support/text/printable.ts"

/** The documented error envelope. */
export const ErrorEnvelope = z
  .object({
    error: z.object({
      code: z.int().meta({ description: "The HTTP status." }),
      message: z.string(),
      metadata: z
        .looseObject({
          reason: z.string().optional(),
          retryable: z.boolean().optional(),
          provider_code: z.string().optional().meta({ description: "The provider's own code." }),
          provider_name: z.string().optional(),
          patterns: z.array(z.string()).optional(),
        })
        .optional(),
    }),
  })
  .meta({ id: "Error" })

/** One of these values; the error message lists them. */
export function oneOf<const T extends readonly string[]>(text: T) {
  return z.enum(text, { error: `accepts ${text.join(", ")}` })
}

/** A UUID, in lower case. `noun`: the record that it names, with its article, for the error message. */
export function uuidParam(noun: string) {
  return z.uuid(`must be the UUID of ${noun}`).toLowerCase()
}

export function json<T extends z.ZodType>(schema: T) {
  return { "application/json": { schema } }
}

/**
 * A JSON body. `required`, because otherwise an empty request skips validation and the handler receives `{}`. The API
 * document has it only if the schema rejects `{}`.
 */
export function jsonBody<T extends z.ZodType>(schema: T) {
  return { content: json(schema), required: true as const }
}

export function ok<T extends z.ZodType>(schema: T, description = "OK") {
  return { description, content: json(schema) }
}

/** Without statuses, so that the type of a handler has only returned values: failures are thrown. */
type Failures = Record<never, ReturnType<typeof ok<typeof ErrorEnvelope>>>

/** The documented failures of a route, from the error table. */
export function failures(...names: ErrorName[]): Failures {
  const text = (name: ErrorName) => name.replaceAll("_", " ")
  return Object.fromEntries(names.map((name) => [errors[name].status, ok(ErrorEnvelope, text(name))]))
}

/** The message for a body, path or query that does not match its schema: the field and its rule. */
export function explain(error: { issues: readonly z.core.$ZodIssue[] }): string {
  const all = [...new Set(error.issues.map((issue) => describe(deepest(issue))))]
  const sentences = all.slice(0, 3)
  const more = all.length - sentences.length
  return sentences.join(" ") + (more > 0 ? ` (and ${more} more)` : "")
}

/**
 * A union reports every branch. The client meant the one in which only a size is wrong, otherwise the one with the
 * deepest issue.
 */
function deepest(issue: z.core.$ZodIssue): z.core.$ZodIssue {
  if (issue.code !== "invalid_union" || issue.errors.length === 0) return issue
  const [sized] = issue.errors.find((branch) => branch.length > 0 && branch.every(isAboutSize)) ?? []
  if (sized) return { ...sized, path: [...issue.path, ...sized.path] }
  let best: z.core.$ZodIssue | undefined
  for (const alternative of issue.errors) {
    const inner = alternative[0]
    if (!inner || inner.path.length === 0) continue
    const candidate = deepest({ ...inner, path: [...issue.path, ...inner.path] })
    if (!best || candidate.path.length > best.path.length) best = candidate
  }
  return best ?? issue
}

const isAboutSize = ({ code }: z.core.$ZodIssue) => code === "too_big" || code === "too_small"

function describe(issue: z.core.$ZodIssue): string {
  return `${fieldOf(issue.path)}: ${ruleOf(issue).replace(/\.?$/, ".")}`
}

/** The rule that is broken. A name in a record has the rule of names, unless the record states one for all of it. */
function ruleOf(issue: z.core.$ZodIssue): string {
  if (issue.code !== "invalid_key") return toText(issue.message)
  const [first] = issue.message === "Invalid key in record" ? issue.issues : issue.issues.filter(isAboutSize)
  return first ? `this name ${toText(first.message)}` : issue.message
}

/** A path in a body, such as `messages[0].content`. */
export function fieldOf(path: readonly PropertyKey[]): string {
  const parts = path.map((part) => (typeof part === "number" ? `[${part}]` : `.${String(part)}`))
  return parts.join("").replace(/^\./, "").toWellFormed() || "body"
}

/** Replaces the default messages of zod. */
function toText(message: string): string {
  const [, expected = "", received] = /^Invalid input: expected (\w+), received (\w+)$/.exec(message) ?? []
  if (expected === "") return toLimit(message) ?? toAccepted(message) ?? message
  if (received === "undefined") return "is required"
  const kind = { boolean: "true or false", int: "an integer" }[expected]
  return `must be ${kind ?? `${/^[aeio]/.test(expected) ? "an" : "a"} ${expected}`}`
}

const LIMITS = { ">=": "at least", "<=": "at most", exactly: "exactly", ">": "above", "<": "below" }

/** The rule of a limit without a custom message; undefined for other messages. */
function toLimit(message: string): string | undefined {
  const [, verb, sign = "", number = "", unit = ""] =
    /^Too (?:small|big): expected \w+ to (have|be) (>=|<=|>|<|exactly )(-?[\d.]+)(?: (\w+))?$/.exec(message) ?? []
  if (verb === undefined) return undefined
  const rule = `must ${verb} ${LIMITS[sign.trim() as keyof typeof LIMITS]} ${number}`
  return unit === "" ? rule : `${rule} ${number === "1" ? unit.replace(/s$/, "") : unit}`
}

/** The rule of fixed values, keys and formats without a custom message; undefined for other messages. */
function toAccepted(message: string): string | undefined {
  const [, values] = /^Invalid (?:input: expected|option: expected one of) (.+)$/.exec(message) ?? []
  if (values !== undefined) return `accepts ${values.replaceAll("|", ", ")}`
  if (message === "Invalid URL") return "must be a URL"
  if (message === "Invalid input") return "has none of the accepted forms"
  return undefined
}

/** An integer of a query, in decimal digits. `rule`: the message for any other value. */
export const queryInteger = (min: number, max: number, rule: string) =>
  z
    .string({ error: rule })
    .regex(/^\d{1,16}$/, rule)
    .transform(Number)
    .refine((value) => value >= min && value <= max, rule)
    .meta({ type: "integer", minimum: min, maximum: max })

/** The same for an optional value. The API document would not show the default of a transformed value. */
export const queryIntegerOr = (fallback: number, min: number, max: number, rule: string) =>
  queryInteger(min, max, rule)
    .default(fallback)
    .meta({ type: "integer", minimum: min, maximum: max, default: fallback })

/** Pagination of lists. */
export const PageQuery = z.object({
  limit: queryIntegerOr(50, 1, 100, "must be an integer from 1 to 100"),
  offset: queryIntegerOr(0, 0, Number.MAX_SAFE_INTEGER, "must be an integer of at least 0"),
})
export type Page = z.infer<typeof PageQuery>

/** A display name in lists, logs and messages, stored as sent. */
export const nameText = (maxLength: number, text = z.string({ error: "must be a string" })) =>
  text
    .min(1, "must not be blank")
    .max(maxLength, `must be at most ${maxLength} characters`)
    .refine((name) => /\S/.test(name), "must not be blank")
    .refine(isPrintableLine, "must be one line without control characters")
    .meta({ pattern: String.raw`^[^${CONTROLS}]*[^\s${CONTROLS}][^${CONTROLS}]*$` })

/** A text filter of a list; `fields` names the searched fields. */
export const textIn = (fields: string) =>
  z
    .string()
    .max(200, "must be at most 200 characters")
    .optional()
    .meta({ description: `Only those with this text in their ${fields}, in any case.` })
export type Search = { q?: string | undefined }
