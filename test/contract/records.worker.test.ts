import { describe, expect, test } from "vitest"
import * as z from "zod"
import { expectJson, newKey, newWorkspace, readStream, type Workspace } from "../support/world.ts"
import * as records from "./records.ts"

const METADATA = { "x-service-metadata": "enabled" }
const one = <T extends z.ZodType>(record: T) => z.looseObject({ data: record })
const list = <T extends z.ZodType>(record: T) => z.looseObject({ data: z.array(record).min(1), total_count: z.int() })

/** Returns the response after checking it against the record. */
async function expectRecord<T extends z.ZodType>(
  record: T,
  status: number,
  answer: Promise<Response>,
): Promise<z.infer<T>> {
  const body: unknown = await expectJson(status, answer)
  const { data, error } = record.safeParse(body)
  expect(error, JSON.stringify(body)).toBeUndefined()
  return data as z.infer<T>
}

test("ids are accepted in upper case, as some clients write UUIDs", async () => {
  const { manage, as, workspaceId } = await newWorkspace()
  const upper = workspaceId.toUpperCase()
  const guardrail = await expectJson<{ data: { id: string } }>(
    201,
    manage.post("/guardrails", { name: "upper", workspace_id: upper }),
  )
  expect(guardrail.data).toMatchObject({ workspace_id: workspaceId })
  const id = guardrail.data.id.toUpperCase()
  expect(await expectJson(200, manage.get(`/guardrails/${id}`))).toEqual(guardrail)
  expect(await expectJson(200, manage.get(`/guardrails?workspace_id=${upper}`))).toMatchObject({ total_count: 1 })
  expect(await expectJson(200, manage.get(`/workspaces/${upper}`))).toMatchObject({ data: { id: workspaceId } })
  await expectJson(200, manage.put(`/workspaces/${upper}/budgets/daily`, { limit_usd: 5 }))
  expect(await expectJson(200, manage.get(`/workspaces/${workspaceId}/budgets/daily`))).toMatchObject({
    data: { workspace_id: workspaceId },
  })
  const intern = await expectJson<{ id: string }>(201, as.post("/interns", { name: "upper" }))
  expect(await expectJson(200, as.get(`/interns/${intern.id.toUpperCase()}`))).toEqual(intern)
})

