import { env, exports } from "cloudflare:workers"
import { afterEach, beforeAll, describe, expect, test, vi } from "vitest"
import { createExecutionContext } from "cloudflare:test"
import { app } from "../../src/app/app.ts"
import { addUser, type List, newDirectory, type Push } from "../scim/directory.ts"
import { client, expectJson, newWorkspace, type Workspace } from "../support/world.ts"

/** Attacks on authentication and input parsing that belong to no single feature. */

afterEach(() => vi.restoreAllMocks())

let workspace: Workspace
beforeAll(async () => {
  workspace = await newWorkspace()
})

describe("an invalid key", () => {
  /** The database, with a record of its queries. */
  function watched() {
    const queries: string[] = []
    const bound: unknown[] = []
    const db = new Proxy(env.DB, {
      get(target, name) {
        const value: unknown = Reflect.get(target, name)
        if (name === "prepare") {
          return (sql: string) => {
            queries.push(sql)
            const statement = target.prepare(sql)
            const bind = statement.bind.bind(statement)
            statement.bind = (...values: unknown[]) => {
              bound.push(...values)
              return bind(...values)
            }
            return statement
          }
        }
        return typeof value === "function" ? value.bind(target) : value
      },
    })
    return { asked: queries, bound, db }
  }

  test("costs the same lookups however much of it is right", async () => {
    const { key } = workspace
    const other = (character = "") => (character === "a" ? "b" : "a")
    const wrong = [
      key.slice(0, -1) + other(key.at(-1)),
      other(key.at(0)) + key.slice(1),
      key.slice(0, key.length / 2) + "x".repeat(key.length / 2),
      `${key}x`,
      "x",
      "x".repeat(4_000),
      env.BOOTSTRAP_MANAGEMENT_KEY?.slice(0, -1) + "x",
    ]
    const lookups: string[][] = []
    for (const one of wrong) {
      const { asked: queries, bound, db } = watched()
      const headers = { authorization: `Bearer ${one}` }
      const request = new Request("http://gateway.test/api/v1/key", { headers })
      const response = await app.fetch(request, { ...env, DB: db }, createExecutionContext())
      await expectJson(401, response)
      // Policy changes are read in the background when they are due, for any key.
      lookups.push(queries.filter((sql) => !sql.includes("WHERE revision >= ?")))
      // Lookups compare a hash, which contains no part of a key.
      for (const value of bound) expect(String(value)).not.toContain(one.slice(0, 12).padEnd(12, "-"))
    }
    for (const queries of lookups) expect(queries).toEqual(lookups[0])
  })
})

describe("media at an address of the operator's network", () => {
  const url = "http://169.254.169.254/latest/meta-data/iam/security-credentials/"
  const messages = (part: object) => [{ role: "user", content: [{ type: "text", text: "Read it" }, part] }]
  test.each([
    ["/chat/completions", { messages: messages({ type: "image_url", image_url: { url } }) }],
    ["/chat/completions", { messages: messages({ type: "file", file: { file_data: url, filename: "a.pdf" } }) }],
    ["/responses", { input: [{ role: "user", content: [{ type: "input_image", image_url: url }] }] }],
    ["/responses", { input: [{ role: "user", content: [{ type: "input_file", file_url: url }] }] }],
    ["/messages", { max_tokens: 9, messages: messages({ type: "image", source: { type: "url", url } }) }],
    ["/messages", { max_tokens: 9, messages: messages({ type: "document", source: { type: "url", url } }) }],
    ["/images", { prompt: "p", image: url }],
    ["/rerank", { query: "q", documents: [{ image: url }] }],
    ["/moderations", { input: [{ type: "image_url", image_url: { url } }] }],
    ["/embeddings", { input: [{ content: [{ type: "image_url", image_url: { url } }] }] }],
  ])("is rejected on %s: %j", async (path, body) => {
    const urls: string[] = []
    vi.spyOn(globalThis, "fetch").mockImplementation(async (input, init) => {
      urls.push(new Request(input, init).url)
      return Response.json({})
    })
    const { error } = await expectJson<{ error: { message: string } }>(
      400,
      workspace.as.post(path, { model: "played/flat", ...body }),
    )
    const { message } = error
    expect(message).toContain("the address is not a public one")
    expect(urls.filter((sent) => sent.includes("played"))).toEqual([])
  })
})

