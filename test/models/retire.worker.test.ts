import { env } from "cloudflare:workers"
import { beforeAll, expect, test } from "vitest"
import { MODEL_DEFAULTS } from "../../src/models/custom-models.ts"
import { mergeDiscovered } from "../../src/models/discovery/discovery-store.ts"
import { expectJson, operatorClient } from "../support/world.ts"

const offer = (provider: string) => ({
  provider,
  upstream_id: "m",
  pricing: { prompt: "0.000001", completion: "0.000002" },
})
const model = (id: string, ...providers: string[]) => ({ id, name: id, endpoints: providers.map(offer) })
/** An endpoint as discovered at a provider. */
const found = {
  pricing: null,
  contextLength: 0,
  maxCompletionTokens: null,
  supportedParameters: [],
  quantization: null,
  zeroRetention: false,
  collectsData: true,
  discovered: true as const,
}
type Written = { data: Record<string, number> }
const put = (body: object) => expectJson<Written>(200, operatorClient.put("/catalogue", body))
type Rows = { data: { id: string; endpoints: { provider: string }[] }[]; seed_date: string | null }

async function stored(): Promise<string[]> {
  const { data } = await expectJson<Rows>(200, operatorClient.get("/catalogue?limit=1000"))
  return data
    .filter(({ id }) => id.startsWith("retire/"))
    .map((row) => `${row.id} ${row.endpoints.map((one) => one.provider).join(",")}`)
}

beforeAll(async () => {
  await env.DB.batch([env.DB.prepare("DELETE FROM endpoints"), env.DB.prepare("DELETE FROM models")])
})

test("a complete seed removes entries of earlier seeds that it lacks, and keeps the operator's and discovered ones", async () => {
  await put({
    source: "seed",
    date: "2026-01-01",
    models: [
      model("retire/gone", "openai", "groq"),
      model("retire/kept", "openai", "groq"),
      model("retire/priced", "openai", "groq"),
      model("retire/off", "openai"),
    ],
  })
  await put({ models: [model("retire/own", "openai"), model("retire/gone-here", "openai")] })
  const operatorPrice = { pricing: { prompt: "0.5", completion: "0.5" } }
  await expectJson(
    200,
    operatorClient.patch("/catalogue/endpoints", { model: "retire/priced", provider: "openai", ...operatorPrice }),
  )
  await expectJson(
    200,
    operatorClient.patch("/catalogue/endpoints", { model: "retire/off", provider: "openai", disabled: true }),
  )
  const facts = {
    ...MODEL_DEFAULTS,
    id: "retire/listed",
    name: "Listed",
    description: "",
    created: 0,
    contextLength: 0,
  }
  const endpoint = { ...found, model: "retire/listed", provider: "openai", upstreamId: "listed" }
  await mergeDiscovered(env.DB, "openai", [{ ...facts, endpoints: [endpoint] }], Date.now())

  // An incomplete seed removes nothing.
  const kept = { source: "seed", models: [model("retire/kept", "openai")] }
  expect((await put(kept)).data).toMatchObject({ removed_models: 0, removed_endpoints: 0 })
  expect(await stored()).toHaveLength(7)

  const written = await put({ ...kept, date: "2026-02-02", complete: true })
  expect(written.data).toEqual({ models: 1, endpoints: 1, removed_models: 1, removed_endpoints: 4 })
  expect(await stored()).toEqual([
    "retire/gone-here openai",
    "retire/kept openai",
    "retire/listed openai",
    "retire/off openai",
    "retire/own openai",
    "retire/priced openai",
  ])
  const { seed_date: date } = await expectJson<Rows>(200, operatorClient.get("/catalogue?limit=1"))
  expect(date).toBe("2026-02-02")
  expect((await put({ ...kept, complete: true })).data).toMatchObject({ removed_models: 0, removed_endpoints: 0 })
})

test("complete is rejected for an operator's list, and date must be a day", async () => {
  for (const [body, reason] of [
    [{ complete: true, models: [model("retire/own", "openai")] }, "complete: is only for source seed"],
    [{ source: "seed", date: "yesterday", models: [model("retire/own", "openai")] }, "date: "],
  ] as const) {
    const { error } = await expectJson<{ error: { message: string } }>(400, operatorClient.put("/catalogue", body))
    expect(error.message).toContain(reason)
  }
})
