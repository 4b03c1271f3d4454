import type * as z from "zod"
import type { AssociatedData } from "../secrets/seal.ts"
import { toHex } from "../support/text/encoding.ts"
import { derivedId } from "../support/ids.ts"
import { toTimestamp } from "../support/time/time.ts"
import type { SecretMetadata } from "./schemas.ts"
import type { SecretRow } from "./table.ts"

/** A vault of an intern or, if `internId` is null, of the workspace. */
export type Vault = { organizationId: string; workspaceId: string; vaultId: string; internId: string | null }

/** Public fields of a secret. `hosts` is JSON. */
export type SecretSummaryRow = Pick<SecretRow, "name" | "hosts" | "fingerprint" | "createdAt">

/** A secret as agent hosts see it. */
export type VisibleSecret = { name: string; hosts: string[]; placeholder: string }

/** A secret with its value, only for the egress inside the gateway. */
export type ReleasedSecret = VisibleSecret & { value: string }

export function workspaceVault(scope: { organizationId: string; workspaceId: string }): Vault {
  const { organizationId, workspaceId } = scope
  return { organizationId, workspaceId, vaultId: derivedId("vault", workspaceId), internId: null }
}

export function internVault(row: { id: string; organizationId: string; workspaceId: string; vaultId: string }): Vault {
  const { id, organizationId, workspaceId, vaultId } = row
  return { organizationId, workspaceId, vaultId, internId: id }
}

type AadFields = Pick<SecretRow, "vaultId" | "workspaceId" | "name" | "version">

/** Authenticated context of a sealed secret. */
export function secretAad({ vaultId, workspaceId, name, version }: AadFields): AssociatedData {
  return { kind: "vault-secret", ownerId: vaultId, workspaceId, name, version }
}

const encoder = new TextEncoder()

/** `sha256:` and 64 hex digits: equal for equal values in one vault, different across vaults. `key`: of the vault. */
export async function fingerprintOf(key: CryptoKey, value: string): Promise<string> {
  return `sha256:${toHex(await crypto.subtle.sign("HMAC", key, encoder.encode(value)))}`
}

const PLACEHOLDER_DIGITS = 16

/**
 * Placeholder of a secret: constant for the lifetime of the vault, whatever the value. It is valid in a header and as
 * user or password of Basic credentials, and no placeholder is part of another: names have no hyphen.
 */
export async function placeholderOf(key: CryptoKey, name: string): Promise<string> {
  const digits = toHex(await crypto.subtle.sign("HMAC", key, encoder.encode(name)))
  return `vault-${name}-${digits.slice(0, PLACEHOLDER_DIGITS)}`
}

export function toSecret(row: SecretSummaryRow): z.infer<typeof SecretMetadata> {
  return {
    name: row.name,
    hosts: toHosts(row.hosts),
    fingerprint: row.fingerprint,
    created_at: toTimestamp(row.createdAt),
  }
}

export function toHosts(column: string | null): string[] | null {
  return column === null ? null : (JSON.parse(column) as string[])
}
