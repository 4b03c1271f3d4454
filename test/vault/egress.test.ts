import * as fc from "fast-check"
import { afterEach, describe, expect, test, vi } from "vitest"
import { decideEgress } from "../../src/vault/egress.ts"
import { egressFetch, type EgressRequest, egressToBound, type EgressResult } from "../../src/vault/egress-fetch.ts"
import type { ReleasedSecret } from "../../src/vault/secret.ts"
import { runs } from "../support/runs.ts"

afterEach(() => vi.restoreAllMocks())

const HELD = "vault-token-0123456789abcdef"
const VALUE = "the-value-$&-of-the-secret"
const TOKEN: ReleasedSecret = {
  name: "token",
  hosts: ["api.example.com", "xn--mller-kva.example"],
  placeholder: HELD,
  value: VALUE,
}
const OTHER: ReleasedSecret = {
  name: "other",
  hosts: ["other.example.com"],
  placeholder: "vault-other-fedcba9876543210",
  value: `the other value, which has ${HELD} in it`,
}
const SECRETS = [TOKEN, OTHER]

const decide = (url: string, headers: [string, string][], secrets = SECRETS) =>
  decideEgress({ url: new URL(url), headers }, secrets)
const sentTo = (url: string, value = `Bearer ${HELD}`, name = "authorization") => {
  const decided = decide(url, [[name, value]])
  return decided.ok ? decided.headers[0]?.[1] : decided.reason
}
const basic = (text: string) => `Basic ${btoa(text)}`

describe("a placeholder in a header", () => {
  test.each([
    ["its host", "https://api.example.com/v1"],
    ["its host in capitals", "https://API.EXAMPLE.COM/v1"],
    ["its host with a trailing dot", "https://api.example.com./v1"],
    ["its host with an explicit port", "https://api.example.com:443/v1"],
    ["its host in Unicode", "https://müller.example/"],
    ["its host in full-width letters", "https://ａｐｉ.example.com/"],
  ])("becomes the value towards %s", (_, url) => {
    expect(sentTo(url)).toBe(`Bearer ${VALUE}`)
  })

  test.each([
    ["the parent", "https://example.com/"],
    ["a subdomain", "https://v1.api.example.com/"],
    ["another host", "https://other.example.com/"],
    ["a host that begins with it", "https://api.example.com.evil.example/"],
    ["a host that ends with it", "https://evil-api.example.com/"],
    ["another port", "https://api.example.com:8443/"],
    ["port 80", "https://api.example.com:80/"],
    ["a user name that looks like it", "https://api.example.com@evil.example/"],
    ["a path that looks like it", "https://evil.example/api.example.com"],
    ["two trailing dots", "https://api.example.com../"],
  ])("is kept towards %s", (_, url) => {
    expect(sentTo(url)).toBe(`Bearer ${HELD}`)
  })

  test.each([
    ["plain http", "http://api.example.com/", "over https only"],
    ["plain http on 443", "http://api.example.com:443/", "over https only"],
    ["another scheme", "ftp://api.example.com/", "Only http and https"],
    ["localhost's address", "https://127.0.0.1/", "not a public one"],
    ["loopback as a number", "https://2130706433/", "not a public one"],
    ["IPv6 loopback", "https://[::1]/", "not a public one"],
    ["mapped IPv6 loopback", "https://[::ffff:127.0.0.1]/", "not a public one"],
    ["localhost", "https://localhost/", "not a public one"],
    ["a private network", "https://192.168.1.1/", "not a public one"],
    ["cloud metadata", "https://169.254.169.254/latest", "not a public one"],
    ["an internal name", "https://db.internal/", "not a public one"],
    ["a single-label name", "https://intranet/", "not a public one"],
  ])("is not sent to %s", (_, url, content) => {
    expect(sentTo(url)).toContain(content)
  })

  test("is replaced at any position in any header, each time", () => {
    expect(sentTo("https://api.example.com/", `a ${HELD} b ${HELD}`, "X-Any")).toBe(`a ${VALUE} b ${VALUE}`)
  })

  test("is replaced in Basic credentials, as user or password, for any value", () => {
    expect(sentTo("https://api.example.com/", basic(`user:${HELD}`))).toBe(basic(`user:${VALUE}`))
    expect(sentTo("https://api.example.com/", `basic   ${btoa(`${HELD}:x`)}`)).toBe(basic(`${VALUE}:x`))
    const odd = { ...TOKEN, value: "zwei\nZeilen mit ü" }
    const decided = decide("https://api.example.com/", [["Authorization", basic(`u:${HELD}`)]], [odd])
    const bytes = new TextEncoder().encode(`u:${odd.value}`)
    expect(decided).toMatchObject({ ok: true, headers: [["Authorization", basic(String.fromCharCode(...bytes))]] })
    expect(sentTo("https://api.example.com/", `Basic ${HELD}`)).toBe(`Basic ${VALUE}`)
    expect(sentTo("https://other.example.com/", basic(`user:${HELD}`))).toBe(basic(`user:${HELD}`))
    expect(sentTo("http://api.example.com/", basic(`user:${HELD}`))).toContain("over https only")
  })

  test("is not sent if its value is not a valid header", () => {
    const odd = { ...TOKEN, value: "one\r\nx-injected: two" }
    const decided = decide("https://api.example.com/", [["authorization", `Bearer ${HELD}`]], [odd])
    expect(decided).toEqual({ ok: false, reason: expect.stringContaining("The secret token cannot be a header") })
    expect(JSON.stringify(decided)).not.toContain("injected")
  })

  test("inside another secret's value is not replaced", () => {
    const decided = decide(
      "https://other.example.com/",
      [["x-key", OTHER.placeholder]],
      [{ ...TOKEN, hosts: ["other.example.com"] }, OTHER],
    )
    expect(decided).toEqual({ ok: true, headers: [["x-key", OTHER.value]], released: ["other"] })
  })

  test("is not sent when the Host header differs from the URL", () => {
    for (const host of ["evil.example", "api.example.com:8443", "api.example.com.evil.example", "@", ""]) {
      const decided = decide("https://api.example.com/", [
        ["Host", host],
        ["authorization", `Bearer ${HELD}`],
      ])
      expect(decided).toMatchObject({ ok: false, misdirected: true })
    }
    const same = decide("https://api.example.com/", [["Host", "API.example.com:443"]])
    expect(same.ok).toBe(true)
  })
})

