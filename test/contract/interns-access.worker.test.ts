import { exports } from "cloudflare:workers"
import { describe, expect, test } from "vitest"
import { api } from "../../src/app/app.ts"
import { insertIntern } from "../support/interns.ts"
import { client, expectJson, newWorkspace, operatorClient } from "../support/world.ts"
import { expectRejection } from "./rejection.ts"

/** Every route of interns and vaults, from the router: a new one is covered automatically. */
const routes = [
  ...new Map(
    api.routes
      .filter(({ method, path }) => method !== "ALL" && /^\/(interns|vault)\b/.test(path))
      .map(({ method, path }) => [`${method} ${path}`, { method, path }] as const),
  ).values(),
]
/** For join tokens of daemons, not for API keys. */
const OF_DAEMONS = /\/daemon\/(attach|egress|secrets|files)/

const at = (path: string, id: string) =>
  path
    .replace(/:internId(\{[^}]*\})?/, id)
    .replaceAll(/:name(\{[^}]*\})?/g, "token")
    .replaceAll(/:\w+(\{[^}]*\})?/g, crypto.randomUUID())

/** A body is read before the intern is looked up: it must be valid if a route accepts no empty one. */
function bodyOf(method: string, path = "") {
  if (method === "GET" || method === "DELETE") return undefined
  if (method === "PUT" && path.includes("secrets")) return { hosts: ["api.example.com"], value: "v" }
  return path.endsWith("chat/completions") ? { stream: true, messages: [{ role: "user", content: "Hi" }] } : {}
}

test("the routes of interns and vaults are among those that are checked", () => {
  const names = routes.map(({ method, path }) => `${method} ${path.replaceAll(/\{[^}]*\}/g, "")}`)
  expect(names).toEqual(
    expect.arrayContaining([
      "GET /interns",
      "POST /interns",
      "PATCH /interns/:internId",
      "GET /interns/:internId/daemon",
      "POST /interns/:internId/chat/completions",
      "PUT /vault/secrets/:name",
      "PUT /vault/interns/:internId/secrets/:name",
    ]),
  )
})

describe("outside the interns programme", () => {
  test.each(routes.filter(({ path }) => !OF_DAEMONS.test(path)))("$method $path is 404", async ({ method, path }) => {
    const workspace = await newWorkspace()
    const { id } = await expectJson<{ id: string }>(201, workspace.as.post("/interns", { name: "ada" }))
    const organization = `/organizations/${workspace.organizationId}`
    await expectJson(200, operatorClient.patch(organization, { interns_programme: false }))
    for (const as of [workspace.as, workspace.manage]) {
      await expectRejection(404, as.call(method, at(path, id), bodyOf(method)))
    }
  })
})

describe("a method that a path of interns and vaults does not have", () => {
  const patterns = [...new Set(routes.map(({ path }) => path))]

  test("is 405 in the interns programme, 401 without a key, and 404 outside it", async () => {
    const workspace = await newWorkspace()
    const paths = patterns.map((path) => at(path, crypto.randomUUID()))
    for (const path of paths) {
      await expectRejection(405, workspace.as.call("COPY", path))
      await expectRejection(401, client().call("COPY", path))
    }
    const organization = `/organizations/${workspace.organizationId}`
    await expectJson(200, operatorClient.patch(organization, { interns_programme: false }))
    for (const path of paths) await expectRejection(404, workspace.as.call("COPY", path))
  })
})

describe("on a regional hostname", () => {
  test.each(routes)("$method $path is rejected", async ({ method, path }) => {
    const { key } = await newWorkspace()
    const url = `http://eu.localhost/api/v1${at(path, crypto.randomUUID())}`
    const body = bodyOf(method)
    const answer = (exports as unknown as { default: Fetcher }).default.fetch(url, {
      method,
      headers: { authorization: `Bearer ${key}`, ...(body && { "content-type": "application/json" }) },
      ...(body && { body: "{}" }),
    })
    const error = await expectRejection(403, answer)
    expect(error.metadata?.reason).toBe("regional_hostname")
  })
})

describe("the key of an intern", () => {
  test.each(routes.filter(({ path }) => /^\/interns$|^\/vault\/secrets/.test(path)))(
    "$method $path is 404",
    async ({ method, path }) => {
      const own = await insertIntern(await newWorkspace())
      await expectRejection(404, own.as.call(method, at(path, own.id), bodyOf(method)))
    },
  )

  test.each(routes.filter(({ path }) => path.includes(":internId") && !OF_DAEMONS.test(path)))(
    "$method $path of another intern is 404",
    async ({ method, path }) => {
      const workspace = await newWorkspace()
      const [own, other] = [await insertIntern(workspace), await insertIntern(workspace)]
      await expectRejection(404, own.as.call(method, at(path, other.id), bodyOf(method, path)))
    },
  )
})
