import { describe, expect, test } from "vitest"
import { type Outbound, type OutboundDeps, readOutbound, sendOutbound } from "../../src/outbound/send.ts"
import { newWorkspace, expectJson } from "../support/world.ts"

type Hop = { url: string; method: string; headers: Record<string, string>; body: string }

/** A network in which only the listed URLs respond. */
function deps(
  answers: Record<string, (request: Request) => Response | Promise<Response>>,
  addresses: Record<string, string[]> = {},
  privateHosts: string[] = [],
): OutboundDeps & { sent: Hop[] } {
  const sent: Hop[] = []
  return {
    sent,
    fetch: async (input, init) => {
      const request = new Request(input, init)
      const headers = Object.fromEntries(request.headers)
      sent.push({ url: request.url, method: request.method, headers, body: await request.clone().text() })
      const answer = answers[request.url] ?? answers["*"]
      if (!answer) throw new Error(`connect ECONNREFUSED 10.1.2.3 with secret-in-a-foreign-error`)
      return answer(request)
    },
    resolve: async (host) => addresses[host] ?? ["93.184.216.34"],
    isGuarded: false,
    privateHosts: new Set(privateHosts),
    timeoutMs: 500,
  }
}

const HEADERS = {
  "content-type": "application/json",
  authorization: "Bearer outbound-secret",
  "x-team": "outbound-too",
}
const to = (url: string): Outbound => ({ url, method: "POST", headers: HEADERS, body: `{"a":1}` })
const ok = () => new Response("fine")

/** By the text of the URL alone. Creating a destination with one of them fails as well. */
const REFUSED: [string, string][] = [
  ["http", "http://collector.example.com/"],
  ["another scheme", "ftp://collector.example.com/"],
  ["a file", "file:///etc/passwd"],
  ["a user", "https://user@collector.example.com/"],
  ["a password", "https://user:password@collector.example.com/"],
  ["the port of ssh", "https://collector.example.com:22/"],
  ["the port of mail", "https://collector.example.com:25/"],
  ["loopback", "https://127.0.0.1/"],
  ["loopback, decimal", "https://2130706433/"],
  ["loopback, hexadecimal", "https://0x7f000001/"],
  ["loopback, octal", "https://0177.0.0.1/"],
  ["loopback, short", "https://127.1/"],
  ["loopback, trailing dot", "https://127.0.0.1./"],
  ["zero", "https://0.0.0.0/"],
  ["a private address, class A", "https://10.0.0.1/"],
  ["a private address, class B", "https://172.16.5.4:8443/"],
  ["a private address, class C", "https://192.168.1.1/"],
  ["carrier-grade NAT", "https://100.64.0.1/"],
  ["link-local", "https://169.254.1.1/"],
  ["cloud metadata", "https://169.254.169.254/latest/meta-data/"],
  ["Azure platform address", "https://168.63.129.16/"],
  ["multicast", "https://224.0.0.1/"],
  ["broadcast", "https://255.255.255.255/"],
  ["IPv6 loopback", "https://[::1]/"],
  ["IPv4-mapped IPv6", "https://[::ffff:10.0.0.1]/"],
  ["IPv4-mapped IPv6, hexadecimal", "https://[::ffff:a00:1]/"],
  ["NAT64", "https://[64:ff9b::a00:1]/"],
  ["6to4", "https://[2002:a00:1::]/"],
  ["unique local IPv6", "https://[fd00::1]/"],
  ["link-local IPv6", "https://[fe80::1]/"],
  ["IPv6 multicast", "https://[ff02::1]/"],
  ["a name without a dot", "https://metadata/"],
  ["localhost", "https://localhost/"],
  ["localhost, trailing dot", "https://localhost./"],
  ["a name under localhost", "https://x.localhost/"],
  ["Google Cloud metadata", "https://metadata.google.internal/"],
  [".internal", "https://db.prod.internal./"],
  [".local", "https://printer.local/"],
  [".home.arpa", "https://router.home.arpa/"],
]

