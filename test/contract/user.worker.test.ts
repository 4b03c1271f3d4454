import { afterEach, expect, test } from "vitest"
import { mockProvider } from "../support/mock-provider.ts"
import { expectJson, newWorkspace, type Workspace } from "../support/world.ts"

const EMAIL = "lovelace@example.com"
let stop = () => {}
afterEach(() => stop())

async function upstreamUser(workspace: Workspace, path: string, user: string): Promise<unknown> {
  const message = { role: "assistant", content: "Hi" }
  const { upstreamCalls, stop: end } = mockProvider(() =>
    Response.json({ id: "a", choices: [{ index: 0, message, finish_reason: "stop" }], usage: null }),
  )
  stop = end
  const conversation = path === "/responses" ? { input: "Hi" } : { messages: [{ role: "user", content: "Hi" }] }
  await expectJson(200, workspace.as.post(path, { model: "played/m7", ...conversation, user }))
  stop()
  expect(JSON.stringify(upstreamCalls)).not.toContain(EMAIL)
  return upstreamCalls[0]?.body["user"]
}

test.each(["/chat/completions", "/responses"])(
  "%s: user reaches a provider as a stable pseudonym, never raw",
  async (path) => {
    const [workspace, other] = [await newWorkspace(), await newWorkspace()]
    const pseudonym = await upstreamUser(workspace, path, EMAIL)
    expect(pseudonym).toMatch(/^[\w-]{16,64}$/)
    expect(await upstreamUser(workspace, path, EMAIL)).toBe(pseudonym)
    expect(await upstreamUser(workspace, path, "somebody-else")).not.toBe(pseudonym)
    expect(await upstreamUser(other, path, EMAIL)).not.toBe(pseudonym)
  },
)
