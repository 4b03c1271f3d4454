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
