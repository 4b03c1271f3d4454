import * as fc from "fast-check"
import { afterEach, describe, expect, test, vi } from "vitest"
import { chunk, DONE, good, sse, usageChunk } from "../support/mock-provider.ts"
import { runs } from "../support/runs.ts"
import { expectJson, newWorkspace, openHolds, type Workspace } from "../support/world.ts"

/** Guardrails screen the result of a server tool before it reaches the model, the client or the stored run. */

type Json = Record<string, unknown>
type Found = { title: string; url: string; content: string }
type Traffic = { rounds: Json[]; searches: string[] }

const CANARY = "ada.lovelace@example.com"
const PATHS = ["/chat/completions", "/responses", "/messages"] as const
type Path = (typeof PATHS)[number]
const everyWay = PATHS.flatMap((path) => [false, true].map((stream) => [path, stream] as const))
const TOOLS: Json[] = [{ type: "openrouter:web_search" }]
const METADATA = { "x-service-metadata": "enabled" }
const page = (more: Partial<Found> = {}): Found => ({
  title: "Rivers",
  url: "https://a.example/rivers",
  content: "Long.",
  ...more,
})

afterEach(() => vi.restoreAllMocks())

/** Mocks a search engine that returns these pages, and a model that searches once and then responds with `says`. */
function mockSearch(found: Found[], reply = "Done."): Traffic {
  const traffic: Traffic = { rounds: [], searches: [] }
  vi.spyOn(globalThis, "fetch").mockImplementation(async (input, init) => {
    const request = new Request(input, init)
    if (request.url.startsWith("http://search.test")) {
      traffic.searches.push(new URL(request.url).searchParams.get("q") ?? "")
      return Response.json({ results: found })
    }
    const body = await request.json<Json>()
    traffic.rounds.push(body)
    const searches = JSON.stringify(body["tools"] ?? []).includes("web_search")
    if (!searches || (body["messages"] as Json[]).at(-1)?.["role"] === "tool") return answer(body, reply)
    const called = { name: "web_search", arguments: '{"query":"rivers"}' }
    const calls = [{ index: 0, id: "c1", type: "function", function: called }]
    if (body["stream"] === true)
      return sse([chunk({ tool_calls: calls }), chunk({}, "tool_calls"), usageChunk(3, 3), DONE])
    return Response.json({
      choices: [
        { index: 0, message: { role: "assistant", content: null, tool_calls: calls }, finish_reason: "tool_calls" },
      ],
    })
  })
  return traffic
}

function answer(body: Json, reply: string): Response {
  if (body["stream"] === true) return sse(good(reply))
  return Response.json({
    choices: [{ index: 0, message: { role: "assistant", content: reply }, finish_reason: "stop" }],
  })
}

async function guarded(action: string): Promise<Workspace> {
  const workspace = await newWorkspace()
  const { manage } = workspace
  const rules = { name: "Addresses", content_filter_builtins: [{ slug: "email", action }] }
  const { data } = await expectJson<{ data: { id: string } }>(201, manage.post("/guardrails", rules))
  const keys = await expectJson<{ data: { hash: string; kind: string }[] }>(200, manage.get("/keys"))
  const hashes = keys.data.flatMap(({ hash, kind }) => (kind === "normal" ? [hash] : []))
  await expectJson(200, manage.post(`/guardrails/${data.id}/assignments/keys`, { key_hashes: hashes }))
  return workspace
}

function bodyFor(path: Path, stream: boolean, more: Json = { tools: TOOLS }): Json {
  const shared = { model: "played/m71", stream, ...more }
  if (path === "/responses") return { ...shared, input: "rivers" }
  return { ...shared, max_tokens: 1_000, messages: [{ role: "user", content: "rivers" }] }
}

const sendTo = ({ as }: Workspace, path: Path, body: Json) => as.post(path, body, METADATA)

