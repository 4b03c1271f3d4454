import type { Json } from "../../support/text/json.ts"
import { list, record, text } from "./acp/acp-values.ts"

/** One field of a form. The limits are those of JSON Schema, if the agent sets them. */
export type FieldDescriptor = {
  name: string
  type: string
  title?: string
  description?: string
  required: boolean
  options?: string[]
  minimum?: number
  maximum?: number
  minLength?: number
  maxLength?: number
}

const LIMITS = ["minimum", "maximum", "minLength", "maxLength"] as const

/** `schema`: the flat object schema of an elicitation. */
export function fieldsOf(schema: Json): FieldDescriptor[] {
  const required = list(schema["required"])
  return Object.entries(record(schema["properties"])).map(([name, property]): FieldDescriptor => {
    const fieldSchema = record(property)
    const { type, title, description } = fieldSchema
    const options = optionsOf(fieldSchema)
    const limits = LIMITS.flatMap((limit) =>
      typeof fieldSchema[limit] === "number" ? [[limit, fieldSchema[limit]] as const] : [],
    )
    return {
      name,
      type: text(type) ?? "string",
      ...(typeof title === "string" && { title }),
      ...(typeof description === "string" && { description }),
      required: required.includes(name),
      ...(options.length > 0 && { options }),
      ...Object.fromEntries(limits),
    }
  })
}

/** A multiple choice field has its options in `items`. */
function optionsOf(property: Json): string[] {
  const { enum: rule, oneOf } = property
  const items = record(property["items"])
  const named = [...list(oneOf), ...list(items["anyOf"]), ...list(items["oneOf"])].map((one) => record(one)["const"])
  return [...list(rule), ...list(items["enum"]), ...named].filter((option) => typeof option === "string")
}

/** The error in the answer to a form, with the field and its valid values; undefined if valid. */
export function fieldError(fields: readonly FieldDescriptor[], answers: Json): string | undefined {
  const names = fields.map(({ name }) => name)
  // Agents choose the names, and every object has `constructor`.
  const valueOf = (name: string) => (Object.hasOwn(answers, name) ? answers[name] : undefined)
  const missing = fields.filter(({ name, required }) => required && valueOf(name) === undefined).map(({ name }) => name)
  if (missing.length > 0) return `content: must have ${missing.join(", ")}.`
  const unknown = Object.keys(answers).find((name) => !names.includes(name))
  if (unknown !== undefined) return `content.${unknown}: is no field of this form. It has ${names.join(", ")}.`
  for (const field of fields) {
    const value = valueOf(field.name)
    const fault = value === undefined ? undefined : faultOf(field, value)
    if (fault !== undefined) return `content.${field.name}: must be ${fault}.`
  }
  return undefined
}

function faultOf(field: FieldDescriptor, value: unknown): string | undefined {
  const { type, options } = field
  if (type === "boolean") return typeof value === "boolean" ? undefined : "true or false"
  if (type === "number" || type === "integer") return numberError(field, value)
  if (type === "array") {
    const isList = Array.isArray(value) && value.every((one) => typeof one === "string" && isOption(options, one))
    return isList ? undefined : `a list of ${options?.join(", ") ?? "texts"}`
  }
  if (type !== "string") return undefined
  if (typeof value !== "string") return "a text"
  if (!isOption(options, value)) return `one of ${options?.join(", ")}`
  const { minLength = 0, maxLength = Infinity } = field
  if (value.length < minLength) return `at least ${minLength} characters`
  return value.length > maxLength ? `at most ${maxLength} characters` : undefined
}

function numberError({ type, minimum = -Infinity, maximum = Infinity }: FieldDescriptor, value: unknown) {
  if (typeof value !== "number" || !Number.isFinite(value)) return "a number"
  if (type === "integer" && !Number.isInteger(value)) return "a whole number"
  if (value < minimum) return `at least ${minimum}`
  return value > maximum ? `at most ${maximum}` : undefined
}

const isOption = (options: readonly string[] | undefined, value: string) => !options || options.includes(value)
