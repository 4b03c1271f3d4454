import { env } from "cloudflare:workers"
import * as fc from "fast-check"
import { afterEach, describe, expect, test, vi } from "vitest"
import { api } from "../../src/app/app.ts"
import { authenticate } from "../../src/app/mount.ts"
import { rightOf } from "../../src/app/rights.ts"
import { sealSession, openSession } from "../../src/sessions/cookie.ts"
import { masterKeysOf } from "../../src/secrets/master-key.ts"
import { RATE_LIMIT } from "../support/rate-limit.ts"
import { BOOTSTRAP, client, expectJson, newKey, newWorkspace, type Workspace } from "../support/world.ts"
import { FROM_CONSOLE, send, type SessionData, signIn } from "./console.ts"
import { watchPolicyWrites } from "../support/policy-writes.ts"

watchPolicyWrites()

afterEach(() => vi.restoreAllMocks())

type Refusal = { error: { code: number; message: string } }

describe("signing in", () => {
  test("returns the key, its workspace and its organization, and sets an HttpOnly cookie", async () => {
    const workspace = await newWorkspace()
    const { session, setCookie } = await signIn(workspace.managementKey)
    expect(session).toMatchObject({
      kind: "management",
      workspace: { id: workspace.workspaceId, slug: "default", name: "Default" },
      organization: { id: workspace.organizationId, name: "Test" },
    })
    expect(session.key.label).toContain("...")
    expect(setCookie).toMatch(/^gateway_console=[^;]+; Max-Age=43200; Path=\/; HttpOnly; SameSite=Strict$/)
    expect(Date.parse(session.expires_at) - Date.now()).toBeGreaterThan(11 * 3_600_000)
  })

  test("on https sets a Secure cookie bound to the host", async () => {
    const { key } = await newWorkspace()
    const answer = await send("POST", "https://gateway.test/console/session", FROM_CONSOLE, { key })
    expect(answer.headers.get("set-cookie")).toMatch(/^__Host-gateway_console=[^;]+;.* Secure; SameSite=Strict$/)
    // The cookie name of plain http is ignored on https: another host of the site could have set it.
    const cookie = (answer.headers.get("set-cookie") ?? "").split(";")[0] ?? ""
    const read = (value: string) =>
      send("GET", "https://gateway.test/console/session", { cookie: value, ...FROM_CONSOLE })
    expect((await read(cookie)).status).toBe(200)
    expect((await read(cookie.replace("__Host-", ""))).status).toBe(401)
  })

  test("limits the session to the expiry of its key", async () => {
    const expiresAt = new Date(Date.now() + 3_600_000).toISOString()
    const { key } = await newKey(await newWorkspace(), { expires_at: expiresAt })
    const { session } = await signIn(key)
    expect(session.expires_at).toBe(expiresAt)
  })

  test("with the bootstrap key grants the rights of the deployment", async () => {
    const { session } = await signIn(BOOTSTRAP)
    expect(session.key.name).toBe("bootstrap")
    expect(session.may).toContain("organizations:write")
  })

  test("with an unknown key returns the 401 of any invalid key", async () => {
    const { error } = await expectJson<Refusal>(401, send("POST", "/console/session", FROM_CONSOLE, { key: "sk-x" }))
    expect(error.message).toBe("This API key is not valid.")
  })

  test("from a page of another site returns 403", async () => {
    const { key } = await newWorkspace()
    for (const headers of [{ "sec-fetch-site": "cross-site" }, { origin: "https://evil.test" }]) {
      const answer = await send("POST", "/console/session", headers, { key })
      expect(answer.headers.get("set-cookie")).toBeNull()
      await expectJson(403, answer)
    }
  })

  test("without a key in the body returns 400 with the field's name", async () => {
    const { error } = await expectJson<Refusal>(400, send("POST", "/console/session", FROM_CONSOLE, {}))
    expect(error.message).toContain("key: is required")
  })

  test("returns 429 after many unknown keys, and a valid key still signs in from that address", async () => {
    const headers = { ...FROM_CONSOLE, "cf-connecting-ip": "192.0.2.77" }
    const guess = async () => {
      const key = `sk-gw-v1-${crypto.randomUUID()}`
      return (await send("POST", "/console/session", headers, { key })).status
    }
    const statuses = new Set<number>()
    for (let at = 0; at <= 20 * RATE_LIMIT && !statuses.has(429); at += 50) {
      for (const status of await Promise.all(Array.from({ length: 50 }, guess))) statuses.add(status)
    }
    expect([...statuses].toSorted()).toEqual([401, 429])
    const { key } = await newWorkspace()
    expect((await send("POST", "/console/session", headers, { key })).status).toBe(201)
  })
})

