import { describe, expect, test } from "vitest"
import { plainTargetOf } from "../../src/inference/upstream/plain-target.ts"
import type { Catalogue, Endpoint, Model } from "../../src/models/catalogue.ts"
import { callerOf, type Caller } from "../../src/policy/call-policy.ts"
import type { Principal } from "../../src/access/principal.ts"
import type { Provider } from "../../src/providers/provider.ts"
import { newEndpoint, newModel, newProvider } from "../support/catalogue.ts"

/** A plain call skips the steps before the hold only where they would lead to the only target of its model. */

const model = (id: string, ...endpoints: Endpoint[]) => newModel(id, endpoints)

const catalogueOf = (...models: Model[]): Catalogue => ({ models: new Map(models.map((one) => [one.id, one])) })

const environment = (more: Partial<Provider> = {}) => ({
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
  offered = environment(),
  where: { region: string | null } = ANYWHERE,
) => plainTargetOf({ model: name }, by, where, offered)?.provider.slug

describe("a plain call goes straight to", () => {
  test("the only endpoint of its model, repeatedly", () => {
    const [by, offered] = [caller(), environment()]
    expect([slugOf("a/one", by, offered), slugOf("a/one", by, offered)]).toEqual(["p", "p"])
  })

  test("the endpoint in the current catalogue, not in an earlier one", () => {
    const by = caller()
    expect(slugOf("a/one", by)).toBe("p")
    const changed = { ...environment(), catalogue: catalogueOf(model("a/one", newEndpoint("a/one", "q"))) }
    expect(slugOf("a/one", by, changed)).toBe("q")
  })

  test("the provider of the current configuration", () => {
    const [by, offered] = [caller(), environment()]
    expect(slugOf("a/one", by, offered)).toBe("p")
    expect(slugOf("a/one", by, { ...offered, providers: new Map() })).toBeUndefined()
  })
})

describe("the full pipeline runs for", () => {
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
  ])("a principal with %s", (_, more) => expect(slugOf("a/one", caller(more))).toBeUndefined())

  test("a hostname of a region", () => {
    expect(slugOf("a/one", caller(), environment(), { region: "europe" })).toBeUndefined()
  })

  test("a provider whose requests are translated", () => {
    expect(slugOf("a/one", caller(), environment({ format: "anthropic" }))).toBeUndefined()
  })

  test("a provider with several keys", () => {
    expect(slugOf("a/one", caller(), environment({ apiKeys: ["1", "2"] }))).toBeUndefined()
  })
})
