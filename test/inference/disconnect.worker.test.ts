import { createExecutionContext, waitOnExecutionContext } from "cloudflare:test"
import { env } from "cloudflare:workers"
import { expect, onTestFinished, test } from "vitest"
import { app } from "../../src/app/app.ts"
import { mockProvider } from "../support/mock-provider.ts"
import { expectJson, newKey, newWorkspace } from "../support/world.ts"

test("a call that is cancelled after failover is charged at the target that had started, not at the first", async () => {
  const workspace = await newWorkspace()
  await expectJson(201, workspace.manage.post("/byok", { provider: "pooled", key: "own-key-0123456789" }))
  const { key, as } = await newKey(workspace)
  const read = Promise.withResolvers<void>()
  // Sends nothing until it is cancelled; `pull` is called when the gateway waits for the first event.
  const silent = (signal: AbortSignal) =>
    new ReadableStream(
      {
        start: (controller) => signal.addEventListener("abort", () => controller.error(new Error("cancelled"))),
        pull: () => read.resolve(),
      },
      { highWaterMark: 0 },
    )
  const { stop } = mockProvider(({ headers, signal }) =>
    headers.get("authorization")?.includes("own-key")
      ? Response.json({ error: { message: "no such key" } }, { status: 401 })
      : new Response(silent(signal), { headers: { "content-type": "text/event-stream" } }),
  )
  onTestFinished(stop)
  const client = new AbortController()
  const context = createExecutionContext()
  const request = new Request("http://gateway.test/api/v1/chat/completions", {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify({ model: "pooled/k58", stream: true, messages: [{ role: "user", content: "Hi" }] }),
    signal: client.signal,
  })
  const answer = Promise.resolve(app.fetch(request, env, context))
  await read.promise
  client.abort()
  await answer.then((response) => response.body?.cancel()).catch(() => undefined)
  await waitOnExecutionContext(context)
  const { data } = await expectJson<{ data: { usage: number; byok_usage: number } }>(200, as.get("/key"))
  expect(data.usage).toBeGreaterThan(0)
  expect(data.byok_usage).toBe(0)
})