describe("a session", () => {
  test("is returned, and ended by signing out", async () => {
    const { key } = await newWorkspace()
    const { cookie, session } = await signIn(key)
    const read = await expectJson<{ data: SessionData }>(
      200,
      send("GET", "/console/session", { cookie, ...FROM_CONSOLE }),
    )
    expect(read.data).toEqual(session)
    const out = await send("DELETE", "/console/session", { cookie, ...FROM_CONSOLE })
    expect(out.status).toBe(204)
    expect(out.headers.get("set-cookie")).toMatch(/^gateway_console=; Max-Age=0;/)
    await expectJson(401, send("GET", "/console/session", FROM_CONSOLE))
  })

  test("authenticates API calls from the console", async () => {
    const { key } = await newWorkspace()
    const { call } = await signIn(key)
    await expectJson(200, call("GET", "/key"))
    const chat = { model: "sim/echo", messages: [{ role: "user", content: "Hi" }] }
    await expectJson(200, call("POST", "/chat/completions", chat))
  })

  test.each([
    ["no console header", { "x-gateway-console": "" }],
    ["another value of the header", { "x-gateway-console": "true" }],
    ["Sec-Fetch-Site: cross-site", { "sec-fetch-site": "cross-site" }],
    ["Sec-Fetch-Site: same-site", { "sec-fetch-site": "same-site" }],
    ["Sec-Fetch-Site: none", { "sec-fetch-site": "none" }],
  ])("is ignored with %s", async (_, headers) => {
    const { call } = await signIn((await newWorkspace()).key)
    const { error } = await expectJson<Refusal>(401, call("GET", "/key", undefined, headers))
    expect(error.message).toContain("Authorization: Bearer")
  })

  test("is accepted by Origin if the browser sends no fetch metadata, and rejected without both", async () => {
    const { cookie } = await signIn((await newWorkspace()).key)
    const read = (headers: Record<string, string>) =>
      send("GET", "/api/v1/key", { cookie, "x-gateway-console": "1", ...headers })
    expect((await read({ origin: "http://gateway.test" })).status).toBe(200)
    expect((await read({ origin: "http://gateway.test.evil.example" })).status).toBe(401)
    expect((await read({ origin: "null" })).status).toBe(401)
    expect((await read({})).status).toBe(401)
    // Fetch metadata takes precedence over Origin.
    expect((await read({ origin: "http://gateway.test", "sec-fetch-site": "cross-site" })).status).toBe(401)
  })

  test("is overridden by a key in a header, valid or not", async () => {
    const [mine, other] = await Promise.all([newWorkspace(), newWorkspace()])
    const { call } = await signIn(mine.key)
    type Key = { data: { organization_id: string } }
    const read = await expectJson<Key>(200, call("GET", "/key", undefined, { authorization: `Bearer ${other.key}` }))
    expect(read.data.organization_id).toBe(other.organizationId)
    await expectJson(401, call("GET", "/key", undefined, { authorization: "Bearer wrong" }))
    await expectJson(401, call("GET", "/key", undefined, { "x-api-key": "wrong" }))
  })

  test("ends immediately when its key is disabled or deleted", async () => {
    const workspace = await newWorkspace()
    const [disabled, deleted] = await Promise.all([newKey(workspace), newKey(workspace)])
    const sessions = await Promise.all([signIn(disabled.key), signIn(deleted.key)])
    for (const { call } of sessions) await expectJson(200, call("GET", "/key"))
    await expectJson(200, workspace.manage.patch(`/keys/${disabled.hash}`, { disabled: true }))
    await expectJson(200, workspace.manage.delete(`/keys/${deleted.hash}`))
    for (const { call, cookie } of sessions) {
      await expectJson(401, call("GET", "/key"))
      await expectJson(401, send("GET", "/console/session", { cookie, ...FROM_CONSOLE }))
    }
  })

  test("has neither key nor hash in its cookie, and no key in a response", async () => {
    const { key } = await newWorkspace()
    const { cookie, session } = await signIn(key)
    const { hash } = session.key
    for (const hidden of [key, key.slice(9), hash, btoa(key), btoa(hash)]) expect(cookie).not.toContain(hidden)
    expect(JSON.stringify(session)).not.toContain(key)
  })

  test("writes neither cookie nor key to a log or an error", async () => {
    const lines: string[] = []
    for (const level of ["log", "info", "warn", "error"] as const) {
      vi.spyOn(console, level).mockImplementation((...text: unknown[]) => void lines.push(text.join(" ")))
    }
    const { key } = await newWorkspace()
    const { call, cookie } = await signIn(key)
    const value = cookie.split("=")[1] ?? ""
    const answers = await Promise.all([
      call("GET", "/keys"),
      call("POST", "/chat/completions", { model: value, messages: "wrong" }),
      call("GET", "/nothing"),
      call("GET", "/key"),
      send("POST", "/console/session", FROM_CONSOLE, { key, more: 1 }),
    ])
    const texts = await Promise.all(answers.map((answer) => answer.text()))
    expect([...lines, ...texts].filter((text) => text.includes(key) || text.includes(value))).toEqual([])
  })
})

