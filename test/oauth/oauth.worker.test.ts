import { principalByHash } from "../../src/policy/authenticate.ts"
import type { Principal } from "../../src/access/principal.ts"
import { env, exports } from "cloudflare:workers"
import * as fc from "fast-check"
import { describe, expect, test } from "vitest"
import { isCallback } from "../../src/oauth/callback.ts"
import { hashKey, newKey as newSecret } from "../../src/access/key.ts"
import { newEntry } from "../../src/audit/entry.ts"
import { isProven, toKeyRow, toS256 } from "../../src/oauth/code.ts"
import { attemptCode, exchangeCode, MAX_ATTEMPTS, pruneOauth } from "../../src/oauth/store.ts"
import { insertIntern } from "../support/interns.ts"
import { runs } from "../support/runs.ts"
import { client, newKey, newWorkspace, expectJson, type Workspace } from "../support/world.ts"
import { RATE_LIMIT } from "../support/rate-limit.ts"
import { watchPolicyWrites } from "../support/policy-writes.ts"

watchPolicyWrites()

const VERIFIER = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"
/** RFC 7636, appendix B. */
const CHALLENGE = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"
const CALLBACK = "https://app.example/back?state=1"
const S256 = { code_challenge: CHALLENGE, code_challenge_method: "S256" }

type Made = { data: { id: string; app_id: number; created_at: string } }
type Exchanged = { key: string; user_id: string | null }
const codeOf = async (workspace: Workspace, more: Record<string, unknown> = {}) =>
  (await expectJson<Made>(200, workspace.as.post("/auth/keys/code", { callback_url: CALLBACK, ...more }))).data.id
const exchange = (body: Record<string, unknown>) => client().post("/auth/keys", body)

describe("a code challenge", () => {
  test("matches the example of RFC 7636", () => {
    expect(toS256(VERIFIER)).toBe(CHALLENGE)
  })

  test("is met only by its verifier", () => {
    const verifier = fc.stringMatching(/^[\w.~-]{43,128}$/)
    fc.assert(
      fc.property(verifier, verifier, fc.constantFrom("S256" as const, "plain" as const), (mine, other, method) => {
        const row = { codeChallenge: method === "S256" ? toS256(mine) : mine, codeChallengeMethod: method }
        expect(isProven(row, { code: "x", code_verifier: mine })).toBe(true)
        expect(isProven(row, { code: "x", code_verifier: mine, code_challenge_method: method })).toBe(true)
        expect(isProven(row, { code: "x", code_verifier: other })).toBe(mine === other)
        const changed = method === "S256" ? "plain" : "S256"
        expect(isProven(row, { code: "x", code_verifier: mine, code_challenge_method: changed })).toBe(false)
        expect(isProven(row, { code: "x" })).toBe(false)
        const open = { codeChallenge: null, codeChallengeMethod: null }
        expect(isProven(open, { code: "x", code_verifier: mine })).toBe(false)
      }),
    )
  })
})

test.each([
  ["https://app.example/back", true],
  ["https://app.example:8443/back?x=1", true],
  ["http://localhost:3000/back", true],
  ["http://127.0.0.1:5000", true],
  ["http://app.example/back", false],
  ["http://localhost.evil.example/", false],
  ["https://app.example/#part", false],
  ["https://app.example/#", false],
  ["https://user@app.example/", false],
  ["https://app.example@evil.example/", false],
  ["javascript:alert(1)", false],
  ["app://back", false],
  ["//app.example", false],
  ["https:\\\\app.example", false],
])("accepts %s as a callback: %s", (url, is) => {
  expect(isCallback(url)).toBe(is)
})

