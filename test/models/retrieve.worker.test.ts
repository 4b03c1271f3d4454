import { describe, expect, test } from "vitest"
import { client, expectJson } from "../support/world.ts"

const anyone = client()

describe("one model", () => {
  test.each(["/models/sim/echo", "/models/sim%2Fecho", "/models/sim%2fecho"])(
    "is returned at %s without an envelope",
    async (path) => {
      expect(await expectJson(200, anyone.get(path))).toMatchObject({
        id: "sim/echo",
        object: "model",
        owned_by: "sim",
      })
    },
  )

  test("is found by its free variant", async () => {
    expect(await expectJson(200, anyone.get("/models/sim%2Fecho%3Afree"))).toMatchObject({ id: "sim/echo:free" })
  })

  test("has its endpoints at a path with an encoded slash", async () => {
    const { data } = await expectJson<{ data: { id: string } }>(200, anyone.get("/models/sim%2Fecho/endpoints"))
    expect(data.id).toBe("sim/echo")
    expect(await expectJson(200, anyone.get("/model/sim%2Fecho"))).toMatchObject({ data: { id: "sim/echo" } })
  })

  test("that is unknown returns 404 with a hint to GET /models", async () => {
    const { error } = await expectJson<{ error: { message: string } }>(404, anyone.get("/models/sim/nothing"))
    expect(error.message).toBe("There is no model sim/nothing. GET /models lists callable models.")
  })

  test("the list has the format of OpenAI's clients", async () => {
    const list = await expectJson<{ object: string; data: { object: string }[] }>(200, anyone.get("/models?limit=2"))
    expect(list.object).toBe("list")
    expect(list.data.every(({ object }) => object === "model")).toBe(true)
  })
})

describe("for Anthropic's clients, the models", () => {
  type List = { data: { id: string }[]; has_more: boolean; first_id: string | null; last_id: string | null }
  const asked = (query: string) =>
    expectJson<List>(200, anyone.get(`/models${query}`, { "anthropic-version": "2023-06-01" }))
  const idsOf = ({ data }: List) => data.map(({ id }) => id)

  test("are listed page by page in both directions, each once", async () => {
    const all = idsOf(await asked(""))
    const pages: string[][] = []
    for (let after = ""; ;) {
      const page = await asked(`?limit=40${after}`)
      pages.push(idsOf(page))
      expect([page.first_id, page.last_id]).toEqual([pages.at(-1)?.[0], pages.at(-1)?.at(-1)])
      if (!page.has_more) break
      after = `&after_id=${encodeURIComponent(page.last_id ?? "")}`
    }
    expect(pages.length).toBeGreaterThan(1)
    expect(pages.flat()).toEqual(all)
    const before = await asked(`?limit=2&before_id=${encodeURIComponent(all[3] ?? "")}`)
    expect([idsOf(before), before.has_more]).toEqual([all.slice(1, 3), true])
  })

  test("have the fields of both APIs, also one alone", async () => {
    const fields = { id: "sim/echo", object: "model", type: "model", display_name: "Simulated: Echo" }
    const echo = { ...fields, created_at: expect.stringMatching(/^\d{4}-.*Z$/) as string, max_input_tokens: 128_000 }
    expect((await asked("")).data).toContainEqual(expect.objectContaining(echo))
    const one = anyone.call("GET", "/models/sim%2Fecho", undefined, { "anthropic-version": "2023-06-01" })
    expect(await expectJson(200, one)).toMatchObject(echo)
  })

  test("do not begin after an unknown model", async () => {
    const unknown = anyone.get("/models?after_id=sim/nothing", { "anthropic-version": "2023-06-01" })
    const { error } = await expectJson<{ error: { message: string } }>(400, unknown)
    expect(error.message).toMatch(/^after_id: must be/)
  })
})
