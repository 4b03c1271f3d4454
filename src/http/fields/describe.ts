import { isArray, isObject } from "../../support/text/json.ts"
import { RESPONSE_FIELDS } from "./responses.ts"
import { CATALOGUE_FIELDS } from "./catalogue.ts"
import { EXACT } from "./exact.ts"
import { GEMINI_FIELDS } from "./gemini.ts"
import { PARAMETERS } from "./parameters.ts"
import { RECORD_FIELDS } from "./records.ts"
import { REQUEST_FIELDS } from "./requests.ts"

const BY_NAME = { ...GEMINI_FIELDS, ...RECORD_FIELDS, ...CATALOGUE_FIELDS, ...RESPONSE_FIELDS, ...REQUEST_FIELDS }
const NESTED = ["items", "additionalProperties"]
const ALTERNATIVES = ["anyOf", "oneOf", "allOf"]

/** Describes the fields of a schema that have no description of their own. `schema`: its name in the document. */
export function describeFields(node: unknown, schema = ""): void {
  if (!isObject(node)) return
  const { properties } = node
  for (const [name, field] of Object.entries(isObject(properties) ? properties : {})) {
    if (isObject(field) && !isDescribed(field)) {
      const description = lookUp(EXACT, `${schema}.${name}`) ?? lookUp(BY_NAME, name)
      if (description !== undefined) field["description"] = description
    }
    describeFields(field, schema)
  }
  for (const name of NESTED) describeFields(node[name], schema)
  for (const name of ALTERNATIVES) {
    const alternatives = node[name]
    if (isArray(alternatives)) for (const alternative of alternatives) describeFields(alternative, schema)
  }
}

type Parameter = { name?: string; description?: string; schema?: object }

export function describeParameter(parameter: Parameter): void {
  const { name = "", schema, description } = parameter
  if (description !== undefined || (schema && "description" in schema)) return
  const described = lookUp(PARAMETERS, name)
  if (described !== undefined) parameter.description = described
}

/** A reference is described by what it refers to. */
function isDescribed(field: object): boolean {
  return "description" in field || "$ref" in field
}

function lookUp(descriptions: Readonly<Record<string, string>>, name: string): string | undefined {
  return Object.hasOwn(descriptions, name) ? descriptions[name] : undefined
}
