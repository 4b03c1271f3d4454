import { describe, expect, test } from "vitest"
import { client, expectJson } from "../support/world.ts"

/** The model lists for media, with the models of the embedded upstream. Without a key. */

type Listed = { data: { id: string; supported_parameters?: object; seed?: unknown }[] }
const anyone = client()

describe("models that generate media", () => {
  test("images: each model has its endpoints with prices", async () => {
    const { data } = await expectJson<Listed>(200, anyone.get("/images/models"))
    expect(data.map(({ id }) => id)).toContain("sim/image")
    const { id, endpoints } = await expectJson<{ id: string; endpoints: { pricing: { cost_usd: number }[] }[] }>(
      200,
      anyone.get("/images/models/sim/image/endpoints"),
    )
    expect(id).toBe("sim/image")
    expect(endpoints[0]?.pricing.every(({ cost_usd }) => cost_usd > 0)).toBe(true)
  })

  test("videos: unknown fields are null", async () => {
    const { data } = await expectJson<Listed>(200, anyone.get("/videos/models"))
    expect(data.find(({ id }) => id === "sim/video")).toMatchObject({ seed: null })
  })

  test("a model without image output returns 404 among them", async () => {
    const { error } = await expectJson<{ error: { message: string } }>(
      404,
      anyone.get("/images/models/sim/echo/endpoints"),
    )
    expect(error.message).toContain("GET /images/models")
  })
})
