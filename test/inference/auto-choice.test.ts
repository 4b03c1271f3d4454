import { expect, test } from "vitest"
import { choose } from "../../src/inference/prepare/auto.ts"
import type { Deps } from "../../src/inference/deps.ts"
import { offer } from "../../src/models/compile.ts"
import { newEndpoint, newModel, newProvider } from "../support/catalogue.ts"

const NOW = 1_790_000_000
const models = ["embedded/guide", "sim/echo", "sim/slow", "acme/chat"].map((id) =>
  newModel(id, [newEndpoint(id, id.startsWith("acme") ? "acme" : "embedded")], { created: NOW }),
)

function chosenOf(providers: readonly string[], offered: readonly string[], allowed?: string[]): string {
  const catalogue = offer(
    models.filter(({ id }) => offered.includes(id)),
    new Set(providers),
  )
  const known = new Map(providers.map((slug) => [slug, newProvider(slug)]))
  const deps = { catalogue: { ...catalogue, disabled: new Set() }, providers: known } as unknown as Deps
  const request = { model: "auto", messages: [{ role: "user", content: "Hello" }] } as Parameters<typeof choose>[0]
  const wishes = allowed === undefined ? {} : { allowed_models: allowed }
  return choose(request, wishes, deps, { filters: [], region: null }).chat.model ?? ""
}

const ALL = models.map(({ id }) => id)

test("the automatic choice prefers a model of a real provider", () => {
  expect(chosenOf(["embedded", "acme"], ALL)).toBe("acme/chat")
})

test("without a real provider, the automatic choice is the guide, then the echo model", () => {
  expect(chosenOf(["embedded"], ALL)).toBe("embedded/guide")
  expect(chosenOf(["embedded"], ["sim/slow", "sim/echo"])).toBe("sim/echo")
})

test("the automatic choice is a simulated model when allowed_models names it", () => {
  expect(chosenOf(["embedded", "acme"], ALL, ["sim/slow"])).toBe("sim/slow")
})
