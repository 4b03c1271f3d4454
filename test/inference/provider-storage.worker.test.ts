import { afterEach, describe, expect, test, vi } from "vitest"
import { mockProvider } from "../support/mock-provider.ts"
import { expectJson, newWorkspace, openHolds, type Workspace } from "../support/world.ts"
import { useVariable } from "../support/variable.ts"

afterEach(() => vi.restoreAllMocks())

const OWN_KEY = "ownCanary0123456789abcdefXYZ"
type Failure = { error: { message: string } }

const file = { type: "file", file: { file_id: "file-abc123" } }
const chat = { model: "acme/chat-30", messages: [{ role: "user", content: [{ type: "text", text: "Hi" }, file] }] }
const search = {
  model: "batching/b1",
  input: "Hi",
  tools: [{ type: "file_search", vector_store_ids: ["vs_1"] }],
}

const completed = () =>
  Response.json({
    id: "up",
    choices: [{ index: 0, message: { role: "assistant", content: "Fine." }, finish_reason: "stop" }],
    usage: { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 },
  })
const responded = () =>
  Response.json({
    id: "resp_1",
    object: "response",
    status: "completed",
    model: "b1",
    output: [{ type: "message", id: "m", role: "assistant", content: [{ type: "output_text", text: "Fine." }] }],
    usage: { input_tokens: 10, output_tokens: 5, total_tokens: 15 },
  })

async function addCredential(workspace: Workspace, provider: string, more: object = {}): Promise<void> {
  await expectJson(201, workspace.manage.post("/byok", { provider, key: OWN_KEY, ...more }))
}

describe("a call that names something stored at a provider", () => {
  test.each([
    ["/chat/completions", chat, "messages[0].content[1]"],
    ["/responses", search, "tools[0].vector_store_ids"],
    [
      "/chat/completions",
      { ...chat, messages: [{ role: "user", content: "Hi" }], cached_content: "c" },
      "cached_content",
    ],
    ["/videos", { model: "sim/video", prompt: "waves", input_reference: { file_id: "f" } }, "input_reference.file_id"],
    ["/estimate", chat, "messages[0].content[1]"],
  ])("%s: is rejected without a BYOK credential, and sends and holds nothing", async (path, body, field) => {
    const workspace = await newWorkspace()
    const { upstreamCalls } = mockProvider(completed)
    const { error } = await expectJson<Failure>(400, workspace.as.post(path, body))
    expect(error.message).toContain(`${field}: names something stored in an account at a provider`)
    expect(upstreamCalls).toEqual([])
    expect(await openHolds(workspace)).toEqual([])
  })

  test("is sent unchanged, only to the provider with a BYOK credential", async () => {
    const workspace = await newWorkspace()
    await addCredential(workspace, "replica-b", { is_fallback: true })
    const { upstreamCalls } = mockProvider(completed)
    await expectJson(200, workspace.as.post("/chat/completions", chat))
    const [call, ...others] = upstreamCalls
    expect(others).toEqual([])
    expect(call?.headers.get("authorization")).toBe(`Bearer ${OWN_KEY}`)
    expect(call?.url).toContain("replica-b.test")
    expect(call?.body["messages"]).toEqual(chat.messages)
  })

  test("fails with the provider's error if the credential fails; the gateway's key is not tried", async () => {
    const workspace = await newWorkspace()
    await addCredential(workspace, "replica-b")
    const { upstreamCalls } = mockProvider(() => Response.json({ error: { message: "Busy" } }, { status: 503 }))
    expect((await workspace.as.post("/chat/completions", chat)).status).toBe(503)
    expect(upstreamCalls.map(({ headers }) => headers.get("authorization"))).toEqual(
      upstreamCalls.map(() => `Bearer ${OWN_KEY}`),
    )
  })

  test("POST /responses: a vendor's tool reads the vector stores of the workspace's account", async () => {
    const workspace = await newWorkspace()
    await addCredential(workspace, "batching")
    const { upstreamCalls } = mockProvider(responded)
    await expectJson(200, workspace.as.post("/responses", search))
    expect(upstreamCalls[0]?.body).toMatchObject({ tools: search.tools })
    expect(upstreamCalls[0]?.headers.get("authorization")).toBe(`Bearer ${OWN_KEY}`)
  })
})

describe("PROVIDER_STORAGE: shared", () => {
  useVariable("PROVIDER_STORAGE", "shared")

  test("calls with the gateway's key name what its accounts store", async () => {
    const workspace = await newWorkspace()
    const { upstreamCalls } = mockProvider(completed)
    await expectJson(200, workspace.as.post("/chat/completions", chat))
    expect(upstreamCalls[0]?.body["messages"]).toEqual(chat.messages)
  })
})