describe("inference", () => {
  test("a chat completion has every field of its result, and no routing metadata unless it was requested", async () => {
    const { as } = await newWorkspace()
    const result = await expectRecord(records.ChatResult, 200, as.chat("sim/echo", "Hi"))
    expect(result).toMatchObject({ model: "sim/echo" })
    expect(result).not.toHaveProperty("service_metadata")
    expect(result.usage.total_tokens).toBe(result.usage.prompt_tokens + result.usage.completion_tokens)
  })

  test.each(["X-Service-Metadata", "X-Service-Experimental-Metadata"])(
    "%s: enabled adds routing metadata",
    async (name) => {
      const { as } = await newWorkspace()
      const record = z.looseObject({ service_metadata: records.RoutingMetadata })
      await expectRecord(record, 200, as.chat("sim/echo", "Hi", {}, { [name]: "enabled" }))
      await expectRecord(record, 200, as.post("/responses", { model: "sim/echo", input: "Hi" }, { [name]: "enabled" }))
      const disabled = await expectJson(200, as.chat("sim/echo", "Hi", {}, { [name]: "disabled" }))
      expect(disabled).not.toHaveProperty("service_metadata")
    },
  )

  test("a chat stream is chunks of one id and ends with the sentinel", async () => {
    const { as } = await newWorkspace()
    const { chunks, done, response } = await readStream(as.chat("sim/echo", "Hi", { stream: true }))
    expect(response.headers.get("content-type")).toContain("text/event-stream")
    expect(chunks.every((chunk) => (chunk as { object?: string }).object === "chat.completion.chunk")).toBe(true)
    expect(new Set(chunks.map((chunk) => (chunk as { id?: string }).id)).size).toBe(1)
    expect(done).toBe(true)
  })

  test("a response has every field of its result", async () => {
    const { as } = await newWorkspace()
    await expectRecord(records.ResponsesResult, 200, as.post("/responses", { model: "sim/echo", input: "Hi" }))
  })

  test("a stream of responses has text deltas with all their fields, numbered in order, and the sentinel", async () => {
    const { as } = await newWorkspace()
    const { chunks, done } = await readStream(
      as.post("/responses", { model: "sim/echo", input: "Hi there", stream: true }),
    )
    const Delta = z.looseObject({
      type: z.literal("response.output_text.delta"),
      content_index: z.int(),
      delta: z.string(),
      item_id: z.string(),
      logprobs: z.array(z.unknown()),
      output_index: z.int(),
      sequence_number: z.int(),
    })
    const events = chunks as unknown as { type: string; sequence_number: number }[]
    const deltas = events.filter(({ type }) => type === "response.output_text.delta")
    expect(deltas.length).toBeGreaterThan(0)
    for (const delta of deltas) expect(Delta.safeParse(delta).error).toBeUndefined()
    expect(events.map(({ sequence_number }) => sequence_number)).toEqual(events.map((_, at) => at))
    expect(done).toBe(true)
  })

  test("embedding models have every field, prices as decimal strings and a working details path", async () => {
    const { as } = await newWorkspace()
    const { data } = await expectJson<{ data: { id: string }[] }>(200, as.get("/embeddings/models"))
    for (const model of data) records.EmbeddingsModel.parse(model)
    const { links } = records.EmbeddingsModel.parse(data.find(({ id }) => id === "sim/embed"))
    await expectJson(200, as.get(links.details.replace("/api/v1", "")))
  })

  test("a guardrail that blocks returns its patterns, and its stage if metadata was requested", async () => {
    const workspace = await newWorkspace()
    const { hash, as } = await newKey(workspace)
    const filters = { name: "Rail", content_filters: [{ action: "block", pattern: "forbidden" }] }
    const { data } = await expectJson<{ data: { id: string } }>(201, workspace.manage.post("/guardrails", filters))
    await expectJson(200, workspace.manage.post(`/guardrails/${data.id}/assignments/keys`, { key_hashes: [hash] }))
    const Blocked = z.looseObject({
      error: z.looseObject({ code: z.literal(403), metadata: z.looseObject({ patterns: z.array(z.string()).min(1) }) }),
      service_metadata: z.looseObject({ pipeline: z.array(records.GuardrailStage).min(1) }),
    })
    await expectRecord(Blocked, 403, as.post("/responses", { model: "sim/echo", input: "a forbidden word" }, METADATA))
    await expectRecord(Blocked, 403, as.chat("sim/echo", "a forbidden word", {}, METADATA))
  })
})

