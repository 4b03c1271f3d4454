import * as fc from "fast-check"
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest"
import { newReceiver, mockReceivers, type Received } from "../observability/receiver.ts"
import { runs } from "../support/runs.ts"
import {
  client,
  expectJson,
  newKey,
  newWorkspace,
  openHolds,
  receiptOf,
  type TestClient,
  type Workspace,
} from "../support/world.ts"

beforeAll(mockReceivers)
afterAll(() => vi.restoreAllMocks())

type Failure = { error: { code: number; message: string; metadata?: Record<string, unknown> } }
const SECRET = "canary-secret-0123456789abcdef"
const NANO = 1_000_000_000

type Setup = { workspace: Workspace; receiver: ReturnType<typeof newReceiver>; as: TestClient; hash: string }

async function newSetup(
  answer: (received: Received) => Response | Promise<Response> = () => Response.json({ ok: true }),
  service: Record<string, unknown> = {},
  key: Record<string, unknown> = {},
): Promise<Setup> {
  const workspace = await newWorkspace()
  const receiver = newReceiver(answer)
  const { as, hash } = await newKey(workspace, key)
  const input = {
    slug: "search",
    name: "Search",
    base_url: receiver.url.replace(/\/+$/, ""),
    headers: { Authorization: `Bearer ${SECRET}` },
    query: { api_key: SECRET },
    rules: [
      { methods: ["GET"], path: "/v1/search*", price_usd: 0.005 },
      { methods: ["POST", "DELETE"], path: "/v1/jobs/*", price_usd: 0.02 },
      { path: "/free" },
    ],
    ...service,
  }
  await expectJson(201, workspace.manage.post("/passthrough-services", input))
  return { workspace, receiver, as, hash }
}

const errorOf = async (status: number, answer: Promise<Response>) => (await expectJson<Failure>(status, answer)).error
const spentNano = async ({ workspace }: Setup) => (await workspace.ledger.balance()).spentNano