describe("a body with names of the prototype", () => {
  const POLLUTION = [
    '"__proto__":{"isAdmin":true,"kind":"management"}',
    '"constructor":{"prototype":{"isAdmin":true,"kind":"management"}}',
    '"__proto__.isAdmin":true',
    '"prototype":{"isAdmin":true}',
  ]
  const message = '"messages":[{"role":"user","content":"Hi"}]'

  test.each(POLLUTION)("%s pollutes no prototype and grants no right", async (pollution) => {
    const own = Object.getOwnPropertyNames(Object.prototype)
    const bodies: [string, string][] = [
      ["/chat/completions", `{"model":"sim/echo",${message},${pollution}}`],
      ["/chat/completions", `{"model":"sim/echo",${message},"metadata":{${pollution}},"trace":{${pollution}}}`],
      ["/chat/completions", `{"model":"sim/echo",${message},"provider":{${pollution}},"logit_bias":{${pollution}}}`],
      ["/messages", `{"model":"sim/echo","max_tokens":10,${message},${pollution}}`],
      ["/responses", `{"model":"sim/echo","input":"Hi",${pollution}}`],
      ["/embeddings", `{"model":"sim/embed","input":"Hi",${pollution}}`],
      ["/keys", `{"name":"n",${pollution}}`],
      ["/guardrails", `{"name":"n",${pollution}}`],
      ["/presets/polluted/chat/completions", `{"model":"sim/echo",${pollution}}`],
      [
        "/observability/destinations",
        `{"type":"webhook","name":"n","config":{"url":"https://a.example",${pollution}}}`,
      ],
      ["/interns", `{"name":"ada",${pollution}}`],
    ]
    for (const [path, body] of bodies) {
      for (const as of [workspace.as, workspace.manage]) {
        const response = await as.call("POST", path, body)
        expect(response.status, await response.text()).toBeLessThan(500)
      }
    }
    expect(Object.getOwnPropertyNames(Object.prototype)).toEqual(own)
    expect(({} as Record<string, unknown>)["isAdmin"]).toBeUndefined()
    await expectJson(403, workspace.as.get("/keys"))
  })
})

describe("a line break", () => {
  const INJECTED = "x\r\nx-injected: 1\r\nset-cookie: a=b"
  const encoded = encodeURIComponent(INJECTED)
  const front = () => (exports as unknown as { default: Fetcher }).default
  const upload = (name: string) =>
    `--b\r\nContent-Disposition: form-data; name="file"; filename="${name}"\r\n\r\nText\r\n--b--\r\n`

  test.each([
    ["a callback URL", () => front().fetch(`http://gateway.test/auth?callback_url=https://a.example/${encoded}`)],
    ["a path", () => workspace.as.get(`/models/${encoded}/${encoded}/endpoints`)],
    ["an id", () => workspace.manage.get(`/keys/${encoded}`)],
    ["the name of a key", () => workspace.manage.post("/keys", { name: INJECTED })],
    ["a session id", () => workspace.as.chat("sim/echo", "Hi", { session_id: INJECTED })],
    ["a user", () => workspace.as.chat("sim/echo", "Hi", { user: INJECTED })],
    ["a model", () => workspace.as.chat(INJECTED, "Hi")],
    [
      "the name of a file",
      () =>
        workspace.as.callBytes(
          "POST",
          "/files",
          new TextEncoder().encode(upload(`a"${INJECTED}`)),
          "multipart/form-data; boundary=b",
        ),
    ],
    [
      "a header of a destination",
      () =>
        workspace.manage.post("/observability/destinations", {
          type: "webhook",
          name: "n",
          config: { url: "https://a.example/", headers: { "x-a": INJECTED } },
        }),
    ],
  ] satisfies [string, () => Promise<Response>][])("in %s cannot inject a response header", async (_, call) => {
    const response = await call()
    expect(response.status, await response.text()).toBeLessThan(500)
    expect(response.headers.get("x-injected")).toBeNull()
    expect(response.headers.get("set-cookie") ?? "").not.toContain("a=b")
  })
})

describe("a SCIM filter", () => {
  let push: Push
  beforeAll(async () => {
    ;({ push } = await newDirectory())
    await addUser(push, "ada")
    await addUser(push, "bob")
  })
  test.each([
    `userName eq "ada' OR '1'='1"`,
    `userName eq "ada\\" or userName pr or userName eq \\"x"`,
    `userName eq "x') UNION SELECT wrapped FROM data_keys --"`,
    `userName co "%"`,
    `userName sw "_"`,
    `userName ew "%' OR 1=1 --"`,
    `emails.value eq "*"`,
  ])("matches no users beyond its literal text: %s", async (filter) => {
    const { totalResults } = await expectJson<List>(200, push("GET", `/Users?filter=${encodeURIComponent(filter)}`))
    expect(totalResults).toBe(0)
  })

  test.each([`userName eq "ada"; DROP TABLE api_keys`, `userName eq "ada" OR 1=1`, `1=1`, `userName eq ada`])(
    "that is malformed is rejected: %s",
    async (filter) => {
      const response = await push("GET", `/Users?filter=${encodeURIComponent(filter)}`)
      expect(response.status, await response.text()).toBe(400)
      await expectJson(200, client(workspace.key).get("/key"))
    },
  )
})