describe("account", () => {
  test("GET /key has every field of the calling key, with its label masked", async () => {
    const workspace = await newWorkspace()
    const { key, as } = await newKey(workspace, { limit: 5, limit_reset: "monthly" })
    const { data } = await expectRecord(one(records.ApiKey), 200, as.get("/key"))
    expect(data).toMatchObject({ limit: 5, limit_remaining: 5, limit_reset: "monthly" })
    expect(key).not.toContain(data.label)
  })

  test("a preset has every field; a second call creates a new version; other fields are ignored", async () => {
    const { manage } = await newWorkspace()
    const body = { model: "sim/echo", instructions: "Be brief", input: "ignored", stream: true, prompt: { id: "x" } }
    const { data } = await expectRecord(one(records.Preset), 200, manage.post("/presets/team-one/responses", body))
    expect(data).toMatchObject({ slug: "team-one", designated_version: { version: 1, system_prompt: "Be brief" } })
    expect(Object.keys(data.designated_version.config)).toEqual(["model"])
    const second = await expectRecord(one(records.Preset), 200, manage.post("/presets/team-one/responses", body))
    expect(second.data.designated_version.version).toBe(2)
  })

  test("a BYOK credential has every field and never the key", async () => {
    const { manage } = await newWorkspace()
    const input = { name: "Ours", provider: "openai", key: "sk-proj-0123456789abcdef" }
    await expectRecord(one(records.Byok), 201, manage.post("/byok", input))
    const { data } = await expectRecord(list(records.Byok), 200, manage.get("/byok?provider=openai"))
    expect(JSON.stringify(data)).not.toContain("0123456789abcdef")
  })

  test("guardrails and their assignments have every field", async () => {
    const workspace = await newWorkspace()
    const { manage } = workspace
    const { hash } = await newKey(workspace)
    const input = { name: "Rail", limit_usd: 10, reset_interval: "monthly", allowed_providers: ["openai"] }
    const { data } = await expectRecord(one(records.Guardrail), 201, manage.post("/guardrails", input))
    await expectRecord(list(records.Guardrail), 200, manage.get("/guardrails"))
    await expectJson(200, manage.post(`/guardrails/${data.id}/assignments/keys`, { key_hashes: [hash] }))
    const keys = await expectRecord(
      list(records.KeyAssignment),
      200,
      manage.get(`/guardrails/${data.id}/assignments/keys`),
    )
    expect(keys).toMatchObject({ total_count: 1, data: [{ guardrail_id: data.id, key_hash: hash }] })
    await expectJson(
      200,
      manage.post(`/guardrails/${data.id}/assignments/members`, { member_user_ids: [await ownUser(workspace)] }),
    )
    await expectRecord(list(records.MemberAssignment), 200, manage.get("/guardrails/assignments/members"))
  })

  test("an observability destination has every field, its credentials masked", async () => {
    const { manage } = await newWorkspace()
    const config = { baseUrl: "https://cloud.langfuse.com", publicKey: "pk-lf-11112222", secretKey: "sk-lf-33334444" }
    const made = await expectJson<{ data: { id: string } }>(
      201,
      manage.post("/observability/destinations", { name: "Traces", type: "langfuse", config }),
    )
    const { data } = await expectRecord(
      one(records.Destination),
      200,
      manage.get(`/observability/destinations/${made.data.id}`),
    )
    expect(Object.keys(data.config).toSorted()).toEqual(["baseUrl", "publicKey", "secretKey"])
    expect(JSON.stringify(data)).not.toMatch(/11112222|33334444/)
  })

  test("a SCIM sync job has every field", async () => {
    const { manage } = await newWorkspace()
    const made = await expectRecord(one(records.SyncJob), 202, manage.post("/scim/sync-jobs", {}))
    await expectRecord(one(records.SyncJob), 200, manage.get(`/scim/sync-jobs/${made.data.id}`))
  })

  test("an intern has every field, and a status of the eight", async () => {
    const { as } = await newWorkspace()
    const made = await expectJson<{ id: string }>(201, as.post("/interns", { name: "helper" }))
    await expectRecord(records.Intern, 200, as.get(`/interns/${made.id}`))
    const changed = await expectRecord(
      records.Intern,
      200,
      as.patch(`/interns/${made.id}`, { description: "Helps", model: "sim/agent" }),
    )
    expect(changed).toMatchObject({ description: "Helps", model: "sim/agent" })
    const cleared = await expectRecord(records.Intern, 200, as.patch(`/interns/${made.id}`, { description: null }))
    expect(cleared).toMatchObject({ description: null, model: "sim/agent" })
  })

  test("the session-cost dataset has its version, its window and its creation time", async () => {
    const { as } = await newWorkspace()
    const record = z.looseObject({ data: z.array(z.unknown()), meta: records.SessionCostMeta })
    await expectRecord(record, 200, as.get("/datasets/session-cost"))
  })
})

async function ownUser({ manage }: Workspace): Promise<string> {
  const { data } = await expectJson<{ data: { creator_user_id: string } }>(200, manage.get("/key"))
  return data.creator_user_id
}