describe("a request to a passthrough service", () => {
  test("is sent to the path below the base URL with the service's secrets, without the client's key and cookies", async () => {
    const setup = await newSetup()
    const headers = { "x-client": "kept", "x-forwarded-for": "1.2.3.4", cookie: "a=b", "x-session-id": "s1" }
    const answer = await setup.as.get("/passthrough/search/v1/search/deep?q=sea%20salt&api_key=mine", headers)
    expect(await answer.json()).toEqual({ ok: true })
    const [received] = setup.receiver.got
    const url = new URL(received?.url ?? "http://none")
    expect(url.pathname.endsWith("/v1/search/deep")).toBe(true)
    expect([...url.searchParams]).toEqual([
      ["q", "sea salt"],
      ["api_key", SECRET],
    ])
    expect(received?.headers.get("authorization")).toBe(`Bearer ${SECRET}`)
    expect(received?.headers.get("x-client")).toBe("kept")
    for (const name of ["cookie", "x-forwarded-for", "x-session-id"]) expect(received?.headers.get(name)).toBeNull()
  })

  test.each([
    "X-HTTP-Method-Override",
    "X-HTTP-Method",
    "X-Method-Override",
    "X-Original-URL",
    "X-Original-Method",
    "X-Rewrite-URL",
    "X-Host",
  ])("cannot leave the method and path of a rule by %s", async (name) => {
    const setup = await newSetup()
    const headers = { [name]: "DELETE", "x-client": "kept" }
    await (await setup.as.get(`/passthrough/search/v1/search?_method=DELETE&${name}=PUT&q=a`, headers)).text()
    const [received] = setup.receiver.got
    expect(received?.headers.get(name)).toBeNull()
    expect(received?.headers.get("x-client")).toBe("kept")
    expect([...(received?.url.searchParams.keys() ?? [])]).toEqual(["q", "api_key"])
  })

  test.each([
    ["x-api-key", ""],
    ["X-Subscription-Token", ""],
    ["xi-api-key", ""],
    ["authorization", "Token "],
    ["authorization", "Key "],
  ])(
    "is authenticated by a gateway key in %s: %s, where the clients of vendors send their keys",
    async (name, scheme) => {
      const setup = await newSetup()
      const { key } = await newKey(setup.workspace)
      const answer = await client().get("/passthrough/search/v1/search", { [name]: `${scheme}${key}` })
      expect(answer.status).toBe(200)
      await answer.text()
      expect(await spentNano(setup)).toBe(0.005 * NANO)
    },
  )

  test("is sent to the service without gateway keys in its headers and query", async () => {
    const setup = await newSetup(undefined, { headers: null, query: null })
    const { key } = await newKey(setup.workspace)
    const { key: other } = await newKey(setup.workspace)
    const names = ["x-api-key", "api-key", "x-goog-api-key", "x-anything", "user-agent"]
    const path = `/passthrough/search/v1/search?api_key=${key}&token=Bearer%20${other}&q=rivers`
    const bearer = { authorization: `Bearer ${key}` }
    for (const secret of [key, other]) {
      for (const name of names) {
        const answer = await client().get(path, { ...bearer, [name]: secret })
        expect(answer.status).toBe(200)
        await answer.text()
      }
    }
    expect(setup.receiver.got).toHaveLength(10)
    for (const { url, headers } of setup.receiver.got) {
      expect(url.searchParams.get("q")).toBe("rivers")
      expect(JSON.stringify([url.href, [...headers]])).not.toMatch(/sk-gw-/)
    }
  })

  test("is not authenticated by a gateway key in the query or within the text of a header", async () => {
    const setup = await newSetup()
    const { key } = await newKey(setup.workspace)
    expect((await client().get(`/passthrough/search/v1/search?api_key=${key}`)).status).toBe(401)
    const headers = { "x-note": `the key is ${key}, or was` }
    expect((await client().get("/passthrough/search/v1/search", headers)).status).toBe(401)
    expect((await client().get("/keys", { "x-subscription-token": key })).status).toBe(401)
    expect(setup.receiver.got).toEqual([])
  })

  test("costs the price of the first matching rule, and is recorded", async () => {
    const setup = await newSetup()
    const answer = await setup.as.get("/passthrough/search/v1/search")
    await answer.text()
    expect(await receiptOf(setup.workspace, answer)).toMatchObject({
      model: "passthrough/search",
      provider_name: "Search",
      total_cost: 0.005,
    })
    expect(await spentNano(setup)).toBe(0.005 * NANO)
    await (await setup.as.post("/passthrough/search/v1/jobs/7", { a: 1 })).text()
    await (await setup.as.get("/passthrough/search/free")).text()
    expect(await spentNano(setup)).toBe(0.025 * NANO)
    expect(setup.receiver.got.map(({ method, body }) => [method, body])).toEqual([
      ["GET", ""],
      ["POST", '{"a":1}'],
      ["GET", ""],
    ])
  })

  test.each([
    ["another path", "GET", "v1/admin"],
    ["another method", "DELETE", "v1/search"],
    ["another letter case", "GET", "v1/Search"],
    ["a path that only begins like it", "GET", "v1/sear"],
  ])("is rejected for %s without a request to the service", async (_, method, path) => {
    const { as, receiver } = await newSetup()
    const error = await errorOf(403, as.call(method, `/passthrough/search/${path}`))
    expect(error.metadata?.["reason"]).toBe("passthrough_path_denied")
    expect(error.message).toContain("/v1/search*")
    expect(receiver.got).toEqual([])
  })

  test.each([
    "v1/search%2f..%2fadmin",
    "v1/search/%5c..%5cadmin",
    "v1/search//admin",
    "v1/search%00",
    // Decoded twice, and with path parameters of Java servers.
    "v1/search/%252e%252e/admin",
    "v1/search/..%25252fadmin",
    "v1/search/..;/admin",
    "v1/search/.;x=1/..;x=1/admin",
  ])("is rejected for the ambiguous path %s", async (path) => {
    const { as, receiver } = await newSetup()
    await errorOf(400, as.get(`/passthrough/search/${path}`))
    expect(receiver.got).toEqual([])
  })

  test.each(["v1/search/100%25", "v1/search/a;b=1", "v1/search/...;x", "v1/search/a..;b"])(
    "is sent with the path %s unchanged",
    async (path) => {
      const { as, receiver } = await newSetup()
      expect((await as.get(`/passthrough/search/${path}`)).status).toBe(200)
      expect(receiver.got.map(({ url }) => new URL(url).pathname)).toEqual([expect.stringContaining(path)])
    },
  )

  test("has the same path for each form of the base path and the slug", async () => {
    const { receiver, as } = await newSetup()
    for (const path of [
      "/passthrough/s%65arch/v1/search",
      "/v1/passthrough/search/v1/search",
      "//passthrough/search/v1/search",
    ])
      expect((await as.get(path)).status).toBe(200)
    expect(receiver.got.map(({ url }) => url.pathname.slice(-10))).toEqual(
      Array.from({ length: 3 }, () => "/v1/search"),
    )
  })

  test("cannot leave a rule's path with dots", async () => {
    const { as, receiver } = await newSetup()
    for (const path of ["v1/search/../admin", "v1/search/%2e%2e/admin", "v1/search/..%2fadmin"]) {
      expect([400, 403, 404]).toContain((await as.get(`/passthrough/search/${path}`)).status)
    }
    expect(receiver.got).toEqual([])
  })

  test("returns status, body and plain headers of the response, with a sandbox policy", async () => {
    const body = new Uint8Array([0, 255, 128, 10])
    const headers = { "content-type": "image/png", "set-cookie": "a=b", etag: '"1"', "x-powered-by": "x" }
    const { as } = await newSetup(() => new Response(body, { status: 206, headers }))
    const answer = await as.get("/passthrough/search/v1/search")
    expect(answer.status).toBe(206)
    expect(new Uint8Array(await answer.arrayBuffer())).toEqual(body)
    expect(answer.headers.get("content-type")).toBe("image/png")
    expect(answer.headers.get("etag")).toBe('"1"')
    expect(answer.headers.get("content-security-policy")).toContain("sandbox")
    for (const name of ["set-cookie", "x-powered-by"]) expect(answer.headers.get(name)).toBeNull()
  })

  test("has the service's secrets redacted from the response", async () => {
    const echo = ({ url, headers }: Received) =>
      Response.json(
        { error: `Wrong key ${headers.get("authorization")} at ${url.href}`, encoded: btoa(SECRET) },
        { status: 400, headers: { "x-request-id": `for-${SECRET}` } },
      )
    const setup = await newSetup(echo)
    const answer = await setup.as.get("/passthrough/search/v1/search")
    expect(answer.status).toBe(400)
    const seen = `${await answer.text()} ${JSON.stringify([...answer.headers])}`
    expect(seen).toContain("[redacted]")
    expect(seen).not.toContain(SECRET)
    expect(seen).not.toContain(btoa(SECRET).slice(0, -2))
    expect(await spentNano(setup)).toBe(0)
  })

  test.each([401, 403])("returns 502 if the service rejects the gateway with %i", async (status) => {
    const setup = await newSetup(() => new Response("who?", { status }))
    expect((await errorOf(502, setup.as.get("/passthrough/search/v1/search"))).message).toContain(String(status))
    expect(await spentNano(setup)).toBe(0)
  })

  test("does not follow a redirect", async () => {
    const { as, receiver } = await newSetup(
      () => new Response(null, { status: 307, headers: { location: "https://x.example" } }),
    )
    const answer = await as.post("/passthrough/search/v1/jobs/1", { a: 1 })
    expect([answer.status, answer.headers.get("location")]).toEqual([307, null])
    expect(receiver.got).toHaveLength(1)
  })

  test("returns 402 over a limit with a fitting hint", async () => {
    const { as } = await newSetup(() => new Response("x"), { rules: [{ path: "/a", price_usd: 1 }] }, { limit: 0.5 })
    const { message } = await errorOf(402, as.get("/passthrough/search/a"))
    expect(message).toContain("Raise the limit")
    expect(message).not.toContain("max_tokens")
  })

  test("costs exactly its successful requests, within the limit of the key", async () => {
    const step = fc.record({ rule: fc.constantFrom("a", "b"), status: fc.constantFrom(200, 204, 302, 400, 404, 500) })
    const price = fc.integer({ min: 0, max: 2 * NANO })
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { minLength: 1, maxLength: 10 }),
        fc.record({ a: price, b: price }),
        fc.integer({ min: 0, max: 6 * NANO }),
        async (steps, prices, limitNano) => {
          const rules = [
            { path: "/a", price_usd: prices.a / NANO },
            { path: "/b", price_usd: prices.b / NANO },
          ]
          let next = 200
          const answer = () => new Response(next === 204 ? null : "x", { status: next })
          const setup = await newSetup(answer, { rules }, { limit: limitNano / NANO })
          let spent = 0
          for (const { rule, status } of steps) {
            next = status
            const fits = spent + prices[rule] <= limitNano
            const answered = await setup.as.get(`/passthrough/search/${rule}`)
            await answered.text()
            expect(answered.status).toBe(fits ? status : 402)
            if (fits && status < 400) spent += prices[rule]
            expect(await spentNano(setup)).toBe(spent)
          }
          expect(await openHolds(setup.workspace)).toEqual([])
        },
      ),
      { numRuns: runs(1) },
    )
  })

  test("sent ten times at once succeeds only within the limit", async () => {
    const setup = await newSetup(undefined, {}, { limit: 0.012 })
    const answers = await Promise.all(Array.from({ length: 10 }, () => setup.as.get("/passthrough/search/v1/search")))
    await Promise.all(answers.map((answer) => answer.text()))
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(2)
    expect(await spentNano(setup)).toBe(0.01 * NANO)
  })
})

