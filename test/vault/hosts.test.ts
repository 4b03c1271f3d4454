import * as fc from "fast-check"
import { describe, expect, test } from "vitest"
import { readHost, toBoundHost } from "../../src/vault/hosts.ts"
import { runs } from "../support/runs.ts"

const faultOf = (text: string) => {
  const read = readHost(text)
  return "fault" in read ? read.fault : `taken as ${read.host}`
}

describe("a host", () => {
  test.each([
    ["in capitals", "API.Example.COM", "api.example.com"],
    ["with a trailing dot", "api.example.com.", "api.example.com"],
    ["in Unicode", "müller.example", "xn--mller-kva.example"],
    ["in Unicode and as its punycode", "XN--MLLER-KVA.example", "xn--mller-kva.example"],
    ["in full-width letters", "ａｐｉ．example。com", "api.example.com"],
    ["with a single label", "localhost", "localhost"],
    ["with digits and hyphens", "a-1.2b.example", "a-1.2b.example"],
    ["with a label of 63 characters", `${"a".repeat(63)}.example`, `${"a".repeat(63)}.example`],
    [
      "of 253 characters and a trailing dot",
      `${`${"a".repeat(49)}.`.repeat(5)}abc.`,
      `${`${"a".repeat(49)}.`.repeat(5)}abc`,
    ],
  ])("%s is accepted", (_, text, host) => {
    expect(readHost(text)).toEqual({ host })
  })

  test.each([
    ["nothing", "", "empty"],
    ["a scheme", "https://api.example.com", "scheme"],
    ["another scheme", "wss://api.example.com", "scheme"],
    ["an incomplete scheme", "//api.example.com", "scheme"],
    ["a port", "api.example.com:443", "port"],
    ["an empty port", "api.example.com:", "port"],
    ["a path", "api.example.com/v1", "path"],
    ["an empty path", "api.example.com/", "path"],
    ["a backslash", "api.example.com\\@evil.example", "user"],
    ["a query", "api.example.com?x", "path"],
    ["a fragment", "api.example.com#x", "path"],
    ["a user", "user@api.example.com", "user"],
    ["a wildcard", "*.example.com", "wildcard"],
    ["only a wildcard", "*", "wildcard"],
    ["a space", "api.example.com ", "spaces"],
    ["a tab, which URL parsers remove", "api.exa\tmple.com", "spaces"],
    ["a soft hyphen, which IDNA removes", "api.exa\u00admple.com", "invisible"],
    ["percent-encoding", "api%2eexample.com", "percent"],
    ["an IPv4 address", "93.184.216.34", "IP addresses"],
    ["an IPv4 address with a trailing dot", "93.184.216.34.", "IP addresses"],
    ["one number", "1572395042", "IP addresses"],
    ["hex", "0x5db8d822", "IP addresses"],
    ["octal parts", "0135.0270.0330.042", "IP addresses"],
    ["two parts", "127.1", "IP addresses"],
    ["full-width digits", "１２７.0.0.1", "IP addresses"],
    ["an IPv6 address", "2606:4700::1111", "IP addresses"],
    ["an IPv6 address in brackets", "[::1]", "IP addresses"],
    ["a name that ends in a number", "example.123", "hostname"],
    ["two dots", "api..example.com", "hostname"],
    ["a dot before", ".example.com", "hostname"],
    ["two trailing dots", "example.com..", "hostname"],
    ["an underscore", "a_b.example.com", "hostname"],
    ["a hyphen at an end", "-a.example.com", "hostname"],
    ["a label of 64 characters", `${"a".repeat(64)}.example`, "hostname"],
    ["invalid punycode", "xn--a.example.xn--", "hostname"],
    ["255 characters", "a".repeat(255), "254"],
  ])("with %s is rejected with the reason", (_, text, content) => {
    expect(faultOf(text)).toContain(content)
  })
})

const label = fc.stringMatching(/^[a-z]([a-z0-9-]{0,10}[a-z0-9])?$/).filter((text) => !text.startsWith("xn--"))
const name = fc.array(label, { minLength: 1, maxLength: 4 }).map((labels) => labels.join("."))

test("an accepted host equals the hostname of a URL with it, and is accepted unchanged", () => {
  fc.assert(
    fc.property(
      fc.oneof(name, fc.domain(), fc.string({ unit: "binary", maxLength: 30 }), fc.ipV4(), fc.ipV6()),
      (text) => {
        const read = readHost(text)
        if (!("host" in read)) return
        expect(readHost(read.host)).toEqual(read)
        for (const spelling of [text, read.host, `${read.host}.`, read.host.toUpperCase()]) {
          expect(toBoundHost(new URL(`https://${spelling}:443/path`))).toBe(read.host)
        }
        expect(read.host).toMatch(/^[a-z0-9.-]{1,253}$/)
      },
    ),
    { numRuns: runs(4) },
  )
})

test("an IP address is rejected in every spelling", () => {
  const parts = fc.array(fc.nat(255), { minLength: 4, maxLength: 4 })
  const spell = fc.constantFrom<(n: number) => string>(
    String,
    (n) => `0x${n.toString(16)}`,
    (n) => `0${n.toString(8)}`,
  )
  fc.assert(
    fc.property(parts, spell, fc.constantFrom("", "."), (bytes, spelling, root) => {
      const number = bytes.reduce((sum, byte) => sum * 256 + byte, 0)
      for (const text of [bytes.map(spelling).join("."), spelling(number)]) {
        expect(faultOf(text + root)).toContain("IP addresses")
      }
    }),
  )
})
