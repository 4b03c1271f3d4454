import type * as z from "zod"
import { hashKey } from "../access/key.ts"
import type { Principal, KeySource } from "../access/principal.ts"
import { formatUsd, usdToNano } from "../money/money.ts"
import { GatewayError } from "../errors/errors.ts"
import { parentOf, revokesChildren } from "../keys/lineage.ts"
import type { NewKeyRow } from "../keys/table.ts"
import { isSame, sha256Hex, toBase64Url } from "../support/text/encoding.ts"
import { toTimestamp } from "../support/time/time.ts"
import type { Code, CodeRequest, Exchange } from "./schemas.ts"
import type { CodeRow, NewCodeRow } from "./table.ts"

const CODE_MS = 10 * 60_000
const CODE_BYTES = 32

/**
 * Only keys that people hold may approve an app: keys created by POST /keys, except those of the free tier. The app's
 * key is a child of the approving key and stays within its limit. Keys of apps, interns and workloads were given to
 * them, and cannot approve others.
 */
export function requireApprover(principal: Principal): void {
  const fault = approverError(principal)
  if (fault !== undefined) throw new GatewayError("forbidden", fault)
}

/** Why this key may not approve an app; undefined if it may. */
export function approverError({ kind, source, organizationId }: Principal): string | undefined {
  if (organizationId === "") return "There is no organization yet."
  const which = kind === "free_tier" ? "A key of the free tier" : NOT_APPROVING[source]
  return which && `${which} cannot approve an app. Use a key that was created for a person.`
}

const NOT_APPROVING: Record<KeySource, string | undefined> = {
  created: undefined,
  app: "An app's key",
  intern: "An intern's own key",
  workload: "A workload's key",
}

/** A new code, which is shown once, and its row. */
export function newCode(
  request: CodeRequest,
  approver: Principal,
  workspaceId: string,
  now: number,
): { code: string; row: NewCodeRow } {
  const code = toBase64Url(crypto.getRandomValues(new Uint8Array(CODE_BYTES)))
  const keyExpiresAt = request.expires_at == null ? approver.expiresAt : Date.parse(request.expires_at)
  if (keyExpiresAt !== null && keyExpiresAt <= now) {
    throw new GatewayError("invalid_request", "expires_at: must be in the future.")
  }
  if (approver.expiresAt !== null && keyExpiresAt !== null && keyExpiresAt > approver.expiresAt) {
    const latest = toTimestamp(approver.expiresAt)
    throw new GatewayError("forbidden", `expires_at: must not be later than ${latest}, when the approving key expires.`)
  }
  const { limit, usage_limit_type: reset, code_challenge: challenge, code_challenge_method: method } = request
  const row: NewCodeRow = {
    hash: hashKey(code),
    organizationId: approver.organizationId,
    workspaceId,
    approvedBy: approver.keyHash,
    userId: approver.creatorUserId,
    callbackUrl: request.callback_url,
    codeChallenge: challenge ?? null,
    codeChallengeMethod: method ?? null,
    keyName: request.key_label ?? new URL(request.callback_url).host,
    limitNano: limit === undefined ? null : usdToNano(limit),
    limitReset: limit === undefined ? null : (reset ?? null),
    keyExpiresAt,
    createdAt: now,
    expiresAt: now + CODE_MS,
  }
  return { code, row }
}

/** The row of the key that a code is exchanged for. */
export function toKeyRow(
  row: CodeRow,
  { hash, label }: { hash: string; label: string },
  approver: Principal,
  now: number,
): NewKeyRow {
  return {
    hash,
    organizationId: row.organizationId,
    workspaceId: row.workspaceId,
    kind: "normal",
    name: row.keyName.slice(0, 128),
    label,
    creatorUserId: row.userId,
    limitNano: row.limitNano,
    limitReset: row.limitReset,
    expiresAt: row.keyExpiresAt,
    createdAt: now,
    parentHash: parentOf(approver),
    source: "app",
  }
}

/**
 * Whether the client that exchanges a code is the one that requested it (PKCE). A verifier for a code without a
 * challenge is rejected.
 */
export function isProven(row: Pick<CodeRow, "codeChallenge" | "codeChallengeMethod">, exchange: Exchange): boolean {
  const { code_verifier: verifier, code_challenge_method: result } = exchange
  const { codeChallenge: challenge, codeChallengeMethod: method } = row
  if (challenge === null) return verifier == null && result == null
  if (verifier == null || (result != null && result !== method)) return false
  return isSame(challenge, method === "S256" ? toS256(verifier) : verifier)
}

export function toS256(verifier: string): string {
  const hex = sha256Hex(verifier)
  return toBase64Url(Uint8Array.from(hex.match(/../g) ?? [], (byte) => Number.parseInt(byte, 16)))
}

export function toCode(code: string, { callbackUrl: url, createdAt: at }: NewCodeRow): z.infer<typeof Code> {
  return { id: code, app_id: appIdOf(url), created_at: toTimestamp(at) }
}

/** Apps are not registered: an app is identified by the origin of its callback URL. */
function appIdOf(callbackUrl: string): number {
  return Number.parseInt(sha256Hex(new URL(callbackUrl).origin).slice(0, 12), 16)
}

/** One message for every reason: a client with only the code or the verifier learns nothing about the other. */
export function invalidExchange(): GatewayError {
  return new GatewayError("forbidden", "The code or its verifier is not valid, or the code was used or is too old.")
}

/** Describes the key to the user who approves it. */
export function describeKey(
  { limit, usage_limit_type: reset, expires_at: expiresAt }: CodeRequest,
  { limitNano, kind, expiresAt: approverExpiresAt }: Principal,
): string[] {
  const end = expiresAt == null ? approverExpiresAt : Date.parse(expiresAt)
  const often = { daily: "a day", weekly: "a week", monthly: "a month" }
  return [
    "May call models, at the expense of this workspace.",
    "May create interns, files and batches, and read and change those that it created.",
    limit === undefined
      ? "May spend without a separate limit."
      : `May spend up to ${formatUsd(usdToNano(limit))} USD${reset ? ` ${often[reset]}` : " in total"}.`,
    ...(limitNano === null ? [] : ["What it spends counts under the limit of the key you signed in with."]),
    end === null ? "Works until it is deleted." : `Works until ${describeInstant(end)}.`,
    ...(revokesChildren(kind) ? ["Stops working when the key you signed in with is disabled or deleted."] : []),
  ]
}

/** `1 January 2027 at 00:00 UTC`. */
function describeInstant(at: number): string {
  const format = new Intl.DateTimeFormat("en-GB", { dateStyle: "long", timeStyle: "short", timeZone: "UTC" })
  return `${format.format(at)} UTC`
}