describe("access to a service", () => {
  test("is limited to keys of its workspace, and to allowed_api_key_hashes if set", async () => {
    const { workspace, as } = await newSetup()
    const other = await newKey(workspace)
    const change = { allowed_api_key_hashes: [other.hash] }
    await (await as.get("/passthrough/search/free")).text()
    await expectJson(200, workspace.manage.patch("/passthrough-services/search", change))
    expect((await errorOf(403, as.get("/passthrough/search/free"))).metadata?.["reason"]).toBe("passthrough_denied")
    expect((await other.as.get("/passthrough/search/free")).status).toBe(200)
    const stranger = await newWorkspace()
    await errorOf(404, stranger.as.get("/passthrough/search/free"))
    await expectJson(200, workspace.manage.patch("/passthrough-services/search", { enabled: false }))
    await errorOf(404, other.as.get("/passthrough/search/free"))
  })

  test.each([
    [{ allowed_providers: ["openai"] }, "allowed_providers"],
    [{ enforce_zdr: true }, "enforce_zdr_other"],
  ])("is denied to keys with the guardrail %j", async (rules, field) => {
    const { workspace, as, hash, receiver } = await newSetup()
    await guard(workspace, hash, rules)
    const error = await errorOf(403, as.get("/passthrough/search/free"))
    expect(error.metadata?.["patterns"]).toEqual([field])
    expect(receiver.got).toEqual([])
  })
})

