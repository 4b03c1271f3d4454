import { env } from "cloudflare:workers"
import { describe, expect, test } from "vitest"
import { clientIpOf } from "../../src/http/request/client-ip.ts"
import { acceptJson } from "../../src/http/router.ts"

type Facts = { headers?: Record<string, string>; connection?: string; header?: string }

function addressOf({ headers = {}, connection, header }: Facts): string | undefined {
  const cf = connection === undefined ? {} : { cf: { clientIp: connection } }
  const request = new Request("https://gateway.test/", { headers, ...cf })
  return clientIpOf(request, { ...env, ...(header !== undefined && { CLIENT_IP_HEADER: header }) })
}

const forged = { "cf-connecting-ip": "203.0.113.9", "x-forwarded-for": "203.0.113.9" }

describe("the address of a client", () => {
  test.each<[string, Facts, string | undefined]>([
    ["Cloudflare's header at Cloudflare", { headers: { "cf-connecting-ip": "198.51.100.7" } }, "198.51.100.7"],
    ["unknown without any", {}, undefined],
    [
      "that of the connection, whatever headers a client sends",
      { headers: forged, connection: "192.0.2.1:5123" },
      "192.0.2.1",
    ],
    ["that of a connection over IPv6", { connection: "[2001:db8::1]:5123" }, "2001:db8::1"],
    [
      "the last one of the header of the proxy",
      {
        headers: { "x-forwarded-for": "203.0.113.9, 198.51.100.7" },
        connection: "192.0.2.1:1",
        header: "X-Forwarded-For",
      },
      "198.51.100.7",
    ],
    [
      "unknown if the proxy sends none",
      { headers: { "cf-connecting-ip": "203.0.113.9" }, header: "x-real-ip" },
      undefined,
    ],
    ["unknown if the header is empty", { headers: { "x-real-ip": "" }, header: "x-real-ip" }, undefined],
  ])("is %s", (_, facts, expected) => {
    expect(addressOf(facts)).toBe(expected)
  })

  test("is kept when a request without a body is replaced", async () => {
    const headers = { ...forged, "content-type": "application/json", "content-length": "0" }
    const request = new Request("https://gateway.test/", { method: "POST", headers, cf: { clientIp: "192.0.2.1:1" } })
    const context = { req: { raw: request, method: "POST" } }
    await acceptJson(10)(context as unknown as Parameters<ReturnType<typeof acceptJson>>[0], async () => undefined)
    expect(context.req.raw).not.toBe(request)
    expect(clientIpOf(context.req.raw, env)).toBe("192.0.2.1")
  })
})