describe("an authorization code", () => {
  test("is exchanged once for a working key", async () => {
    const workspace = await newWorkspace()
    const expires = new Date(Date.now() + 86_400_000).toISOString()
    const parameters = { ...S256, key_label: "My app", limit: 5, usage_limit_type: "monthly", expires_at: expires }
    const code = await codeOf(workspace, parameters)
    const input = { code, code_verifier: VERIFIER, code_challenge_method: "S256" }
    const made = await expectJson<Exchanged>(200, exchange(input))
    expect(made).toEqual({ key: expect.stringMatching(/^sk-gw-v1-/), user_id: expect.any(String) })
    const { data } = await expectJson<{ data: object }>(200, client(made.key).get("/key"))
    expect(data).toMatchObject({
      limit: 5,
      limit_reset: "monthly",
      expires_at: expires,
      workspace_id: workspace.workspaceId,
      is_management_key: false,
    })
    await expectJson(403, exchange(input))
    // A second exchange does not revoke the key of the first.
    await expectJson(200, client(made.key).get("/key"))
    type Log = { data: { action: string; changes: object }[] }
    const log = await expectJson<Log>(200, workspace.manage.get("/audit"))
    expect(log.data.slice(0, 2)).toMatchObject([
      { action: "api_key.create", changes: { name: "My app", kind: "normal" } },
      { action: "oauth_code.create", changes: { callback_url: CALLBACK } },
    ])
    expect(JSON.stringify(log)).not.toContain(code)
  })

  test("makes a key with the guardrail of the approving key", async () => {
    const workspace = await newWorkspace()
    const { hash, as } = await newKey(workspace)
    const rules = { name: "Only one", allowed_models: ["sim/embed"] }
    const { data: guardrail } = await expectJson<{ data: { id: string } }>(
      201,
      workspace.manage.post("/guardrails", rules),
    )
    await expectJson(200, workspace.manage.post(`/guardrails/${guardrail.id}/assignments/keys`, { key_hashes: [hash] }))
    const { data } = await expectJson<{ data: { id: string } }>(
      200,
      as.post("/auth/keys/code", { callback_url: "https://app.example/back" }),
    )
    const { key } = await expectJson<Exchanged>(200, exchange({ code: data.id }))
    await expectJson(403, client(key).chat("sim/echo", "Past it?"))
  })

  test("exchanged concurrently makes one key", async () => {
    const workspace = await newWorkspace()
    const code = await codeOf(workspace, S256)
    const input = { code, code_verifier: VERIFIER }
    const answers = await Promise.all(Array.from({ length: 8 }, () => exchange(input)))
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, ...Array.from({ length: 7 }, () => 403)])
    const { data } = await expectJson<{ data: unknown[] }>(200, workspace.manage.get("/keys"))
    expect(data).toHaveLength(3)
  })

  test("makes one key even if two exchanges found it open", async () => {
    const workspace = await newWorkspace()
    const hash = hashKey(await codeOf(workspace))
    const row = await attemptCode(env.DB, hash, Date.now())
    if (!row) throw new Error("The code is open.")
    const { organizationId } = workspace
    const approver = (await principalByHash(row.approvedBy, env, Date.now())) as Principal
    const actor = { organizationId, keyHash: "", label: "", creatorUserId: null, ip: null, userAgent: null }
    const keys = [toKeyRow(row, newSecret(), approver, Date.now()), toKeyRow(row, newSecret(), approver, Date.now())]
    const taken = []
    for (const key of keys) {
      const created = { action: "api_key.create", resourceId: key.hash, workspaceId: row.workspaceId } as const
      const entry = newEntry({ ...actor, requestId: "r", at: Date.now() }, created)
      taken.push(await exchangeCode(env.DB, { hash, key, now: Date.now(), entry }))
    }
    expect(taken).toEqual([true, false])
    const made = "SELECT hash FROM api_keys WHERE hash IN (?, ?)"
    const { results } = await env.DB.prepare(made).bind(keys[0]?.hash, keys[1]?.hash).all()
    expect(results).toEqual([{ hash: keys[0]?.hash }])
    const logged = await env.DB.prepare("SELECT count(*) AS n FROM audit_log WHERE resource_id = ?")
      .bind(keys[1]?.hash)
      .first("n")
    expect(logged).toBe(0)
  })

  test("is rejected with the same error for every fault, and a failed attempt does not use it up", async () => {
    const workspace = await newWorkspace()
    const code = await codeOf(workspace, S256)
    const wrong = [
      { code: "nothing" },
      { code },
      { code, code_verifier: VERIFIER.toLowerCase() },
      { code, code_verifier: VERIFIER, code_challenge_method: "plain" },
      { code: await codeOf(workspace), code_verifier: VERIFIER },
    ]
    const logged = await Promise.all(
      wrong.map(async (one) => (await expectJson<object>(403, exchange(one))) as unknown),
    )
    expect(new Set(logged.map((one) => JSON.stringify(one))).size).toBe(1)
    await expectJson(200, exchange({ code, code_verifier: VERIFIER, code_challenge_method: "S256" }))
    await expectJson(400, exchange({ code, code_verifier: "short" }))
    await expectJson(400, exchange({}))
  })

  test("with any order of right and wrong verifiers makes one key within the first ten attempts, otherwise none", async () => {
    const workspace = await newWorkspace()
    const verifiers = fc.array(fc.boolean(), { minLength: 1, maxLength: 14 })
    await fc.assert(
      fc.asyncProperty(verifiers, fc.boolean(), async (tries, areConcurrent) => {
        const code = await codeOf(workspace, S256)
        const send = (isRight: boolean) =>
          exchange({ code, code_verifier: isRight ? VERIFIER : VERIFIER.toLowerCase() }).then(({ status }) => status)
        const statuses: number[] = []
        if (areConcurrent) statuses.push(...(await Promise.all(tries.map(send))))
        else for (const isRight of tries) statuses.push(await send(isRight))
        const exchanged = statuses.flatMap((status, at) => (status === 200 ? [at] : []))
        expect(statuses.every((status) => status === 200 || status === 403)).toBe(true)
        expect(exchanged.every((at) => tries[at])).toBe(true)
        expect(exchanged.length).toBeLessThanOrEqual(1)
        const first = tries.indexOf(true)
        if (!areConcurrent) expect(exchanged).toEqual(first !== -1 && first < MAX_ATTEMPTS ? [first] : [])
        else if (tries.length <= MAX_ATTEMPTS) expect(exchanged).toHaveLength(first === -1 ? 0 : 1)
      }),
      { numRuns: runs(0.2) },
    )
  })

  test("expires after ten minutes and with the approving key", async () => {
    const workspace = await newWorkspace()
    const old = await codeOf(workspace)
    await env.DB.prepare("UPDATE oauth_codes SET expires_at = ? WHERE organization_id = ?")
      .bind(Date.now() - 1, workspace.organizationId)
      .run()
    await expectJson(403, exchange({ code: old }))
    const { as, hash } = await newKey(workspace)
    const { data } = await expectJson<Made>(200, as.post("/auth/keys/code", { callback_url: CALLBACK }))
    await expectJson(200, workspace.manage.delete(`/keys/${hash}`))
    await expectJson(403, exchange({ code: data.id }))
  })

  test("may be requested by any key that may create such a key", async () => {
    const workspace = await newWorkspace()
    const other = await newWorkspace()
    const free = await newKey(workspace, { kind: "free_tier" })
    const callback = { callback_url: CALLBACK }
    await expectJson(403, free.as.post("/auth/keys/code", callback))
    await expectJson(401, client().post("/auth/keys/code", callback))
    const foreign = { ...callback, workspace_id: other.workspaceId }
    for (const by of [workspace.as, workspace.manage]) await expectJson(404, by.post("/auth/keys/code", foreign))
    type Team = { data: { id: string } }
    const { data } = await expectJson<Team>(201, workspace.manage.post("/workspaces", { name: "Team", slug: "team" }))
    await expectJson(404, workspace.as.post("/auth/keys/code", { ...callback, workspace_id: data.id }))
    const made = await expectJson<Made>(
      200,
      workspace.manage.post("/auth/keys/code", { ...callback, workspace_id: data.id }),
    )
    const { key } = await expectJson<Exchanged>(200, exchange({ code: made.data.id }))
    const { data: logged } = await expectJson<{ data: object }>(200, client(key).get("/key"))
    expect(logged).toMatchObject({ workspace_id: data.id, is_management_key: false })
  })

  test("cannot be requested by an intern", async () => {
    const intern = await insertIntern(await newWorkspace())
    await expectJson(403, intern.as.post("/auth/keys/code", { callback_url: CALLBACK }))
  })

  test.each([
    ["no callback", {}],
    ["a callback that is not allowed", { callback_url: "http://app.example" }],
    ["a challenge without its method", { callback_url: CALLBACK, code_challenge: CHALLENGE }],
    ["an invalid challenge", { callback_url: CALLBACK, ...S256, code_challenge: "x".repeat(50) }],
    ["an expiry in the past", { callback_url: CALLBACK, expires_at: "2020-01-01T00:00:00Z" }],
  ])("is rejected with 400 for %s", async (_, input) => {
    await expectJson(400, (await newWorkspace()).as.post("/auth/keys/code", input))
  })

  test("is deleted a day after it expires", async () => {
    const workspace = await newWorkspace()
    await codeOf(workspace)
    await pruneOauth(env.DB, Date.now() + 2 * 86_400_000)
    const left = await env.DB.prepare("SELECT count(*) AS n FROM oauth_codes WHERE organization_id = ?")
      .bind(workspace.organizationId)
      .first("n")
    expect(left).toBe(0)
  })
})

