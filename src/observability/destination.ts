import * as z from "zod"
import { explain } from "../http/schema.ts"
import { GatewayError } from "../errors/errors.ts"
import type { AssociatedData } from "../secrets/seal.ts"
import { decodeBase64, toBase64Url } from "../support/text/encoding.ts"
import type { StoredOf } from "../support/db.ts"
import { toTimestamp } from "../support/time/time.ts"
import { keptUrl, maskUrl, secretsInUrl } from "../outbound/masked-url.ts"
import { redactorFor } from "../outbound/redactor.ts"
import { requireOutboundUrl } from "../outbound/required-url.ts"
import { type Config, type Configured, isSecret, type KindName, KINDS } from "./kinds.ts"
import { isMask, maskValues } from "../support/text/mask.ts"
import type { Destination, DestinationChange, FilterRules, NewDestination } from "./schemas.ts"
import type { destinations } from "./table.ts"
import { isObject, parseStored } from "../support/text/json.ts"
import { isSameOrigin } from "../support/text/url.ts"

/** State of its deliveries: written by the consumer of the queue, never by a request. */
export const STATE_COLUMNS = ["last_success_at", "last_error_at", "last_error", "failures", "paused_until"] as const
export type DestinationState = Pick<StoredOf<typeof destinations>, (typeof STATE_COLUMNS)[number]> & {
  backlog: number
  dead_letters: number
  /** When the first pending batch is due. */
  next_due_at: number | null
}

/** Lists and objects are JSON. */
export type DestinationRow = Omit<StoredOf<typeof destinations>, (typeof STATE_COLUMNS)[number] | "deleted_at">

export const NO_STATE: DestinationState = {
  last_success_at: null,
  last_error_at: null,
  last_error: null,
  failures: 0,
  paused_until: 0,
  backlog: 0,
  dead_letters: 0,
  next_due_at: null,
}

/** Authenticated context of sealed secrets. */
export function secretsAad(row: Pick<DestinationRow, "id" | "workspace_id" | "type" | "version">): AssociatedData {
  const { id, workspace_id: workspaceId, type, version } = row
  return { kind: "destination", ownerId: id, workspaceId, name: type, version }
}

/** Splits a configuration into its public part and its sealed part. */
export function splitConfig(type: KindName, config: Config): { open: Config; secret: Config } {
  const fieldsWhere = (wantsSecret: boolean) =>
    Object.fromEntries(Object.entries(config).filter(([name]) => isSecret(type, name) === wantsSecret))
  return { open: fieldsWhere(false), secret: fieldsWhere(true) }
}

/** Validates a configuration against its kind; throws 400 with the invalid field. */
export function readConfig(type: KindName, config: Config, privateHosts: ReadonlySet<string>): Config {
  const parsed = z.object({ config: KINDS[type].config }).safeParse({ config })
  if (!parsed.success) throw new GatewayError("invalid_request", explain(parsed.error))
  const read = parsed.data.config as Config
  for (const [name, value] of Object.entries(splitConfig(type, read).secret)) rejectMasked(`config.${name}`, value)
  for (const name of KINDS[type].urls) {
    if (typeof read[name] === "string") requireOutboundUrl(`config.${name}`, read[name], privateHosts)
  }
  return read
}

function rejectMasked(path: string, value: unknown): void {
  if (typeof value === "object" && value !== null) {
    for (const [name, inner] of Object.entries(value)) rejectMasked(`${path}.${name}`, inner)
  } else if (isMask(String(value))) {
    throw new GatewayError("invalid_request", `${path}: is masked. Send the value itself.`)
  }
}

/** Merges a change into a configuration: omitted fields and returned masks keep their value; null removes one. */
export function mergeConfig(type: KindName, before: Config, change: Config): Config {
  const merged = { ...before }
  for (const [name, value] of Object.entries(change)) {
    if (value === null) delete merged[name]
    else if (name === "headers" && typeof value === "object") {
      merged[name] = keepMasked(before.headers ?? {}, value as Record<string, string>)
    } else if (KINDS[type].urls.includes(name) && typeof value === "string") {
      merged[name] = keptUrl(value, String(before[name]))
    } else if (!isSecret(type, name) || typeof value !== "string" || !isMask(value)) merged[name] = value
  }
  return merged
}

/** Signs requests and is never sent. */
const UNSENT_SECRET = "signingSecret"

/** A URL with a new host needs the secrets again: secrets for one host are not sent to another. */
export function requireSecretsAgain(type: KindName, before: Config, change: Config): void {
  const isMoved = KINDS[type].urls.some(
    (name) => typeof change[name] === "string" && !isSameOrigin(change[name], String(before[name])),
  )
  if (!isMoved) return
  for (const name of [...KINDS[type].secrets, "headers"]) {
    if (name === UNSENT_SECRET || isEmpty(before[name])) continue
    const sent = change[name]
    const values = isObject(sent) ? Object.values(sent) : [sent]
    if (sent !== undefined && !values.some((value) => isMask(String(value)))) continue
    throw new GatewayError("invalid_request", `config.${name}: would be sent to another host. Send the value itself.`)
  }
}

const isEmpty = (value: unknown) => value === undefined || (isObject(value) && Object.keys(value).length === 0)

function keepMasked(before: Record<string, string>, sent: Record<string, string>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(sent).map(([name, value]) => [name, isMask(value) ? (before[name] ?? value) : value]),
  )
}

/** Decrypted configuration for the sender. */
export function toConfigured({ type, config }: Pick<DestinationRow, "type" | "config">, secret: string): Configured {
  return { type, config: { ...parseStored<Config>(config), ...parseStored<Config>(secret) } } as Configured
}

