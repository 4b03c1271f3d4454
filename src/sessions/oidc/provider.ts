import type { JSONWebKeySet } from "jose"
import * as z from "zod"
import { readAtMost } from "../../support/bytes.ts"
import { ExpiringMap } from "../../support/time/expiring-map.ts"
import { parseJson } from "../../support/text/json.ts"
import { withTimeout } from "../../support/time/time.ts"
import type { OidcSettings } from "./settings.ts"

const MAX_BYTES = 262_144
const TIMEOUT_MS = 5_000
const CACHE_MS = 5 * 60_000

const endpoint = z.string().refine((text) => {
  const url = URL.parse(text)
  return url?.protocol === "https:" || (url?.protocol === "http:" && LOOPBACK.has(url.hostname))
})
/** Hosts for which plain HTTP is allowed, for tests and development. */
const LOOPBACK = new Set(["localhost", "127.0.0.1", "[::1]"])

/** Used fields of a provider's metadata (OpenID Connect Discovery 1.0). */
const Metadata = z.object({
  issuer: z.string(),
  authorization_endpoint: endpoint,
  token_endpoint: endpoint,
  jwks_uri: endpoint,
  userinfo_endpoint: endpoint.optional(),
  token_endpoint_auth_methods_supported: z.array(z.string()).optional(),
  /** RFC 9207: if true, a response without `iss` is not from this provider. */
  authorization_response_iss_parameter_supported: z.boolean().optional(),
})
export type Provider = z.infer<typeof Metadata>

const Jwk = z.looseObject({ kty: z.string(), kid: z.string().exactOptional() })
/** Parsed key by key, so that one invalid key does not invalidate the others (RFC 7517, section 5). */
const KeySet = z.object({
  keys: z.array(z.unknown()).transform((keys) => keys.flatMap((key) => Jwk.safeParse(key).data ?? [])),
})
const Tokens = z.object({ id_token: z.string().max(32_768), access_token: z.string().max(32_768).optional() })

/** The provider responded incorrectly. The message is for the log, never for a page. */
export class ProviderError extends Error {}

const providers = new ExpiringMap<string, Provider>(4)
const keySets = new ExpiringMap<string, JSONWebKeySet>(4)

export async function discover({ issuer }: OidcSettings, now: number): Promise<Provider> {
  const cached = providers.get(issuer, now)
  if (cached) return cached.value
  const url = `${issuer.replace(/\/$/, "")}/.well-known/openid-configuration`
  const metadata = await fetchJson(new Request(url, { headers: { accept: "application/json" } }), Metadata)
  // Otherwise another provider's endpoints could respond in its name (Discovery, section 4.3).
  if (metadata.issuer !== issuer)
    throw new ProviderError(`The metadata names the issuer ${metadata.issuer}, and OIDC_ISSUER is ${issuer}.`)
  providers.set(issuer, metadata, now + CACHE_MS)
  return metadata
}

/** The provider's public keys. `isFresh`: fetched again, since a token names an unknown key. */
export async function providerKeys(
  { jwks_uri: uri }: Provider,
  now: number,
  { isFresh = false } = {},
): Promise<JSONWebKeySet> {
  const cached = isFresh ? undefined : keySets.get(uri, now)
  if (cached) return cached.value
  const keys = await fetchJson(new Request(uri), KeySet)
  keySets.set(uri, keys, now + CACHE_MS)
  return keys
}

type Grant = { code: string; verifier: string; redirectUri: string }

/** Exchanges an authorization code (OpenID Connect Core, section 3.1.3; PKCE, RFC 7636). */
export function exchangeCode(
  provider: Provider,
  settings: OidcSettings,
  grant: Grant,
): Promise<z.infer<typeof Tokens>> {
  const { clientId, clientSecret } = settings
  const body = new URLSearchParams({
    grant_type: "authorization_code",
    code: grant.code,
    redirect_uri: grant.redirectUri,
    code_verifier: grant.verifier,
  })
  const headers = new Headers({ accept: "application/json" })
  const methods = provider.token_endpoint_auth_methods_supported ?? ["client_secret_basic"]
  if (clientSecret === undefined) body.set("client_id", clientId)
  else if (methods.includes("client_secret_basic")) {
    headers.set("authorization", `Basic ${btoa(`${encodeForm(clientId)}:${encodeForm(clientSecret)}`)}`)
  } else {
    body.set("client_id", clientId)
    body.set("client_secret", clientSecret)
  }
  return fetchJson(new Request(provider.token_endpoint, { method: "POST", headers, body }), Tokens)
}

/** RFC 6749, section 2.3.1. */
function encodeForm(text: string): string {
  return new URLSearchParams({ text }).toString().slice("text=".length)
}

const UserInfo = z.object({ sub: z.string(), email: z.string().optional(), email_verified: z.unknown() })

/** Claims of the UserInfo endpoint: some providers omit them from the ID token. */
export function fetchUserInfo(url: string, accessToken: string): Promise<z.infer<typeof UserInfo>> {
  return fetchJson(new Request(url, { headers: { authorization: `Bearer ${accessToken}` } }), UserInfo)
}

async function fetchJson<T>(request: Request, schema: z.ZodType<T>): Promise<T> {
  const { origin, pathname } = new URL(request.url)
  const address = `${origin}${pathname}`
  const { status, bytes } = await withTimeout(TIMEOUT_MS, async (signal) => {
    const response = await fetch(new Request(request, { redirect: "manual", signal }))
    return { status: response.status, bytes: response.body ? await readAtMost(response.body, MAX_BYTES) : undefined }
  }).catch((cause: unknown) => {
    throw new ProviderError(`${address} cannot be reached.`, { cause })
  })
  const json = bytes && parseJson(new TextDecoder().decode(bytes))
  if (status !== 200) throw new ProviderError(`${address} returned ${status}${errorIn(json)}.`)
  const parsed = schema.safeParse(json)
  if (!parsed.success) throw new ProviderError(`${address} returned an unexpected document.`)
  return parsed.data
}

const OauthError = z.object({ error: z.string().regex(/^[\w.-]{1,64}$/) })

function errorIn(json: unknown): string {
  const { data } = OauthError.safeParse(json)
  return data ? `: ${data.error}` : ""
}