test("a placeholder in a URL is kept, and rejected with plain http", () => {
  expect(decide(`https://api.example.com/?key=${HELD}`, [])).toMatchObject({ ok: true, released: [] })
  expect(decide(`http://api.example.com/?key=${HELD}`, [])).toMatchObject({ ok: false })
})

const name = fc.constantFrom(
  "api.example.com",
  "example.com",
  "other.example.com",
  "evil.example",
  "xn--mller-kva.example",
)
const spelled = fc
  .tuple(
    name,
    fc.constantFrom<(host: string) => string>(
      (host) => host,
      (host) => host.toUpperCase(),
      (host) => `${host}.`,
      (host) => `${host}..`,
      (host) => host.replaceAll(".", "。"),
      (host) => host.replaceAll("a", "ａ"),
      (host) => `x.${host}`,
      (host) => `${host}.evil.example`,
      (host) => `api.example.com@${host}`,
      (host) => `${host}%2eevil.example`,
      (host) => host.replace("e", "\te"),
      (host) => `${host}\\@api.example.com`,
      (host) => host.replace("xn--mller-kva", "MÜLLER"),
    ),
  )
  .map(([host, spell]) => spell(host))
const anyUrl = fc
  .tuple(
    fc.constantFrom("https", "HTTPS", "http", "wss", "ftp"),
    spelled,
    fc.constantFrom("", ":", ":443", ":0443", ":80", ":8443"),
    fc.constantFrom("/", "", "/api.example.com", "?x=@api.example.com", "#@api.example.com"),
  )
  .map(([scheme, host, port, rest]) => `${scheme}://${host}${port}${rest}`)
