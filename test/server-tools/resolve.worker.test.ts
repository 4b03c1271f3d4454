import { expect, test } from "vitest"
import { dnsOverHttps } from "../../src/outbound/resolve.ts"
import { network, redirect } from "./mock-network.ts"

const { signal } = new AbortController()
const at = (type: string) => `https://dns.test/dns-query?name=example.com&type=${type}`

function lookUp(a: Response, aaaa: Response = Response.json({ Status: 0 })) {
  const mock = network({ [at("A")]: a, [at("AAAA")]: aaaa })
  return { ...mock, addresses: dnsOverHttps("https://dns.test/dns-query", mock.fetch)("example.com", signal) }
}

test("a name resolves to addresses of both families, and aliases are skipped", async () => {
  const alias = { name: "example.com", type: 5, TTL: 60, data: "cdn.example.net." }
  const { addresses, sent } = lookUp(
    Response.json({ Status: 0, Answer: [alias, { name: "cdn.example.net", type: 1, TTL: 60, data: "93.184.216.34" }] }),
    Response.json({ Status: 0, Answer: [{ name: "example.com", type: 28, TTL: 60, data: "2606:4700::1111" }] }),
  )
  expect(await addresses).toEqual(["93.184.216.34", "2606:4700::1111"])
  expect(sent.map(({ headers }) => headers)).toEqual([
    { accept: "application/dns-json" },
    { accept: "application/dns-json" },
  ])
})

test("a name that does not exist has no address", async () => {
  const nothing = () => Response.json({ Status: 3 })
  expect(await lookUp(nothing(), nothing()).addresses).toEqual([])
})

test.each([
  ["a server that failed", Response.json({ Status: 2 })],
  ["a response with an error status", new Response("no", { status: 403 })],
  ["a redirect", redirect("https://elsewhere.test/")],
  ["a response that is not JSON", new Response("<html>")],
  ["a response of another shape", Response.json({ Answer: [] })],
  ["an endless response", new Response(`{"Status":0,"x":"${"x".repeat(70_000)}"}`)],
])("%s fails the lookup, even if the other family is known", async (_, broken) => {
  const good = Response.json({ Status: 0, Answer: [{ name: "example.com", type: 1, data: "93.184.216.34" }] })
  await expect(lookUp(good, broken).addresses).rejects.toThrow()
})
