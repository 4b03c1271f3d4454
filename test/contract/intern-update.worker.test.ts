import { createExecutionContext } from "cloudflare:test"
import { env } from "cloudflare:workers"
import { afterEach, describe, expect, test, vi } from "vitest"
import { app } from "../../src/app/app.ts"
import { eventually } from "../support/eventually.ts"
import { insertIntern } from "../support/interns.ts"
import { expectJson, newWorkspace } from "../support/world.ts"

type Intern = {
  id: string
  name: string
  description: string | null
  instructions: string | null
  model: string | null
}
type Failure = { error: { code: number; metadata: { reason: string; retryable: boolean } } }

afterEach(() => vi.restoreAllMocks())

async function newIntern() {
  const { as, key } = await newWorkspace()
  const { id } = await expectJson<Intern>(201, as.post("/interns", { name: "ada" }))
  return { as, key, id, path: `/interns/${id}` }
}

const reasonOf = async (status: number, answer: Promise<Response>) =>
  (await expectJson<Failure>(status, answer)).error.metadata

describe("an update of an intern", () => {
  test.each([
    { name: "ab" },
    { name: `a${"b".repeat(16)}` },
    { name: "a1-b2-c3" },
    { description: "x".repeat(2_000) },
    { instructions: "x".repeat(100_000) },
    { model: "sim/echo" },
    { model: `a~._:@+-/${"b".repeat(191)}` },
  ])("accepts %j", async (fields) => {
    const { as, path } = await newIntern()
    expect(await expectJson(200, as.patch(path, fields))).toMatchObject(fields)
  })

  test.each([
    { name: "a" },
    { name: "a".repeat(18) },
    { name: "Ada" },
    { name: "1a" },
    { name: "a-" },
    { name: "a--b" },
    { name: null },
    { description: "x".repeat(2_001) },
    { instructions: "x".repeat(100_001) },
    { model: "" },
    { model: "echo" },
    { model: "a/b/c" },
    { model: `a/${"b".repeat(199)}` },
    { model: "a b/c" },
  ])("rejects %j as invalid_body", async (fields) => {
    const { as, path } = await newIntern()
    expect(await reasonOf(400, as.patch(path, fields))).toEqual({ reason: "invalid_body", retryable: false })
  })

  test("keeps omitted fields, and clears those set to null", async () => {
    const { as, path } = await newIntern()
    const all = { description: "D", instructions: "I", model: "sim/echo" }
    await expectJson(200, as.patch(path, all))
    expect(await expectJson(200, as.patch(path, { name: "bob" }))).toMatchObject({ ...all, name: "bob" })
    const none = { description: null, instructions: null, model: null }
    expect(await expectJson(200, as.patch(path, none))).toMatchObject({ ...none, name: "bob" })
  })

  test("accepts 1048576 bytes declared as JSON, and returns 413 for more and 415 for another type", async () => {
    const { as, path } = await newIntern()
    const body = JSON.stringify({ description: "D" })
    await expectJson(200, as.call("PATCH", path, body.padEnd(1_048_576)))
    expect(await reasonOf(413, as.call("PATCH", path, body.padEnd(1_048_577)))).toEqual({
      reason: "payload_too_large",
      retryable: false,
    })
    expect(await reasonOf(415, as.call("PATCH", path, body, { "content-type": "text/plain" }))).toEqual({
      reason: "unsupported_media_type",
      retryable: false,
    })
  })

  test("is a 404 for an unknown intern, and a 403 for the intern's key", async () => {
    const workspace = await newWorkspace()
    expect(await reasonOf(404, workspace.as.patch(`/interns/${crypto.randomUUID()}`, { name: "bob" }))).toEqual({
      reason: "not_found",
      retryable: false,
    })
    const own = await insertIntern(workspace)
    await expectJson(403, own.as.patch(`/interns/${own.id}`, { description: "Mine" }))
  })
})

test.each([
  ["PATCH", "", { description: "D" }],
  ["GET", "/daemon", undefined],
])("an operation of an intern that takes too long is 408 timeout: %s %s", async (method, suffix, body) => {
  const { key, path } = await newIntern()
  const { promise: answers, resolve: answer } = Promise.withResolvers<undefined>()
  let isSlow = false
  const late = (statement: D1PreparedStatement): D1PreparedStatement =>
    new Proxy(statement, {
      get: (target, name) => {
        const value: unknown = Reflect.get(target, name)
        if (typeof value !== "function") return value
        const call = (...given: unknown[]): unknown => Reflect.apply(value, target, given)
        if (name === "bind") return (...given: unknown[]) => late(call(...given) as D1PreparedStatement)
        return async (...given: unknown[]) => {
          if (isSlow) await answers
          return call(...given)
        }
      },
    })
  const DB = { prepare: (sql: string) => late(env.DB.prepare(sql)), batch: env.DB.batch.bind(env.DB) } as D1Database
  const bindings = { ...env, DB, INTERN_LIFECYCLE_TIMEOUT_MS: "5" }
  const call = async (verb: string, at: string, content?: object) =>
    app.fetch(
      new Request(`http://gateway.test/api/v1${at}`, {
        method: verb,
        headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
        ...(content && { body: JSON.stringify(content) }),
      }),
      bindings,
      createExecutionContext(),
    )
  // Caches what an isolate reads once.
  await expectJson(409, call("GET", `${path}/daemon`))
  isSlow = true
  expect(await reasonOf(408, call(method, path + suffix, body))).toEqual({ reason: "timeout", retryable: true })
  answer(undefined)
  await eventually(() => expectJson(200, call("GET", "/key")))
})

