import * as fc from "fast-check"
import { expect, test } from "vitest"
import { readRevision } from "../../src/inference/mcp/revision.ts"
import {
  decodeValue,
  encodeValue,
  headersFor,
  paramHeadersOf,
  withMeta,
} from "../../src/mcp-servers/protocol/stateless.ts"

/** Headers of revision 2026-07-28 against its bodies. */

const anyText = fc.string({ unit: "grapheme", maxLength: 40 })
const anyName = fc.oneof(anyText, fc.constantFrom(" x ", "=?base64?eA==?=", "", "a\nb", "\u{feff}x", "query", "Query"))

test("a value is unchanged after encoding and decoding as a header", () => {
  fc.assert(
    fc.property(anyName, (value) => {
      const headers = new Headers({ "mcp-name": encodeValue(value) })
      expect(decodeValue(headers.get("mcp-name") ?? "")).toBe(value)
    }),
  )
})

test("a call is accepted only if both headers match its body", () => {
  const methods = fc.constantFrom("tools/call", "prompts/get", "tools/list")
  fc.assert(
    fc.property(methods, methods, anyName, anyName, fc.boolean(), (method, other, name, second, isSame) => {
      const request = withMeta({ jsonrpc: "2.0", id: 1, method, params: { name } })
      const claimed = isSame ? request : { ...request, method: other, params: { name: second } }
      const headers = new Headers({ "mcp-protocol-version": "2026-07-28", ...headersFor(claimed) })
      const revision = readRevision(headers, request)
      const isNamed = method !== "tools/list"
      const agrees = isSame || (method === other && (!isNamed || name === second))
      if (agrees) expect(revision).toEqual({ version: "2026-07-28" })
      else expect(revision).toMatchObject({ rejection: { id: 1, error: { code: -32_020 } } })
    }),
  )
})

test("argument headers have only values that guardrails left in the body", () => {
  const anyArgs = fc.dictionary(anyText, fc.oneof(anyName, fc.integer(), fc.boolean(), fc.constant(null)))
  fc.assert(
    fc.property(anyArgs, anyName, (args, stray) => {
      const values = [...Object.values(args), stray].map(String)
      const headers = new Headers(values.map((value, at) => [`mcp-param-p${at}`, encodeValue(value)]))
      const screened = Object.fromEntries(Object.entries(args).map(([key, one]) => [key, screen(one)]))
      const left = new Set(Object.values(screened).map(String))
      for (const value of Object.values(paramHeadersOf(headers, args, screened))) {
        expect(left).toContain(decodeValue(value))
      }
    }),
  )
})

function screen(value: unknown): unknown {
  return typeof value === "string" ? `[${value.length}]` : value
}