const anyHeader = fc.tuple(
  fc.constantFrom("authorization", "Authorization", "x-api-key", "cookie", "host", "user-agent"),
  fc.constantFrom(
    `Bearer ${HELD}`,
    HELD,
    basic(`u:${HELD}`),
    basic(`${HELD}:`),
    "nothing",
    "api.example.com",
    `${HELD}${HELD}`,
  ),
)

const everything = (headers: readonly (readonly [string, string])[]) =>
  headers.map(([, text]) => text + (/^basic /i.test(text) ? atob(text.slice(6)) : "")).join("\n")

test("a value is sent only over TLS on port 443 to one of its hosts", () => {
  let released = 0
  fc.assert(
    fc.property(anyUrl, fc.array(anyHeader, { maxLength: 4 }), (text, headers) => {
      const url = URL.parse(text)
      if (!url) return
      const decided = decideEgress({ url, headers }, SECRETS)
      if (!decided.ok) {
        expect(decided.reason).not.toContain(VALUE)
        return
      }
      const isBound = [...TOKEN.hosts, ...TOKEN.hosts.map((host) => `${host}.`)].includes(url.hostname)
      const isSeparateTurn = url.protocol === "https:" && url.port === "" && isBound
      const sent = everything(decided.headers)
      expect(sent.includes(VALUE)).toBe(isSeparateTurn && everything(headers).includes(HELD))
      if (isSeparateTurn) expect(sent).not.toContain(HELD)
      else expect(decided.headers).toEqual(headers)
      if (sent.includes(VALUE)) released += 1
    }),
    { numRuns: runs(10) },
  )
  expect(released).toBeGreaterThan(runs(0.1))
})

async function textOf(sent: EgressResult): Promise<string> {
  if (!sent.ok) throw new Error(sent.reason)
  return new Response(sent.response.body?.pipeThrough(sent.response.hidden.stream())).text()
}

