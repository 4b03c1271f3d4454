import { describe, expect, test } from "vitest"
import { plainTargetOf } from "../../src/inference/plain-target.ts"
import type { Catalogue, Endpoint, Model } from "../../src/models/catalogue.ts"
import { callerOf, type Caller } from "../../src/policy/call-policy.ts"
import type { Principal } from "../../src/access/principal.ts"
import type { Provider } from "../../src/providers/provider.ts"
import { newEndpoint, newModel, newProvider } from "../support/catalogue.ts"

/** A plain call skips the steps before the hold only where they would lead to the one target of its model. */

const model = (id: string, ...endpoints: Endpoint[]) => newModel(id, endpoints)

const catalogueOf = (...models: Model[]): Catalogue => ({ models: new Map(models.map((one) => [one.id, one])) })

const world = (more: Partial<Provider> = {}) => ({
  catalogue: catalogueOf(
    model("a/one", newEndpoint("a/one", "p")),
    model("a/two", newEndpoint("a/two", "p"), newEndpoint("a/two", "q")),
    model("a/unpriced", newEndpoint("a/unpriced", "p", { pricing: null })),
    model("a/b@preset/c", newEndpoint("a/b@preset/c", "p")),
  ),
  providers: new Map([
    ["p", newProvider("p", more)],
    ["q", newProvider("q")],
  ]),
})

const ANYWHERE = { region: null }

function caller(more: Partial<Caller> = {}): Caller {
  const principal = { kind: "normal", ancestors: [], keyHash: "k", workspaceId: "w" } as Partial<Principal> as Principal
  return { ...callerOf(principal), ...more }
}

const slugOf = (
  name: string | undefined,
  by = caller(),
  among = world(),
  where: { region: string | null } = ANYWHERE,
) => plainTargetOf({ model: name }, by, where, among)?.provider.slug

describe("a plain call goes straight to", () => {
  test("the one endpoint of its model, again and again", () => {
    const [by, among] = [caller(), world()]
    expect([slugOf("a/one", by, among), slugOf("a/one", by, among)]).toEqual(["p", "p"])
  })

  test("the endpoint of the current catalogue, whatever an older one had", () => {
    const by = caller()
    expect(slugOf("a/one", by)).toBe("p")
    const changed = { ...world(), catalogue: catalogueOf(model("a/one", newEndpoint("a/one", "q"))) }
    expect(slugOf("a/one", by, changed)).toBe("q")
  })

  test("the provider of the current configuration", () => {
    const [by, among] = [caller(), world()]
    expect(slugOf("a/one", by, among)).toBe("p")
    expect(slugOf("a/one", by, { ...among, providers: new Map() })).toBeUndefined()
  })
})

describe("the steps are taken for", () => {
  test.each([
    ["no model", undefined],
    ["an unknown model", "a/nothing"],
    ["another spelling of the name", "A/One"],
    ["a name with a variant", "a/one:floor"],
    ["a model with a choice of endpoints", "a/two"],
    ["a model without a price", "a/unpriced"],
    ["a name that refers to a preset", "a/b@preset/c"],
  ])("%s", (_, name) => expect(slugOf(name)).toBeUndefined())

  test.each<[string, Partial<Caller>]>([
    ["guardrails", { guardrails: { list: [] } as unknown as Caller["guardrails"] }],
    ["credentials of its own", { byok: [{}] as unknown as Caller["byok"] }],
    ["free models only", { kind: "free_tier" }],
    ["aliases", { defaults: { ...caller().defaults, aliases: [] as unknown as Caller["defaults"]["aliases"] } }],
  ])("a caller with %s", (_, more) => expect(slugOf("a/one", caller(more))).toBeUndefined())

  test("a hostname of a region", () => {
    expect(slugOf("a/one", caller(), world(), { region: "europe" })).toBeUndefined()
  })

  test("a provider whose requests are translated", () => {
    expect(slugOf("a/one", caller(), world({ format: "anthropic" }))).toBeUndefined()
  })

  test("a provider with several keys", () => {
    expect(slugOf("a/one", caller(), world({ apiKeys: ["1", "2"] }))).toBeUndefined()
  })
})
