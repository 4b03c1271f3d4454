import { once } from "node:events"
import { mkdtempSync, readFileSync, writeFileSync } from "node:fs"
import net, { type AddressInfo } from "node:net"
import { tmpdir } from "node:os"
import path from "node:path"
import { afterAll, expect, onTestFinished, test } from "vitest"
import { ensureDevVars } from "../../src/dev/start/dev-vars.ts"
import { familyOf } from "../../src/local/processes.ts"
import { eventually } from "../support/eventually.ts"
import { byNode, byShell, end, gone, npmStart, failingNpmStart, type Started } from "./npm-start.ts"
import { removeFolder } from "../support/remove-folder.ts"

function newFolder(): string {
  const folder = mkdtempSync(path.join(tmpdir(), "gateway-start-"))
  onTestFinished(() => removeFolder(folder))
  return folder
}

/** Shared, since a start with new state takes twice the time of one with existing state. */
const state = mkdtempSync(path.join(tmpdir(), "gateway-start-"))
afterAll(() => removeFolder(state))

/** Ends what was started, whatever the result of the test. */
function watched(started: Started): Started {
  onTestFinished(() => end(started, "SIGTERM"))
  return started
}

async function get<T>({ url }: Started, key: string, resource: string): Promise<T> {
  const response = await fetch(`${url}${resource}`, { headers: { authorization: `Bearer ${key}` } })
  expect(response.status).toBe(200)
  return ((await response.json()) as { data: T }).data
}

/** State that a user would miss. */
async function memoryOf(started: Started, generationId: string) {
  return {
    managementKey: started.managementKey,
    apiKey: started.apiKey,
    generation: await get<object>(started, started.apiKey, `/generation?id=${generationId}`),
    key: await get<object>(started, started.apiKey, "/key"),
    credits: await get<{ total_usage: number }>(started, started.managementKey, "/credits"),
  }
}

test("a second start keeps the state of the first, and SIGTERM and SIGINT leave no process behind", async () => {
  const first = watched(await npmStart(state))
  expect(first.printed()).toContain(`Keys are in ${path.join(state, ".dev.env")}, secrets in .dev.vars.`)
  // The command and its runtime.
  expect(first.family.length).toBeGreaterThanOrEqual(2)
  const response = await fetch(`${first.url}/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${first.apiKey}`, "content-type": "application/json" },
    body: JSON.stringify({ model: "sim/echo", messages: [{ role: "user", content: "Remember me" }] }),
  })
  expect(response.status).toBe(200)
  const generationId = response.headers.get("x-generation-id") ?? ""
  const before = await memoryOf(first, generationId)
  expect(before.credits.total_usage).toBeGreaterThan(0)
  await end(first, "SIGTERM")

  const second = watched(await npmStart(state))
  expect(await memoryOf(second, generationId)).toEqual(before)
  await end(second, "SIGINT")
})

test("a killed parent leaves no process behind", async () => {
  const started = watched(await npmStart(state, byShell))
  expect(started.family.length).toBeGreaterThanOrEqual(3)
  started.process.kill("SIGKILL")
  await gone(started)
})

test("a crashed runtime is restarted with the same keys and balance", async () => {
  const started = watched(await npmStart(state))
  const before = await get<object>(started, started.managementKey, "/credits")
  const [, runtime = 0] = started.family
  process.kill(runtime, "SIGKILL")
  await eventually(async () => {
    expect(await get<object>(started, started.managementKey, "/credits")).toEqual(before)
  }, 20_000)
  await end({ ...started, family: familyOf(started.process.pid ?? 0) })
})

test("a start after kill -9 ends the orphaned runtime and takes its port", async () => {
  const killed = watched(await npmStart(state))
  const port = Number(new URL(killed.url).port)
  killed.process.kill("SIGKILL")
  const next = watched(await npmStart(state, byNode, port))
  expect(next.url).toBe(killed.url)
  expect(next.apiKey).toBe(killed.apiKey)
  await gone(killed)
  await end(next)
})

test("a port in use ends the start with exit code 1 and a hint at --port", async () => {
  const server = net.createServer().listen(0, "127.0.0.1")
  onTestFinished(() => void server.close())
  await once(server, "listening")
  const { port } = server.address() as AddressInfo
  const { code, printed } = await failingNpmStart(port, newFolder())
  expect(code).toBe(1)
  expect(printed).toContain(`Port ${port} is in use`)
  expect(printed).toContain("--port")
})

test("development secrets are added once to an existing .dev.vars", () => {
  const file = path.join(newFolder(), ".dev.vars")
  const written = '# mine\nOPENAI_API_KEY="sk-mine"\n\nMASTER_KEY=kept'
  writeFileSync(file, written)
  const secrets = ensureDevVars(file)
  expect(readFileSync(file, "utf8").startsWith(`${written}\n`)).toBe(true)
  expect(secrets).toMatchObject({ OPENAI_API_KEY: "sk-mine", MASTER_KEY: "kept" })
  expect(secrets["BOOTSTRAP_MANAGEMENT_KEY"]?.length).toBeGreaterThanOrEqual(32)
  const after = readFileSync(file, "utf8")
  expect(ensureDevVars(file)).toEqual(secrets)
  expect(readFileSync(file, "utf8")).toBe(after)
})
