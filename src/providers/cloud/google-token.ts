import { importPKCS8, SignJWT } from "jose"
import { sha256Hex } from "../../support/text/encoding.ts"
import { ExpiringMap } from "../../support/time/expiring-map.ts"
import { isObject, parseJson } from "../../support/text/json.ts"
import { readText } from "../../support/text/read-text.ts"
import { valueOrTimeout, withTimeout } from "../../support/time/time.ts"
import { CredentialError } from "./cloud.ts"
import type { ServiceAccount } from "./credentials.ts"

/**
 * Access tokens of service accounts: a signed assertion is exchanged for a token, which is cached until shortly before
 * it expires. https://developers.google.com/identity/protocols/oauth2/service-account#httprest
 */

export const GOOGLE_TOKEN_URL = "https://oauth2.googleapis.com/token"
const SCOPE = "https://www.googleapis.com/auth/cloud-platform"
const GRANT = "urn:ietf:params:oauth:grant-type:jwt-bearer"
const ASSERTION_SECONDS = 3_600
/** A token that expires within this time is renewed. */
const MARGIN_MS = 300_000
const TIMEOUT_MS = 10_000
/** Time that a call waits for the exchange of another call, which the runtime may have ended. */
const SHARED_WAIT_MS = 3_000
const MAX_TOKENS = 1_000
const MAX_BYTES = 64 * 1024

export type TokenDeps = {
  tokenUrl: string
  fetch: typeof fetch
  now: () => number
  /** The runtime's `waitUntil`: an exchange outlives the call that started it. */
  waitUntil: (work: Promise<unknown>) => void
}

/** By the hash of the complete key: a client that knows only the account's email address gets no token. */
const tokens = new ExpiringMap<string, string>(MAX_TOKENS)
const exchanges = new Map<string, Promise<string>>()

/** An access token of the account, cached or from one exchange at a time. Throws a CredentialError. */
export async function accessTokenOf(account: ServiceAccount, deps: TokenDeps): Promise<string> {
  const id = sha256Hex(JSON.stringify([account.client_email, account.private_key, deps.tokenUrl]))
  const cached = tokens.get(id, deps.now())
  if (cached) return cached.value
  const shared = exchanges.get(id)
  const token = shared && (await valueOrTimeout(shared, SHARED_WAIT_MS))
  if (typeof token === "string") return token
  const exchange = exchangeAndCache(id, account, deps)
  exchanges.set(id, exchange)
  deps.waitUntil(exchange.catch(() => undefined))
  return exchange
}

async function exchangeAndCache(id: string, account: ServiceAccount, deps: TokenDeps): Promise<string> {
  try {
    const startedAt = deps.now()
    const { token, seconds } = await exchange(account, deps)
    tokens.set(id, token, startedAt + seconds * 1_000 - MARGIN_MS)
    return token
  } finally {
    exchanges.delete(id)
  }
}

async function exchange(account: ServiceAccount, deps: TokenDeps): Promise<{ token: string; seconds: number }> {
  const assertion = await sign(account, deps.now())
  const init = {
    method: "POST",
    headers: { "content-type": "application/x-www-form-urlencoded", accept: "application/json" },
    body: new URLSearchParams({ grant_type: GRANT, assertion }).toString(),
    redirect: "manual" as const,
  }
  const received = await withTimeout(TIMEOUT_MS, async (signal) => {
    const response = await deps.fetch(deps.tokenUrl, { ...init, signal })
    return { response, text: (await readText(response, MAX_BYTES)) ?? "" }
  }).catch(() => undefined)
  if (!received) throw new CredentialError("the token endpoint of Google cannot be reached")
  const { response, text } = received
  const parsed = parseJson(text)
  const fields = isObject(parsed) ? parsed : {}
  const { access_token: token, expires_in: seconds } = fields
  if (!response.ok || typeof token !== "string" || typeof seconds !== "number") {
    throw new CredentialError(`Google gave no access token for the service account: ${reasonOf(response, fields)}`)
  }
  return { token, seconds }
}

/** Only the name of the error: its description can quote the assertion. */
function reasonOf({ status }: Response, { error }: Record<string, unknown>): string {
  const name = typeof error === "string" && /^[a-z_]{1,40}$/.test(error) ? ` ${error}` : ""
  return `status ${status}${name}`
}

async function sign({ client_email: email, private_key: pem, private_key_id: kid }: ServiceAccount, now: number) {
  const issuedAt = Math.floor(now / 1_000)
  try {
    return await new SignJWT({ scope: SCOPE })
      .setProtectedHeader({ alg: "RS256", typ: "JWT", ...(kid !== undefined && { kid }) })
      .setIssuer(email)
      .setAudience(GOOGLE_TOKEN_URL)
      .setIssuedAt(issuedAt)
      .setExpirationTime(issuedAt + ASSERTION_SECONDS)
      .sign(await importPKCS8(pem, "RS256"))
  } catch {
    // The library's message can quote the key.
    throw new CredentialError("private_key of the service account is not a PKCS #8 key in PEM")
  }
}
