import { describe, expect, test } from "vitest"
import { CatalogueBody, toCatalogueModels } from "../../src/models/admin.ts"
import { PriceList } from "../../src/money/price-list.ts"
import seed from "../../src/models/seed.json"
import { builtInProviders } from "../../src/providers/table.ts"

describe("the seed", () => {
  const body = CatalogueBody.parse(seed)
  const models = toCatalogueModels(body)
  const endpoints = models.flatMap((model) => model.endpoints)

  test("is a valid seed body for PUT /catalogue", () => {
    expect(body).toMatchObject({ source: "seed", complete: true, date: expect.stringMatching(/^20\d\d-/) })
    expect(models.length).toBeGreaterThan(300)
  })

  test("has dates for most models, none in the future", () => {
    const dates = models.map(({ created }) => created).filter((created) => created > 0)
    expect(dates.length).toBeGreaterThan(models.length / 2)
    expect(Math.max(...dates)).toBeLessThanOrEqual(Date.parse(body.date ?? "") / 1_000)
    const early = models.filter(({ created, knowledgeCutoff }) => {
      return created > 0 && knowledgeCutoff !== null && Date.parse(knowledgeCutoff) / 1_000 > created + 31 * 86_400
    })
    expect(early.map(({ id }) => id)).toEqual([])
  })

  test("has each pair of model and provider once, sorted by id", () => {
    const pairs = endpoints.map(({ model, provider }) => `${model} ${provider}`)
    expect(new Set(pairs).size).toBe(pairs.length)
    const ids = models.map(({ id }) => id)
    expect(ids).toEqual(ids.toSorted((a, b) => (a < b ? -1 : 1)))
  })

  test("has only providers that the gateway knows", () => {
    const known = new Set(builtInProviders.map(({ slug }) => slug))
    expect(endpoints.map(({ provider }) => provider).filter((provider) => !known.has(provider))).toEqual([])
  })

  test("has an exact price for every endpoint", () => {
    expect(endpoints.filter(({ pricing }) => !PriceList.safeParse(pricing).success)).toEqual([])
  })

  test("has zero prices only for :free variants and OpenAI's moderation", () => {
    const free = endpoints.filter(({ pricing }) => Number(pricing?.prompt) === 0).map(({ model }) => model)
    expect(free.filter((id) => !id.endsWith(":free"))).toEqual(["openai/omni-moderation-latest"])
  })

  test("prices one-hour cache writes above short ones for every Anthropic model with cache writes", () => {
    const claudes = endpoints.filter(
      ({ model, pricing }) => model.startsWith("anthropic/") && pricing?.input_cache_write,
    )
    expect(claudes.length).toBeGreaterThan(20)
    const odd = claudes.filter(
      ({ pricing }) => !(Number(pricing?.input_cache_write_1h) > Number(pricing?.input_cache_write)),
    )
    expect(odd).toEqual([])
  })

  test("prices a cached token at most as a plain one, and a cache write at least as one", () => {
    const odd = endpoints.filter(
      ({ pricing }) =>
        Number(pricing?.input_cache_read ?? 0) > Number(pricing?.prompt) ||
        Number(pricing?.input_cache_write ?? Infinity) < Number(pricing?.prompt),
    )
    expect(odd).toEqual([])
  })
})
