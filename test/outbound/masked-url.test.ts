import * as fc from "fast-check"
import { expect, test } from "vitest"
import { keptUrl, maskUrl, requireUnmaskedUrl, secretsInUrl } from "../../src/outbound/masked-url.ts"

const SECRET_NAMES = ["token", "api_key", "apiKey", "key", "sig", "X-Amz-Signature", "access_token", "code", "password"]

test.each([
  ["https://example.com/hook", "https://example.com/hook"],
  ["https://example.com/hook?version=2&page=10", "https://example.com/hook?version=2&page=10"],
  ["https://example.com/hook?a=1&token=0123456789abcdefghij", "https://example.com/hook?a=1&token=0123...ghij"],
  ["https://example.com?key=short", "https://example.com?key=..."],
  ["https://user:pass@example.com/", "https://...@example.com/"],
  ["https://example.com/api/webhooks/1/aB3dE5gH7jK9mN1pQ3sT5", "https://example.com/api/webhooks/1/aB3d...3sT5"],
  [
    "https://example.com/runs/0198f2a4-5d5e-7d5f-a111-0123456789ab",
    "https://example.com/runs/0198f2a4-5d5e-7d5f-a111-0123456789ab",
  ],
  [
    "https://example.com/my-long-service-name-2026-production",
    "https://example.com/my-long-service-name-2026-production",
  ],
  ["https://example.com/?keyboard=us&monkey=1#token=x", "https://example.com/?keyboard=us&monkey=1#token=x"],
])("%s is shown as %s", (url, shown) => expect(maskUrl(url)).toBe(shown))

const part = fc.stringMatching(/^[a-z]{1,12}$/)
const secret = fc.stringMatching(/^[A-Za-z0-9]{12,60}$/)
const url = fc
  .record({
    host: part,
    path: fc.array(part, { maxLength: 3 }),
    plain: fc.array(fc.tuple(part, part), { maxLength: 2 }),
    secrets: fc.array(fc.tuple(fc.constantFrom(...SECRET_NAMES), secret), { minLength: 1, maxLength: 3 }),
  })
  .map(({ host, path, plain, secrets }) => {
    const query = [...plain, ...secrets].map(([name, value]) => `${name}=${value}`).join("&")
    const text = `https://${host}.example.com/${path.join("/")}?${query}`
    return { text, secrets: secrets.map(([, value]) => value) }
  })

test("no credential is in a masked URL, whose host stays, and which keeps the stored URL", () => {
  fc.assert(
    fc.property(url, ({ text, secrets }) => {
      const masked = maskUrl(text)
      for (const value of secrets) expect(masked).not.toContain(value)
      expect(new URL(masked).origin).toBe(new URL(text).origin)
      expect(maskUrl(masked)).toBe(masked.replaceAll(/=[^&]{4}\.\.\.[^&]{4}/g, "=..."))
      expect(secretsInUrl(text)).toEqual(expect.arrayContaining(secrets))
      expect(keptUrl(masked, text)).toBe(text)
      expect(() => requireUnmaskedUrl("url", masked)).toThrow("masked")
      expect(() => requireUnmaskedUrl("url", text)).not.toThrow()
      expect(keptUrl(`${masked}x`, text)).toBe(`${masked}x`)
    }),
  )
})