describe("no request is sent to", () => {
  test.each(REFUSED)("%s: %s", async (_, url) => {
    const network = deps({ "*": ok })
    expect(await sendOutbound(to(url), network)).toMatchObject({ status: null })
    expect(network.sent).toEqual([])
  })

  test.each([
    ["a private address", ["10.0.0.1"]],
    ["a private address among public ones", ["93.184.216.34", "192.168.0.1"]],
    ["cloud metadata", ["169.254.169.254"]],
    ["a mapped address", ["::ffff:127.0.0.1"]],
    ["NAT64", ["64:ff9b::7f00:1"]],
    ["no address", []],
  ])("a name with %s", async (_, addresses) => {
    const network = deps({ "*": ok }, { "collector.example.com": addresses })
    expect(await sendOutbound(to("https://collector.example.com/"), network)).toMatchObject({ status: null })
    expect(network.sent).toEqual([])
  })

  test.each(REFUSED)("%s through a redirect: %s", async (_, url) => {
    const network = deps({
      "https://a.example/": () => new Response(null, { status: 307, headers: { location: url } }),
    })
    expect(await sendOutbound(to("https://a.example/"), network)).toMatchObject({ status: null })
    expect(network.sent.map((hop) => hop.url)).toEqual(["https://a.example/"])
  })
})

describe("an outbound request", () => {
  test("goes to a public https URL, also on another port", async () => {
    for (const url of ["https://a.example/", "https://a.example:4318/v1/traces", "https://93.184.216.34/"]) {
      const network = deps({ [url]: ok })
      expect(await sendOutbound(to(url), network)).toMatchObject({ status: 200, excerpt: "fine" })
      expect(network.sent).toEqual([{ url, method: "POST", headers: HEADERS, body: `{"a":1}` }])
    }
  })

  test("connects by the network of public addresses, except to a private host that the operator allows", async () => {
    const open = deps({ "*": ok }, {}, ["127.0.0.1"])
    const restricted = deps({ "*": ok })
    const network = { ...open, publicFetch: restricted.fetch }
    for (const url of ["https://a.example/", "http://127.0.0.1:4318/"]) await sendOutbound(to(url), network)
    expect(restricted.sent.map((hop) => hop.url)).toEqual(["https://a.example/"])
    expect(open.sent.map((hop) => hop.url)).toEqual(["http://127.0.0.1:4318/"])
  })

  test.each([
    ["127.0.0.1", "http://127.0.0.1:4318/"],
    ["127.0.0.1:4318", "http://127.0.0.1:4318/"],
    ["collector.internal", "https://collector.internal:22/"],
    ["[::1]", "http://[::1]:9/"],
  ])("goes to a private host that the operator allows: %s opens %s", async (host, url) => {
    expect(await sendOutbound(to(url), deps({ "*": ok }, {}, [host]))).toMatchObject({ status: 200 })
  })

  test.each([
    ["127.0.0.1:4318", "http://127.0.0.1:4319/"],
    ["collector.internal", "https://other.collector.internal/"],
    ["127.0.0.1", "http://user@127.0.0.1/"],
  ])("goes to no other host or port: %s does not open %s", async (host, url) => {
    const network = deps({ "*": ok }, {}, [host])
    expect(await sendOutbound(to(url), network)).toMatchObject({ status: null })
    expect(network.sent).toEqual([])
  })

  const moved = (location: string, status = 307) => new Response(null, { status, headers: { location } })

  test("keeps its headers on a redirect within the origin, and drops its secrets on one to another origin", async () => {
    const network = deps({
      "https://a.example/": () => moved("/next"),
      "https://a.example/next": () => moved("https://b.example/", 308),
      "https://b.example/": ok,
    })
    expect(await sendOutbound(to("https://a.example/"), network)).toMatchObject({ status: 200 })
    const [, next, last] = network.sent
    expect(next).toMatchObject({ method: "POST", headers: HEADERS, body: `{"a":1}` })
    expect(last).toEqual({
      url: "https://b.example/",
      method: "POST",
      headers: { "content-type": "application/json" },
      body: `{"a":1}`,
    })
  })

  test("follows up to three redirects, and none that would turn it into a GET", async () => {
    const network = deps({ "*": ({ url }) => moved(`${url}x`) })
    expect(await sendOutbound(to("https://a.example/"), network)).toMatchObject({ status: null })
    expect(network.sent.length).toBe(4)
    for (const status of [301, 302, 303]) {
      const looking = deps({ "*": () => moved("https://b.example/", status) })
      expect(await sendOutbound(to("https://a.example/"), looking)).toMatchObject({ status })
      expect(looking.sent.length).toBe(1)
    }
  })

  test("reports a failed connection without network details, and times out", async () => {
    expect(await sendOutbound(to("https://a.example/"), deps({}))).toEqual({
      status: null,
      reason: "the connection failed",
    })
    const silent = { ...deps({ "*": () => new Promise<Response>(() => {}) }), timeoutMs: 5 }
    expect(await sendOutbound(to("https://a.example/"), silent)).toEqual({
      status: null,
      reason: "no response within 5 ms",
    })
  })

  test("counts by its status even if the body breaks off or never ends", async () => {
    const parts = [
      new ReadableStream({ pull: (controller) => controller.error(new Error("cut")) }),
      new ReadableStream({
        start: (controller) => controller.enqueue(new TextEncoder().encode("tha")),
      }),
    ]
    for (const body of parts) {
      const network = { ...deps({ "*": () => new Response(body) }), timeoutMs: 5_000 }
      expect(await sendOutbound(to("https://a.example/"), network)).toMatchObject({ status: 200 })
    }
  })

  test("reports the Retry-After of the response", async () => {
    const headers = { "retry-after": "120" }
    const network = deps({ "*": () => new Response("slow down", { status: 429, headers }) })
    expect(await sendOutbound(to("https://a.example/"), network)).toMatchObject({ status: 429, retryAfterMs: 120_000 })
  })

  test("reads only as much of the response as it shows", async () => {
    const endless = new ReadableStream({ pull: (controller) => controller.enqueue(new Uint8Array(1_000).fill(65)) })
    const sent = await sendOutbound(to("https://a.example/"), deps({ "*": () => new Response(endless) }))
    expect(sent).toEqual({ status: 200, excerpt: "A".repeat(8_192), retryAfterMs: null })
  })
})

