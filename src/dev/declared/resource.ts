import { createHash } from "node:crypto"
import { isArray, isObject, type Json, withoutNullFields } from "../../support/text/json.ts"

/** In the order in which changes are applied. */
export const KINDS = [
  "price",
  "provider",
  "provider_budget",
  "workspace",
  "budget",
  "guardrail",
  "byok",
  "mcp_server",
  "passthrough_service",
  "key",
  "guardrail_keys",
  "preset",
  "alias",
  "destination",
  "alert_channel",
] as const
export type Kind = (typeof KINDS)[number]

/** A resource of the configuration, in a file or in the gateway. */
export type Resource = {
  kind: Kind
  /** Slug. For a workspace the same as `name`; empty for resources outside of workspaces. */
  workspace: string
  name: string
  /** In API field names, normalized. A file declares some of them. */
  fields: Json
  /** Values of fields that are compared by their mask. Never printed or stored. */
  secrets?: Json
  /** The request that creates a preset as declared. */
  request?: { path: string; body: Json }
}

export type LiveResource = Resource & {
  id: string
  /** Never removed: the default workspace, a workspace's default guardrail. */
  isProtected: boolean
}

export type FieldChange = { field: string; from: unknown; to: unknown }
export type Change = {
  action: "create" | "update" | "remove"
  kind: Kind
  workspace: string
  name: string
  address: string
  /** Id of the resource to change or remove. */
  id: string | null
  fields: readonly FieldChange[]
  /** All declared fields; empty for a removal. */
  declared: Json
  /** Values of fields that are shown masked. */
  secrets: Json
  request?: Resource["request"]
  /** Changed or removed by someone else since the last apply. */
  drift: boolean
}

const SECTIONS = {
  budget: "budgets",
  guardrail: "guardrails",
  byok: "byok",
  mcp_server: "mcp_servers",
  passthrough_service: "passthrough_services",
  key: "keys",
  preset: "presets",
  alias: "aliases",
  destination: "destinations",
  alert_channel: "alert_channels",
} as const

/** Address of a resource in the file: `workspaces.search.keys.ci`. */
export function addressOf({ kind, workspace, name }: Pick<Resource, "kind" | "workspace" | "name">): string {
  if (kind === "price" || kind === "provider" || kind === "provider_budget") return `${kind}s.${name.replace(" ", ".")}`
  const base = `workspaces.${workspace}`
  if (kind === "workspace") return base
  if (kind === "guardrail_keys") return `${base}.guardrails.${name}.keys`
  return `${base}.${SECTIONS[kind]}.${name}`
}

/** Normalizes fields for comparison: instants in UTC, lists without fields that the gateway adds. */
export function normalizeFields(fields: Json): Json {
  const defined = Object.entries(fields).filter(([, value]) => value !== undefined)
  return Object.fromEntries(defined.map(([name, value]) => [name, normalizeField(name, value)]))
}

function normalizeField(name: string, value: unknown): unknown {
  if (name === "expires_at" && typeof value === "string") return new Date(Date.parse(value)).toISOString()
  if (name === "content_filter_builtins" && isArray(value)) return value.map(normalizeDetector)
  if (name === "content_checks" && isArray(value)) return value.map(normalizeCheck)
  return withoutNullFields(value)
}

/** The direction has a default. */
function normalizeCheck(value: unknown): unknown {
  return isObject(value) ? { direction: "input", ...value } : value
}

/** The gateway ignores the label of a detector; the scope has a default. */
function normalizeDetector(value: unknown): unknown {
  if (!isObject(value)) return value
  const { label: _, scan_scope: scope, ...rest } = value
  return { ...rest, ...(rest["slug"] === "regex-prompt-injection" && { scan_scope: scope ?? "all_messages" }) }
}

/** JSON with sorted names, so that equal values have equal texts. */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(sortKeys(value))
}

function sortKeys(value: unknown): unknown {
  if (isArray(value)) return value.map(sortKeys)
  if (!isObject(value)) return value
  const entries = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1))
  return Object.fromEntries(entries.map(([name, inner]) => [name, sortKeys(inner)]))
}

/** SHA-256 of the named fields; absent fields count as null. */
export function fingerprintOf(fields: Json, names: readonly string[]): string {
  const values = names.toSorted().map((name) => [name, fields[name] ?? null])
  return createHash("sha256").update(canonicalJson(values)).digest("hex")
}
