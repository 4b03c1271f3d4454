import { describe, expect, test } from "vitest"
import { client, expectJson } from "../support/world.ts"

const anyone = client()

describe("one model", () => {
  test.each(["/models/sim/echo", "/models/sim%2Fecho", "/models/sim%2fecho"])(
    "is at %s, without an envelope",
    async (path) => {
      expect(await expectJson(200, anyone.get(path))).toMatchObject({
        id: "sim/echo",
        object: "model",
        owned_by: "sim",
      })
    },
  )

  test("of a free variant is found as well", async () => {
    expect(await expectJson(200, anyone.get("/models/sim%2Fecho%3Afree"))).toMatchObject({ id: "sim/echo:free" })
  })

  test("has its endpoints behind an encoded slash, too", async () => {
    const { data } = await expectJson<{ data: { id: string } }>(200, anyone.get("/models/sim%2Fecho/endpoints"))
    expect(data.id).toBe("sim/echo")
    expect(await expectJson(200, anyone.get("/model/sim%2Fecho"))).toMatchObject({ data: { id: "sim/echo" } })
  })

  test("that nobody has is a 404 that says where they are listed", async () => {
    const { error } = await expectJson<{ error: { message: string } }>(404, anyone.get("/models/sim/nothing"))
    expect(error.message).toBe("There is no model sim/nothing. GET /models lists what can be called.")
  })

  test("the list is one in the form of OpenAI's clients", async () => {
    const list = await expectJson<{ object: string; data: { object: string }[] }>(200, anyone.get("/models?limit=2"))
    expect(list.object).toBe("list")
    expect(list.data.every(({ object }) => object === "model")).toBe(true)
  })
})
