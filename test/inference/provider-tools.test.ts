import * as fc from "fast-check"
import { describe, expect, test } from "vitest"
import { costBoundsOf, costRangeFor } from "../../src/inference/accounting/cost-bound.ts"
import { providerStorageIn } from "../../src/inference/upstream/provider-storage.ts"
import { paidToolsIn, toolUnitsOf } from "../../src/inference/upstream/provider-tools.ts"
import { costOf, NO_TOKENS } from "../../src/money/money.ts"
import type { Target } from "../../src/routing/target.ts"

const limit = fc.option(fc.nat(20), { nil: undefined })
const tool = fc.oneof(
  fc.record({ type: fc.constantFrom("web_search", "web_search_20250305", "Web_Search"), max_uses: limit }),
  fc.record({ type: fc.constant("image_generation"), model: fc.string() }),
  fc.record({ type: fc.constantFrom("function", "local_shell", "mcp"), name: fc.string() }),
)
/** USD with up to six decimals. */
const price = fc.nat(999_999).map((millionths) => `0.${String(millionths).padStart(6, "0")}`)

describe("the hold of a call with tools that the provider runs", () => {
  test("covers every number of runs that the request allows", () => {
    const allowed = ({ max, given }: { max: number | undefined; given: number }) => Math.min(given, max ?? 10)
    fc.assert(
      fc.property(
        fc.array(tool, { maxLength: 5 }),
        limit,
        fc.array(fc.nat(30), { minLength: 5, maxLength: 5 }),
        fc.record({ web_search: price, image_output: price }),
        (tools, maxCalls, given, prices) => {
          const request = { tools, ...(maxCalls !== undefined && { max_tool_calls: maxCalls }) }
          const chat = { model: "acme/m", messages: [{ role: "user" as const, content: "Hi" }], stream: false }
          const bounds = { ...costBoundsOf({ ...chat, max_tokens: 10 }, 100), toolUnits: toolUnitsOf(request) }
          const pricing = { prompt: "0.000001", completion: "0.000002", ...prices }
          const target = { endpoint: { pricing, contextLength: 0, maxCompletionTokens: null } } as unknown as Target
          const units = { searches: 0, pictures: 0 }
          for (const [at, one] of tools.entries()) {
            const max = "max_uses" in one ? (one.max_uses ?? maxCalls) : maxCalls
            const runs = allowed({ max, given: given[at] ?? 0 })
            if (one.type.toLowerCase().startsWith("web_search")) units.searches += runs
            if (one.type === "image_generation") units.pictures += runs
          }
          const charged = costOf({ ...NO_TOKENS, prompt: 100, completion: 10, ...units }, pricing)
          expect(costRangeFor([target], bounds, () => undefined).mostNano).toBeGreaterThanOrEqual(charged)
        },
      ),
    )
  })
})

const names = [
  "file_id",
  "file_ids",
  "vector_store_ids",
  "collection_ids",
  "container_id",
  "skill_id",
  "cached_content",
] as const

describe("an id of something stored at a provider", () => {
  const wraps = fc.array(
    fc.oneof(
      fc.constant("[]"),
      fc.string({ minLength: 1 }).filter((key) => key !== "__proto__"),
    ),
    {
      maxLength: 8,
    },
  )
  const wrap = (path: readonly string[], value: object): object =>
    path.reduceRight<object>((inner, key) => (key === "[]" ? [inner] : { [key]: inner }), value)

  test("is found at every depth of a tool that the provider runs", () => {
    fc.assert(
      fc.property(fc.constantFrom(...names), wraps, (name, path) => {
        const tools = [{ type: "function" }, { type: "vendor_tool", options: wrap(path, { [name]: ["id"] }) }]
        expect(providerStorageIn({ messages: [], tools })).toMatch(/^tools\[1\]\.options/)
      }),
    )
  })

  test("is not searched in tools of the client and in messages", () => {
    fc.assert(
      fc.property(fc.constantFrom(...names), wraps, (name, path) => {
        const parameters = wrap(path, { [name]: ["id"] })
        const messages = [{ role: "assistant", tool_calls: [{ function: { arguments: JSON.stringify(parameters) } }] }]
        const tools = [{ type: "function", function: { name: "f", parameters } }]
        expect(providerStorageIn({ messages, tools, metadata: { [name]: "id" } })).toBeUndefined()
      }),
    )
  })
})

describe("tools that a provider charges besides tokens", () => {
  test.each([
    [{ type: "code_interpreter" }, undefined],
    [{ type: "code_execution_20250825" }, undefined],
    [{ type: "file_search" }, undefined],
    [{ type: "x_search" }, undefined],
    [{ type: "Code_Interpreter" }, undefined],
    [{ type: "SHELL", environment: { type: "container_auto" } }, undefined],
    [{ type: "Image_Generation" }, "image_output"],
    [{ type: "shell", environment: { type: "container_auto" } }, undefined],
    [{ type: "image_generation" }, "image_output"],
  ])("%j", (one, priced) => {
    const [found] = paidToolsIn([{ type: "function" }, one])
    expect(found).toMatchObject({ type: one.type, path: "tools[1].type" })
    expect(found?.price).toBe(priced)
  })

  test("are not those that the client runs, or that cost nothing", () => {
    const types = ["function", "custom", "local_shell", "apply_patch", "mcp", "tool_search", "web_search", "computer"]
    expect(
      paidToolsIn([...types.map((type) => ({ type })), { type: "shell", environment: { type: "local" } }]),
    ).toEqual([])
  })
})
