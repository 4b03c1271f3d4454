import { runDurableObjectAlarm, runInDurableObject } from "cloudflare:test"
import { env } from "cloudflare:workers"
import { afterEach, expect, test, vi } from "vitest"
import { insertIntern } from "../support/interns.ts"
import { mockProvider } from "../support/mock-provider.ts"
import { distributeCalls } from "../../src/observability/delivery/distribute.ts"
import {
  client,
  newKey,
  newWorkspace,
  operatorClient,
  expectJson,
  type TestClient,
  type Workspace,
} from "../support/world.ts"

afterEach(() => vi.restoreAllMocks())

/** A secret in every encoding that could be written by accident. */
const formsOf = (secret: string) => [
  secret,
  btoa(secret),
  encodeURIComponent(secret),
  JSON.stringify(secret).slice(1, -1),
]

async function database(): Promise<string> {
  const { results } = await env.DB.prepare(
    "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' AND name NOT LIKE '_cf_%'",
  ).all<{ name: string }>()
  const tables = await Promise.all(results.map(({ name }) => env.DB.prepare(`SELECT * FROM "${name}"`).all()))
  return JSON.stringify(tables.map((table) => table.results))
}

async function bucket(): Promise<string> {
  const texts: string[] = []
  for (let cursor: string | undefined, more = true; more;) {
    const page = await env.FILES.list({ include: ["httpMetadata", "customMetadata"], ...(cursor && { cursor }) })
    for (const object of page.objects) {
      texts.push(
        object.key,
        JSON.stringify(object.customMetadata),
        (await (await env.FILES.get(object.key))?.text()) ?? "",
      )
    }
    more = page.truncated
    cursor = page.truncated ? page.cursor : undefined
  }
  return texts.join("\n")
}

async function catalogue(): Promise<string> {
  const { keys } = await env.CATALOG.list()
  return (await Promise.all(keys.map(({ name }) => env.CATALOG.get(name)))).join("\n")
}

const destinationCanaries = () =>
  ["api-key", "header", "access-key", "secret-key", "session-token"].map(
    (name) => `${name}-canary-${crypto.randomUUID()}`,
  )

/** Destinations of several kinds, with these secrets. */
async function listenEverywhere(workspace: Workspace, secrets: readonly string[]): Promise<string[]> {
  const [apiKey, header, accessKeyId, secretAccessKey, sessionToken] = secrets
  const inputs = [
    {
      type: "langfuse",
      config: {
        baseUrl: "http://127.0.0.1:9/canary",
        publicKey: apiKey,
        secretKey: apiKey,
        headers: { "x-key": header },
      },
    },
    {
      type: "s3",
      config: {
        endpoint: "http://127.0.0.1:9/canary",
        bucketName: "b",
        accessKeyId,
        secretAccessKey,
        sessionToken,
      },
    },
  ]
  const made = inputs.map((input) => workspace.manage.post("/observability/destinations", { ...input, name: "x" }))
  return (await Promise.all(made.map((one) => expectJson<{ data: { id: string } }>(201, one)))).map(
    ({ data }) => data.id,
  )
}

/** Error messages of a call whose destinations echo everything they receive, with every kind of failure. */
async function brokenDeliveries(
  workspace: Workspace,
  ids: readonly string[],
  secrets: readonly string[],
  deliver: (answer: Promise<Response>) => Promise<void>,
) {
  const response = await workspace.as.chat("sim/echo", "Hello, destinations")
  await response.text()
  await workspace.ledger.balance()
  await runDurableObjectAlarm(workspace.object)
  const sent: unknown[] = []
  const BROADCAST = { send: async (body: unknown) => void sent.push(body) }
  const { organizationId, workspaceId } = workspace
  const generationIds = [response.headers.get("x-generation-id") ?? ""]
  const calls = { kind: "calls" as const, organizationId, workspaceId, generationIds, since: 0 }
  // Each knows its secrets.
  const secretsOf = ({ url }: Request) => (url.includes("/api/public/") ? secrets.slice(0, 2) : secrets.slice(2)).join()
  const answers = [
    async (request: Request) =>
      new Response(JSON.stringify([...request.headers]) + secretsOf(request) + request.url, { status: 400 }),
    async (request: Request) => new Response(secretsOf(request), { status: 401 }),
    () => Promise.reject(new Error(`connect failed with ${secrets.join()}`)),
    () => new Response(null, { status: 307, headers: { location: `http://10.0.0.1/${secrets.join()}` } }),
  ]
  for (const answer of answers) {
    const spy = vi
      .spyOn(globalThis, "fetch")
      .mockImplementation((input, init) => answer(new Request(input, init)) as never)
    await env.DB.prepare("UPDATE destinations SET failures = 0, paused_until = 0 WHERE workspace_id = ?")
      .bind(workspaceId)
      .run()
    await distributeCalls(calls, { ...env, BROADCAST } as never, Date.now() + 60_000)
    for (const id of ids) await deliver(workspace.manage.post(`/observability/destinations/${id}/test`, undefined))
    spy.mockRestore()
  }
  return JSON.stringify([calls, ...sent])
}

