import * as z from "zod"
import { explain } from "../../http/schema.ts"
import type { Fault } from "../../http/validate.ts"
import { isObject } from "../../support/text/json.ts"
import { invalid, SCIM_TYPES, type ScimError, type ScimType } from "./errors.ts"

export const NOT_AN_OBJECT = "The body is not valid JSON. Send one JSON object."

/** A message of RFC 7644. Its attribute names are case-insensitive. */
export function message<Shape extends z.ZodRawShape>(shape: Shape, error = NOT_AN_OBJECT) {
  const names = new Map(Object.keys(shape).map((name) => [name.toLowerCase(), name]))
  const rename = (input: unknown) =>
    isObject(input)
      ? Object.fromEntries(Object.entries(input).map(([name, value]) => [names.get(name.toLowerCase()) ?? name, value]))
      : input
  return z.preprocess(rename, z.object(shape, { error }))
}

/** A value that passes `test`. Other values fail with this scimType. */
export function rule<T>(scimType: ScimType, error: string, test: (value: unknown) => boolean) {
  return z.custom<T>(test, { error, params: { scimType } })
}

/** The same for a rule about several fields, which `superRefine` reports. */
export function issue(scimType: ScimType, path: string[], text: string) {
  return { code: "custom" as const, path, message: text, params: { scimType } }
}

/** A SCIM error has one scimType, so only the first fault is reported. */
export function toScimError({ issues }: Fault): ScimError {
  const [first] = issues
  if (!first || first.path.length === 0) return invalid("invalidSyntax", first?.message ?? NOT_AN_OBJECT)
  return invalid(scimTypeOf(first), explain({ issues: [first] }))
}

function scimTypeOf(fault: z.core.$ZodIssue): ScimType {
  if (fault.code === "too_big") return "tooMany"
  if (fault.code === "invalid_format") return "invalidValue"
  const { data } = z.enum(SCIM_TYPES).safeParse(fault.code === "custom" && fault.params?.["scimType"])
  return data ?? "invalidSyntax"
}

export function readMessage<Schema extends z.ZodType>(schema: Schema, input: unknown): z.infer<Schema> {
  const result = schema.safeParse(input)
  if (!result.success) throw toScimError(result.error)
  return result.data
}
