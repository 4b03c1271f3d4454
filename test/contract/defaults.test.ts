import { expect, test } from "vitest"
import { parseVariables } from "../../src/config/variables.ts"
import { LIMITS } from "../../src/interns/run/run.ts"
import { plan } from "../../src/routing/plan.ts"
import { newEndpoint, newModel, newProvider } from "../support/catalogue.ts"

test("a turn of an intern has 300 s, a question 5 minutes, and a keepalive is sent after 30 s of idle time", () => {
  expect(LIMITS).toMatchObject({ turnMs: 300_000, questionTimeoutMs: 300_000, keepaliveMs: 30_000 })
  expect(parseVariables({}).config.INTERN_KEEPALIVE_MS).toBe(30_000)
})

test("a lifecycle operation of an intern has 10 s", () => {
  expect(parseVariables({}).config.INTERN_LIFECYCLE_TIMEOUT_MS).toBe(10_000)
})

test("route is the older name of the partition of the provider's sort: fallback is model, sort is none", () => {
  const priced = (model: string, provider: string, price: string) =>
    newEndpoint(model, provider, { pricing: { prompt: price, completion: price } })
  const models = [
    newModel("a/m", [priced("a/m", "one", "0.000003"), priced("a/m", "two", "0.000002")]),
    newModel("b/m", [priced("b/m", "three", "0.000001")]),
  ]
  const deps = {
    output: "text" as const,
    catalogue: { models: new Map(models.map((model) => [model.id, model])) },
    providers: new Map(["one", "two", "three"].map((slug) => [slug, newProvider(slug)])),
    isCooling: () => false,
    chance: () => 0.5,
  }
  const order = (request: object) =>
    plan({ models: ["a/m", "b/m"], ...request }, deps).map(({ provider }) => provider.slug)
  const sorted = (partition: string) => ({ provider: { sort: { by: "price" as const, partition } } })
  const byPrice = { provider: { sort: "price" as const } }
  expect(order({ route: "fallback", ...byPrice })).toEqual(["two", "one", "three"])
  expect(order({ route: "sort", ...byPrice })).toEqual(["three", "two", "one"])
  expect(order(sorted("model"))).toEqual(order({ route: "fallback", ...byPrice }))
  expect(order(sorted("none"))).toEqual(order({ route: "sort", ...byPrice }))
  expect(order({ route: null, ...byPrice })).toEqual(order(byPrice))
})
