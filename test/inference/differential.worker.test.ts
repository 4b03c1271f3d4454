import { afterEach, expect, test } from "vitest"
import { type Received, runCase, type Subject } from "../fuzz/differential/differential.ts"
import { type Script, toResponse } from "../fuzz/differential/script.ts"
import { mockProvider } from "../support/mock-provider.ts"
import { runs } from "../support/runs.ts"
import { expectJson, newWorkspace, openHolds, type Workspace } from "../support/world.ts"

/** `npm run fuzz -- --differential` is the long version of this test. */

const SEED = 7

let stop = () => {}
afterEach(() => stop())

function subjectOf(workspace: Workspace): Subject {
  let script: Script | undefined
  const bodies: string[] = []
  const provider = mockProvider(({ body }) => {
    if (!script) throw new Error("No script was set.")
    bodies.push(JSON.stringify(body))
    const { status, type, body: text } = toResponse(script, body["stream"] === true)
    return new Response(text, { status, headers: { "content-type": type } })
  })
  stop = provider.stop
  return {
    model: "played/m91",
    send: async (resource, text, isDeclared): Promise<Received> => {
      const response = isDeclared
        ? await workspace.as.post(resource, text)
        : await workspace.as.callRaw("POST", resource, new Response(text).body as ReadableStream)
      return { status: response.status, headers: Object.fromEntries(response.headers), text: await response.text() }
    },
    play: (next) => (script = next),
    upstream: () => bodies.splice(0),
    receipt: async (id) => {
      const answer = workspace.as.get(`/generation?id=${id}`)
      return (await expectJson<{ data: Record<string, unknown> }>(200, answer)).data
    },
  }
}

test("generated conversations: every format and both paths send, return and charge the same", async () => {
  const workspace = await newWorkspace(10_000)
  const subject = subjectOf(workspace)
  for (let index = 0; index < runs(8); index++) {
    const difference = await runCase(subject, SEED * 1_000_003 + index)
    expect(difference, `case ${index}`).toBeUndefined()
  }
  expect(await openHolds(workspace)).toEqual([])
})
