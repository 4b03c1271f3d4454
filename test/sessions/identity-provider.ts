import { createExecutionContext } from "cloudflare:test"
import { env } from "cloudflare:workers"
import { exportJWK, generateKeyPair, SignJWT } from "jose"
import { vi } from "vitest"
import { app } from "../../src/app/app.ts"
import { ORIGIN } from "./console.ts"

export const CLIENT = { OIDC_CLIENT_ID: "gateway", OIDC_CLIENT_SECRET: "s3cret:&%" }

type Key = { privateKey: CryptoKey; jwk: object }
const newSigningKey = async (kid: string): Promise<Key> => {
  const { privateKey, publicKey } = await generateKeyPair("ES256")
  return { privateKey, jwk: { ...(await exportJWK(publicKey)), kid, alg: "ES256", use: "sig" } }
}

export type IdentityProvider = Awaited<ReturnType<typeof newIdentityProvider>>

let providers = 0

/** A scripted provider at its own issuer. Its responses can be changed before each sign-in. */
export async function newIdentityProvider() {
  providers += 1
  const issuer = `https://login-${providers}.example`
  const key = await newSigningKey("one")
  const provider = {
    issuer,
    key,
    metadata: {} as Record<string, unknown>,
    keys: [key.jwk] as unknown[],
    /** Claims of the next ID tokens, which override valid defaults. */
    claims: {} as Record<string, unknown>,
    header: {} as object,
    userInfo: undefined as object | undefined,
    tokens: {} as Record<string, unknown>,
    /** The parameters of the authorization request by code. */
    codes: new Map<string, URLSearchParams>(),
    /** Responses in place of the provider's, by path. */
    responses: {} as Record<string, () => Response | Promise<Response>>,
    requests: [] as { url: string; headers: Headers; body: URLSearchParams }[],
    newSigningKey,
    /** What the provider's page does: signs the user in and redirects the browser back. */
    authorize(url: string): { code: string; state: string } {
      const parameters = new URL(url).searchParams
      const code = crypto.randomUUID()
      provider.codes.set(code, parameters)
      return { code, state: parameters.get("state") ?? "" }
    },
  }
  const json = (value: unknown, status = 200) => Response.json(value, { status })

  async function grant(body: URLSearchParams): Promise<Response> {
    const authorization = provider.codes.get(body.get("code") ?? "")
    // A code is single-use.
    provider.codes.delete(body.get("code") ?? "")
    const verifier = new TextEncoder().encode(body.get("code_verifier") ?? "")
    const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", verifier))
    const challenge = btoa(String.fromCharCode(...digest))
      .replaceAll("+", "-")
      .replaceAll("/", "_")
      .replace(/=+$/, "")
    const isGood =
      authorization?.get("code_challenge") === challenge &&
      authorization.get("redirect_uri") === body.get("redirect_uri")
    if (!isGood) return json({ error: "invalid_grant" }, 400)
    const now = Math.floor(Date.now() / 1_000)
    const claims = {
      iss: issuer,
      aud: CLIENT.OIDC_CLIENT_ID,
      sub: "subject-1",
      iat: now,
      exp: now + 300,
      nonce: authorization.get("nonce"),
      ...provider.claims,
    }
    const token = await new SignJWT(claims)
      .setProtectedHeader({ alg: "ES256", kid: "one", ...provider.header })
      .sign(provider.key.privateKey)
    return json({ id_token: token, access_token: "access", token_type: "Bearer", ...provider.tokens })
  }

  async function serve(request: Request): Promise<Response> {
    const { pathname } = new URL(request.url)
    const body = new URLSearchParams(request.method === "POST" ? await request.text() : "")
    provider.requests.push({ url: request.url, headers: request.headers, body })
    const replaced = provider.responses[pathname]
    if (replaced) return replaced()
    if (pathname === "/.well-known/openid-configuration") {
      return json({
        issuer,
        authorization_endpoint: `${issuer}/authorize`,
        token_endpoint: `${issuer}/token`,
        jwks_uri: `${issuer}/keys`,
        userinfo_endpoint: `${issuer}/userinfo`,
        ...provider.metadata,
      })
    }
    if (pathname === "/keys") return json({ keys: provider.keys })
    if (pathname === "/token") return grant(body)
    if (pathname === "/userinfo" && provider.userInfo) return json(provider.userInfo)
    return json({ error: "not_found" }, 404)
  }

  const real = globalThis.fetch
  vi.spyOn(globalThis, "fetch").mockImplementation(async (input, init) => {
    const request = new Request(input, init)
    return request.url.startsWith(issuer) ? serve(request) : real(request)
  })
  return provider
}

/** A browser with its own cookies for a deployment that signs in with this provider. */
export function newBrowser(provider: IdentityProvider, bindings: object = {}) {
  const cookies = new Map<string, string>()
  const deployment = { ...env, ...CLIENT, OIDC_ISSUER: provider.issuer, ...bindings }
  async function open(
    path: string,
    headers: Record<string, string> = {},
    { method = "GET", body }: { method?: string; body?: object | undefined } = {},
  ): Promise<Response> {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join("; ")
    const request = new Request(`${ORIGIN}${path}`, {
      method,
      headers: { cookie, ...(body && { "content-type": "application/json" }), ...headers },
      ...(body && { body: JSON.stringify(body) }),
    })
    const response = await app.fetch(request, deployment, createExecutionContext())
    for (const set of response.headers.getSetCookie()) {
      const [pair = ""] = set.split(";")
      const [name = "", value = ""] = pair.split(/=(.*)/s)
      if (value === "" || set.includes("Max-Age=0")) cookies.delete(name)
      else cookies.set(name, value)
    }
    return response
  }
  const locationOf = (response: Response) => response.headers.get("location") ?? ""
  return {
    cookies,
    open,
    /** Starts the sign-in; returns the URL of the provider's page. */
    begin: async (query = "") => locationOf(await open(`/console/sign-in/oidc${query}`)),
    /** Returns from the provider; returns the gateway's redirect. */
    end: async (values: Record<string, string>) =>
      locationOf(await open(`/console/sign-in/callback?${new URLSearchParams(values).toString()}`)),
    /** The complete sign-in; returns the final redirect. */
    async signIn(query = "") {
      const url = await this.begin(query)
      return this.end(provider.authorize(url))
    },
    /** A request from the console. */
    call: (path: string, method = "GET", body?: object) =>
      open(path, { "x-gateway-console": "1", "sec-fetch-site": "same-origin" }, { method, body }),
  }
}