describe.each(everyWay)("a search result on %s, streamed: %s", (path, stream) => {
  test("is redacted for the model, in the citations and in the record of the run", async () => {
    const workspace = await guarded("redact")
    const { rounds } = mockSearch([
      page({ title: CANARY }),
      page({ url: `https://a.example/${CANARY}`, content: `By ${CANARY}` }),
    ])
    const response = await sendTo(workspace, path, bodyFor(path, stream))
    const raw = await response.text()
    expect(response.status).toBe(200)
    expect(rounds).toHaveLength(2)
    expect(JSON.stringify(rounds)).not.toContain(CANARY)
    expect(JSON.stringify(rounds[1])).toContain("By [EMAIL]")
    expect(raw).not.toContain(CANARY)
    if (path === "/chat/completions") expect(raw).toContain("By [EMAIL]")
    if (!stream) expect(raw).toContain("Done.")
  })

  test("reaches neither the model nor the client if a guardrail blocks it", async () => {
    const workspace = await guarded("block")
    const { rounds } = mockSearch([page({ content: `By ${CANARY}` })])
    const response = await sendTo(workspace, path, bodyFor(path, stream))
    const raw = await response.text()
    expect(response.status).toBe(stream ? 200 : 403)
    expect(rounds).toHaveLength(1)
    expect(raw).not.toContain(CANARY)
    expect(raw).toContain("blocks this tool result: it matches")
    expect(await openHolds(workspace)).toEqual([])
  })

  test("is unchanged if a guardrail flags it, and the trace reports that once", async () => {
    const workspace = await guarded("flag")
    mockSearch([page({ content: `By ${CANARY}` })])
    const raw = await (await sendTo(workspace, path, bodyFor(path, stream))).text()
    expect(raw).toContain(`By ${CANARY}`)
    const traces = pipelineIn(raw).filter(({ type }) => type === "guardrail")
    expect(traces).toMatchObject([{ data: { action: "flag", detected: true } }])
  })

  test("is redacted if the plugin `web` puts it before the model and cites it", async () => {
    const workspace = await guarded("redact")
    const { rounds, searches } = mockSearch([page({ title: CANARY, content: `By ${CANARY}` })])
    const raw = await (await sendTo(workspace, path, bodyFor(path, stream, { plugins: [{ id: "web" }] }))).text()
    expect(searches).toEqual(["rivers"])
    expect(JSON.stringify(rounds)).toContain("By [EMAIL]")
    expect(JSON.stringify(rounds) + raw).not.toContain(CANARY)
  })
})

function pipelineIn(raw: string): Json[] {
  const documents = raw.startsWith("{") ? [raw] : [...raw.matchAll(/^data: (\{.*)$/gm)].map(([, data]) => data ?? "{}")
  const all = documents.map((one) => JSON.parse(one) as Json)
  const inside = all.flatMap((one) => [one, one["response"], one["message"]] as (Json | undefined)[])
  const found = inside.flatMap((one) => (one?.["service_metadata"] ? [one["service_metadata"] as Json] : []))
  return found.at(-1)?.["pipeline"] as Json[]
}

describe.each(PATHS)("the next turn on %s", (path) => {
  test("has the redacted run", async () => {
    const workspace = await guarded("redact")
    const { rounds } = mockSearch([page({ content: `By ${CANARY}` })])
    const body = bodyFor(path, false)
    const first = await expectJson<Json>(200, sendTo(workspace, path, body))
    await expectJson(200, sendTo(workspace, path, continued(path, body, first)))
    const messages = rounds.at(2)?.["messages"] as Json[]
    expect(messages.find(({ role }) => role === "tool")?.["content"]).toContain("By [EMAIL]")
    expect(JSON.stringify(rounds)).not.toContain(CANARY)
  })
})

function continued(path: Path, body: Json, before: Json): Json {
  const more = { role: "user", content: "more" }
  if (path === "/responses") {
    return { ...body, input: [{ role: "user", content: "rivers" }, ...(before["output"] as Json[]), more] }
  }
  const message =
    path === "/messages"
      ? { role: "assistant", content: before["content"] }
      : (before["choices"] as { message: Json }[])[0]?.message
  return { ...body, messages: [...(body["messages"] as Json[]), message, more] }
}

test("no search result passes a redacting filter, at any position", async () => {
  const word = fc.constantFrom("Danube", "42", '"quoted"', "\n", "\\", "é", "{", "}", "https://a.example/?q=1", " ")
  const words = fc.array(word, { maxLength: 6 }).map((all) => all.join(" "))
  await fc.assert(
    fc.asyncProperty(
      words,
      words,
      fc.constantFrom("title", "content", "url"),
      fc.constantFrom(...everyWay),
      fc.boolean(),
      async (before, after, field, [path, stream], isPlugin) => {
        const workspace = await guarded("redact")
        const found = field === "url" ? `https://a.example/?to=${CANARY}&q=1` : `${before} ${CANARY} ${after}`
        const { rounds } = mockSearch([page(), page({ url: "https://b.example/", [field]: found })])
        const body = bodyFor(path, stream, isPlugin ? { plugins: [{ id: "web" }] } : { tools: TOOLS })
        const raw = await (await sendTo(workspace, path, body)).text()
        expect(JSON.stringify(rounds)).toContain("[EMAIL]")
        expect(JSON.stringify(rounds) + raw).not.toContain(CANARY)
      },
    ),
    { numRuns: runs(1) },
  )
})
