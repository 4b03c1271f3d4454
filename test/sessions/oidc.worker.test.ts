import { env } from "cloudflare:workers"
import * as jose from "jose"
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest"
import { client, expectJson, newWorkspace, type Workspace } from "../support/world.ts"
import type { SessionData } from "./console.ts"
import { CLIENT, type IdentityProvider, newBrowser, newIdentityProvider } from "./identity-provider.ts"
import { addUser, connect, patch } from "../scim/directory.ts"
import { watchPolicyWrites } from "../support/policy-writes.ts"

watchPolicyWrites()

let provider: IdentityProvider
let workspace: Workspace
/** An email address used by one test only. */
let email: string
let userId: string

type Person = { data: { id: string } }

async function addMember(to: Workspace, input: object): Promise<string> {
  const { data } = await expectJson<Person>(201, to.manage.post("/organization/members", input))
  return data.id
}

beforeEach(async () => {
  provider = await newIdentityProvider()
  workspace = await newWorkspace()
  email = `${crypto.randomUUID()}@example.com`
  userId = await addMember(workspace, { email, first_name: "Ada", last_name: "Lovelace" })
  provider.claims = { email, email_verified: true }
})
afterEach(() => {
  vi.useRealTimers()
  vi.restoreAllMocks()
})

type Browser = ReturnType<typeof newBrowser>
type Described = SessionData & { user: { id: string; email: string } | null }

async function sessionIn(browser: Browser): Promise<Described> {
  return (await expectJson<{ data: Described }>(200, browser.call("/console/session"))).data
}

async function roleTo(role: string): Promise<void> {
  await expectJson(200, workspace.manage.patch(`/organization/members/${userId}`, { role }))
}

describe("sign-in methods", () => {
  test("include the provider if it is configured", async () => {
    const answer = await newBrowser(provider).open("/console/sign-in")
    expect(await expectJson(200, answer)).toEqual({ data: { oidc: { name: new URL(provider.issuer).hostname } } })
    const named = await newBrowser(provider, { OIDC_NAME: "Acme SSO" }).open("/console/sign-in")
    expect(await expectJson(200, named)).toEqual({ data: { oidc: { name: "Acme SSO" } } })
  })

  test("without a provider are keys only, and the provider's routes return 404", async () => {
    const browser = newBrowser(provider, { OIDC_ISSUER: undefined, OIDC_CLIENT_ID: undefined })
    expect(await expectJson(200, browser.open("/console/sign-in"))).toEqual({ data: { oidc: null } })
    await expectJson(404, browser.open("/console/sign-in/oidc"))
    await expectJson(404, browser.open("/console/sign-in/callback?code=1&state=1"))
  })

  test("with an incomplete configuration return 503 with the missing variable", async () => {
    type Refusal = { error: { message: string } }
    const browser = newBrowser(provider, { OIDC_CLIENT_ID: undefined })
    const { error } = await expectJson<Refusal>(503, browser.open("/console/sign-in"))
    expect(error.message).toContain("OIDC_CLIENT_ID must be set")
  })
})

