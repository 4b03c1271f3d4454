import { env } from "cloudflare:workers"
import { beforeAll, describe, expect, test } from "vitest"
import { appIdOf } from "../../src/support/app-id.ts"
import { insertGenerations } from "../../src/generations/store.ts"
import { newId } from "../../src/support/ids.ts"
import { sumDays } from "../../src/usage/store.ts"
import { type TestClient, newWorkspace, expectJson } from "../support/world.ts"

type Ranked = { data: { app_name: string; app_id: number; rank: number; total_tokens: string }[]; meta: object }
type Daily = { data: { date: string; model_permaslug: string; total_tokens: string }[] }

/** In a year used by this test only: the sums are those of the deployment. */
const at = (day: string) => Date.parse(`${day}T10:00:00Z`)
const range = "start_date=2025-03-03&end_date=2025-03-16"

describe("rankings", () => {
  let as: TestClient
  beforeAll(async () => {
    ;({ as } = await newWorkspace())
    const call = (
      day: string,
      model: string,
      appTitle: string | null,
      completion: number,
      apiType = "completions",
    ) => ({
      id: `gen-${newId()}`,
      organizationId: newId(),
      workspaceId: "w",
      keyHash: "k",
      createdAt: at(day),
      settledAt: at(day),
      model,
      provider: "P",
      apiType,
      appTitle,
      appUrl: null,
      upstreamId: null,
      costNano: 0,
      byokCostNano: 0,
      tokens: { prompt: 0, completion },
      ending: "complete",
    })
    const models = Array.from({ length: 52 }, (_, index) => call("2025-03-12", `z/${index}`, null, 100 - index))
    const records = [
      call("2025-03-04", "a/one", "Steady", 500),
      call("2025-03-12", "a/one", "Steady", 500),
      call("2025-02-20", "a/one", "Steady", 900),
      call("2025-03-12", "a/two", "Rising", 300),
      call("2025-02-20", "a/two", "Rising", 1),
      call("2025-03-04", "a/voice", null, 7, "tts"),
      ...models,
    ]
    await insertGenerations(
      env.DB,
      records.map((record) => JSON.stringify(record)),
    )
    await sumDays(env.DB, Date.now())
  })

  test("of apps by tokens, and by growth", async () => {
    const popular = await expectJson<Ranked>(200, as.get(`/datasets/app-rankings?${range}`))
    expect(popular.data).toEqual([
      { app_id: appIdOf("Steady"), app_name: "Steady", rank: 1, total_requests: 2, total_tokens: "1000" },
      { app_id: appIdOf("Rising"), app_name: "Rising", rank: 2, total_requests: 1, total_tokens: "300" },
    ])
    expect(popular.meta).toMatchObject({ version: "v1", start_date: "2025-03-03", end_date: "2025-03-16" })
    const trending = await expectJson<Ranked>(200, as.get(`/datasets/app-rankings?${range}&sort=trending`))
    expect(trending.data.map(({ app_name: name }) => name)).toEqual(["Rising", "Steady"])
    const second = await expectJson<Ranked>(200, as.get(`/datasets/app-rankings?${range}&limit=1&offset=1`))
    expect(second.data).toMatchObject([{ app_name: "Rising", rank: 2 }])
    expect((await expectJson<Ranked>(200, as.get(`/datasets/app-rankings?${range}&category=coding`))).data).toEqual([])
  })

  test("of models by day, the small ones as other at the end of their date", async () => {
    const { data } = await expectJson<Daily>(200, as.get(`/datasets/rankings-daily?${range}`))
    const last = data.filter(({ date }) => date === "2025-03-12")
    expect(last).toHaveLength(51)
    expect(last[0]).toEqual({ date: "2025-03-12", model_permaslug: "a/one", total_tokens: "500" })
    expect(last.at(-1)).toEqual({
      date: "2025-03-12",
      model_permaslug: "other",
      total_tokens: String(52 + 51 + 50 + 49),
    })
    const voice = await expectJson<Daily>(200, as.get(`/datasets/rankings-daily?${range}&modality=audio`))
    expect(voice.data).toEqual([{ date: "2025-03-04", model_permaslug: "a/voice", total_tokens: "7" }])
  })

  test("of models by week, which begins on Monday, and by month", async () => {
    const weeks = await expectJson<Daily>(200, as.get(`/datasets/rankings-daily?${range}&period=week`))
    expect(new Set(weeks.data.map(({ date }) => date))).toEqual(new Set(["2025-03-03", "2025-03-10"]))
    const months = await expectJson<Daily>(200, as.get(`/datasets/rankings-daily?${range}&period=month`))
    expect(months.data[0]).toEqual({ date: "2025-03-01", model_permaslug: "a/one", total_tokens: "1000" })
  })

  test.each([
    ["an end before the data", "end_date=2024-12-31", "end_date"],
    ["a start after the end", "start_date=2025-05-02&end_date=2025-05-01", "start_date"],
    ["a category with a language", "category=legal&language_type=natural&period=week", "category"],
    ["a category with a modality", "category=legal&modality=text&period=week", "modality"],
    ["an unknown category", "category=law&period=week", "category: accepts programming"],
    ["a category by day", "category=legal", "period"],
    ["no date at all", "start_date=yesterday", "start_date"],
  ])("reject %s", async (_, query, field) => {
    const { error } = await expectJson<{ error: { message: string } }>(400, as.get(`/datasets/rankings-daily?${query}`))
    expect(error.message).toContain(field)
  })

  test("start at the beginning of the data for an earlier start date", async () => {
    const { meta } = await expectJson<{ meta: object }>(
      200,
      as.get("/datasets/rankings-daily?start_date=2020-01-01&end_date=2025-01-05"),
    )
    expect(meta).toMatchObject({ start_date: "2025-01-01", end_date: "2025-01-05" })
  })

  test("that the gateway has no data for are empty", async () => {
    expect(await expectJson(200, as.get("/benchmarks?source=openrouter"))).toMatchObject({
      data: [],
      meta: { version: "v1", source: "openrouter", model_count: 0 },
    })
    expect(await expectJson(200, as.get("/classifications/task"))).toMatchObject({
      data: { window_days: 7, classifications: [], macro_categories: [] },
    })
    await expectJson(400, as.get("/classifications/task?window=30d"))
  })
})
