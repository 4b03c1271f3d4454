import { env } from "cloudflare:workers"
import { expect, test } from "vitest"
import { loadCatalogue } from "../../src/models/compile.ts"
import { DAY_MS } from "../../src/support/time/time.ts"
import { expectJson, operatorClient } from "../support/world.ts"

test("an isolate whose clock was set back sees a new model immediately", async () => {
  const isolate = { ...env }
  await loadCatalogue(isolate, Date.now() + DAY_MS)
  const id = "copies/new"
  const pricing = { prompt: "0.000001", completion: "0.000002" }
  const endpoints = [{ provider: "played", upstream_id: "m0", pricing }]
  await expectJson(200, operatorClient.put("/catalogue", { models: [{ id, name: id, endpoints }] }))
  const { models } = await loadCatalogue(isolate)
  expect(models.has(id)).toBe(true)
})
