import { hashKey } from "../access/key.ts"
import type { Principal } from "../access/principal.ts"
import { GatewayError } from "../errors/errors.ts"
import { mayMint } from "../keys/key.ts"
import { toBase64Url } from "../support/text/encoding.ts"
import { newId } from "../support/ids.ts"
import { suggestNames, anyOf } from "../support/text/suggest.ts"
import { type ClientName, defaultModel } from "./clients.ts"
import type { ConnectLinkRow } from "./table.ts"

const LINK_MS = 15 * 60_000
/** 256 bits. */
const TOKEN_BYTES = 32
/** Maximum unused links per key. */
export const MAX_LINKS = 20

/** A new link: its token, which is shown once, and the row without the sealed secret. */
export function newLink(
  key: Pick<Principal, "keyHash" | "organizationId" | "workspaceId" | "expiresAt">,
  { client, model }: { client: ClientName; model: string | null },
  now: number,
): { token: string; row: Omit<ConnectLinkRow, "sealed"> } {
  const token = toBase64Url(crypto.getRandomValues(new Uint8Array(TOKEN_BYTES)))
  const { keyHash, organizationId, workspaceId } = key
  const expiresAt = Math.min(now + LINK_MS, key.expiresAt ?? Infinity)
  const row = { hash: hashKey(token), id: newId(), organizationId, workspaceId, keyHash, client, model }
  return { token, row: { ...row, createdAt: now, expiresAt } }
}

/**
 * Throws unless the principal may hand over this key: its own, or one of a kind that it may create and delete. The
 * key's secret was presented, so the link gives no one more than the principal has. Agents run commands from models:
 * none gets a key that manages the account, or one that was given to an app, an intern or a workload.
 */
export function requireMayHandOver(principal: Principal, key: Principal): void {
  if (key.kind !== "normal" && key.kind !== "free_tier") {
    throw new GatewayError("forbidden", `key: must not be a ${key.kind} key. Create a normal one for the agent.`)
  }
  if (key.source !== "created") {
    const rule = `key: must be one that was created with POST /keys. The source of this one is ${key.source}.`
    throw new GatewayError("forbidden", rule)
  }
  if (principal.keyHash === key.keyHash || mayMint(principal.kind, key.kind)) return
  throw new GatewayError("forbidden", `key: a ${principal.kind} key can only hand over itself.`)
}

/** The model that a link configures: the chosen one, if the key may call it. */
export function modelOf(client: ClientName, chosen: string | null, models: readonly string[]): string {
  const model = chosen ?? defaultModel(client, models)
  if (model === undefined) {
    throw new GatewayError("conflict", "This key may call no model. Set a provider's key, or check its guardrails.")
  }
  if (models.includes(model)) return model
  const nearest = suggestNames(model, models)
  const hint = nearest.length === 0 ? "" : ` Did you mean ${anyOf(nearest)}?`
  throw new GatewayError("invalid_request", `model: this key may not call ${model}.${hint}`)
}

/** Authenticated context of a link's sealed secret. */
export function secretAad({ id, workspaceId, keyHash, hash }: Omit<ConnectLinkRow, "sealed">) {
  return { kind: "connect-link", ownerId: id, workspaceId, name: keyHash, version: hash }
}

export function linkUrl(origin: string, client: ClientName, token: string): string {
  return `${origin}/connect/${client}#${token}`
}

/** One line for a shell. The link is in the environment: other users of the machine can see arguments. */
export function linkCommand(origin: string, url: string): string {
  return `curl -fsS ${origin}/connect.js | GATEWAY_LINK='${url}' node`
}

/** The same for a link that was used, has expired or never existed, so that probing reveals nothing. */
export function noSuchLink(): GatewayError {
  return new GatewayError(
    "not_found",
    "This link was used, has expired or does not exist. Create a new one in the console, or with POST /connect-links.",
  )
}

export function keyRevoked(): GatewayError {
  return new GatewayError(
    "gone",
    "The API key of this link was disabled, deleted or has expired, so the link does not work. Create a link for another key.",
  )
}