describe("the sign-in of a member", () => {
  test("sends state, nonce and PKCE to the provider, and creates a session", async () => {
    const browser = newBrowser(provider)
    const response = await browser.open("/console/sign-in/oidc?return_to=/calls?range%3D7d")
    const url = new URL(response.headers.get("location") ?? "")
    expect(url.origin).toBe(provider.issuer)
    expect(Object.fromEntries(url.searchParams)).toMatchObject({
      response_type: "code",
      client_id: "gateway",
      redirect_uri: "http://gateway.test/console/sign-in/callback",
      scope: "openid email profile",
      code_challenge_method: "S256",
    })
    for (const name of ["state", "nonce", "code_challenge"]) expect(url.searchParams.get(name)).toMatch(/^[\w-]{43}$/)
    expect(response.headers.get("set-cookie")).toMatch(
      /^gateway_sign_in=[^;]+; Max-Age=600; Path=\/; HttpOnly; SameSite=Lax$/,
    )
    expect(await browser.end(provider.authorize(url.href))).toBe("/calls?range=7d")
    expect([...browser.cookies.keys()]).toEqual(["gateway_console"])
    expect(await sessionIn(browser)).toMatchObject({
      kind: "workspace",
      key: { name: "Console: Ada Lovelace" },
      organization: { id: workspace.organizationId },
      user: { id: userId, email, first_name: "Ada", last_name: "Lovelace" },
    })
    const exchange = provider.requests.find((request) => request.url.endsWith("/token"))
    const [id = "", secret = ""] = atob((exchange?.headers.get("authorization") ?? "").slice(6)).split(":")
    expect([decodeURIComponent(id), decodeURIComponent(secret)]).toEqual([
      CLIENT.OIDC_CLIENT_ID,
      CLIENT.OIDC_CLIENT_SECRET,
    ])
  })

  test("grants the rights of the role: a member's own view, or the organization for an administrator", async () => {
    const browser = newBrowser(provider)
    await browser.signIn()
    const member = await sessionIn(browser)
    expect(member.may).not.toContain("members:write")
    expect((await browser.call("/api/v1/keys")).status).toBe(403)
    expect((await browser.call("/api/v1/calls")).status).toBe(200)
    await roleTo("org:admin")
    await browser.signIn()
    expect(await sessionIn(browser)).toMatchObject({ kind: "management" })
    expect((await browser.call("/api/v1/keys")).status).toBe(200)
  })

  test("uses one key for all sign-ins, which is listed for the member", async () => {
    const browser = newBrowser(provider)
    await browser.signIn()
    const { key } = await sessionIn(browser)
    await browser.signIn()
    expect((await sessionIn(browser)).key.hash).toBe(key.hash)
    type Key = { data: { name: string; creator_user_id: string; expires_at: string | null } }
    const { data } = await expectJson<Key>(200, workspace.manage.get(`/keys/${key.hash}`))
    expect(data).toMatchObject({ name: "Console: Ada Lovelace", creator_user_id: userId, expires_at: null })
  })

  test("in two browsers at once uses one key, also after the deletion of the former one", async () => {
    const hashes = async () => {
      const browsers = Array.from({ length: 4 }, () => newBrowser(provider))
      expect(await Promise.all(browsers.map((browser) => browser.signIn()))).toEqual(["/", "/", "/", "/"])
      return new Set(await Promise.all(browsers.map(async (browser) => (await sessionIn(browser)).key.hash)))
    }
    type Keys = { data: { hash: string; name: string }[] }
    const consoleKeys = async () => {
      const { data } = await expectJson<Keys>(200, workspace.manage.get("/keys?include_disabled=true"))
      return data.filter(({ name }) => name.startsWith("Console: ")).map(({ hash }) => hash)
    }
    const [first = ""] = await hashes()
    expect(await consoleKeys()).toEqual([first])
    await expectJson(200, workspace.manage.delete(`/keys/${first}`))
    const second = [...(await hashes())]
    expect(await consoleKeys()).toEqual(second)
    expect(second).not.toEqual([first])
  })

  test("after the deletion of the default workspace is in a workspace of the member", async () => {
    type Made = { data: { id: string } }
    const add = async (slug: string) =>
      (await expectJson<Made>(201, workspace.manage.post("/workspaces", { name: slug, slug }))).data.id
    const [oldest, joined] = [await add("oldest"), await add("joined")]
    const path = `/workspaces/${workspace.workspaceId}?confirm_default_workspace_deletion=true`
    await expectJson(200, workspace.manage.delete(path))
    const browser = newBrowser(provider)
    expect(await browser.signIn()).toBe("/?sign_in=not_member")
    await expectJson(200, workspace.manage.post(`/workspaces/${joined}/members/add`, { user_ids: [userId] }))
    expect(await browser.signIn()).toBe("/")
    expect(await sessionIn(browser)).toMatchObject({ kind: "workspace", workspace: { id: joined } })
    const admin = `admin-${email}`
    await addMember(workspace, { email: admin, role: "org:admin" })
    provider.claims = { email: admin, email_verified: true }
    expect(await browser.signIn()).toBe("/")
    expect(await sessionIn(browser)).toMatchObject({ kind: "management", workspace: { id: oldest } })
  })

  test("as administrator creates keys that outlive the session, and cannot delete the last management key", async () => {
    await roleTo("org:admin")
    const browser = newBrowser(provider)
    await browser.signIn()
    const made = await browser.call("/api/v1/keys", "POST", { name: "production" })
    const { data } = await expectJson<{ data: { expires_at: string | null } }>(201, made)
    expect(data.expires_at).toBeNull()
    type Keys = { data: { hash: string; kind: string; name: string }[] }
    const keys = await expectJson<Keys>(200, browser.call("/api/v1/keys"))
    const last = keys.data.filter(({ kind, name }) => kind === "management" && !name.startsWith("Console"))
    expect(last.length).toBe(1)
    await expectJson(409, browser.call(`/api/v1/keys/${last[0]?.hash}`, "DELETE"))
  })

  test("is in the audit log", async () => {
    await newBrowser(provider).signIn()
    type Log = { data: { action: string; resource_id: string }[] }
    const { data } = await expectJson<Log>(200, workspace.manage.get("/audit?action=console_session.create"))
    expect(data).toMatchObject([{ action: "console_session.create", resource_id: userId }])
  })

  test("in several organizations selects the one joined first, or the chosen one", async () => {
    const other = await newWorkspace()
    await addMember(other, { email, first_name: "Ada" })
    const browser = newBrowser(provider)
    await browser.signIn()
    expect((await sessionIn(browser)).organization?.id).toBe(workspace.organizationId)
    await browser.signIn(`?organization=${other.organizationId}`)
    expect((await sessionIn(browser)).organization?.id).toBe(other.organizationId)
    const stranger = await newWorkspace()
    expect(await browser.signIn(`?organization=${stranger.organizationId}`)).toBe("/?sign_in=not_member")
  })

  test("uses the email of the UserInfo endpoint if the ID token has none", async () => {
    provider.claims = {}
    provider.userInfo = { sub: "subject-1", email: email.toUpperCase(), email_verified: "true" }
    const browser = newBrowser(provider)
    expect(await browser.signIn()).toBe("/")
    expect((await sessionIn(browser)).user?.id).toBe(userId)
    provider.userInfo = { sub: "subject-2", email, email_verified: true }
    expect(await newBrowser(provider).signIn()).toBe("/?sign_in=provider")
  })

  test("as a public client sends no secret", async () => {
    const browser = newBrowser(provider, { OIDC_CLIENT_SECRET: undefined })
    expect(await browser.signIn()).toBe("/")
    const exchange = provider.requests.find((request) => request.url.endsWith("/token"))
    expect(exchange?.headers.has("authorization")).toBe(false)
    expect(exchange?.body.get("client_id")).toBe("gateway")
  })
})

