import { createExecutionContext } from "cloudflare:test"
import { expect } from "vitest"
import { handleRequest } from "../../src/app/hot-path.ts"
import type { Env } from "../../src/config/env.ts"
import { internChat, type InternReader } from "../support/intern-chat.ts"
import { type UpstreamRequest, chunk, DONE, sse, usageChunk } from "../support/mock-provider.ts"
import { expectJson, type Workspace } from "../support/world.ts"
import { eventually } from "../support/eventually.ts"

/** The ways to call the gateway in a cell of the table, and their outcomes. */
export type Outcome = { is: "served" } | { is: "rejected" | "broken off"; code: number; reason?: string }

export type CallPath = {
  name: "JSON" | "stream" | "agent loop" | "intern turn"
  call: (cell: Cell) => Promise<Outcome>
}

/** `internId`: only of cells with an intern. */
export type Cell = { workspace: Workspace; env: Env; model: string; internId: string | undefined }

const TEXT = "All is well."
/** Tokens of every upstream response. */
const PROMPT = 10
const COMPLETION = 5
/** Nano-USD. */
export const COST = PROMPT * 1_000 + COMPLETION * 2_000

/** The provider: text, or first a call of the first tool if the request has tools. */
export function respond({ body }: UpstreamRequest): Response {
  const messages = body["messages"] as { role: string }[]
  const [tool] = (body["tools"] ?? []) as { function: { name: string } }[]
  const command = JSON.stringify({ command: "echo done", why: "asked", timezone: "UTC" })
  const calls = [
    { index: 0, id: "call_1", type: "function", function: { name: tool?.function.name, arguments: command } },
  ]
  const callsTool = tool !== undefined && messages.at(-1)?.role !== "tool"
  const finish = callsTool ? "tool_calls" : "stop"
  const usage = { prompt_tokens: PROMPT, completion_tokens: COMPLETION, total_tokens: PROMPT + COMPLETION }
  if (body["stream"] !== true) {
    const message = { role: "assistant", ...(callsTool ? { content: null, tool_calls: calls } : { content: TEXT }) }
    return Response.json({ id: "up-1", choices: [{ index: 0, message, finish_reason: finish }], usage })
  }
  const delta = callsTool ? { tool_calls: calls } : { content: TEXT }
  return sse([chunk({ role: "assistant", ...delta }), chunk({}, finish), usageChunk(PROMPT, COMPLETION), DONE])
}

type Chunk = {
  choices: { delta?: { content?: string }; finish_reason: string | null }[]
  error?: { code: number; message: string; metadata?: { reason?: string } }
}

const MESSAGES = [{ role: "user", content: "Is all well?" }]

async function post({ workspace, env, model }: Cell, more: object): Promise<{ response: Response; text: string }> {
  const body = JSON.stringify({ model, messages: MESSAGES, ...more })
  const request = new Request("http://gateway.test/api/v1/chat/completions", {
    method: "POST",
    headers: {
      authorization: `Bearer ${workspace.key}`,
      "content-type": "application/json",
      "content-length": String(body.length),
      "x-response-cache": "refresh",
    },
    body,
  })
  const response = await handleRequest(request, env, createExecutionContext())
  return { response, text: await response.text() }
}

/** The envelope of an error: its code is the status, and it reveals nothing internal. */
function rejected(response: Response, text: string): Outcome {
  const { error } = JSON.parse(text) as { error: { code: number; message: string; metadata?: { reason?: string } } }
  expect(error.code).toBe(response.status)
  expectPublic(error.message)
  return { is: "rejected", code: error.code, ...(error.metadata?.reason && { reason: error.metadata.reason }) }
}

function expectPublic(message: string): void {
  expect(message).not.toBe("")
  expect(message).not.toMatch(/D1_ERROR|SQLITE|Durable Object|at .*\.ts|internal error; reference/)
}

async function asJson(cell: Cell): Promise<Outcome> {
  const { response, text } = await post(cell, { stream: false })
  if (response.status !== 200) return rejected(response, text)
  const { choices, usage } = JSON.parse(text) as {
    choices: { message: { content: string }; finish_reason: string }[]
    usage: object
  }
  expect(choices).toMatchObject([{ message: { content: TEXT }, finish_reason: "stop" }])
  expect(usage).toMatchObject({ prompt_tokens: PROMPT, completion_tokens: COMPLETION })
  return { is: "served" }
}

async function asStream(cell: Cell, more: object = {}): Promise<Outcome> {
  const { response, text } = await post(cell, { stream: true, ...more })
  if (response.status !== 200) return rejected(response, text)
  const data = text
    .split("\n\n")
    .filter((frame) => frame.startsWith("data: "))
    .map((frame) => frame.slice(6))
  expect(data.at(-1), text).toBe("[DONE]")
  return outcomeOf(data.slice(0, -1).map((frame) => JSON.parse(frame) as Chunk))
}

function outcomeOf(chunks: readonly Chunk[]): Outcome {
  const error = chunks.find((one) => one.error)?.error
  const finishes = chunks.map(({ choices }) => choices[0]?.finish_reason).filter((finish) => finish != null)
  if (error) {
    expectPublic(error.message)
    expect(finishes).toEqual(["error"])
    const reason = error.metadata?.reason
    return { is: "broken off", code: error.code, ...(reason !== undefined && { reason }) }
  }
  expect(finishes).toEqual(["stop"])
  expect(chunks.map(({ choices }) => choices[0]?.delta?.content ?? "").join("")).toBe(TEXT)
  return { is: "served" }
}

/** A turn of two model calls, with a question between them. */
/** The intern of a cell that needs one. */
export function required(internId: string | undefined): string {
  if (internId === undefined) throw new Error("The cell has no intern.")
  return internId
}

async function asIntern({ workspace, internId }: Cell): Promise<Outcome> {
  const chat = internChat(workspace.key, required(internId))
  const question = await chat.send("Is all well?")
  const refusal = await endOf(question)
  if (refusal) return refusal
  expect(question.finish).toBe("tool_calls")
  const answered = await chat.answer(question.session, question.question.id, "allow_once")
  const failure = await endOf(answered)
  if (failure) return failure
  expect(answered.finish).toBe("stop")
  expect(answered.text).toContain(TEXT)
  return { is: "served" }
}

/** The failure of a response; undefined if it did not fail. */
async function endOf(reader: InternReader): Promise<Outcome | undefined> {
  const { response } = reader
  if (response.status !== 200) return rejected(response, await response.text())
  await reader.all()
  if (!reader.error) return undefined
  const { code, message, metadata } = reader.error
  expectPublic(message)
  expect(reader.finish).toBe("error")
  return { is: "broken off", code, reason: metadata.reason }
}

export async function newIntern(workspace: Workspace, model: string): Promise<string> {
  const { id } = await expectJson<{ id: string }>(
    201,
    workspace.as.post("/interns", { name: "ada", model, provision: true }),
  )
  await eventually(async () => {
    const { status } = await expectJson<{ status: string }>(200, workspace.as.get(`/interns/${id}`))
    expect(status).toBe("running")
  })
  return id
}

const DATETIME = [{ type: "service:datetime" }]

export const callPaths: readonly CallPath[] = [
  { name: "JSON", call: asJson },
  { name: "stream", call: (cell) => asStream(cell) },
  { name: "agent loop", call: (cell) => asStream(cell, { tools: DATETIME }) },
  { name: "intern turn", call: asIntern },
]
