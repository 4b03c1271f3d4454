import * as z from "zod"
import type { Env } from "../config/env.ts"
import { GatewayError } from "../errors/errors.ts"
import { explain } from "../http/schema.ts"
import { keptUrl, maskUrl } from "../outbound/masked-url.ts"
import { requireOutboundUrl } from "../outbound/required-url.ts"
import { sendOutbound } from "../outbound/send.ts"
import { hostsIn, outboundDeps } from "../outbound/settings.ts"
import { masterKeysOf } from "../secrets/master-key.ts"
import type { AssociatedData } from "../secrets/seal.ts"
import { findDataKey } from "../secrets/store.ts"
import { openSealed } from "../secrets/workspace-key.ts"
import { parseStored } from "../support/text/json.ts"
import { logError } from "../support/log.ts"
import { toTimestamp } from "../support/time/time.ts"
import type { Alert, AlertKind, ChannelType } from "./alert.ts"
import { type Channel, CHANNEL_SECRETS, CONFIGS, MASK } from "./schemas.ts"
import { type Configured, toOutbound } from "./send.ts"
import type { ChannelRow } from "./table.ts"

type Config = Readonly<Record<string, unknown>>

const URLS = ["url", "base_url"]

export function channelAad({
  id,
  workspaceId,
  type,
  version,
}: Pick<ChannelRow, "id" | "workspaceId" | "type" | "version">): AssociatedData {
  return { kind: "alert-channel", ownerId: id, workspaceId, name: type, version }
}

/** Validates a configuration against its type; throws 400 with the invalid field. */
export function readConfig(type: ChannelType, config: Config, env: Env): Config {
  const parsed = z.object({ config: CONFIGS[type] }).safeParse({ config })
  if (!parsed.success) throw new GatewayError("invalid_request", explain(parsed.error))
  const read: Config = parsed.data.config
  for (const name of CHANNEL_SECRETS[type]) {
    if (read[name] === MASK)
      throw new GatewayError("invalid_request", `config.${name}: is masked. Send the value itself.`)
  }
  for (const [name, url] of urlsOf(read)) requireOutboundUrl(`config.${name}`, url, hostsIn(env, "PRIVATE_HOSTS"))
  return read
}

export function splitConfig(type: ChannelType, config: Config): { open: Config; secret: Config } {
  const fieldsWhere = (isSecret: boolean) =>
    Object.fromEntries(Object.entries(config).filter(([name]) => CHANNEL_SECRETS[type].includes(name) === isSecret))
  return { open: fieldsWhere(false), secret: fieldsWhere(true) }
}

export function toChannel(row: ChannelRow): z.infer<typeof Channel> {
  const instant = (at: number | null) => (at === null ? null : toTimestamp(at))
  return {
    id: row.id,
    workspace_id: row.workspaceId,
    all_workspaces: row.allWorkspaces,
    type: row.type,
    name: row.name,
    enabled: row.enabled,
    kinds: row.kinds === null ? null : ([...row.kinds] as AlertKind[]),
    config: {
      ...row.config,
      ...maskedUrls(row.config),
      ...Object.fromEntries(CHANNEL_SECRETS[row.type].map((name) => [name, MASK])),
    },
    created_at: toTimestamp(row.createdAt),
    updated_at: toTimestamp(row.updatedAt),
    last_success_at: instant(row.lastSuccessAt),
    last_error_at: instant(row.lastErrorAt),
    last_error: row.lastError,
  }
}

const maskedUrls = (config: Config) =>
  Object.fromEntries(urlsOf(config).map(([name, url]) => [name, maskUrl(url)] as const))

function urlsOf(config: Config): [name: string, url: string][] {
  return URLS.flatMap((name): [string, string][] => {
    const { [name]: url } = config
    return typeof url === "string" ? [[name, url]] : []
  })
}

/** A configuration as sent, with the stored URLs where it has their masked form. */
export function withKeptUrls(sent: Config, before: Config): Config {
  const stored = Object.fromEntries(urlsOf(before))
  return { ...sent, ...Object.fromEntries(urlsOf(sent).map(([name, url]) => [name, keptUrl(url, stored[name])])) }
}

/** Decrypted secrets; undefined if they cannot be decrypted. */
export async function openSecrets(row: ChannelRow, env: Env): Promise<Config | undefined> {
  const dataKey = await findDataKey(env.DB, row, row.workspaceId)
  const plain = dataKey && (await openSealed({ aad: channelAad(row), sealed: row.sealed, dataKey }, masterKeysOf(env)))
  return plain === undefined ? undefined : parseStored<Config>(plain)
}

/** `message`: shown to users, without secrets and without text from the receiver. */
export type Outcome = { isTaken: boolean; status: number | null; message: string; retryAfterMs: number }

/** Attempts one delivery. Secrets are decrypted only here. */
export async function deliver(row: ChannelRow, alert: Alert, env: Env, now: number): Promise<Outcome> {
  const secret = await openSecrets(row, env)
  if (!secret) return rejectedOutcome("its secrets could not be decrypted: they were sealed under another MASTER_KEY")
  const configured = { type: row.type, config: { ...row.config, ...secret } } as Configured
  try {
    const outbound = await toOutbound(configured, alert, { deliveryId: `${alert.id}.${row.id}`, now })
    const sent = await sendOutbound(outbound, outboundDeps(env))
    if (sent.status === null) return rejectedOutcome(sent.reason)
    const { status, retryAfterMs } = sent
    const isTaken = status >= 200 && status < 300
    return { isTaken, status, message: `the receiver returned ${status}`, retryAfterMs: retryAfterMs ?? 0 }
  } catch (cause) {
    // Only the name of the error: its message may contain secrets.
    logError(
      "an alert could not be sent",
      { channel: row.id, type: row.type },
      cause instanceof Error ? cause.name : "",
    )
    return rejectedOutcome("the request could not be built from its configuration")
  }
}

function rejectedOutcome(message: string): Outcome {
  return { isTaken: false, status: null, message, retryAfterMs: 0 }
}
