import type { Env } from "../../config/env.ts"
import { masterKeysOf, signingKey } from "../../secrets/master-key.ts"
import { isSame, sha256Hex, toBase64Url } from "../../support/text/encoding.ts"
import type { InternRow } from "../table.ts"

/** 256 bits. */
const SECRET_BYTES = 32

function random(): string {
  return toBase64Url(crypto.getRandomValues(new Uint8Array(SECRET_BYTES)))
}

/** Creates the token of a daemon. Shown once; only its hash is stored, without salt because it has 256 random bits. */
export function newJoinToken(): { secret: string; hash: string } {
  const secret = `intern-join-${random()}`
  return { secret, hash: sha256Hex(secret) }
}

export function newAccessNonce(): string {
  return random()
}

/** Identifies a provision to the intern's object. Not a secret: no token is derived from it. */
export function grantOf(nonce: string): string {
  return sha256Hex(`grant:${nonce}`)
}

const encoder = new TextEncoder()

/**
 * Access token of a running intern: the same until the next provision, derived and never stored. Undefined for an
 * intern that was never provisioned.
 */
export function accessTokenOf(env: Env, row: Pick<InternRow, "id" | "accessNonce">): Promise<string | undefined> {
  return deriveAccessToken(masterKeysOf(env).current, row)
}

async function deriveAccessToken(master: string, row: Pick<InternRow, "id" | "accessNonce">) {
  if (row.accessNonce === null) return undefined
  const key = await signingKey(master, "intern-access")
  const signature = await crypto.subtle.sign("HMAC", key, encoder.encode(`${row.id}:${row.accessNonce}`))
  return `intern-access-${toBase64Url(new Uint8Array(signature))}`
}

/** During a rotation of the master key, tokens derived from the previous key are also valid. */
export async function isAccessToken(env: Env, row: InternRow, token: string): Promise<boolean> {
  const { current, previous } = masterKeysOf(env)
  for (const master of previous === undefined ? [current] : [current, previous]) {
    const expected = await deriveAccessToken(master, row)
    if (expected !== undefined && isSame(sha256Hex(expected), sha256Hex(token))) return true
  }
  return false
}
