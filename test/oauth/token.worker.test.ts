import { createExecutionContext } from "cloudflare:test"
import { env } from "cloudflare:workers"
import { beforeAll, describe, expect, test, vi } from "vitest"
import { app } from "../../src/app/app.ts"
import { toBase64Url } from "../../src/support/text/encoding.ts"
import { client, newWorkspace, expectJson, type Workspace } from "../support/world.ts"
import { watchPolicyWrites } from "../support/policy-writes.ts"

watchPolicyWrites()

const ISSUER = "https://ci.example"
const SUBJECT = "repo:acme/site:main"
const RSA = {
  name: "RSASSA-PKCS1-v1_5",
  hash: "SHA-256",
  modulusLength: 2048,
  publicExponent: new Uint8Array([1, 0, 1]),
}
const EC = { name: "ECDSA", namedCurve: "P-256" }
const SIGNATURES = { RS256: { name: RSA.name }, ES256: { name: "ECDSA", hash: "SHA-256" } }

const newPair = async (algorithm: object) =>
  (await crypto.subtle.generateKey(algorithm as typeof EC, true, ["sign", "verify"])) as CryptoKeyPair

let workspace: Workspace
let keys: Record<"RS256" | "ES256" | "other", CryptoKeyPair>
let jwks: { keys: object[] }

beforeAll(async () => {
  workspace = await newWorkspace()
  keys = { RS256: await newPair(RSA), ES256: await newPair(EC), other: await newPair(EC) }
  const publicJwk = async (kid: string, { publicKey }: CryptoKeyPair) => {
    const jwk = await crypto.subtle.exportKey("jwk", publicKey)
    return { ...(jwk as object), kid, use: "sig", alg: kid }
  }
  jwks = { keys: [await publicJwk("RS256", keys.RS256), await publicJwk("ES256", keys.ES256)] }
})

const seconds = () => Math.floor(Date.now() / 1_000)
const claims = (more: object = {}) => ({
  iss: ISSUER,
  aud: "gateway",
  sub: SUBJECT,
  iat: seconds(),
  exp: seconds() + 300,
  ...more,
})

async function sign(payload: object, alg: "RS256" | "ES256" = "ES256", header: object = {}, key = keys[alg]) {
  const part = (value: object) => toBase64Url(new TextEncoder().encode(JSON.stringify(value)))
  const signed = `${part({ alg, kid: alg, ...header })}.${part(payload)}`
  const signature = await crypto.subtle.sign(SIGNATURES[alg], key.privateKey, new TextEncoder().encode(signed))
  return `${signed}.${toBase64Url(new Uint8Array(signature))}`
}

function exchange(
  fields: Record<string, string>,
  policy: object = {},
  path = "/oauth/token",
  bindings: object = {},
): Promise<Response> {
  const trusted = {
    id: "ci",
    issuer: ISSUER,
    audience: "gateway",
    subject: "repo:acme/*",
    organization_id: workspace.organizationId,
    workspace_id: workspace.workspaceId,
    ...(!("jwks_uri" in policy) && { jwks }),
    ...policy,
  }
  const request = new Request(`http://gateway.test/api/v1${path}`, {
    method: "POST",
    body: new URLSearchParams({
      grant_type: "urn:ietf:params:oauth:grant-type:token-exchange",
      subject_token_type: "urn:ietf:params:oauth:token-type:jwt",
      federation_policy_id: "ci",
      ...fields,
    }),
  })
  const trusting = { ...env, OAUTH_TRUSTED_ISSUERS: JSON.stringify([trusted]), ...bindings }
  return Promise.resolve(app.fetch(request, trusting, createExecutionContext()))
}

type Token = { access_token: string; expires_in: number }