describe("the authorization page", () => {
  const QUERY = new URLSearchParams({ callback_url: CALLBACK, ...S256, limit: "5", key_label: "<b>App</b>" }).toString()
  const visit = (cookie?: string, query = QUERY) =>
    fetchPage(`/auth?${query}`, { headers: cookie === undefined ? {} : { cookie } })
  const send = (cookie: string, fields: Record<string, string>, query = QUERY) =>
    fetchPage(`/auth?${query}`, { method: "POST", headers: { cookie }, body: new URLSearchParams(fields) })
  const fetchPage = (path: string, init: RequestInit) =>
    (exports as unknown as { default: Fetcher }).default.fetch(`http://gateway.test${path}`, {
      redirect: "manual",
      ...init,
    })
  const cookieOf = (answer: Response) => answer.headers.get("set-cookie")?.split(";")[0] ?? ""
  const tokenIn = (html: string) => /name="token" value="([^"]+)"/.exec(html)?.[1] ?? ""

  async function signedIn(key: string, query = QUERY) {
    const first = await visit("", query)
    const token = tokenIn(await first.text())
    const entered = await send(cookieOf(first), { action: "sign_in", token, api_key: key }, query)
    expect([entered.status, entered.headers.get("location")]).toEqual([303, `/auth?${query}`])
    const cookie = cookieOf(entered)
    const consent = await visit(cookie, query)
    const html = await consent.text()
    return { cookie, html, token: tokenIn(html), policy: consent.headers.get("content-security-policy") }
  }

  test("leads from sign-in and consent to a working code", async () => {
    const workspace = await newWorkspace()
    const { cookie, html, token, policy } = await signedIn(workspace.key)
    expect(policy).toContain("form-action 'self' http: https:;")
    for (const shown of ["app.example", "5 USD", "&lt;b&gt;App&lt;/b&gt;"]) expect(html).toContain(shown)
    for (const secret of ["<b>App", workspace.key]) expect(html).not.toContain(secret)
    const allowed = await send(cookie, { action: "approve", token })
    expect(allowed.status).toBe(303)
    const back = new URL(allowed.headers.get("location") ?? "")
    expect([back.origin + back.pathname, back.searchParams.get("state")]).toEqual(["https://app.example/back", "1"])
    const code = back.searchParams.get("code")
    const { key } = await expectJson<Exchanged>(200, exchange({ code, code_verifier: VERIFIER }))
    await expectJson(200, client(key).get("/key"))
    // The session ends with it.
    expect(await (await visit(cookieOf(allowed))).text()).toContain("Sign in")
  })

  test("shows when the key expires: as the app requests, or with the approving key", async () => {
    const workspace = await newWorkspace()
    const consentOf = async (key: string, more: Record<string, string> = {}) => {
      const { cookie } = await signedIn(key)
      return (await visit(cookie, new URLSearchParams({ callback_url: CALLBACK, ...S256, ...more }).toString())).text()
    }
    expect(await consentOf(workspace.key)).toContain("Works until it is deleted.")
    const page = await consentOf(workspace.key, { expires_at: "2126-01-02T03:04:05.000Z" })
    expect(page).toContain("Works until 2 January 2126 at 03:04 UTC.")
    const { key } = await newKey(workspace, { expires_at: "2126-05-06T07:08:09.000Z" })
    expect(await consentOf(key)).toContain("Works until 6 May 2126 at 07:08 UTC.")
  })

  test("shows the host of the app as ASCII, so that no letter looks like another one", async () => {
    const workspace = await newWorkspace()
    const { cookie } = await signedIn(workspace.key)
    const query = new URLSearchParams({ callback_url: "https://\u0430pp.example/back", ...S256 }).toString()
    const html = await (await visit(cookie, query)).text()
    expect(html).toContain("<code>https://xn--pp-6kc.example/back</code>")
    expect(html).not.toContain("\u0430")
  })

  test("warns when an app sends no code challenge", async () => {
    const workspace = await newWorkspace()
    const { html, cookie } = await signedIn(workspace.key)
    expect(html).not.toContain("code challenge")
    const unprotected = new URLSearchParams({ callback_url: CALLBACK }).toString()
    const consent = await (await visit(cookie, unprotected)).text()
    expect(consent).toContain("This app sent no code challenge (PKCE)")
    expect(consent).toContain('value="approve"')
  })

  test("redirects with error=access_denied on a denial, and makes no code", async () => {
    const workspace = await newWorkspace()
    const { cookie, token } = await signedIn(workspace.managementKey)
    const refused = await send(cookie, { action: "deny", token })
    expect(refused.headers.get("location")).toBe("https://app.example/back?state=1&error=access_denied")
    const { data } = await expectJson<{ data: { action: string }[] }>(200, workspace.manage.get("/audit"))
    expect(data.map(({ action }) => action)).not.toContain("oauth_code.create")
  })

  test.each([
    ["state", "https://app.example/back", "a b&c=d", "a b&c=d"],
    ["the state of the callback URL", "https://app.example/back?state=1", "2", "1"],
  ])("returns %s to the app, on approval and on denial", async (_, callback_url, state, returned) => {
    const workspace = await newWorkspace()
    const query = new URLSearchParams({ callback_url, state, ...S256 }).toString()
    for (const action of ["approve", "deny"]) {
      const { cookie, token } = await signedIn(workspace.key, query)
      const answer = new URL((await send(cookie, { action, token }, query)).headers.get("location") ?? "")
      expect(answer.searchParams.getAll("state")).toEqual([returned])
      expect(answer.searchParams.has(action === "deny" ? "error" : "code")).toBe(true)
    }
  })

  test("forbids framing and scripts and protects its cookie", async () => {
    const first = await visit()
    const policy = first.headers.get("content-security-policy")
    expect(policy).toMatch(/^default-src 'none'; style-src 'nonce-\w{32}'; form-action 'self' ; frame-ancestors 'none'/)
    expect(first.headers.get("x-frame-options")).toBe("DENY")
    expect(first.headers.get("cache-control")).toBe("no-store")
    expect(first.headers.get("set-cookie")).toMatch(/; Max-Age=\d{1,3}; Path=\/; HttpOnly; SameSite=Lax$/)
    const secured = await (exports as unknown as { default: Fetcher }).default.fetch(
      `https://gateway.test/auth?${QUERY}`,
    )
    expect(secured.headers.get("set-cookie")).toMatch(
      /^__Host-gateway_auth=[^;]+;.* Path=\/; HttpOnly; Secure; SameSite=Lax$/,
    )
    expect(await first.text()).not.toMatch(/<script|onclick|javascript:/i)
  })

  test("rejects a form of another session or request with 403", async () => {
    const workspace = await newWorkspace()
    const [mine, theirs] = [await signedIn(workspace.key), await signedIn(workspace.key)]
    const first = await visit()
    const anonymous = tokenIn(await first.text())
    const other = QUERY.replace("limit=5", "limit=50")
    for (const attempt of [
      () => send(mine.cookie, { action: "approve", token: theirs.token }),
      () => send(mine.cookie, { action: "approve", token: "" }),
      () => send(mine.cookie, { action: "approve", token: anonymous }),
      () => send(mine.cookie, { action: "approve", token: mine.token }, other),
      () => send("", { action: "approve", token: mine.token }),
      () => send(`${mine.cookie}x`, { action: "approve", token: mine.token }),
      () => send("", { action: "sign_in", token: anonymous, api_key: workspace.key }),
      () => send(cookieOf(first), { action: "sign_in", token: mine.token, api_key: workspace.key }),
    ]) {
      const refused = await attempt()
      expect([refused.status, refused.headers.get("location")]).toEqual([403, null])
    }
    const anonymousApproval = await send(cookieOf(first), { action: "approve", token: anonymous })
    expect(anonymousApproval.status).toBe(403)
  })

  test("rejects an invalid key and one without the right with 401", async () => {
    const workspace = await newWorkspace()
    const free = await newKey(workspace, { kind: "free_tier" })
    for (const key of ["", "sk-wrong", free.key]) {
      const first = await visit()
      const token = tokenIn(await first.text())
      const refused = await send(cookieOf(first), { action: "sign_in", token, api_key: key })
      expect([refused.status, refused.headers.get("location")]).toEqual([401, null])
      expect(await refused.text()).toContain('role="alert"')
    }
    const { key, hash } = await newKey(workspace)
    const { cookie, token } = await signedIn(key)
    await expectJson(200, workspace.manage.delete(`/keys/${hash}`))
    const late = await send(cookie, { action: "approve", token })
    expect([late.status, late.headers.get("location")]).toEqual([401, null])
  })

  test("returns 429 after many unknown keys, and a valid key still signs in from that address", async () => {
    const workspace = await newWorkspace()
    const first = await visit()
    const [cookie, token] = [cookieOf(first), tokenIn(await first.text())]
    const address = `oauth-${crypto.randomUUID()}`
    const enter = async (api_key: string) => {
      const headers = { cookie, "cf-connecting-ip": address }
      const body = new URLSearchParams({ action: "sign_in", token, api_key })
      const response = await fetchPage(`/auth?${QUERY}`, { method: "POST", headers, body })
      await response.text()
      return response.status
    }
    const statuses = new Set<number>()
    for (let at = 0; at <= 20 * RATE_LIMIT && !statuses.has(429); at += 50) {
      const tries = Array.from({ length: 50 }, () => enter(`sk-gw-v1-${crypto.randomUUID()}`))
      for (const status of await Promise.all(tries)) statuses.add(status)
    }
    expect([...statuses].toSorted()).toEqual([401, 429])
    expect(await enter(workspace.key)).toBe(303)
  }, 30_000)

  test("returns 400 and names the invalid parameter of an app", async () => {
    const answer = await visit(undefined, "callback_url=http://evil.example")
    expect(answer.status).toBe(400)
    expect(await answer.text()).toContain("callback_url")
    expect((await visit(undefined, "x=1")).status).toBe(400)
  })
})
