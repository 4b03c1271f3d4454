import type { StoredOf } from "../../support/db.ts"
import { toTimestamp } from "../../support/time/time.ts"
import { isObject } from "../../support/text/json.ts"
import { type Document, ENTERPRISE_SCHEMA, readDocument, USER_ATTRIBUTES, USER_SCHEMA } from "../protocol/attributes.ts"
import { invalid } from "../protocol/errors.ts"
import type { scimUsers } from "../table.ts"
import { foldEmail } from "../../support/text/email.ts"

/** `attributes`: JSON of a Document. */
export type UserRow = Omit<StoredOf<typeof scimUsers>, "remote_id">

export type UserFields = Pick<
  UserRow,
  "user_name" | "external_id" | "active" | "email" | "first_name" | "last_name" | "attributes"
>

const string = (value: unknown): string | null => (typeof value === "string" && value !== "" ? value : null)

/**
 * A user as read from a body. `active` is the last explicit value: a user who was not set to inactive is active, even
 * if the attribute is removed (`isGiven` false).
 */
export function readUser(
  body: Record<string, unknown>,
  { wasActive, isSet }: { wasActive: boolean; isSet: boolean } = { wasActive: true, isSet: true },
): UserFields {
  const document = readDocument(USER_ATTRIBUTES, body)
  const userName = string(document["userName"])
  if (userName === null || userName.trim() === "") throw invalid("invalidValue", "userName: is required.")
  const active = document["active"] ?? wasActive
  const name = isObject(document["name"]) ? document["name"] : {}
  return {
    user_name: userName,
    external_id: string(document["externalId"]),
    active: active === true ? 1 : 0,
    email: emailOf(document, userName),
    first_name: string(name["givenName"]),
    last_name: string(name["familyName"]),
    attributes: JSON.stringify(isSet ? { ...document, active } : document),
  }
}

/** The primary address, otherwise the first one, otherwise a userName that is an address. */
function emailOf(document: Document, userName: string): string | null {
  const values: readonly unknown[] = Array.isArray(document["emails"]) ? document["emails"] : []
  const emails = values.filter(isObject)
  const primary = emails.find((email) => email["primary"] === true) ?? emails[0]
  const address = (string(primary?.["value"]) ?? userName).trim()
  return address.includes("@") ? foldEmail(address) : null
}

export type Reference = { value: string; display: string }

export function versionTag(version: number): string {
  return `W/"${version}"`
}

/** `base`: the URL of the service. */
export function toUser(row: UserRow, groups: readonly Reference[], base: string) {
  const document = JSON.parse(row.attributes) as Document
  return {
    schemas: ENTERPRISE_SCHEMA in document ? [USER_SCHEMA, ENTERPRISE_SCHEMA] : [USER_SCHEMA],
    id: row.id,
    ...document,
    groups: groups.map((group) => ({ ...group, $ref: `${base}/Groups/${group.value}`, type: "direct" })),
    meta: {
      resourceType: "User",
      created: toTimestamp(row.created_at),
      lastModified: toTimestamp(row.updated_at),
      location: `${base}/Users/${encodeURIComponent(row.id)}`,
      version: versionTag(row.version),
    },
  }
}
