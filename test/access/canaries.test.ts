import { runInDurableObject } from "cloudflare:test"
import { env } from "cloudflare:workers"
import { afterEach, expect, test, vi } from "vitest"
import { insertIntern } from "../support/interns.ts"
import { playProvider } from "../support/played.ts"
import { door, newKey, newWorkspace, operator, reply } from "../support/world.ts"

afterEach(() => vi.restoreAllMocks())

/** A secret, and the ways in which it could be written down by accident. */
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

test("no secret that was ever given is stored, logged or told again", async () => {
  const lines: string[] = []
  for (const level of ["log", "info", "warn", "error", "debug"] as const) {
    vi.spyOn(console, level).mockImplementation((...parts: unknown[]) => void lines.push(parts.map(String).join(" ")))
  }
  const workspace = await newWorkspace()
  const settings = { is_observability_io_logging_enabled: true }
  await reply(200, workspace.manage.patch(`/workspaces/${workspace.workspaceId}`, settings))
  const { key, as } = await newKey(workspace)
  const own = `sk-own-canary-${crypto.randomUUID()}`
  const rotated = `sk-own-rotated-${crypto.randomUUID()}`
  const external = `sk-external-canary-${crypto.randomUUID()}`
  const mistyped = `sk-gw-v1-mistyped-canary-${crypto.randomUUID()}`
  const verifier = `verifier-canary-${crypto.randomUUID()}${crypto.randomUUID()}`

  const vaulted = `vault-value-canary-${crypto.randomUUID()}`
  const replaced = `vault-replaced-canary-${crypto.randomUUID()}`
  const intern = await insertIntern(workspace)
  const secret = (value: string) => ({ hosts: ["api.example.com"], value })
  for (const value of [vaulted, replaced]) await reply(200, as.put("/vault/secrets/token", secret(value)))
  await reply(200, as.post(`/vault/interns/${intern.id}/secrets/copy`, { names: ["token"] }))
  // The one answer that has it, for the daemon alone; here it only leaves its traces.
  await reply(200, door(intern.joinToken).get(`/interns/${intern.id}/daemon/secrets`))

  type Data = { data: { id: string } }
  const byok = await reply<Data>(201, workspace.manage.post("/byok", { provider: "played", key: own }))
  await reply(200, workspace.manage.patch(`/byok/${byok.data.id}`, { key: rotated }))
  const challenge = {
    callback_url: "https://app.example/back",
    code_challenge: verifier,
    code_challenge_method: "plain",
  }
  const code = await reply<Data>(200, workspace.as.post("/auth/keys/code", challenge))
  const proof = { code: code.data.id, code_verifier: verifier, code_challenge_method: "plain" }
  const exchanged = await reply<{ key: string }>(200, door().post("/auth/keys", proof))

  const answers: Response[] = []
  const ask = async (answer: Promise<Response>) => void answers.push(await answer)
  for (const status of [400, 401, 403, 429, 500]) {
    const quoted = { error: { message: `The key ${rotated} is wrong, and so is ${own}.`, param: rotated } }
    const { stop } = playProvider(() => Response.json(quoted, { status }))
    for (const stream of [false, true]) await ask(as.chat("played/m92", "Hi", { stream }))
    stop()
  }
  await ask(as.chat("sim/echo", "Hello"))
  await ask(door(mistyped).get("/key"))
  await ask(workspace.manage.post("/keys", { name: "x", external: { api_key: external, no_such_field: 1 } }))
  await ask(workspace.manage.call("POST", "/byok", `{"provider":"openai","key":"${own}"`))
  await ask(workspace.manage.post("/byok", { provider: "nobody", key: own }))
  await ask(as.put("/vault/secrets/token", { hosts: ["*"], value: vaulted }))
  await ask(as.call("PUT", "/vault/secrets/token", `{"hosts":[],"value":"${vaulted}"`))
  await ask(door(intern.joinToken).get("/vault/secrets"))
  await ask(as.get(`/vault/interns/${intern.id}/secrets`))
  await ask(door().post("/auth/keys", proof))
  await ask(operator.post("/organizations", { name: "", starting_balance_usd: -1 }))
  const lists = ["/key", "/credits", "/keys", "/byok", "/audit?limit=100", "/workspaces", "/guardrails", "/presets"]
  for (const path of [
    ...lists,
    "/files",
    "/openapi.json",
    "/vault/secrets",
    "/activity",
    `/byok/${byok.data.id}`,
    "/organization/members",
  ]) {
    await ask(workspace.manage.get(path))
  }
  await workspace.ledger.balance()

  const told = await Promise.all(answers.map(async (one) => JSON.stringify([...one.headers]) + (await one.text())))
  const ledger = await runInDurableObject(workspace.object, (_, { storage }) =>
    JSON.stringify(
      ["credits", "counters", "holds", "outbox"].map((table) => storage.sql.exec(`SELECT * FROM ${table}`).toArray()),
    ),
  )
  const places = {
    logs: lines.join("\n"),
    answers: told.join("\n"),
    database: await database(),
    ledger,
    bucket: await bucket(),
    catalogue: await catalogue(),
  }
  // The places are read at all.
  expect(places.database).toContain(byok.data.id)
  expect(places.ledger).toContain("played/m92")
  expect(places.bucket).toContain("Hello")
  const secrets = [key, workspace.key, workspace.managementKey, exchanged.key, own, rotated, external, mistyped]
  const ofInterns = [vaulted, replaced, intern.key, intern.joinToken]
  const bound = [env.MASTER_KEY ?? "", env.BOOTSTRAP_MANAGEMENT_KEY ?? ""]
  for (const secret of [...secrets, ...ofInterns, ...bound, code.data.id]) {
    expect(secret.length).toBeGreaterThan(20)
    for (const form of formsOf(secret)) {
      for (const [place, text] of Object.entries(places)) expect(text.includes(form), `${form} in ${place}`).toBe(false)
    }
  }
})