describe("a member's session ends", () => {
  test("with the membership", async () => {
    const browser = newBrowser(provider)
    await browser.signIn()
    await expectJson(200, workspace.manage.delete(`/organization/members/${userId}`))
    await expireCaches()
    expect((await browser.call("/console/session")).status).toBe(401)
    expect((await browser.call("/api/v1/calls")).status).toBe(401)
    expect(await browser.signIn()).toBe("/?sign_in=not_member")
  })

  test("when the role changes, so that a former administrator has no rights left", async () => {
    await roleTo("org:admin")
    const browser = newBrowser(provider)
    await browser.signIn()
    expect((await browser.call("/api/v1/keys")).status).toBe(200)
    await roleTo("org:member")
    await expireCaches()
    expect((await browser.call("/api/v1/keys")).status).toBe(401)
    await browser.signIn()
    expect((await browser.call("/api/v1/keys")).status).toBe(403)
  })

  test("when its key is disabled, which prevents a new sign-in until it is enabled", async () => {
    const browser = newBrowser(provider)
    await browser.signIn()
    const { key } = await sessionIn(browser)
    await expectJson(200, workspace.manage.patch(`/keys/${key.hash}`, { disabled: true }))
    expect((await browser.call("/console/session")).status).toBe(401)
    expect(await browser.signIn()).toBe("/?sign_in=disabled")
    await expectJson(200, workspace.manage.patch(`/keys/${key.hash}`, { disabled: false }))
    expect(await browser.signIn()).toBe("/")
  })

  test("when the directory deactivates the user, who signs in again after activation", async () => {
    const { push } = await connect(workspace)
    const user = await addUser(push, "ada", { emails: [{ value: email }] })
    expect(user.id).toBe(userId)
    const toActive = (active: boolean) =>
      expectJson(200, push("PATCH", `/Users/${userId}`, patch({ op: "replace", path: "active", value: active })))
    const browser = newBrowser(provider)
    await browser.signIn()
    const { key } = await sessionIn(browser)
    await toActive(false)
    expect((await browser.call("/console/session")).status).toBe(401)
    expect(await browser.signIn()).toBe("/?sign_in=not_member")
    await toActive(true)
    expect(await browser.signIn()).toBe("/")
    expect((await sessionIn(browser)).key.hash).toBe(key.hash)
    // An administrator's block outlasts the directory's changes.
    await expectJson(200, workspace.manage.patch(`/keys/${key.hash}`, { disabled: true }))
    await toActive(false)
    await toActive(true)
    expect(await browser.signIn()).toBe("/?sign_in=disabled")
    await expectJson(200, workspace.manage.patch(`/keys/${key.hash}`, { disabled: false }))
    await toActive(false)
    await expectJson(200, workspace.manage.patch(`/keys/${key.hash}`, { disabled: true }))
    await toActive(true)
    expect(await browser.signIn()).toBe("/?sign_in=disabled")
  })

  test("when its key is deleted, and the next sign-in creates another", async () => {
    const browser = newBrowser(provider)
    await browser.signIn()
    const { key } = await sessionIn(browser)
    await expectJson(200, workspace.manage.delete(`/keys/${key.hash}`))
    expect((await browser.call("/console/session")).status).toBe(401)
    expect(await browser.signIn()).toBe("/")
    expect((await sessionIn(browser)).key.hash).not.toBe(key.hash)
  })

  test("when its key is deleted, whose limits and guardrail apply to the next one", async () => {
    const browser = newBrowser(provider)
    await browser.signIn()
    const { hash } = (await sessionIn(browser)).key
    const limits = { limit: 0.5, limit_reset: "daily", requests_per_minute: 7 }
    await expectJson(200, workspace.manage.patch(`/keys/${hash}`, limits))
    const guardrail = await expectJson<{ data: { id: string } }>(
      201,
      workspace.manage.post("/guardrails", { name: `sessions of ${hash}`, limit_usd: 1, reset_interval: "daily" }),
    )
    const assignments = `/guardrails/${guardrail.data.id}/assignments/keys`
    await expectJson(200, workspace.manage.post(assignments, { key_hashes: [hash] }))
    await expectJson(200, workspace.manage.delete(`/keys/${hash}`))
    await browser.signIn()
    const next = (await sessionIn(browser)).key.hash
    expect(next).not.toBe(hash)
    const { data } = await expectJson<{ data: Record<string, unknown> }>(200, workspace.manage.get(`/keys/${next}`))
    expect(data).toMatchObject(limits)
    const assigned = await expectJson<{ data: { key_hash: string }[] }>(200, workspace.manage.get(assignments))
    expect(assigned.data.map(({ key_hash: one }) => one)).toEqual([next])
  })

  test("after 12 hours", async () => {
    const browser = newBrowser(provider)
    await browser.signIn()
    vi.useFakeTimers({ now: Date.now() + 12 * 3_600_000 + 1_000, toFake: ["Date"] })
    expect((await browser.call("/console/session")).status).toBe(401)
  })
})

