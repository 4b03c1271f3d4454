import { HTTPClient, OpenRouter } from "@openrouter/sdk"
import * as errors from "@openrouter/sdk/models/errors"
import type { InternChatCompletionChunk, InternChatMessage } from "@openrouter/sdk/models"
import { expect, inject, test } from "vitest"
import { eventually } from "../support/eventually.ts"
import { newOrganization, openrouter } from "./world.ts"

const NOWHERE = "01900000-0000-7000-8000-000000000000"

/**
 * The client reads only `openrouter.provide_input`, which a deployment sends with the CLIENT_DIALECT for it. This
 * gateway sends `service.provide_input`, so the name is replaced on its way.
 */
function withClientToolName(apiKey: string): OpenRouter {
  const httpClient = new HTTPClient({
    fetcher: async (input, init) => {
      const response = await (init === undefined ? fetch(input) : fetch(input, init))
      if (!response.headers.get("content-type")?.includes("event-stream")) return response
      const text = (await response.text()).replaceAll("service.provide_input", "openrouter.provide_input")
      return new Response(text, { status: response.status, headers: response.headers })
    },
  })
  return new OpenRouter({ serverURL: inject("gateway").url, apiKey, retryConfig: { strategy: "none" }, httpClient })
}

async function newIntern(client: OpenRouter) {
  const made = await client.interns.createIntern({ createInternRequest: { name: "ada", provision: false } })
  const changed = await client.interns.updateIntern({
    internId: made.id,
    updateInternRequest: { model: "sim/tool-call", description: "Tries things" },
  })
  expect(changed).toMatchObject({ id: made.id, model: "sim/tool-call", description: "Tries things", status: "queued" })
  expect(await client.interns.provisionIntern({ internId: made.id })).toMatchObject({ provisioning: true })
  await eventually(async () => expect((await client.interns.getIntern({ internId: made.id })).status).toBe("running"))
  return made.id
}

async function chat(client: OpenRouter, internId: string, messages: InternChatMessage[], more: object = {}) {
  const { result } = await client.interns.chat({
    internId,
    internChatCompletionRequest: { messages, stream: true, ...more },
  })
  const chunks: InternChatCompletionChunk[] = []
  for await (const chunk of result as AsyncIterable<InternChatCompletionChunk>) chunks.push(chunk)
  return chunks
}

test("the client creates, lists, suspends and deletes an intern", async () => {
  const client = openrouter((await newOrganization()).apiKey)
  const internId = await newIntern(client)
  const again = await client.interns.createIntern({ createInternRequest: { name: "ada", provision: false } })
  expect(again.id).toBe(internId)
  const page = await client.interns.listInterns({ limit: 1, status: ["running"] })
  expect(page).toMatchObject({ data: [{ id: internId, hostname: expect.stringMatching(/^ada-/) }], hasMore: false })
  expect(await client.interns.suspendIntern({ internId })).toMatchObject({ suspended: true })
  expect(await client.interns.deleteIntern({ internId, deleteInternRequest: {} })).toMatchObject({ deleting: true })
  await eventually(async () => expect((await client.interns.listInterns()).data).toEqual([]))
})

test("a turn pauses at a question, is answered and ends, and the client knows every chunk", async () => {
  const client = withClientToolName((await newOrganization()).apiKey)
  const internId = await newIntern(client)
  const paused = await chat(client, internId, [{ role: "user", content: "echo hello" }], { approvalMode: "manual" })
  const call = paused.flatMap(({ choices }) => choices).find(({ delta }) => delta.toolCalls)?.delta.toolCalls?.[0]
  expect(JSON.parse(call?.function.arguments ?? "")).toEqual({
    kind: "permission",
    operation: "shell",
    options: ["allow_once", "allow_always", "reject_once", "reject_always"],
    command: "echo hello",
    folder: "/home/intern",
    expires_at: expect.any(String) as string,
  })
  const { sessionId, usage } = paused.at(-1) ?? {}
  expect(usage).toBeNull()
  const id = call?.id ?? ""
  const resumed = await chat(
    client,
    internId,
    [
      { role: "assistant", toolCalls: [{ id, function: call?.function ?? { name: "", arguments: "" } }] },
      { role: "tool", toolCallId: id, content: "allow_once" },
    ],
    { sessionId },
  )
  expect(resumed.map(({ choices }) => choices[0]?.delta.content ?? "").join("")).toContain("hello")
  expect(resumed.at(-1)).toMatchObject({ sessionId, usage: { promptTokens: expect.any(Number) } })
})

test("each failure is the client's error class for its status", async () => {
  const client = openrouter((await newOrganization()).apiKey)
  const { interns } = client
  const failure = async (paused: Promise<unknown>) => paused.then(() => undefined).catch((thrown: unknown) => thrown)
  const statusOf = async (paused: Promise<unknown>) => {
    const error = await failure(paused)
    expect(error).toBeInstanceOf(errors.OpenRouterError)
    return (error as errors.OpenRouterError).statusCode
  }
  const internId = NOWHERE
  expect(await statusOf(interns.createIntern({ createInternRequest: { name: "No" } }))).toBe(400)
  expect(await statusOf(interns.getIntern({ internId }))).toBe(404)
  expect(await statusOf(interns.updateIntern({ internId, updateInternRequest: {} }))).toBe(404)
  expect(await statusOf(interns.deleteIntern({ internId, deleteInternRequest: {} }))).toBe(404)
  expect(await statusOf(interns.provisionIntern({ internId }))).toBe(404)
  expect(await statusOf(interns.suspendIntern({ internId }))).toBe(404)
  expect(await statusOf(interns.listInterns({ startingAfter: "nonsense" }))).toBe(400)
  expect(await statusOf(openrouter("sk-wrong").interns.listInterns())).toBe(401)
  await interns.createIntern({ createInternRequest: { name: "ada" } })
  const other = { createInternRequest: { name: "ada", description: "Another" } }
  const taken = await failure(interns.createIntern(other))
  expect(taken).toBeInstanceOf(errors.InternLifecycleError)
  expect((taken as errors.InternLifecycleError).error.metadata).toEqual({ reason: "name_taken", retryable: false })
  const messages: InternChatMessage[] = [{ role: "user", content: "Hello" }]
  const notFound = await failure(chat(client, internId, messages))
  expect(notFound).toBeInstanceOf(errors.InternChatErrorResponse)
  expect((notFound as errors.InternChatErrorResponse).error).toMatchObject({
    code: 404,
    metadata: { reason: "not_found", retryable: false },
  })
})