describe("content filters of guardrails", () => {
  const block = { content_filters: [{ action: "block", pattern: "forbidden" }] }
  const redact = { content_filters: [{ action: "redact", pattern: "private-\\d+", label: "[gone]" }] }

  test("block a matching query or body without a request to the service", async () => {
    const { workspace, as, hash, receiver } = await newSetup()
    await guard(workspace, hash, block)
    await errorOf(403, as.get("/passthrough/search/v1/search?q=the%20forbidden%20word"))
    await errorOf(403, as.post("/passthrough/search/v1/jobs/1", { deep: [{ text: "a forbidden one" }] }))
    await errorOf(403, as.post("/passthrough/search/v1/jobs/1", { forbidden: 1 }))
    expect(receiver.got).toEqual([])
    expect((await as.post("/passthrough/search/v1/jobs/1", { text: "fine" })).status).toBe(200)
  })

  test.each([
    ["its path", "/passthrough/search/v1/jobs/the%20forbidden%20word", {}],
    ["a header", "/passthrough/search/v1/jobs/1", { "x-note": "forbidden" }],
    ["the user agent", "/passthrough/search/v1/jobs/1", { "user-agent": "forbidden" }],
    ["the name of a header", "/passthrough/search/v1/jobs/1", { "x-forbidden": "1" }],
  ])("block a request by %s", async (_, path, headers) => {
    const { workspace, as, hash, receiver } = await newSetup()
    await guard(workspace, hash, block)
    await errorOf(403, as.post(path, { text: "fine" }, headers))
    expect(receiver.got).toEqual([])
  })

  test("redact the path and headers, and keep the rest of them", async () => {
    const { workspace, as, hash, receiver } = await newSetup()
    await guard(workspace, hash, redact)
    const headers = { "x-note": "see private-7", "x-kept": "as it is", "idempotency-key": "private-8" }
    await as.post("/passthrough/search/v1/jobs/a%20b/private-1/c", { text: "fine" }, headers)
    const [received] = receiver.got
    expect(new URL(received?.url ?? "").pathname).toMatch(/\/v1\/jobs\/a%20b\/%5Bgone%5D\/c$/)
    expect(received?.headers.get("x-note")).toBe("see [gone]")
    expect(received?.headers.get("x-kept")).toBe("as it is")
    expect(received?.headers.get("idempotency-key")).toBe("private-8")
  })

  test("reject a body that they cannot read", async () => {
    const { workspace, as, hash, receiver } = await newSetup()
    await guard(workspace, hash, block)
    const error = await errorOf(
      403,
      as.call("POST", "/passthrough/search/v1/jobs/1", "x=forbidden", { "content-type": "application/x-other" }),
    )
    expect(error.metadata?.["reason"]).toBe("guardrail_unchecked")
    expect(receiver.got).toEqual([])
  })

  test("reject text in a charset that they do not read", async () => {
    const { workspace, as, hash, receiver } = await newSetup()
    await guard(workspace, hash, block)
    const body = inUtf16("a forbidden word")
    const type = "text/plain; charset=utf-16le"
    const error = await errorOf(403, as.callBytes("POST", "/passthrough/search/v1/jobs/1", body, type))
    expect(error.metadata?.["reason"]).toBe("guardrail_unchecked")
    expect(receiver.got).toEqual([])
  })

  test("read text of every type and charset in a response", async () => {
    const utf16 = inUtf16("It is private-22")
    const types: [type: string | undefined, body: string | Uint8Array<ArrayBuffer>, sent?: string][] = [
      ["text/plain; charset=utf-16le", utf16, "text/plain; charset=utf-8"],
      ["application/xml", "<a>private-22</a>"],
      ["application/atom+xml", "<a>private-22</a>"],
      ["application/x-ndjson", `{"a":"private-22"}\n`],
      ["application/javascript", `f("private-22")`],
      [undefined, "It is private-22", "text/plain;charset=UTF-8"],
    ]
    for (const [type, body, sent = type] of types) {
      const setup = await newSetup(() => {
        const bytes = typeof body === "string" ? new TextEncoder().encode(body) : body
        const disposition = 'attachment; filename="private-22.txt"'
        return new Response(bytes, {
          headers: { ...(type && { "content-type": type }), "content-disposition": disposition },
        })
      })
      await guard(setup.workspace, setup.hash, redact)
      const answer = await setup.as.get("/passthrough/search/free")
      expect(answer.headers.get("content-type") ?? undefined).toBe(sent)
      expect(answer.headers.get("content-disposition")).toBe('attachment; filename="[gone].txt"')
      const text = new TextDecoder().decode(await answer.arrayBuffer())
      expect(text).toContain("[gone]")
      expect(text).not.toContain("private-22")
    }
  })

  test("are not evaded by a response in an unknown charset", async () => {
    const setup = await newSetup(
      () => new Response("private-22", { headers: { "content-type": "text/plain; charset=none" } }),
    )
    await guard(setup.workspace, setup.hash, redact)
    const { message } = await errorOf(502, setup.as.get("/passthrough/search/free"))
    expect(message).toContain("in a charset that cannot be checked")
    expect(await spentNano(setup)).toBe(0)
  })

  test("do not change what a request costs, however its response ends", async () => {
    const bodies: [name: string, body: () => BodyInit | null][] = [
      ["complete", () => "fine"],
      ["cut", () => cutAfter("fi")],
      ["cut before its first byte", () => cutAfter("")],
      ["too large to check", () => new Uint8Array(4 * 1024 * 1024 + 1)],
      ["blocked", () => "a forbidden word"],
    ]
    const spent: Record<string, Record<string, number[]>> = {}
    for (const [name, body] of bodies) {
      for (const [kind, rules] of [["unread", undefined] as const, ["read", block] as const]) {
        for (const status of [200, 500]) {
          const headers = { "content-type": "text/plain" }
          const setup = await newSetup(() => new Response(body(), { status, headers }))
          if (rules) await guard(setup.workspace, setup.hash, rules)
          const answer = await setup.as.get("/passthrough/search/v1/search")
          await answer.text().catch(() => undefined)
          const costs = ((spent[name] ??= {})[kind] ??= [])
          costs.push((await spentNano(setup)) / NANO)
          expect(await openHolds(setup.workspace)).toEqual([])
        }
      }
    }
    for (const [name] of bodies) expect(spent[name], name).toEqual({ unread: [0.005, 0], read: [0.005, 0] })
  })

  test("redact the request and the response", async () => {
    const { workspace, as, hash, receiver } = await newSetup(() => Response.json({ found: ["private-22", 3] }))
    await guard(workspace, hash, redact)
    const answer = await as.post("/passthrough/search/v1/jobs/1?q=private-1", { text: "see private-7" })
    expect(await answer.text()).not.toContain("private-22")
    const [received] = receiver.got
    expect(received?.body).not.toContain("private-7")
    expect(String(received?.url)).not.toContain("private-1")
  })
})

/** A body whose connection is lost after this text. */
function cutAfter(text: string): ReadableStream<Uint8Array> {
  return new ReadableStream({
    pull(controller) {
      if (text !== "") controller.enqueue(new TextEncoder().encode(text))
      controller.error(new Error("lost"))
    },
  })
}

function inUtf16(text: string): Uint8Array<ArrayBuffer> {
  return new Uint8Array(Array.from(text).flatMap((char) => [char.charCodeAt(0), 0]))
}

async function guard(workspace: Workspace, hash: string, rules: Record<string, unknown>): Promise<void> {
  const body = { name: "Rules", ...rules }
  const { data } = await expectJson<{ data: { id: string } }>(201, workspace.manage.post("/guardrails", body))
  await expectJson(200, workspace.manage.post(`/guardrails/${data.id}/assignments/keys`, { key_hashes: [hash] }))
}
