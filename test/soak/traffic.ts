import { setTimeout as wait } from "node:timers/promises"
import type { Random } from "../fuzz/random.ts"
import { chunksOf, type Client, type Reply } from "./client.ts"

export type Account = {
  organizationId: string
  apiKey: string
  managementKey: string
  workspaceId: string
  interns: readonly string[]
}
export type Scenario = {
  name: string
  weight: number
  run: (client: Client, account: Account, random: Random) => Promise<void>
}

type Chunk = {
  choices?: { finish_reason?: string | null; delta?: { tool_calls?: { id: string }[] } }[]
  error?: { message: string }
  session_id?: string | null
}

const MODEL = "soak/chat"
const SLOW = "soak/slow"
const MESSAGES = [{ role: "user", content: "Is all well?" }]
const chat = (more: object = {}) => ({ model: MODEL, messages: MESSAGES, ...more })

/** The fields of resources that this suite reads. */
type Resource = { id: string; key: string; data: { id: string; hash: string } }
type Batch = { status: string; output_file_id: string | null; request_counts: { completed: number } }

function asResource({ text }: Reply): Resource {
  return JSON.parse(text) as Resource
}

async function stream(client: Client, key: string, body: object, path = "/chat/completions"): Promise<Chunk[]> {
  const startedAt = Date.now()
  const { text } = await client.call({ key, path, body })
  const chunks: Chunk[] | undefined = chunksOf(text)
  client.require(chunks !== undefined, `the stream has no [DONE]: …${text.slice(-200)}`, startedAt)
  const failed = chunks?.find(({ error }) => error)?.error
  client.require(failed === undefined, `the stream failed: ${failed?.message}`, startedAt)
  const finishes = chunks?.filter(({ choices }) => choices?.[0]?.finish_reason != null) ?? []
  client.require(finishes.length === 1, `the stream has ${finishes.length} finish reasons`, startedAt)
  return chunks ?? []
}

async function useBatch(client: Client, { apiKey: key }: Account): Promise<void> {
  const lines = Array.from({ length: 4 }, (_, at) =>
    JSON.stringify({ custom_id: `r${at}`, method: "POST", url: "/v1/chat/completions", body: chat() }),
  )
  const form = new FormData()
  form.append("purpose", "batch")
  form.append("file", new File([`${lines.join("\n")}\n`], "batch.jsonl"))
  const file = asResource(await client.call({ key, path: "/files", form }))
  const input = { input_file_id: file.id, endpoint: "/v1/chat/completions", completion_window: "24h" }
  const { id } = asResource(await client.call({ key, path: "/batches", body: input }))
  const startedAt = Date.now()
  for (;;) {
    await wait(1_000)
    const reply = await client.call({ key, method: "GET", path: `/batches/${id}` })
    const batch = JSON.parse(reply.text) as Batch
    if (batch.status === "completed") {
      client.require(
        batch.request_counts.completed === 4,
        `a batch completed ${batch.request_counts.completed} of 4`,
        startedAt,
      )
      await client.call({ key, method: "GET", path: `/files/${batch.output_file_id}/content` })
      await client.call({ key, method: "DELETE", path: `/files/${file.id}` })
      return
    }
    client.require(Date.now() - startedAt < 120_000, `a batch is ${batch.status} after two minutes`, startedAt)
    client.require(
      ["validating", "in_progress", "finalizing"].includes(batch.status),
      `a batch is ${batch.status}`,
      startedAt,
    )
  }
}

async function useFile(client: Client, { apiKey: key }: Account, random: Random): Promise<void> {
  const form = new FormData()
  form.append("purpose", "user_data")
  form.append("file", new File([random.hex(20_000)], "notes.txt", { type: "text/plain" }))
  const { id } = asResource(await client.call({ key, path: "/files", form }))
  await client.call({ key, method: "GET", path: `/files/${id}` })
  await client.call({ key, method: "DELETE", path: `/files/${id}` })
}

