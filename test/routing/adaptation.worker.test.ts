import { afterEach, describe, expect, test } from "vitest"
import { mockProvider, type UpstreamRequest } from "../support/mock-provider.ts"
import { newReplicaModel } from "../support/replicas.ts"
import { expectJson, newWorkspace } from "../support/world.ts"

type Failure = { error: { code: number; message: string } }

let stop = () => {}
afterEach(() => stop())

const answer = () => Response.json({ choices: [{ message: { content: "Hello" }, finish_reason: "stop" }] })
const unknownField = (name: string) => Response.json({ error: { message: `Unknown field ${name}` } }, { status: 400 })

/** A server that accepts requests with only these optional fields, and names one field at a time. */
function serverWithout(...names: string[]) {
  const provider = mockProvider(({ body }) => {
    const unknown = names.find((name) => name in body)
    return unknown === undefined ? answer() : unknownField(unknown)
  })
  ;({ stop } = provider)
  return provider
}

const fieldsOf = ({ body }: UpstreamRequest) => Object.keys(body)
const ONE = { provider: { only: ["replica-a"] } }

describe("a provider that rejects an optional field", () => {
  test("receives the call without it, later calls at once", async () => {
    const { as } = await newWorkspace()
    const model = newReplicaModel()
    const { upstreamCalls } = serverWithout("top_k", "seed")
    const send = () => as.chat(model, "Hi", { ...ONE, top_k: 4, seed: 1, temperature: 0.5 })
    await expectJson(200, send())
    expect(upstreamCalls).toHaveLength(3)
    expect(fieldsOf(upstreamCalls[2] as UpstreamRequest)).toContain("temperature")
    await expectJson(200, send())
    expect(upstreamCalls).toHaveLength(4)
  })

  test("of one organization changes nothing for another", async () => {
    const model = newReplicaModel()
    const { upstreamCalls } = serverWithout("top_k")
    for (const world of [await newWorkspace(), await newWorkspace()]) {
      await expectJson(200, world.as.chat(model, "Hi", { ...ONE, top_k: 4 }))
    }
    expect(upstreamCalls.map((one) => fieldsOf(one).includes("top_k"))).toEqual([true, false, true, false])
  })

  test("rejects the call if the client requires every parameter", async () => {
    const { as } = await newWorkspace()
    const { upstreamCalls } = serverWithout("top_k")
    const extra = { provider: { ...ONE.provider, require_parameters: true }, top_k: 4 }
    const returned = await as.chat(newReplicaModel(), "Hi", extra)
    expect(returned.ok).toBe(false)
    expect(upstreamCalls.length).toBeLessThanOrEqual(1)
  })
})

describe("a rejection that another server could avoid", () => {
  test("fails over to it, and is the client's if all have it", async () => {
    const { as } = await newWorkspace()
    const provider = mockProvider(({ url }) =>
      url.includes("replica-a")
        ? Response.json({ error: { message: "gemma:2b does not support tools" } }, { status: 400 })
        : answer(),
    )
    ;({ stop } = provider)
    const order = ["replica-a", "replica-b"]
    await expectJson(200, as.chat(newReplicaModel(), "Hi", { provider: { order, only: order } }))
    expect(provider.upstreamCalls).toHaveLength(2)
    const { error } = await expectJson<Failure>(400, as.chat(newReplicaModel(), "Hi", ONE))
    expect(error.message).toBe("gemma:2b does not support tools")
  })
})