/** Tokens of a redeemed link and of an unused one. */
async function linkTokens(as: TestClient, key: string): Promise<string[]> {
  type Link = { data: { url: string } }
  const input = { client: "codex", key, model: "sim/echo" }
  const [used, open] = [
    await expectJson<Link>(201, as.post("/connect-links", input)),
    await expectJson<Link>(201, as.post("/connect-links", input)),
  ]
  const tokens = [used, open].map(({ data }) => new URL(data.url).hash.slice(1))
  await expectJson(200, client().post("/connect-links/redeem", { token: tokens[0] }))
  return tokens
}

test("no secret is ever stored, logged or returned again", async () => {
  const lines: string[] = []
  for (const level of ["log", "info", "warn", "error", "debug"] as const) {
    vi.spyOn(console, level).mockImplementation((...parts: unknown[]) => void lines.push(parts.map(String).join(" ")))
  }
  const workspace = await newWorkspace()
  const settings = { is_observability_io_logging_enabled: true }
  await expectJson(200, workspace.manage.patch(`/workspaces/${workspace.workspaceId}`, settings))
  const { key, as } = await newKey(workspace)
  const scoped = `sk-own-canary-${crypto.randomUUID()}`
  const rotated = `sk-own-rotated-${crypto.randomUUID()}`
  const external = `sk-external-canary-${crypto.randomUUID()}`
  const mistyped = `sk-gw-v1-mistyped-canary-${crypto.randomUUID()}`
  const verifier = `verifier-canary-${crypto.randomUUID()}${crypto.randomUUID()}`

  const vaulted = `vault-value-canary-${crypto.randomUUID()}`
  const replaced = `vault-replaced-canary-${crypto.randomUUID()}`
  const intern = await insertIntern(workspace)
  const secret = (value: string) => ({ hosts: ["api.example.com"], value })
  for (const value of [vaulted, replaced]) await expectJson(200, as.put("/vault/secrets/token", secret(value)))
  await expectJson(200, workspace.manage.post(`/vault/interns/${intern.id}/secrets/copy`, { names: ["token"] }))
  const destined = destinationCanaries()
  const destinations = await listenEverywhere(workspace, destined)

  type Data = { data: { id: string } }
  const byok = await expectJson<Data>(201, workspace.manage.post("/byok", { provider: "played", key: scoped }))
  await expectJson(200, workspace.manage.patch(`/byok/${byok.data.id}`, { key: rotated }))
  const challenge = {
    callback_url: "https://app.example/back",
    code_challenge: verifier,
    code_challenge_method: "plain",
  }
  const code = await expectJson<Data>(200, workspace.as.post("/auth/keys/code", challenge))
  const proof = { code: code.data.id, code_verifier: verifier, code_challenge_method: "plain" }
  const exchanged = await expectJson<{ key: string }>(200, client().post("/auth/keys", proof))
  const linked = await linkTokens(workspace.as, workspace.key)

  const answers: Response[] = []
  const deliver = async (answer: Promise<Response>) => void answers.push(await answer)
  for (const status of [400, 401, 403, 429, 500]) {
    const quoted = { error: { message: `The key ${rotated} is wrong, and so is ${scoped}.`, param: rotated } }
    const { stop } = mockProvider(() => Response.json(quoted, { status }))
    for (const stream of [false, true]) await deliver(as.chat("played/m92", "Hi", { stream }))
    stop()
  }
  await deliver(as.chat("sim/echo", "Hello"))
  await deliver(client(mistyped).get("/key"))
  await deliver(workspace.manage.post("/keys", { name: "x", external: { api_key: external, no_such_field: 1 } }))
  await deliver(workspace.manage.call("POST", "/byok", `{"provider":"openai","key":"${scoped}"`))
  await deliver(workspace.manage.post("/byok", { provider: "nobody", key: scoped }))
  await deliver(as.put("/vault/secrets/token", { hosts: ["*"], value: vaulted }))
  await deliver(as.call("PUT", "/vault/secrets/token", `{"hosts":[],"value":"${vaulted}"`))
  await deliver(client(intern.joinToken).get("/vault/secrets"))
  await deliver(client(intern.joinToken).get(`/interns/${intern.id}/daemon/secrets`))
  await deliver(as.get(`/vault/interns/${intern.id}/secrets`))
  await deliver(client().post("/auth/keys", proof))
  await deliver(operatorClient.post("/organizations", { name: "", starting_balance_usd: -1 }))
  const messages = await brokenDeliveries(workspace, destinations, destined, deliver)
  for (const id of destinations) {
    await deliver(workspace.manage.get(`/observability/destinations/${id}`))
    await deliver(workspace.manage.post(`/observability/destinations/${id}/test`, undefined))
    await deliver(workspace.manage.post(`/observability/destinations/${id}/redeliver`, undefined))
    await deliver(workspace.manage.patch(`/observability/destinations/${id}`, { config: { headers: { "x y": "z" } } }))
  }
  const lists = [
    "/observability/destinations",
    "/key",
    "/credits",
    "/keys",
    "/byok",
    "/audit?limit=100",
    "/workspaces",
    "/guardrails",
    "/presets",
  ]
  for (const path of [
    ...lists,
    "/files",
    "/openapi.json",
    "/vault/secrets",
    "/activity",
    `/byok/${byok.data.id}`,
    "/organization/members",
  ]) {
    await deliver(workspace.manage.get(path))
  }
  await workspace.ledger.balance()

  const reported = await Promise.all(answers.map(async (one) => JSON.stringify([...one.headers]) + (await one.text())))
  const ledger = await runInDurableObject(workspace.object, (_, { storage }) =>
    JSON.stringify(
      ["credits", "counters", "holds", "outbox", "broadcasts", "published"].map((table) =>
        storage.sql.exec(`SELECT * FROM ${table}`).toArray(),
      ),
    ),
  )
  const places = {
    logs: lines.join("\n"),
    answers: reported.join("\n"),
    database: await database(),
    ledger,
    bucket: await bucket(),
    catalogue: await catalogue(),
    messages,
  }
  for (const id of destinations) await expectJson(200, workspace.manage.delete(`/observability/destinations/${id}`))
  // Proves that the searched places were read.
  expect(places.database).toContain(byok.data.id)
  expect(places.ledger).toContain("played/m92")
  expect(places.bucket).toContain("Hello")
  expect(places.database).toContain(destinations[0])
  expect(places.answers).toContain("[redacted]")
  expect(places.answers).not.toContain(btoa(`${destined[0]}:${destined[0]}`))
  expect(places.messages).toContain('"kind":"calls"')
  const secrets = [key, workspace.key, workspace.managementKey, exchanged.key, scoped, rotated, external, mistyped]
  const ofInterns = [vaulted, replaced, intern.key, intern.joinToken]
  const bound = [env.MASTER_KEY ?? "", env.BOOTSTRAP_MANAGEMENT_KEY ?? ""]
  for (const secret of [...secrets, ...ofInterns, ...bound, ...linked, code.data.id, ...destined]) {
    expect(secret.length).toBeGreaterThan(20)
    for (const form of formsOf(secret)) {
      for (const [position, text] of Object.entries(places))
        expect(text.includes(form), `${form} in ${position}`).toBe(false)
    }
  }
})
