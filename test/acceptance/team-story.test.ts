import { once } from "node:events"
import { mkdtempSync, readFileSync, writeFileSync } from "node:fs"
import http from "node:http"
import type { AddressInfo } from "node:net"
import { tmpdir } from "node:os"
import path from "node:path"
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js"
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js"
import { toFile } from "openai"
import { afterAll, beforeAll, expect, test } from "vitest"
import { eventually } from "../support/eventually.ts"
import { gatewayCommand } from "./command.ts"
import { startReceiver } from "./receivers.ts"
import { gatewayUrl, newOrganization, openai, type Organization } from "./world.ts"
import { removeFolder } from "../support/remove-folder.ts"

/** A team's first week, from an empty organization to usage that adds up. */

const documents = http.createServer((request, response) => {
  const server = new McpServer({ name: "documents", version: "1.0.0" })
  server.registerTool("search", {}, () => ({ content: [{ type: "text", text: "Found it." }] }))
  const transport = new StreamableHTTPServerTransport({})
  void server.connect(transport).then(() => transport.handleRequest(request, response))
})
const home = mkdtempSync(path.join(tmpdir(), "gateway-story-"))

let organization: Organization
let pager: Awaited<ReturnType<typeof startReceiver>>

beforeAll(async () => {
  organization = await newOrganization()
  pager = await startReceiver()
  documents.listen(0, "127.0.0.1")
  await once(documents, "listening")
})
afterAll(async () => {
  documents.close()
  await pager.stop()
  removeFolder(home)
})

function declared(): string {
  return `version: 1
workspaces:
  research:
    over_budget_models: ["sim/echo:free"]
    budgets:
      daily: { limit_usd: 0.0032 }
    mcp_servers:
      documents:
        name: Documents
        url: http://127.0.0.1:${(documents.address() as AddressInfo).port}/mcp
        price_per_call_usd: 0.003
    keys:
      analyst: { mcp_tools: [documents/search] }
    aliases:
      team/fast: { arms: [{ model: sim/echo }] }
    alert_channels:
      on-call:
        type: webhook
        config: { url: "${pager.url}/alerts" }
  support:
    requests_per_minute: 100
    response_cache_seconds: 300
    keys:
      desk: { limit: 1, limit_reset: monthly }
`
}

async function get<T>(resource: string, key = organization.managementKey): Promise<T> {
  const response = await fetch(`${gatewayUrl}${resource}`, { headers: { authorization: `Bearer ${key}` } })
  const text = await response.text()
  expect(response.status, text).toBe(200)
  return JSON.parse(text) as T
}

const promptFields = (content: string) => ({ max_tokens: 20, messages: [{ role: "user" as const, content }] })
const nano = (usd: number) => Math.round(usd * 1e9)
const sum = (costs: readonly number[]) => costs.reduce((all, one) => all + nano(one), 0)

test("a team declares its workspaces, connects an agent, exceeds its budget, and finds all calls in its usage", async () => {
  const file = path.join(home, "gateway.yaml")
  writeFileSync(file, declared())
  const manager = { GATEWAY_MANAGEMENT_KEY: organization.managementKey }
  const applied = await gatewayCommand(["apply", file, "--keys-out", path.join(home, "keys.jsonl")], manager)
  expect(applied.code, applied.errors).toBe(0)
  const lines = readFileSync(path.join(home, "keys.jsonl"), "utf8").trimEnd().split("\n")
  const keys = new Map(
    lines.map((line) => JSON.parse(line) as { name: string; key: string }).map((one) => [one.name, one.key]),
  )
  const [analyst = "", desk = ""] = [keys.get("analyst"), keys.get("desk")]

  const connected = await gatewayCommand(["connect", "codex", "--model", "team/fast"], {
    HOME: home,
    GATEWAY_API_KEY: analyst,
  })
  expect(connected.code, connected.errors).toBe(0)
  expect(readFileSync(path.join(home, ".codex/config.toml"), "utf8")).toContain('model = "team/fast"')

  // Through the alias.
  const research = openai(analyst)
  const first = await research.chat.completions.create({ model: "team/fast", ...promptFields("What is new?") })
  expect(first.model).toBe("sim/echo")

  // A tool of the MCP server, which the gateway calls.
  const answered = await research.responses.create({
    model: "sim/tool-call",
    max_output_tokens: 50,
    input: "Look it up.",
    tools: [{ type: "mcp", server_label: "documents", require_approval: "never" }],
  })
  expect(answered.output.find(({ type }) => type === "mcp_call")).toMatchObject({ name: "search", output: "Found it." })

  // Past the budget of the workspace: the cheaper model is used, and the team gets an alert.
  const models: string[] = []
  while (!models.includes("sim/echo:free") && models.length < 100) {
    models.push(
      (await research.chat.completions.create({ model: "team/fast", ...promptFields(`Question ${models.length}`) }))
        .model,
    )
  }
  expect(models.at(-1)).toBe("sim/echo:free")
  await eventually(() => {
    const alerts = pager.got.map(({ body }) => JSON.parse(body) as { type: string; data: { message: string } })
    expect(JSON.stringify(alerts)).toMatch(/limit_threshold/)
    expect(JSON.stringify(alerts)).toMatch(/limit_refused/)
  })
  expect(pager.got.every(({ headers }) => headers["webhook-signature"] !== undefined)).toBe(true)

  // The other workspace: a repeated request is free, and a batch runs.
  const support = openai(desk)
  const repeated = async () =>
    support.chat.completions.create({ model: "sim/echo", ...promptFields("Where is my parcel?") }).withResponse()
  const hits: (string | null)[] = []
  for (let at = 0; at < 2; at++) hits.push((await repeated()).response.headers.get("x-response-cache"))
  expect(hits).toEqual(["miss", "hit"])
  const requests = ["a", "b"].map((id) => ({
    custom_id: id,
    method: "POST",
    url: "/v1/chat/completions",
    body: { model: "sim/echo", ...promptFields(`Ticket ${id}`) },
  }))
  const input = await support.files.create({
    file: await toFile(Buffer.from(requests.map((one) => `${JSON.stringify(one)}\n`).join("")), "night.jsonl"),
    purpose: "batch",
  })
  const { id: batchId } = await support.batches.create({
    input_file_id: input.id,
    endpoint: "/v1/chat/completions",
    completion_window: "24h",
  })
  await eventually(async () => expect((await support.batches.retrieve(batchId)).status).toBe("completed"))

  // Every list has the same sum, to the nano-dollar.
  await eventually(async () => {
    const calls = await get<{ data: { cost: number; workspace_id: string }[] }>("/calls?limit=200")
    // The chat, two rounds and a tool, those until the budget was spent, the cached pair, the batch.
    expect(calls.data).toHaveLength(1 + 3 + models.length + 2 + 2)
    const all = sum(calls.data.map(({ cost }) => cost))
    const spent = await Promise.all([analyst, desk].map((key) => get<{ data: { usage: number } }>("/key", key)))
    expect(sum(spent.map(({ data }) => data.usage))).toBe(all)
    const { data: budgets } = await get<{ data: { limit_usd: number }[] }>("/workspaces/research/budgets")
    const inResearch = spent[0]?.data.usage ?? 0
    expect(nano(inResearch)).toBeLessThanOrEqual(nano(budgets[0]?.limit_usd ?? 0))
    const { data: credits } = await get<{ data: { total_usage: number } }>("/credits")
    expect(nano(credits.total_usage)).toBe(all)
    const batch = await get<{ cost: number }>(`/batches/${batchId}?include_cost=true`, desk)
    expect(nano(batch.cost)).toBeGreaterThan(0)
  })
})