describe("egress for an agent", () => {
  type Seen = { url: string; method: string; headers: Record<string, string>; body: string }

  /** The responses by URL, and the requests received. */
  function deps(answers: Record<string, () => Response>, addresses: Record<string, string[]> = {}) {
    const seen: Seen[] = []
    const used: string[] = []
    const controller = new AbortController()
    return {
      seen,
      signal: controller.signal,
      secrets: () => Promise.resolve(SECRETS),
      isGuarded: true,
      testHosts: new Map<string, string>(),
      used,
      onRelease: (names: readonly string[], host: string) => void used.push([...names, host].join(" ")),
      resolve: (host: string) => Promise.resolve(addresses[host] ?? ["93.184.216.34"]),
      fetch: (async (input: string, init: RequestInit) => {
        const request = new Request(input, init)
        expect(init.redirect).toBe("manual")
        seen.push({
          url: request.url,
          method: request.method,
          headers: Object.fromEntries(request.headers),
          body: await request.text(),
        })
        const answer = answers[request.url]
        if (!answer) throw new Error(`connection to ${request.url} failed with ${JSON.stringify(init.headers)}`)
        return answer()
      }) as typeof fetch,
    }
  }
  const to =
    (location: string, status = 302) =>
    () =>
      new Response(null, { status, headers: { location } })
  const requestTo = (url: string, more: Partial<EgressRequest> = {}): EgressRequest => ({
    method: "GET",
    url,
    headers: [["authorization", `Bearer ${HELD}`]],
    ...more,
  })

  test("sends the value to its host, and the body unchanged", async () => {
    const mock = deps({ "https://api.example.com/v1": () => new Response("done") })
    const body = `{"key":"${HELD}"}`
    const sent = await egressFetch(requestTo("https://api.example.com/v1", { method: "POST", body }), mock)
    expect(await textOf(sent)).toBe("done")
    expect(mock.used).toEqual(["token api.example.com"])
    expect(mock.seen).toMatchObject([{ headers: { authorization: `Bearer ${VALUE}` }, body, method: "POST" }])
  })

  test("does not send it to another host on a redirect", async () => {
    const mock = deps({
      "https://api.example.com/": to("https://evil.example/steal"),
      "https://evil.example/steal": () => new Response("thanks"),
    })
    const headers: [string, string][] = [
      ["authorization", `Bearer ${HELD}`],
      ["x-api-key", HELD],
    ]
    expect(await egressFetch(requestTo("https://api.example.com/", { headers }), mock)).toMatchObject({
      ok: true,
      response: { url: "https://evil.example/steal" },
    })
    expect(mock.used).toEqual(["token api.example.com"])
    expect(mock.seen.map((one) => JSON.stringify(one).includes(VALUE))).toEqual([true, false])
    expect(mock.seen[1]?.headers).toEqual({ "x-api-key": HELD })
  })

  test("sends it again on a redirect within the host", async () => {
    const mock = deps({
      "https://api.example.com/a": to("/b", 307),
      "https://api.example.com/b": () => new Response("done"),
    })
    await egressFetch(requestTo("https://api.example.com/a", { method: "POST", body: "text" }), mock)
    expect(mock.seen[1]).toMatchObject({
      headers: { authorization: `Bearer ${VALUE}` },
      method: "POST",
      body: "text",
    })
  })

  test.each([
    [303, "PUT", "GET"],
    [302, "POST", "GET"],
    [301, "PUT", "PUT"],
    [308, "POST", "POST"],
  ])("after %s follows a %s with a %s", async (status, method, then) => {
    const mock = deps({
      "https://api.example.com/a": to("/b", status),
      "https://api.example.com/b": () => new Response("done"),
    })
    await egressFetch(requestTo("https://api.example.com/a", { method, body: "text" }), mock)
    expect(mock.seen[1]).toMatchObject({ method: then, body: then === "GET" ? "" : "text" })
  })

  test("rejects redirects to private hosts, with placeholders to plain http, and in a loop", async () => {
    for (const [location, content] of [
      ["http://169.254.169.254/", "not a public one"],
      ["https://127.0.0.1/", "not a public one"],
      ["https://user:pass@api.example.com/", "user or password"],
      ["https://inside.example/", "not a public one"],
      ["https://api.example.com/", "more than 5 times"],
    ] as const) {
      const mock = deps({ "https://api.example.com/": to(location) }, { "inside.example": ["10.0.0.1"] })
      const sent = await egressFetch(requestTo("https://api.example.com/"), mock)
      expect(sent).toEqual({ ok: false, reason: expect.stringContaining(content), why: "refused" })
      expect(mock.seen.every(({ url }) => url === "https://api.example.com/")).toBe(true)
    }
    const plain = deps({ "https://api.example.com/": to("http://api.example.com/") })
    const headers: [string, string][] = [["x-api-key", HELD]]
    const sent = await egressFetch(requestTo("https://api.example.com/", { headers }), plain)
    expect(sent).toMatchObject({ ok: false, reason: expect.stringContaining("over https only") })
  })

  test("replaces values in a response with what the agent had sent", async () => {
    const headers: [string, string][] = [
      ["authorization", basic(`me:${HELD}`)],
      ["x-key", HELD],
    ]
    const mock = deps({ "https://api.example.com/": () => new Response("fine") })
    const sent = await egressFetch(requestTo("https://api.example.com/", { headers }), mock)
    if (!sent.ok) throw new Error(sent.reason)
    const { hidden } = sent.response
    const forwarded = mock.seen[0]?.headers ?? {}
    expect(JSON.stringify(forwarded)).toContain(VALUE)
    const output = JSON.stringify({ ...forwarded, alone: VALUE })
    const reported = new TextDecoder().decode(hidden.bytes(new TextEncoder().encode(output)))
    expect(JSON.parse(reported)).toEqual({ ...Object.fromEntries(headers), "accept-encoding": "identity", alone: HELD })
    expect(hidden.text(`key=${VALUE}`)).toBe(`key=${HELD}`)
    const bytes = Uint8Array.from({ length: 256 }, (_, byte) => byte)
    expect(hidden.bytes(bytes)).toEqual(bytes)
  })

  test("hides values that the host puts into a redirect, a header or a reason phrase", async () => {
    const echo = () =>
      new Response(null, {
        status: 307,
        statusText: `${VALUE} moved`,
        headers: { location: `https://evil.example/?t=${encodeURIComponent(VALUE)}`, "set-cookie": `t=${VALUE}` },
      })
    const mock = deps({
      "https://api.example.com/": echo,
      [`https://evil.example/?t=${HELD}`]: () => new Response("thanks"),
    })
    expect(await egressFetch(requestTo("https://api.example.com/"), mock)).toMatchObject({
      ok: true,
      response: { url: `https://evil.example/?t=${HELD}` },
    })
    const sent = await egressToBound(requestTo("https://api.example.com/"), mock)
    if (!sent.ok) throw new Error(sent.reason)
    const { status, statusText, headers } = sent.response
    expect([status, statusText]).toEqual([307, `${HELD} moved`])
    expect(headers).toEqual([
      ["location", `https://evil.example/?t=${HELD}`],
      ["set-cookie", `t=${HELD}`],
    ])
  })

  test("for a daemon reaches only hosts of secrets, and does not follow redirects", async () => {
    const mock = deps({ "https://api.example.com/": to("https://other.example.com/") })
    expect(await egressToBound(requestTo("https://api.example.com/"), mock)).toMatchObject({
      ok: true,
      response: { status: 302 },
    })
    for (const url of ["https://evil.example/", "http://api.example.com/", "https://api.example.com:8443/", "x"]) {
      expect(await egressToBound(requestTo(url), mock)).toMatchObject({ ok: false, why: "unbound" })
    }
    expect(mock.seen).toHaveLength(1)
  })

  test("requests identity encoding from hosts of secrets, and rejects compressed responses", async () => {
    const packed = () => new Response("packed", { headers: { "content-encoding": "zstd" } })
    const mock = deps({ "https://api.example.com/": packed, "https://free.example.com/": packed })
    const headers: [string, string][] = [["accept-encoding", "zstd"]]
    expect(await egressFetch(requestTo("https://api.example.com/", { headers }), mock)).toMatchObject({ why: "failed" })
    expect(await egressFetch(requestTo("https://free.example.com/", { headers }), mock)).toMatchObject({ ok: true })
    expect(mock.seen.map((one) => one.headers["accept-encoding"])).toEqual(["identity", "zstd"])
  })

  test("connects by the network of public addresses where there is one", async () => {
    const mock = deps({ "http://example.com/": () => new Response("a") })
    const unused = () => Promise.reject(new Error("not a public network"))
    const network = { ...mock, publicFetch: mock.fetch, fetch: unused }
    expect(await egressFetch(requestTo("http://example.com/", { headers: [] }), network)).toMatchObject({ ok: true })
    expect(mock.seen).toHaveLength(1)
  })

  test("allows plain http to a name only where the platform blocks private addresses, and to any public address", async () => {
    const answers = { "http://example.com/": () => new Response("a"), "http://93.184.216.34/": () => new Response("b") }
    const headers: [string, string][] = []
    for (const [isGuarded, url, ok] of [
      [true, "http://example.com/", true],
      [false, "http://example.com/", false],
      [false, "http://93.184.216.34/", true],
    ] as const) {
      const mock = { ...deps(answers), isGuarded }
      expect((await egressFetch(requestTo(url, { headers }), mock)).ok).toBe(ok)
      expect(mock.seen).toHaveLength(ok ? 1 : 0)
    }
  })

  test("logs nothing, and fails without details of the request", async () => {
    const lines: string[] = []
    for (const level of ["log", "info", "warn", "error", "debug"] as const) {
      vi.spyOn(console, level).mockImplementation((...parts: unknown[]) => void lines.push(parts.map(String).join(" ")))
    }
    const sent = await egressFetch(requestTo("https://api.example.com/"), deps({}))
    expect(sent).toEqual({ ok: false, reason: "The connection failed.", why: "failed" })
    expect(lines).toEqual([])
  })
})