test("a fault inside the gateway is 500 in the envelope, with the reason internal_error on an intern route", async () => {
  vi.spyOn(console, "error").mockImplementation(() => {})
  const { as, key, path } = await newIntern()
  await expectJson(200, as.get("/key"))
  const broken = () => {
    throw new Error("A bug.")
  }
  const DB = { prepare: broken, batch: broken } as unknown as D1Database
  const get = (at: string) => {
    const request = new Request(`http://gateway.test/api/v1${at}`, { headers: { authorization: `Bearer ${key}` } })
    return Promise.resolve(app.fetch(request, { ...env, DB }, createExecutionContext()))
  }
  expect(await reasonOf(500, get(path))).toEqual({ reason: "internal_error", retryable: true })
  const { error } = await expectJson<Failure>(500, get("/files"))
  expect(error).toMatchObject({ code: 500, message: expect.any(String) })
})

describe("a secret of an intern", () => {
  const HOSTS = ["api.example.com"]

  test.each([
    ["a name and a value of one character", "a", { hosts: HOSTS, value: "v" }],
    ["a name of 255 characters", `a${"_b".repeat(127)}`, { hosts: HOSTS, value: "v" }],
    ["a value of 65536 characters", "token", { hosts: HOSTS, value: "x".repeat(65_536) }],
    ["100 hosts", "token", { hosts: Array.from({ length: 100 }, (_, at) => `h${at}.example.com`), value: "v" }],
  ])("is stored with %s", async (_, name, body) => {
    const { as, id } = await newIntern()
    const { data } = await expectJson<{ data: object }>(200, as.put(`/vault/interns/${id}/secrets/${name}`, body))
    expect(data).toMatchObject({ name, hosts: body.hosts })
  })

  test.each([
    ["a name of 256 characters", "a".repeat(256), { hosts: HOSTS, value: "v" }],
    ["a capital in its name", "Token", { hosts: HOSTS, value: "v" }],
    ["two underscores in a row", "to__ken", { hosts: HOSTS, value: "v" }],
    ["a digit first", "1token", { hosts: HOSTS, value: "v" }],
    ["an underscore last", "token_", { hosts: HOSTS, value: "v" }],
    ["no hosts", "token", { hosts: [], value: "v" }],
    ["hosts that are absent", "token", { value: "v" }],
    ["101 hosts", "token", { hosts: Array.from({ length: 101 }, (_, at) => `h${at}.example.com`), value: "v" }],
    ["a host of 255 characters", "token", { hosts: ["a".repeat(255)], value: "v" }],
    ["an empty host", "token", { hosts: [""], value: "v" }],
    ["a scheme", "token", { hosts: ["https://api.example.com"], value: "v" }],
    ["a port", "token", { hosts: ["api.example.com:443"], value: "v" }],
    ["a path", "token", { hosts: ["api.example.com/v1"], value: "v" }],
    ["a wildcard", "token", { hosts: ["*.example.com"], value: "v" }],
    ["an empty value", "token", { hosts: HOSTS, value: "" }],
    ["no value", "token", { hosts: HOSTS }],
    ["a value of 65537 characters", "token", { hosts: HOSTS, value: "x".repeat(65_537) }],
  ])("is rejected with %s", async (_, name, body) => {
    const { as, id } = await newIntern()
    await expectJson(400, as.put(`/vault/interns/${id}/secrets/${name}`, body))
  })

  test("has its hosts normalized and unique, and its value is never returned", async () => {
    const { as, id } = await newIntern()
    const path = `/vault/interns/${id}/secrets/token`
    const hosts = ["API.example.com.", "api.example.com", "other.example.com"]
    const text = await (await as.put(path, { hosts, value: "canary-of-the-vault" })).text()
    expect(JSON.parse(text)).toMatchObject({ data: { hosts: ["api.example.com", "other.example.com"] } })
    expect(text).not.toContain("canary-of-the-vault")
    const deleted = await as.delete(path)
    expect([deleted.status, await deleted.text()]).toEqual([204, ""])
    await expectJson(404, as.delete(path))
  })
})