/** Makes the isolate's caches of keys and members stale. */
async function expireCaches(): Promise<void> {
  vi.useFakeTimers({ now: Date.now() + 6_000, toFake: ["Date"] })
}

describe("sign-in fails", () => {
  test("for a user who is not a member", async () => {
    provider.claims = { email: "stranger@example.com", email_verified: true }
    const browser = newBrowser(provider)
    expect(await browser.signIn()).toBe("/?sign_in=not_member")
    expect([...browser.cookies]).toEqual([])
  })

  test("for an address that only looks like a member's, or becomes it in lower case", async () => {
    await addMember(workspace, { email: `mike-${email}` })
    const browser = newBrowser(provider)
    for (const name of ["mi\u212Ae", "m\u0130ke", "m\u0131ke", "\uFF4Dike", "mike\u200B"]) {
      provider.claims = { email: `${name}-${email}`, email_verified: true }
      expect(await browser.signIn()).toBe("/?sign_in=not_member")
    }
    provider.claims = { email: `MIKE-${email}`, email_verified: true }
    expect(await browser.signIn()).toBe("/")
  })

  test("for an unverified email unless the deployment accepts it", async () => {
    for (const verified of [undefined, false, "false", 1, null]) {
      provider.claims = { email, email_verified: verified }
      expect(await newBrowser(provider).signIn()).toBe("/?sign_in=unverified")
    }
    provider.claims = { email }
    expect(await newBrowser(provider, { OIDC_UNVERIFIED_EMAIL: "accept" }).signIn()).toBe("/")
  })

  test("for a member whom the directory deprovisioned", async () => {
    const browser = newBrowser(provider)
    await browser.signIn()
    await env.DB.prepare("INSERT INTO scim_leavers (organization_id, user_id, left_at) VALUES (?, ?, 1)")
      .bind(workspace.organizationId, userId)
      .run()
    expect(await browser.signIn()).toBe("/?sign_in=not_member")
  })

  test("with a response to another browser's sign-in", async () => {
    const attacker = newBrowser(provider)
    const victim = newBrowser(provider)
    const stolen = provider.authorize(await attacker.begin())
    expect(await victim.end(stolen)).toBe("/?sign_in=expired")
    await victim.begin()
    expect(await victim.end(stolen)).toBe("/?sign_in=expired")
    expect([...victim.cookies]).toEqual([])
  })

  test("with a repeated response", async () => {
    const browser = newBrowser(provider)
    const response = provider.authorize(await browser.begin())
    const transaction = browser.cookies.get("gateway_sign_in") ?? ""
    expect(await browser.end(response)).toBe("/")
    expect(await browser.end(response)).toBe("/?sign_in=expired")
    // Even with the cookie: the provider accepts a code once.
    browser.cookies.set("gateway_sign_in", transaction)
    expect(await browser.end(response)).toBe("/?sign_in=provider")
  })

  test("with a code of another sign-in of the same browser, because of PKCE and nonce", async () => {
    const browser = newBrowser(provider)
    const first = provider.authorize(await browser.begin())
    const second = provider.authorize(await browser.begin())
    expect(await browser.end({ code: first.code, state: second.state })).toBe("/?sign_in=provider")
  })

  test("after ten minutes at the provider", async () => {
    const browser = newBrowser(provider)
    const response = provider.authorize(await browser.begin())
    vi.useFakeTimers({ now: Date.now() + 601_000, toFake: ["Date"] })
    expect(await browser.end(response)).toBe("/?sign_in=expired")
  })

  test("with a response of another issuer (RFC 9207)", async () => {
    const browser = newBrowser(provider)
    const response = provider.authorize(await browser.begin())
    expect(await browser.end({ ...response, iss: "https://evil.example" })).toBe("/?sign_in=provider")
    expect(provider.requests.some((request) => request.url.endsWith("/token"))).toBe(false)

    const strict = await newIdentityProvider()
    strict.metadata = { authorization_response_iss_parameter_supported: true }
    strict.claims = { email, email_verified: true }
    const other = newBrowser(strict)
    expect(await other.end(strict.authorize(await other.begin()))).toBe("/?sign_in=provider")
    expect(await other.end({ ...strict.authorize(await other.begin()), iss: strict.issuer })).toBe("/")
  })

  const seconds = () => Math.floor(Date.now() / 1_000)
  test.each([
    ["of another issuer", () => ({ iss: "https://evil.example" })],
    ["for another client", () => ({ aud: "other" })],
    ["for several audiences without azp", () => ({ aud: ["gateway", "other"] })],
    ["with another azp", () => ({ azp: "other" })],
    ["with another nonce", () => ({ nonce: "other" })],
    ["without a nonce", () => ({ nonce: undefined })],
    ["that has expired", () => ({ exp: seconds() - 61 })],
    ["with nbf in the future", () => ({ nbf: seconds() + 120 })],
    ["without exp", () => ({ exp: undefined })],
    ["without sub", () => ({ sub: undefined })],
  ])("with an ID token %s", async (_, claims) => {
    provider.claims = { email, email_verified: true, ...claims() }
    expect(await newBrowser(provider).signIn()).toBe("/?sign_in=provider")
  })

  test("with an ID token of another key, without a signature or malformed", async () => {
    const { key } = provider
    provider.key = await provider.newSigningKey("one")
    expect(await newBrowser(provider).signIn()).toBe("/?sign_in=provider")
    provider.key = key
    const claims = { iss: provider.issuer, aud: "gateway", sub: "1", email, email_verified: true, exp: seconds() + 60 }
    const part = (value: object) => btoa(JSON.stringify(value)).replaceAll("=", "")
    for (const token of [
      `${part({ alg: "none" })}.${part(claims)}.`,
      "x",
      `${part({ alg: "HS256" })}.${part(claims)}.x`,
    ]) {
      provider.tokens = { id_token: token }
      expect(await newBrowser(provider).signIn()).toBe("/?sign_in=provider")
    }
  })

  test("with an ID token that is signed with a shared secret, even one in the provider's key set", async () => {
    const secret = crypto.getRandomValues(new Uint8Array(32))
    const jwk = { kty: "oct", kid: "shared", alg: "HS256", k: jose.base64url.encode(secret) }
    provider.keys = [jwk, provider.key.jwk]
    const browser = newBrowser(provider)
    const url = await browser.begin()
    const { code, state } = provider.authorize(url)
    const nonce = new URL(url).searchParams.get("nonce")
    const claims = { sub: "subject-1", email, email_verified: true, nonce }
    const token = new jose.SignJWT(claims).setIssuer(provider.issuer).setAudience("gateway").setIssuedAt()
    const signed = await token.setExpirationTime("5m").setProtectedHeader({ alg: "HS256", kid: "shared" }).sign(secret)
    provider.tokens = { id_token: signed }
    expect(await browser.end({ code, state })).toBe("/?sign_in=provider")
    provider.tokens = {}
    expect(await newBrowser(provider).signIn()).toBe("/")
  })

  test.each(["/.well-known/openid-configuration", "/keys", "/token", "/userinfo"])(
    "with a redirect, a too large, a nested or no document at %s",
    async (path) => {
      const broken = [
        () => new Response(null, { status: 302, headers: { location: "http://169.254.169.254/" } }),
        () => new Response(JSON.stringify({ keys: [], padding: "x".repeat(300_000) })),
        () => new Response("[".repeat(50_000)),
        () => new Response("<html>"),
        () => new Response(null, { status: 204 }),
        () => Promise.reject(new Error("connection refused")),
      ]
      for (const response of broken) {
        const hostile = await newIdentityProvider()
        // Without an email in the ID token, UserInfo is read.
        hostile.responses[path] = response
        expect(await newBrowser(hostile).signIn().catch(String)).toMatch(/sign_in=provider|Invalid URL/)
        const hosts = new Set(hostile.requests.map(({ url }) => new URL(url).origin))
        expect([...hosts]).toEqual([hostile.issuer])
      }
    },
  )

  test("with the metadata of another issuer, a non-https endpoint or an incomplete provider", async () => {
    for (const metadata of [
      { issuer: "https://evil.example" },
      { token_endpoint: "http://login.example/token" },
      { jwks_uri: "javascript:alert(1)" },
      { authorization_endpoint: undefined },
    ]) {
      const broken = await newIdentityProvider()
      broken.metadata = metadata
      expect(await newBrowser(broken).begin()).toBe("/?sign_in=provider")
    }
  })

  test("when the user cancels at the provider", async () => {
    const browser = newBrowser(provider)
    const { state } = provider.authorize(await browser.begin())
    expect(await browser.end({ state, error: "access_denied" })).toBe("/?sign_in=cancelled")
  })
})

