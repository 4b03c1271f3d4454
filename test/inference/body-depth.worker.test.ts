import * as fc from "fast-check"
import { describe, expect, test } from "vitest"
import { runs } from "../support/runs.ts"
import { expectJson, newWorkspace } from "../support/world.ts"
import { watchPolicyWrites } from "../support/policy-writes.ts"

watchPolicyWrites()

type Failure = { error: { message: string } }

const MODELS = ["sim/echo", "sim-responses/echo", "sim-messages/echo"]
const nested = (depth: number) => `${'{"a":'.repeat(depth)}1${"}".repeat(depth)}`
const MESSAGES = `"max_tokens":16,"messages":[{"role":"user","content":"Hi"}]`
const CONTENTS = `"contents":[{"role":"user","parts":[{"text":"Hi"}]}]`

/** Bodies with the nested value in a field that is translated, echoed or ignored. */
const BODIES: Readonly<Record<string, readonly string[]>> = {
  "/chat/completions": [
    `{"model":"$M",${MESSAGES},"unknown":$V}`,
    `{"model":"$M",${MESSAGES},"tools":[{"type":"function","function":{"name":"f","parameters":$V}}]}`,
    `{"model":"$M",${MESSAGES},"response_format":{"type":"json_schema","json_schema":{"name":"n","schema":$V}}}`,
  ],
  "/responses": [
    `{"model":"$M","input":"Hi","unknown":$V}`,
    `{"model":"$M","input":"Hi","tools":[{"type":"function","name":"f","parameters":$V}]}`,
    `{"model":"$M","input":"Hi","text":{"format":{"type":"json_schema","name":"n","schema":$V}}}`,
  ],
  "/messages": [
    `{"model":"$M",${MESSAGES},"unknown":$V}`,
    `{"model":"$M",${MESSAGES},"tools":[{"name":"f","input_schema":{"type":"object","properties":$V}}]}`,
  ],
  "/models/$M:generateContent": [
    `{${CONTENTS},"unknown":$V}`,
    `{${CONTENTS},"tools":[{"functionDeclarations":[{"name":"f","parametersJsonSchema":$V}]}]}`,
    `{${CONTENTS},"generationConfig":{"responseMimeType":"application/json","responseJsonSchema":$V}}`,
  ],
  "/models/$M:countTokens": [`{${CONTENTS},"unknown":$V}`],
}
const CASES = Object.entries(BODIES).flatMap(([path, bodies]) => bodies.map((body) => [path, body] as const))

const requestArb = fc.record({ target: fc.constantFrom(...CASES), model: fc.constantFrom(...MODELS) })
const fill = (text: string, model: string, value: string) => text.replace("$M", model).replace("$V", value)

describe("a body that is nested too deeply", () => {
  test("returns 400 in every API format, and costs nothing", async () => {
    const { as } = await newWorkspace()
    await fc.assert(
      fc.asyncProperty(requestArb, fc.integer({ min: 410, max: 60_000 }), async ({ target, model }, depth) => {
        const [path, body] = target
        const answer = as.post(fill(path, encodeURIComponent(model), ""), fill(body, model, nested(depth)))
        expect((await expectJson<Failure>(400, answer)).error.message).toContain("nested too deeply")
      }),
      { numRuns: runs(1) },
    )
    expect(await expectJson(200, as.get("/key"))).toMatchObject({ data: { usage: 0 } })
  })

  test("up to the limit is answered, and never becomes a failure of the gateway or the provider", async () => {
    const { as } = await newWorkspace()
    await fc.assert(
      fc.asyncProperty(requestArb, fc.integer({ min: 1, max: 395 }), async ({ target, model }, depth) => {
        const [path, body] = target
        const { status } = await as.post(fill(path, encodeURIComponent(model), ""), fill(body, model, nested(depth)))
        expect(status).toBeLessThan(500)
      }),
      { numRuns: runs(1) },
    )
  })
})
