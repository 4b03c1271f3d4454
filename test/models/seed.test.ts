import { describe, expect, test } from "vitest"
import { CatalogueBody, toCatalogueModels } from "../../src/models/admin.ts"
import { Price } from "../../src/money/pricing.ts"
import seed from "../../src/models/seed.json"
import { builtInProviders } from "../../src/providers/table.ts"

describe("the seed", () => {
  const body = CatalogueBody.parse(seed)
  const models = toCatalogueModels(body)
  const endpoints = models.flatMap((model) => model.endpoints)

  test("is a body that PUT /catalogue takes as a seed", () => {
    expect(body).toMatchObject({ source: "seed", complete: true, date: expect.stringMatching(/^20\d\d-/) })
    expect(models.length).toBeGreaterThan(300)
  })

  test("says of most models when they appeared, never in the future", () => {
    const dates = models.map(({ created }) => created).filter((created) => created > 0)
    expect(dates.length).toBeGreaterThan(models.length / 2)
    expect(Math.max(...dates)).toBeLessThanOrEqual(Date.parse(body.date ?? "") / 1_000)
    const early = models.filter(({ created, knowledgeCutoff }) => {
      return created > 0 && knowledgeCutoff !== null && Date.parse(knowledgeCutoff) / 1_000 > created + 31 * 86_400
    })
    expect(early.map(({ id }) => id)).toEqual([])
  })

  test("names each pair of model and provider once, in order of id", () => {
    const pairs = endpoints.map(({ model, provider }) => `${model} ${provider}`)
    expect(new Set(pairs).size).toBe(pairs.length)
    const ids = models.map(({ id }) => id)
    expect(ids).toEqual(ids.toSorted((a, b) => (a < b ? -1 : 1)))
  })

  test("names no provider that the gateway does not know", () => {
    const known = new Set(builtInProviders.map(({ slug }) => slug))
    expect(endpoints.map(({ provider }) => provider).filter((provider) => !known.has(provider))).toEqual([])
  })

  test("has an exact price for every endpoint", () => {
    const prices = endpoints.flatMap(({ pricing }) => Object.values(pricing ?? { missing: null }))
    expect(prices.filter((price) => !Price.safeParse(price).success)).toEqual([])
  })

  test("gives nothing away but the variants named free", () => {
    const free = endpoints.filter(({ pricing }) => Number(pricing?.prompt) === 0).map(({ model }) => model)
    expect(free.filter((id) => !id.endsWith(":free"))).toEqual([])
  })

  test("prices what is kept for an hour above what is kept for minutes, for every model of the vendor that keeps it", () => {
    const claudes = endpoints.filter(
      ({ model, pricing }) => model.startsWith("anthropic/") && pricing?.input_cache_write,
    )
    expect(claudes.length).toBeGreaterThan(20)
    const odd = claudes.filter(
      ({ pricing }) => !(Number(pricing?.input_cache_write_1h) > Number(pricing?.input_cache_write)),
    )
    expect(odd).toEqual([])
  })

  test("prices a cached token no higher than a plain one, and a cache write no lower", () => {
    const odd = endpoints.filter(
      ({ pricing }) =>
        Number(pricing?.input_cache_read ?? 0) > Number(pricing?.prompt) ||
        Number(pricing?.input_cache_write ?? Infinity) < Number(pricing?.prompt),
    )
    expect(odd).toEqual([])
  })
})
