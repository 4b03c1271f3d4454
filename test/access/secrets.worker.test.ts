import { afterEach, expect, test, vi } from "vitest"
import { chunk, mockProvider, sse } from "../support/mock-provider.ts"
import { newKey, newWorkspace } from "../support/world.ts"

afterEach(() => vi.restoreAllMocks())

test("no failure puts a key into a log line, a response or a header", async () => {
  const lines: string[] = []
  for (const level of ["log", "info", "warn", "error", "debug"] as const) {
    vi.spyOn(console, level).mockImplementation((...parts: unknown[]) => void lines.push(parts.map(String).join(" ")))
  }
  const workspace = await newWorkspace()
  const { key, as } = await newKey(workspace)
  const providerKey = "played-provider-key-0123456789"
  const leak = (status: number) =>
    Response.json(
      { error: { message: `no: ${providerKey}`, param: providerKey } },
      { status, headers: { "x-goog-api-key": providerKey } },
    )
  const answers: Response[] = []
  for (const fault of [
    () => leak(400),
    () => leak(401),
    () => leak(500),
    () => Promise.reject(new Error(`connect failed with ${providerKey}`)),
    () => new Response(`<html>${providerKey}</html>`, { headers: { "content-type": "text/html" } }),
    () => Response.json({ error: `in words: ${providerKey}` }),
    () =>
      new Response(`data: {"error":{"message":"${providerKey}"}}\n\n`, {
        headers: { "content-type": "text/event-stream" },
      }),
    () => sse([chunk({ content: "1234" }), `data: {"error":{"message":"${providerKey}","code":400}}\n\n`]),
  ]) {
    const { stop } = mockProvider(fault)
    for (const stream of [true, false]) answers.push(await as.chat("played/m92", "Hi", { stream }))
    stop()
  }
  answers.push(
    await as.post("/keys", { name: "x" }),
    await as.get("/nowhere"),
    await as.call("POST", "/chat/completions", `{"k":"${key}`),
  )
  const reported = await Promise.all(
    answers.map(async (answer) => JSON.stringify([...answer.headers]) + (await answer.text())),
  )
  for (const secret of [key, workspace.key, workspace.managementKey, providerKey, "sk-gw-boot-of"]) {
    expect(lines.join("\n")).not.toContain(secret)
    expect(reported.join("\n")).not.toContain(secret)
  }
})