const FLAGS = [
  "enabled",
  "privacy_mode",
  "broadcast_generation_cost",
  "broadcast_generation_identity",
  "broadcast_generation_request_context",
] as const

type Columns = Omit<DestinationRow, "id" | "organization_id" | "workspace_id" | "type" | "created_at" | "updated_at">

/** The columns that a body sets; the configuration is sealed separately. */
export function toColumns(input: DestinationChange | NewDestination): Partial<Columns> {
  const columns: Partial<Columns> = {}
  if (input.name !== undefined) columns.name = input.name
  for (const flag of FLAGS) if (input[flag] !== undefined) columns[flag] = input[flag] ? 1 : 0
  for (const list of ["api_key_hashes", "filter_rules"] as const) {
    const value = input[list]
    if (value !== undefined) columns[list] = value === null ? null : JSON.stringify(value)
  }
  if (input.regions !== undefined) columns.regions = JSON.stringify(input.regions)
  if (input.sampling_rate !== undefined) columns.sampling_rate = input.sampling_rate
  return columns
}

export const NEW_COLUMNS = {
  enabled: 1,
  api_key_hashes: null,
  filter_rules: null,
  regions: '["global"]',
  sampling_rate: 1,
  privacy_mode: 0,
  broadcast_generation_cost: 0,
  broadcast_generation_identity: 0,
  broadcast_generation_request_context: 0,
} as const

/** Fields whose values the audit log records: all but the configuration. */
export const AUDITED_FIELDS = ["name", "type", "api_key_hashes", "filter_rules", "regions", "sampling_rate", ...FLAGS]

/** `secret`: the decrypted JSON; undefined if it cannot be decrypted, and then omitted. */
export function toDestination(
  row: DestinationRow & DestinationState,
  secret: string | undefined,
): z.infer<typeof Destination> {
  const instant = (at: number | null) => (at === null ? null : toTimestamp(at))
  const lists = toLists(row)
  return {
    id: row.id,
    workspace_id: row.workspace_id,
    name: row.name,
    type: row.type,
    enabled: row.enabled === 1,
    config: { ...maskUrls(row.type, parseStored(row.config)), ...maskValues(parseStored<Config>(secret ?? "{}")) },
    ...lists,
    sampling_rate: row.sampling_rate,
    privacy_mode: row.privacy_mode === 1,
    broadcast_generation_cost: row.broadcast_generation_cost === 1,
    broadcast_generation_identity: row.broadcast_generation_identity === 1,
    broadcast_generation_request_context: row.broadcast_generation_request_context === 1,
    broadcast_generation_cost_allocation: false,
    created_at: toTimestamp(row.created_at),
    updated_at: toTimestamp(row.updated_at),
    last_success_at: instant(row.last_success_at),
    last_error_at: instant(row.last_error_at),
    last_error: row.last_error,
    backlog: row.backlog,
    dead_letters: row.dead_letters,
    failures: row.failures,
    next_attempt_at: instant(row.next_due_at === null ? null : Math.max(row.next_due_at, row.paused_until)),
  }
}

function maskUrls(type: KindName, config: Config): Config {
  const urls = KINDS[type].urls.flatMap((name) => {
    const { [name]: url } = config
    return typeof url === "string" ? [[name, maskUrl(url)] as const] : []
  })
  return { ...config, ...Object.fromEntries(urls) }
}

/** Parsed values of the columns that hold lists and objects. */
export function toLists(row: Pick<DestinationRow, "api_key_hashes" | "filter_rules" | "regions">) {
  return {
    api_key_hashes: row.api_key_hashes === null ? null : [...parseStored<string[]>(row.api_key_hashes)],
    filter_rules: row.filter_rules === null ? null : parseStored<FilterRules>(row.filter_rules),
    regions: [...parseStored<("global" | "europe" | "us")[]>(row.regions)],
  }
}

/** Redacts the destination's secrets, and headers derived from them, in all encodings of its response. */
export function withoutSecrets(
  text: string,
  { config, type }: Configured,
  sent: Readonly<Record<string, string>>,
): string {
  const { open, secret: sealed } = splitConfig(type, config)
  const { headers = {}, ...secret } = sealed
  const inUrls = KINDS[type].urls.flatMap((name) => {
    const { [name]: url } = open
    return typeof url === "string" ? secretsInUrl(url) : []
  })
  const result = Object.entries(sent).flatMap(([name, value]) => (PLAIN_HEADERS.includes(name) ? [] : [value]))
  const values = [...Object.values(secret), ...Object.values(headers), ...inUrls, ...result].map(String)
  const forms = values.flatMap((value) => [value, value.replace(/^\w+ /, ""), ...encodingsOf(value)])
  const longestFirst = forms.filter((form) => form.length > 3).toSorted((one, other) => other.length - one.length)
  const found = longestFirst.reduce((result, form) => result.replaceAll(form, "[redacted]"), text)
  return redactorFor({ released: [], secrets: values.map((value) => ({ value, placeholder: "[redacted]" })) }).text(
    found,
  )
}

const PLAIN_HEADERS = ["content-type", "accept", "user-agent"]

function encodingsOf(value: string): string[] {
  const bytes = new TextEncoder().encode(value)
  const url = toBase64Url(bytes)
  const plain = decodeBase64(value)
  return [
    encodeURIComponent(value),
    JSON.stringify(value).slice(1, -1),
    url,
    btoa(String.fromCharCode(...bytes)),
    ...(plain && plain.byteLength > 8 ? [new TextDecoder().decode(plain)] : []),
  ]
}