async function useKey(client: Client, { managementKey }: Account): Promise<void> {
  const made = asResource(await client.call({ key: managementKey, path: "/keys", body: { name: "soak", limit: 1 } }))
  await client.call({ key: made.key, path: "/chat/completions", body: chat() })
  await client.call({ key: managementKey, method: "DELETE", path: `/keys/${made.data.hash}` })
  // Five seconds in other isolates, immediately in this one.
  await client.call({ key: made.key, path: "/chat/completions", body: chat(), expects: [200, 401] })
}

async function useGuardrail(client: Client, account: Account): Promise<void> {
  const { managementKey: key } = account
  const made = asResource(await client.call({ key, path: "/keys", body: { name: "guarded" } }))
  const body = { name: `Soak ${crypto.randomUUID()}`, content_filter_builtins: [{ slug: "email", action: "block" }] }
  const { data } = asResource(await client.call({ key, path: "/guardrails", body }))
  const assignment = { key_hashes: [made.data.hash] }
  await client.call({ key, path: `/guardrails/${data.id}/assignments/keys`, body: assignment })
  const messages = [{ role: "user", content: "Write to ada@example.com" }]
  await client.call({ key: made.key, path: "/chat/completions", body: chat({ messages }), expects: [403] })
  await client.call({ key: made.key, path: "/chat/completions", body: chat() })
  await client.call({ key, method: "DELETE", path: `/guardrails/${data.id}` })
  await client.call({ key, method: "DELETE", path: `/keys/${made.data.hash}` })
}

/** A turn with a question that is answered. */
async function useIntern(client: Client, { apiKey: key, interns }: Account, random: Random): Promise<void> {
  const path = `/interns/${random.pick(interns)}/chat/completions`
  const firstTurn = await stream(client, key, { stream: true, approval_mode: "manual", messages: MESSAGES }, path)
  const question = firstTurn.flatMap(({ choices }) => choices?.[0]?.delta?.tool_calls ?? [])[0]
  client.require(question !== undefined, "an intern did not ask", Date.now())
  const called = { id: question?.id, function: { name: "service.provide_input", arguments: "{}" } }
  const messages = [
    { role: "assistant", tool_calls: [called] },
    { role: "tool", tool_call_id: question?.id, content: "allow_once" },
  ]
  await stream(client, key, { stream: true, session_id: firstTurn.at(-1)?.session_id, messages }, path)
}

/** The scenarios of the run. Weights are shares of the scenarios that begin. */
export const scenarios: readonly Scenario[] = [
  {
    name: "JSON",
    weight: 30,
    run: async (client, { apiKey: key }) => void (await client.call({ key, path: "/chat/completions", body: chat() })),
  },
  {
    name: "stream",
    weight: 25,
    run: async (client, { apiKey }) => void (await stream(client, apiKey, chat({ stream: true }))),
  },
  {
    name: "slow stream",
    weight: 6,
    run: async (client, { apiKey }) => void (await stream(client, apiKey, chat({ model: SLOW, stream: true }))),
  },
  {
    name: "client disconnect",
    weight: 8,
    run: async (client, { apiKey: key }, random) => {
      const body = chat({ model: SLOW, stream: true })
      await client.call({ key, path: "/chat/completions", body, leavesAfterBytes: 200 + random.int(2_000) })
    },
  },
  {
    name: "embeddings",
    weight: 6,
    run: async (client, { apiKey: key }) => {
      await client.call({ key, path: "/embeddings", body: { model: "soak/embed", input: "Is all well?" } })
    },
  },
  {
    name: "responses",
    weight: 6,
    run: async (client, { apiKey: key }) => {
      await client.call({ key, path: "/responses", body: { model: MODEL, input: "Is all well?" } })
    },
  },
  {
    name: "messages",
    weight: 6,
    run: async (client, { apiKey: key }) => {
      await client.call({ key, path: "/messages", body: chat({ max_tokens: 100 }) })
    },
  },
  {
    name: "agent loop",
    weight: 5,
    run: async (client, { apiKey }) => {
      await stream(client, apiKey, chat({ stream: true, tools: [{ type: "service:datetime" }] }))
    },
  },
  { name: "batch", weight: 0.6, run: useBatch },
  { name: "file", weight: 2, run: useFile },
  { name: "key", weight: 2, run: useKey },
  { name: "guardrail", weight: 1, run: useGuardrail },
  { name: "intern", weight: 2.4, run: useIntern },
]