describe("a session cookie", () => {
  test("that was modified is rejected", async () => {
    const masters = masterKeysOf(env)
    const now = Date.now()
    const sealed = await sealSession({ keyHash: "a".repeat(64), expiresAt: now + 60_000 }, masters)
    expect(await openSession(sealed, masters, now)).toMatchObject({ keyHash: "a".repeat(64) })
    const change = fc.record({ at: fc.nat(sealed.length - 1), by: fc.constantFrom("A", "b", "7", "_", ".") })
    await fc.assert(
      fc.asyncProperty(change, async ({ at, by }) => {
        const changed = sealed.slice(0, at) + by + sealed.slice(at + 1)
        const opened = await openSession(changed, masters, now)
        // The last character of a base64 value has unused bits.
        expect(opened === undefined || opened.keyHash === "a".repeat(64)).toBe(true)
        if (changed !== sealed && at < sealed.length - 2) expect(opened).toBeUndefined()
      }),
    )
    for (const text of ["", "x", "a.b.c.d.e", "x".repeat(5_000)]) {
      expect(await openSession(text, masters, now)).toBeUndefined()
    }
  })

  test("of another deployment or after its expiry is rejected, and one of the previous master key is accepted", async () => {
    const { current } = masterKeysOf(env)
    const other = btoa("0123456789abcdef0123456789abcdef")
    const now = Date.now()
    const session = { keyHash: "b".repeat(64), expiresAt: now + 60_000 }
    const sealed = await sealSession(session, { current: other, previous: undefined })
    expect(await openSession(sealed, { current, previous: undefined }, now)).toBeUndefined()
    expect(await openSession(sealed, { current, previous: other }, now)).toEqual(session)
    expect(await openSession(sealed, { current: other, previous: undefined }, now + 61_000)).toBeUndefined()
  })
})

describe("the rights of a session", () => {
  const routes = [
    ...new Map(
      api.routes
        .filter(({ handler }) => handler === authenticate)
        .map((route) => [`${route.method} ${route.path}`, route] as const),
    ).values(),
  ]
  const kinds = ["normal", "provisioning", "free_tier", "management"] as const

  /** A path with valid parameters of no existing resource. */
  const pathOf = (path: string) =>
    path
      .replace(/:hash(\{[^}]*\})?/, "a".repeat(64))
      .replace(/:interval(\{[^}]*\})?/, "daily")
      .replace(/:version(\{[^}]*\})?/, "1")
      .replaceAll(/:\w+(\{[^}]*\})?/g, "01a1fed6-f156-71f0-9e2f-d3a472f3d414")

  async function statusOf(answer: Promise<Response>): Promise<number> {
    const { status, body } = await answer
    await body?.cancel()
    return status
  }

  async function keyOf(workspace: Workspace, kind: (typeof kinds)[number]): Promise<string> {
    return kind === "management" ? workspace.managementKey : (await newKey(workspace, { kind })).key
  }

  test.each(kinds)("equal those of its key on every route: %s", async (kind) => {
    const workspace = await newWorkspace()
    const key = await keyOf(workspace, kind)
    const { call, session } = await signIn(key)
    const may = new Set(session.may)
    const refused = new Set<string>()
    for (const route of routes) {
      const body = ["GET", "DELETE"].includes(route.method) ? undefined : {}
      const byKey = await statusOf(client(key).call(route.method, pathOf(route.path), body))
      const bySession = await statusOf(call(route.method, pathOf(route.path), body))
      expect(`${route.path} ${bySession}`).toBe(`${route.path} ${byKey}`)
      if (byKey === 403) refused.add(rightOf(route))
      // No granted right covers a route that rejects the key.
      if (may.has(rightOf(route))) expect(`${route.method} ${route.path} ${byKey}`).not.toMatch(/ 403$/)
    }
    const rights = new Set(routes.map(rightOf))
    const interns = ["interns", "vault"].flatMap((area) => [`${area}:read`, `${area}:write`])
    // A right is missing only if a route rejects the key. The tests' organizations have no interns.
    const missing = [...rights].filter((right) => !may.has(right) && !interns.includes(right))
    expect(missing.filter((right) => !refused.has(right))).toEqual([])
  })
})