/** The test configuration allows this computer by name and number. */
const OPENED = /^https?:\/\/(127\.0\.0\.1\.?|localhost\.?|2130706433|0x7f000001|0177\.0\.0\.1|127\.1)\/$/

test("creating a destination with a forbidden address returns 400", async () => {
  const workspace = await newWorkspace()
  for (const [, url] of REFUSED.filter(([, one]) => !OPENED.test(one))) {
    const input = { type: "webhook", name: "x", config: { url } }
    const { error } = await expectJson<{ error: { message: string } }>(
      400,
      workspace.manage.post("/observability/destinations", input),
    )
    expect(error.message, url).toMatch(/^config\.url: /)
  }
})

describe("an outbound read follows the same rules", () => {
  test.each(REFUSED)("no request is sent to %s", async (_, url) => {
    const network = deps({ "*": ok })
    expect(await readOutbound({ url, headers: HEADERS }, network, 100)).toMatchObject({ status: null })
    expect(network.sent).toEqual([])
  })

  test("secrets are dropped on a redirect to another origin, and a body over the limit is discarded", async () => {
    const network = deps({
      "https://directory.example.com/Users": () =>
        new Response(null, { status: 307, headers: { location: "https://other.example.com/Users" } }),
      "https://other.example.com/Users": () => new Response("x".repeat(101)),
    })
    const found = await readOutbound({ url: "https://directory.example.com/Users", headers: HEADERS }, network, 100)
    expect(found).toMatchObject({ status: 200, body: undefined })
    expect(network.sent.map(({ method }) => method)).toEqual(["GET", "GET"])
    expect(network.sent[0]?.headers).toMatchObject({ authorization: "Bearer outbound-secret" })
    expect(network.sent[1]?.headers).not.toHaveProperty("authorization")
    expect(network.sent[1]?.headers).not.toHaveProperty("x-team")
  })
})
