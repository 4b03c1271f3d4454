import * as fc from "fast-check"
import { describe, expect, test } from "vitest"
import { isPublicAddress } from "../../src/outbound/address.ts"
import { fetchPublic, type FetchDeps } from "../../src/server-tools/web-fetch/guarded-fetch.ts"
import { html, network, PUBLIC, redirect, SECRET } from "./mock-network.ts"

type Made = { deps: FetchDeps; sent: { url: string }[]; requests: string[] }

function make(
  answers: Parameters<typeof network>[0],
  addresses: Record<string, string[]> = {},
  allowed: string[] = [],
): Made {
  const { fetch, sent } = network(answers)
  const requests: string[] = []
  const deps: FetchDeps = {
    fetch,
    isGuarded: true,
    resolve: async (host) => {
      requests.push(host)
      return addresses[host] ?? [PUBLIC]
    },
    signal: new AbortController().signal,
    settings: { allowedHosts: new Set(allowed), timeoutMs: 1_000, maxBytes: 1_000 },
  }
  return { deps, sent, requests }
}

const FORBIDDEN: [string, string][] = [
  ["a loopback address", "http://127.0.0.1/"],
  ["another loopback address", "http://127.8.9.10/"],
  ["a decimal address", "http://2130706433/"],
  ["a hexadecimal address", "http://0x7f000001/"],
  ["a hexadecimal octet", "http://0x7f.0.0.1/"],
  ["an octal octet", "http://0177.0.0.1/"],
  ["an address with two parts", "http://127.1/"],
  ["an address with three parts", "http://127.0.1/"],
  ["zero", "http://0/"],
  ["the unspecified address", "http://0.0.0.0/"],
  ["full-width digits", "http://１２７.0.0.1/"],
  ["ideographic full stops", "http://127。0。0。1/"],
  ["an escaped address", "http://%31%32%37.0.0.1/"],
  ["a trailing dot", "http://127.0.0.1./"],
  ["two trailing dots", "http://127.0.0.1../"],
  ["a private address, class A", "http://10.0.0.1/"],
  ["a private address, class B", "http://172.16.5.4/"],
  ["a private address, class C", "http://192.168.1.1/"],
  ["carrier-grade NAT", "http://100.64.0.1/"],
  ["cloud metadata", "http://169.254.169.254/latest/meta-data/"],
  ["Alibaba Cloud metadata", "http://100.100.100.200/"],
  ["Azure platform address", "http://168.63.129.16/"],
  ["Oracle Cloud metadata", "http://192.0.0.192/"],
  ["benchmarks", "http://198.18.0.1/"],
  ["documentation", "http://203.0.113.7/"],
  ["multicast", "http://224.0.0.1/"],
  ["broadcast", "http://255.255.255.255/"],
  ["reserved", "http://240.0.0.1/"],
  ["IPv6 loopback", "http://[::1]/"],
  ["IPv6 loopback, written out", "http://[0:0:0:0:0:0:0:1]/"],
  ["the unspecified IPv6 address", "http://[::]/"],
  ["a mapped address", "http://[::ffff:127.0.0.1]/"],
  ["a mapped address in hexadecimal", "http://[::ffff:7f00:1]/"],
  ["a mapped private address", "http://[::FFFF:10.0.0.1]/"],
  ["a mapped metadata address", "http://[::ffff:a9fe:a9fe]/"],
  ["a compatible address", "http://[::127.0.0.1]/"],
  ["a translated address", "http://[::ffff:0:127.0.0.1]/"],
  ["NAT64", "http://[64:ff9b::7f00:1]/"],
  ["NAT64 of a public address", "http://[64:ff9b::5db8:d822]/"],
  ["local NAT64", "http://[64:ff9b:1::1]/"],
  ["6to4", "http://[2002:7f00:1::]/"],
  ["Teredo", "http://[2001::1]/"],
  ["IPv6 link-local", "http://[fe80::1]/"],
  ["a zone", "http://[fe80::1%25eth0]/"],
  ["IPv6 unique local", "http://[fd00:ec2::254]/"],
  ["IPv6 site-local", "http://[fec0::1]/"],
  ["IPv6 multicast", "http://[ff02::1]/"],
  ["IPv6 documentation", "http://[2001:db8::1]/"],
  ["unallocated IPv6", "http://[4000::1]/"],
  ["localhost", "http://localhost/"],
  ["LOCALHOST", "http://LOCALHOST/"],
  ["localhost with a dot", "http://localhost./"],
  ["a name under localhost", "http://api.localhost/"],
  ["a local name", "http://printer.local/"],
  ["a local name in capitals", "http://PRINTER.LOCAL./"],
  ["a home.arpa name", "http://nas.home.arpa/"],
  ["Google Cloud metadata", "http://metadata.google.internal/computeMetadata/v1/"],
  ["a Kubernetes service", "http://vault.default.svc/"],
  ["a Consul service", "http://vault.service.consul/"],
  ["a name under private", "http://db.private/"],
  ["a name under home", "http://router.home/"],
  ["a single-label name", "http://intranet/"],
  ["a database port", "http://example.com:6379/"],
  ["the https port with http", "http://example.com:443/"],
  ["a user name", "http://user@example.com/"],
  ["a password", `https://user:${SECRET}@example.com/`],
  ["a host after @", "http://example.com@127.0.0.1/"],
  ["another scheme", "ftp://example.com/"],
  ["a file", "file:///etc/passwd"],
  ["data", "data:text/html,hello"],
  ["a script", "javascript:alert(1)"],
  ["an invalid URL", "example.com"],
  ["nothing", ""],
]