test("the provider's key is found among a thousand others and invalid ones, with and without its id", async () => {
  const others = Array.from({ length: 1_000 }, (_, at) => ({ ...provider.key.jwk, kid: `other-${at}`, kty: "future" }))
  const invalid = [null, "x", {}, { kty: 1 }, { kty: "EC", kid: 5 }, { kty: "EC", crv: "P-256", x: "!", y: "!" }]
  provider.keys = [...invalid, ...others, provider.key.jwk]
  for (const kid of ["one", undefined]) {
    provider.header = { kid }
    expect(await newBrowser(provider).signIn()).toBe("/")
  }
})

test("the provider's keys are fetched again after a rotation", async () => {
  await newBrowser(provider).signIn()
  provider.key = await provider.newSigningKey("two")
  provider.keys = [provider.key.jwk]
  provider.header = { kid: "two" }
  expect(await newBrowser(provider).signIn()).toBe("/")
})

test.each(["one", undefined])(
  "the provider's keys are fetched again after a rotation that keeps the key id %s",
  async (kid) => {
    provider.header = { kid }
    await newBrowser(provider).signIn()
    provider.key = await provider.newSigningKey("one")
    provider.keys = [provider.key.jwk]
    expect(await newBrowser(provider).signIn()).toBe("/")
  },
)

test.each([
  ["/calls?status=failed#x", "/calls?status=failed"],
  ["//evil.example", "/"],
  [String.raw`/\evil.example`, "/"],
  ["https://evil.example/", "/"],
  ["javascript:alert(1)", "/"],
  ["/./\t/evil.example", "/"],
])("the page after the sign-in is a path of this gateway: %s", async (given, shown) => {
  expect(await newBrowser(provider).signIn(`?return_to=${encodeURIComponent(given)}`)).toBe(shown)
})

test("a member's session has its user, and the management key works without one", async () => {
  const { managementKey } = workspace
  await expectJson(200, client(managementKey).get("/keys"))
  const browser = newBrowser(provider)
  await browser.signIn()
  expect((await sessionIn(browser)).user?.id).toBe(userId)
})