describe("workload identity", () => {
  test.each(["RS256", "ES256"] as const)("exchanges a token that its issuer signed by %s for a key", async (alg) => {
    const token = await expectJson<Token>(
      200,
      exchange({ subject_token: await sign(claims(), alg), scope: "inference" }),
    )
    expect(token).toEqual({
      access_token: expect.any(String),
      expires_in: 900,
      issued_token_type: "urn:ietf:params:oauth:token-type:access_token",
      scope: "inference",
      token_type: "Bearer",
    })
    const { data } = await expectJson<{ data: Record<string, unknown> }>(200, client(token.access_token).get("/key"))
    expect(data).toMatchObject({ workspace_id: workspace.workspaceId, is_management_key: false })
    expect(Date.parse(String(data["expires_at"])) - Date.now()).toBeLessThanOrEqual(900_000)
    type Log = { data: { changes: object; key_label: string }[] }
    const log = await expectJson<Log>(200, workspace.manage.get("/audit?action=api_key.create&limit=1"))
    expect(log.data[0]).toMatchObject({ changes: { policy: "ci", subject: SUBJECT }, key_label: "policy ci" })
  })

  test("accepts a token without a key id if several keys may have signed it", async () => {
    const [, trusted] = jwks.keys
    const { kid: _, ...other } = {
      kid: "",
      ...((await crypto.subtle.exportKey("jwk", keys.other.publicKey)) as object),
    }
    const policy = { jwks: { keys: [other, trusted] } }
    await expectJson(200, exchange({ subject_token: await sign(claims(), "ES256", { kid: undefined }) }, policy))
    const forged = sign(claims(), "ES256", { kid: undefined }, await newPair(EC))
    await expectJson(400, exchange({ subject_token: await forged }, policy))
  })

  test("publishes the public keys that verify the issued key", async () => {
    const { access_token: token } = await expectJson<Token>(200, exchange({ subject_token: await sign(claims()) }))
    const { keys: published } = await expectJson<{ keys: (JsonWebKey & { kid: string })[] }>(
      200,
      client().get("/oauth/jwks"),
    )
    expect(published).toEqual([
      {
        alg: "ES256",
        crv: "P-256",
        kid: expect.any(String),
        kty: "EC",
        use: "sig",
        x: expect.any(String),
        y: expect.any(String),
      },
    ])
    const [header = "", payload = "", signature = ""] = token.split(".")
    const decode = (text: string) =>
      Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (c) => c.charCodeAt(0))
    expect(JSON.parse(new TextDecoder().decode(decode(header)))).toMatchObject({ kid: published[0]?.kid })
    const { kid: _, ...jwk } = published[0] as JsonWebKey & { kid: string }
    const key = await crypto.subtle.importKey("jwk", jwk, EC, false, ["verify"])
    const bytes = new TextEncoder().encode(`${header}.${payload}`)
    expect(await crypto.subtle.verify(SIGNATURES.ES256, key, decode(signature), bytes)).toBe(true)
  })

  test.each([
    ["another issuer", () => sign(claims({ iss: "https://evil.example" }))],
    ["another audience", () => sign(claims({ aud: ["other"] }))],
    ["another subject", () => sign(claims({ sub: "repo:evil/site" }))],
    ["the subject in another letter case", () => sign(claims({ sub: "repo:ACME/site" }))],
    ["no subject", () => sign(claims({ sub: undefined }))],
    ["no exp", () => sign(claims({ exp: undefined }))],
    ["an exp in the past", () => sign(claims({ exp: seconds() - 120 }))],
    ["an nbf in the future", () => sign(claims({ nbf: seconds() + 600 }))],
    ["an iat in the future", () => sign(claims({ iat: seconds() + 600 }))],
    ["another key", () => sign(claims(), "ES256", {}, keys.other)],
    ["another kid", () => sign(claims(), "ES256", { kid: "unknown" })],
    ["no algorithm", async () => (await sign(claims(), "ES256", { alg: "none" })).replace(/[^.]+$/, "")],
    ["a symmetric algorithm", () => sign(claims(), "ES256", { alg: "HS256" })],
    ["an unknown critical header", () => sign(claims(), "ES256", { crit: ["b64"] })],
    ["a changed claim", async () => (await sign(claims())).replace(/\.[^.]+\./, `.${btoa(JSON.stringify(claims()))}.`)],
    ["a malformed token", () => Promise.resolve("a.b.c")],
  ])("rejects %s with invalid_grant", async (_, token) => {
    expect(await expectJson(400, exchange({ subject_token: await token() }))).toEqual({
      error: "invalid_grant",
      error_description: "This subject_token is not trusted under this federation_policy_id.",
    })
  })

  test("rejects an unknown policy with invalid_grant", async () => {
    const rejection = await expectJson(
      400,
      exchange({ subject_token: await sign(claims()), federation_policy_id: "other" }),
    )
    expect(rejection).toMatchObject({ error: "invalid_grant" })
  })

  test.each([
    ["grant_type", "password", "unsupported_grant_type"],
    ["subject_token", "", "invalid_request"],
    ["subject_token_type", "urn:ietf:params:oauth:token-type:saml2", "invalid_request"],
    ["requested_token_type", "urn:x", "invalid_request"],
    ["scope", "everything", "invalid_scope"],
  ])("names the invalid %s", async (name, value, error) => {
    const rejection = await expectJson<{ error_description: string }>(
      400,
      exchange({ subject_token: "x", [name]: value }),
    )
    expect(rejection).toEqual({ error, error_description: expect.stringContaining(name) })
  })

  test("returns unsupported_grant_type first, whatever else is missing", async () => {
    const fields = { grant_type: "client_credentials", subject_token_type: "", federation_policy_id: "" }
    expect(await expectJson(400, exchange(fields))).toMatchObject({ error: "unsupported_grant_type" })
  })

  test("names the operation that exchanges the code of an app", async () => {
    expect(await expectJson(400, exchange({ grant_type: "authorization_code", code: "x" }))).toEqual({
      error: "unsupported_grant_type",
      error_description: expect.stringContaining("POST /auth/keys"),
    })
  })

  test("allows empty optional parameters and rejects repeated ones", async () => {
    const subject_token = await sign(claims())
    await expectJson(200, exchange({ subject_token, scope: "", requested_token_type: "" }))
    const twice = `grant_type=x&federation_policy_id=ci&subject_token=a&subject_token=b&subject_token_type=x`
    const form = new URLSearchParams(twice.replaceAll("=x", `=${encodeURIComponent("urn:x")}`))
    form.set("grant_type", "urn:ietf:params:oauth:grant-type:token-exchange")
    const type = "application/x-www-form-urlencoded"
    const rejection = await expectJson<{ error_description: string }>(
      400,
      client().call("POST", "/oauth/token", form.toString(), { "content-type": type }),
    )
    expect(rejection).toEqual({ error: "invalid_request", error_description: "subject_token: is given twice." })
  })

  test("returns server_error for an internal failure", async () => {
    vi.spyOn(console, "error").mockImplementation(() => {})
    const subject_token = await sign(claims())
    const broken = {
      prepare: () => {
        throw new Error("no database")
      },
    } as unknown as D1Database
    const rejection = await expectJson(500, exchange({ subject_token }, {}, "/oauth/token", { DB: broken }))
    expect(rejection).toEqual({ error: "server_error", error_description: expect.stringContaining("X-Request-Id") })
    vi.restoreAllMocks()
  })

  test("fetches the issuer's keys once from jwks_uri, and returns 503 if they are unavailable", async () => {
    const spy = vi.spyOn(globalThis, "fetch").mockImplementation(async (input) => {
      const { url } = new Request(input)
      return url.includes("down") ? new Response("no", { status: 500 }) : Response.json(jwks)
    })
    const subject_token = await sign(claims())
    await expectJson(200, exchange({ subject_token }, { jwks_uri: "https://ci.example/jwks" }))
    await expectJson(200, exchange({ subject_token }, { jwks_uri: "https://ci.example/jwks" }))
    expect(spy).toHaveBeenCalledTimes(1)
    expect(await expectJson(503, exchange({ subject_token }, { jwks_uri: "https://ci.example/down" }))).toMatchObject({
      error: "temporarily_unavailable",
    })
    spy.mockRestore()
  })

  test("fetches the issuer's keys again after a rotation, at most every 30 seconds", async () => {
    const policy = { jwks_uri: "https://ci.example/rotated" }
    let published = { keys: [] as object[] }
    const spy = vi.spyOn(globalThis, "fetch").mockImplementation(async () => Response.json(published))
    const subject_token = await sign(claims())
    await expectJson(400, exchange({ subject_token }, policy))
    published = jwks
    await expectJson(400, exchange({ subject_token }, policy))
    expect(spy).toHaveBeenCalledTimes(1)
    vi.useFakeTimers({ now: Date.now() + 31_000, toFake: ["Date"] })
    await expectJson(200, exchange({ subject_token }, policy))
    await expectJson(400, exchange({ subject_token: `${subject_token}x` }, policy))
    expect(spy).toHaveBeenCalledTimes(2)
    vi.useRealTimers()
    spy.mockRestore()
  })

  test("shortens the lifetime of the key by the policy", async () => {
    const subject_token = await sign(claims())
    expect(await expectJson(200, exchange({ subject_token }, { ttl_seconds: 60 }))).toMatchObject({ expires_in: 60 })
  })
})

test("rejects an invalid configuration of issuers with 503 and the field", async () => {
  vi.spyOn(console, "error").mockImplementation(() => {})
  const { error } = await expectJson<{ error: { message: string } }>(
    503,
    exchange({ subject_token: "x" }, { ttl_seconds: 5 }),
  )
  expect(error.message).toContain("OAUTH_TRUSTED_ISSUERS[0].ttl_seconds")
  vi.restoreAllMocks()
})
