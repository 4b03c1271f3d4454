import { exports } from "cloudflare:workers"
import { beforeAll, describe, expect, test } from "vitest"
import { api } from "../../src/app/app.ts"
import { TIMING_HEADER } from "../../src/http/timing.ts"
import { insertIntern } from "../support/interns.ts"
import { client, newWorkspace, readStream, type Workspace } from "../support/world.ts"

/** Headers that protect browsers and caches, on every response. */

const fetchAt = (url: string, init: RequestInit = {}) =>
  (exports as unknown as { default: Fetcher }).default.fetch(url, { redirect: "manual", ...init })

const routes = [
  ...new Set(
    api.routes
      .filter(({ method }) => method !== "ALL")
      .map(({ method, path }) => `${method} ${path.replaceAll(/:\w+(?:\{[^}]*\})?/g, "x")}`),
  ),
].sort()

let workspace: Workspace
beforeAll(async () => {
  workspace = await newWorkspace()
})

function expectProtected(response: Response): void {
  expect(response.headers.get("x-content-type-options")).toBe("nosniff")
  expect(response.headers.get("x-request-id")).toMatch(/^req-/)
}

describe.each(routes)("%s", (route) => {
  const [method = "", path = ""] = route.split(" ")
  const body = method === "GET" || method === "DELETE" ? undefined : {}

  test.each(["without a key", "with a management key"])(
    "%s: forbids content sniffing and shared caching",
    async (as) => {
      const key = as === "without a key" ? client() : workspace.manage
      const response = await key.call(method, path, body)
      expectProtected(response)
      // Public lists may be cached; responses that depend on a key may not.
      const cacheControl = response.headers.get("cache-control") ?? ""
      expect(cacheControl).toMatch(/no-store|^public, max-age=\d+/)
      if (response.status >= 400) expect(cacheControl).toContain("no-store")
      await response.body?.cancel()
    },
  )
})

describe("a response outside the routes of the API", () => {
  const callback = "callback_url=https%3A%2F%2Fapp.example%2Fback"

  test.each([
    ["an unknown path", "http://gateway.test/api/v1/nothing", {}],
    ["a method that the path does not support", "http://gateway.test/api/v1/models", { method: "PUT" }],
    ["a preflight", "http://gateway.test/api/v1/keys", { method: "OPTIONS", headers: { origin: "https://a.test" } }],
    ["a page of the console", "http://gateway.test/keys", {}],
    ["an asset of the console", "http://gateway.test/assets/none.js", {}],
    ["the authorization page", `http://gateway.test/auth?${callback}`, {}],
    ["an error of the authorization page", "http://gateway.test/auth", {}],
    ["a path of SCIM", "http://gateway.test/scim/v2/Users", {}],
    ["the health check", "http://gateway.test/health", {}],
    ["the readiness check", "http://gateway.test/ready", {}],
    ["the metrics", "http://gateway.test/metrics", {}],
    ["the hostname of an intern", "http://nobody.interns.localhost/", {}],
    ["the session of the console", "http://gateway.test/console/session", {}],
  ] satisfies [string, string, RequestInit][])("%s", async (_, url, init) => {
    const response = await fetchAt(url, init)
    expectProtected(response)
    await response.body?.cancel()
  })

  test("a stream and a document, from the router and from the hot path", async () => {
    for (const headers of [{}, { [TIMING_HEADER]: "1" }]) {
      for (const stream of [true, false]) {
        const response = await workspace.as.chat("sim/echo", "Hi", { stream }, headers)
        expectProtected(response)
        if (stream) await readStream(response)
        else await response.text()
      }
    }
  })
})

describe("over https", () => {
  const CALL = "/api/v1/chat/completions"

  test.each([
    ["a page of the console", "/keys", {}],
    ["the authorization page", "/auth", {}],
    ["an unknown path", "/api/v1/nothing", {}],
    ["a call", CALL, { method: "POST" }],
  ] satisfies [string, string, RequestInit][])(
    "%s requires https for a year, which plain http cannot",
    async (_, path, init) => {
      const sent =
        path === CALL
          ? {
              ...init,
              headers: { authorization: `Bearer ${workspace.key}`, "content-type": "application/json" },
              body: JSON.stringify({ model: "sim/echo", messages: [{ role: "user", content: "Hi" }] }),
            }
          : init
      for (const scheme of ["https", "http", "https"]) {
        const response = await fetchAt(`${scheme}://gateway.test${path}`, sent)
        const expected = scheme === "https" ? "max-age=31536000" : null
        expect(response.headers.get("strict-transport-security")).toBe(expected)
        await response.text()
      }
    },
  )
})

describe("a response that contains a secret", () => {
  type Made = [what: string, call: (workspace: Workspace) => Promise<Response>]
  const CALLBACK = { callback_url: "https://app.example/back" }
  test.each([
    ["a new key", ({ manage }) => manage.post("/keys", { name: "n" })],
    ["an authorization code", ({ as }) => as.post("/auth/keys/code", CALLBACK)],
    [
      "the key of an app",
      async ({ as }) => {
        const { data } = await (await as.post("/auth/keys/code", CALLBACK)).json<{ data: { id: string } }>()
        return client().post("/auth/keys", { code: data.id })
      },
    ],
    ["a directory's token", ({ manage }) => manage.post("/scim/directories", { name: "n" })],
    [
      "a join token",
      async (its) => its.manage.post(`/interns/${(await insertIntern(its)).id}/daemon/token`, { replace: true }),
    ],
    [
      "an access token",
      async (its) => {
        const hostname = `${crypto.randomUUID()}.interns.localhost`
        const intern = await insertIntern(its, { hostname, accessNonce: "nonce" })
        return its.manage.get(`/interns/${intern.id}/daemon`)
      },
    ],
  ] satisfies Made[])("%s is sent with no-store", async (_, call) => {
    const response = await call(workspace)
    expect(response.status).toBeLessThan(300)
    expect(response.headers.get("cache-control")).toContain("no-store")
    await response.body?.cancel()
  })
})

describe("a page of another origin", () => {
  const origin = "https://app.test"

  test("may read responses of the API, but never with a cookie", async () => {
    const response = await workspace.as.get("/key", { origin, cookie: "gateway_console=x" })
    expect(response.headers.get("access-control-allow-origin")).toBe("*")
    expect(response.headers.has("access-control-allow-credentials")).toBe(false)
    await response.body?.cancel()
  })

  test.each(["/auth", "/console/session", "/health", "/ready", "/metrics", "/scim/v2/Users", "/keys"])(
    "may read nothing of %s",
    async (path) => {
      for (const method of ["GET", "OPTIONS"]) {
        const headers = { origin, "access-control-request-method": "POST" }
        const response = await fetchAt(`http://gateway.test${path}`, { method, headers })
        expect(response.headers.has("access-control-allow-origin")).toBe(false)
        await response.body?.cancel()
      }
    },
  )
})