describe("fetchPublic", () => {
  test.each(FORBIDDEN)("rejects %s without a request or a lookup: %s", async (_, url) => {
    const { deps, sent, requests } = make({ "*": html("secret") })
    const fetched = await fetchPublic(url, deps)
    expect(fetched.ok).toBe(false)
    expect(sent).toEqual([])
    expect(requests).toEqual([])
    expect(JSON.stringify(fetched)).not.toContain(SECRET)
  })

  test.each(FORBIDDEN.filter(([, url]) => URL.canParse(url)))("rejects a redirect to %s: %s", async (_, url) => {
    const { deps, sent } = make({ "https://example.com/": redirect(url), "*": html("secret") })
    expect((await fetchPublic("https://example.com/", deps)).ok).toBe(false)
    expect(sent.map((one) => one.url)).toEqual(["https://example.com/"])
  })

  test.each([
    ["a private address", ["10.0.0.1"]],
    ["public and private addresses", [PUBLIC, "192.168.0.1"]],
    ["a mapped address", ["::ffff:127.0.0.1"]],
    ["IPv6 loopback and public addresses", ["2606:4700::1111", "::1"]],
    ["no address", []],
    ["an invalid address", ["example.org."]],
  ])("rejects a name that resolves to %s", async (_, addresses) => {
    const { deps, sent } = make({ "*": html("secret") }, { "rebound.example.com": addresses })
    expect((await fetchPublic("https://rebound.example.com/", deps)).ok).toBe(false)
    expect(sent).toEqual([])
  })

  test("rejects a name that cannot be resolved", async () => {
    const { deps, sent } = make({ "*": html("secret") })
    const failing = { ...deps, resolve: async () => Promise.reject(new Error(`10.0.0.53 said ${SECRET}`)) }
    expect(await fetchPublic("https://example.com/", failing)).toEqual({
      ok: false,
      reason: "its host name could not be resolved",
    })
    expect(sent).toEqual([])
  })

  test("resolves the name of every hop", async () => {
    const answers = { "https://a.example/": redirect("https://b.example/"), "https://b.example/": html("never") }
    const { deps, sent, requests } = make(answers, { "b.example": ["169.254.169.254"] })
    expect(await fetchPublic("https://a.example/", deps)).toEqual({
      ok: false,
      reason: "the address is not a public one",
    })
    expect(requests).toEqual(["a.example", "b.example"])
    expect(sent.map((one) => one.url)).toEqual(["https://a.example/"])
  })

  test("follows up to five redirects", async () => {
    const chain = (length: number) =>
      Object.fromEntries(
        Array.from({ length: length + 1 }, (_, hop) => [
          `https://example.com/${hop}`,
          hop === length ? html("there") : redirect(`/${hop + 1}`, [301, 302, 303, 307, 308][hop % 5]),
        ]),
      )
    const five = make(chain(5))
    expect(await fetchPublic("https://example.com/0", five.deps)).toMatchObject({
      ok: true,
      page: { url: "https://example.com/5" },
    })
    const six = make(chain(6))
    expect(await fetchPublic("https://example.com/0", six.deps)).toMatchObject({ ok: false })
    expect(six.sent).toHaveLength(6)
  })

  test("stops a redirect loop after five redirects", async () => {
    const { deps, sent } = make({ "https://example.com/": redirect("https://example.com/") })
    const fetched = await fetchPublic("https://example.com/", deps)
    expect(fetched).toEqual({ ok: false, reason: "it redirects more than 5 times" })
    expect(sent).toHaveLength(6)
  })

  test("sends a GET with only accept and user-agent, without fragment or body", async () => {
    const { fetch, sent } = network({ "*": html("hello") })
    const { deps } = make({})
    await fetchPublic("https://EXAMPLE.com./a?b=c#d", { ...deps, fetch })
    expect(sent).toMatchObject([{ url: "https://example.com./a?b=c", method: "GET", body: "", redirect: "manual" }])
    expect(Object.keys(sent[0]?.headers ?? {}).sort()).toEqual(["accept", "user-agent"])
    expect(sent[0]?.headers["user-agent"]).toBe("edge-model-gateway")
  })

  test("accepts internationalized names and sends their ASCII form", async () => {
    const { deps, sent, requests } = make({ "*": html("hallo") })
    expect((await fetchPublic("http://bücher.example/", deps)).ok).toBe(true)
    expect(requests).toEqual(["xn--bcher-kva.example"])
    expect(sent[0]?.url).toBe("http://xn--bcher-kva.example/")
  })

  test("accepts public addresses without a lookup", async () => {
    const { deps, requests } = make({ "*": html("hello") })
    expect((await fetchPublic(`http://${PUBLIC}/`, deps)).ok).toBe(true)
    expect((await fetchPublic("http://[2606:4700::1111]/", deps)).ok).toBe(true)
    expect((await fetchPublic("http://[::ffff:93.184.216.34]/", deps)).ok).toBe(true)
    expect(requests).toEqual([])
  })

  test("connects by the network of public addresses at every hop, except to allowed hosts", async () => {
    const pages = { "http://a.example/": redirect("http://wiki.internal/"), "http://wiki.internal/": html("allowed") }
    const { deps, sent } = make(pages, {}, ["wiki.internal"])
    const open = network(pages)
    const fetched = await fetchPublic("http://a.example/", { ...deps, publicFetch: deps.fetch, fetch: open.fetch })
    expect(fetched.ok).toBe(true)
    expect(sent.map(({ url }) => url)).toEqual(["http://a.example/"])
    expect(open.sent.map(({ url }) => url)).toEqual(["http://wiki.internal/"])
  })

  test("requires https for names where the platform does not block private addresses", async () => {
    const { deps, sent, requests } = make({ "*": html("hello") }, {}, ["wiki.internal"])
    const open = { ...deps, isGuarded: false }
    expect(await fetchPublic("http://rebinding.example/", open)).toMatchObject({
      ok: false,
      reason: expect.stringContaining("use https"),
    })
    const redirected = make({ "https://example.com/": redirect("http://rebinding.example/"), "*": html("never") })
    expect((await fetchPublic("https://example.com/", { ...redirected.deps, isGuarded: false })).ok).toBe(false)
    expect([...sent, ...requests]).toEqual([])
    // With https the certificate verifies the name, and an address is used as it is.
    for (const url of ["https://example.com/", `http://${PUBLIC}/`, "http://wiki.internal/"]) {
      expect((await fetchPublic(url, open)).ok).toBe(true)
    }
    expect((await fetchPublic("http://example.com/", deps)).ok).toBe(true)
  })

  test("reaches exactly the private hosts that the operator configured", async () => {
    const { deps, sent, requests } = make({ "*": html("hello") }, {}, ["wiki.internal", "10.0.0.5:8080", "[::1]:9000"])
    const isFetched = async (url: string) => (await fetchPublic(url, deps)).ok
    expect(await isFetched("http://wiki.internal/page")).toBe(true)
    expect(await isFetched("https://WIKI.internal./page")).toBe(true)
    expect(await isFetched("http://10.0.0.5:8080/")).toBe(true)
    expect(await isFetched("http://[::1]:9000/")).toBe(true)
    expect(requests).toEqual([])
    expect(sent).toHaveLength(4)
    expect(await isFetched("http://wiki.internal:8080/")).toBe(false)
    expect(await isFetched("http://sub.wiki.internal/")).toBe(false)
    expect(await isFetched("http://10.0.0.5/")).toBe(false)
    expect(await isFetched("http://10.0.0.6:8080/")).toBe(false)
    expect(await isFetched("http://user:pass@wiki.internal/")).toBe(false)
    expect(sent).toHaveLength(4)
  })

  test("times out", async () => {
    const { deps } = make({
      "*": (_, signal) =>
        new Promise<Response>((_resolve, reject) => signal?.addEventListener("abort", () => reject(new Error(SECRET)))),
    })
    const withTimeout = { ...deps, settings: { ...deps.settings, timeoutMs: 20 } }
    expect(await fetchPublic("https://example.com/", withTimeout)).toEqual({
      ok: false,
      reason: "the page took too long",
    })
  })

  test("stops when the client disconnects", async () => {
    const disconnecting = new AbortController()
    const { deps } = make({
      "*": () => {
        disconnecting.abort()
        return new Promise<Response>(() => {})
      },
    })
    const watched = { ...deps, signal: disconnecting.signal }
    const reason = { ok: false, reason: "the request was cancelled" }
    expect(await fetchPublic("https://example.com/", watched)).toEqual(reason)
    expect(await fetchPublic("https://example.com/", watched)).toEqual(reason)
  })

  test("reports a failed connection without the error's text", async () => {
    const { deps } = make({ "*": new Error(`connect to 10.0.0.1 with ${SECRET}`) })
    expect(await fetchPublic("https://example.com/", deps)).toEqual({ ok: false, reason: "the connection failed" })
  })

  test("reads up to the size limit, also of an endless body", async () => {
    let pulled = 0
    const endless = new ReadableStream<Uint8Array>({
      pull(controller) {
        pulled++
        controller.enqueue(new Uint8Array(400))
      },
    })
    const { deps } = make({ "*": () => new Response(endless) })
    const fetched = await fetchPublic("https://example.com/", deps)
    expect(fetched).toMatchObject({ ok: true, page: { isCut: true } })
    expect(fetched.ok && fetched.page.bytes.byteLength).toBe(1_000)
    expect(pulled).toBeLessThan(10)
  })
})

test("an IPv4 address is classified alike in every spelling", () => {
  fc.assert(
    fc.property(fc.ipV4(), (address) => {
      const number = address.split(".").reduce((sum, part) => sum * 256 + Number(part), 0)
      const spelled = [String(number), `0x${number.toString(16)}`, `0${number.toString(8)}`]
      for (const spelling of spelled) {
        expect(isPublicAddress(new URL(`http://${spelling}/`).hostname)).toBe(isPublicAddress(address))
      }
      expect(isPublicAddress(`::ffff:${address}`)).toBe(isPublicAddress(address))
    }),
  )
})

test("no address of the reserved IPv4 blocks is public", () => {
  const blocks = ["10", "127", "169.254", "192.168", "172.16", "172.31", "100.64", "100.127", "0", "198.18", "240"]
  fc.assert(
    fc.property(fc.constantFrom(...blocks), fc.array(fc.nat(255), { minLength: 3, maxLength: 3 }), (block, rest) => {
      const address = [...block.split("."), ...rest].slice(0, 4).join(".")
      expect(isPublicAddress(address)).toBe(false)
    }),
  )
})
