import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { mkdtempSync, writeFileSync } from "node:fs"
import http from "node:http"
import type { AddressInfo } from "node:net"
import { tmpdir } from "node:os"
import path from "node:path"
import { setTimeout } from "node:timers/promises"
import { afterAll, beforeAll, expect, test } from "vitest"
import { ensureBuild } from "../../src/dev/build/build.ts"
import { root } from "../../src/local/paths.ts"
import { eventually } from "../support/eventually.ts"
import { findFreePort } from "../support/free-port.ts"
import { removeFolder } from "../support/remove-folder.ts"

/** The single-machine program: production, no wrangler, state in a folder. */

const folder = mkdtempSync(path.join(tmpdir(), "gateway-serve-"))
const BOOTSTRAP = "sk-gw-boot-of-the-single-machine-0123456789"
const secret = path.join(folder, "master-key")
writeFileSync(secret, Buffer.alloc(32, 9).toString("base64"))

/** Lets the vendor finish the stream that it has begun. */
let finishStream: (() => void) | undefined

function respondInTwoParts(response: http.ServerResponse): void {
  const piece = (delta: object, finish: string | null = null) =>
    `data: ${JSON.stringify({ id: "1", object: "chat.completion.chunk", choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`
  response.setHeader("content-type", "text/event-stream")
  response.write(piece({ role: "assistant", content: "First" }))
  finishStream = () => {
    const usage = { prompt_tokens: 3, completion_tokens: 4, total_tokens: 7 }
    response.end(
      `${piece({ content: " and last" }, "stop")}data: ${JSON.stringify({ choices: [], usage })}\n\ndata: [DONE]\n\n`,
    )
  }
}

let listed = [{ id: "gpt-4.1-mini" }, { id: "gpt-brand-new" }, { id: "text-embedding-9" }]
const vendor = http.createServer((request, response) => {
  response.setHeader("content-type", "application/json")
  if (request.url?.startsWith("/v1/models")) {
    if (request.headers.authorization === "Bearer wrong-key") response.statusCode = 401
    return void response.end(JSON.stringify({ data: listed }))
  }
  let sent = ""
  request.on("data", (part: Buffer) => (sent += part.toString()))
  request.on("end", () => {
    if (sent.includes('"stream":true')) return respondInTwoParts(response)
    const message = { role: "assistant", content: "From the vendor" }
    const usage = { prompt_tokens: 3, completion_tokens: 4, total_tokens: 7 }
    response.end(
      JSON.stringify({
        id: "1",
        object: "chat.completion",
        choices: [{ index: 0, message, finish_reason: "stop" }],
        usage,
      }),
    )
  })
})

let port = 0
let url = ""
let vendorUrl = ""
let child: ChildProcess
let printed = ""

beforeAll(async () => {
  vendor.listen(0, "127.0.0.1")
  await Promise.all([ensureBuild(), once(vendor, "listening")])
  port = await findFreePort()
  url = `http://127.0.0.1:${port}`
  vendorUrl = `http://127.0.0.1:${(vendor.address() as AddressInfo).port}/v1`
})
afterAll(() => {
  vendor.close()
  removeFolder(folder)
})

function run(env: Record<string, string>): ChildProcess {
  printed = ""
  const args = [
    "src/local/serve.ts",
    "--port",
    String(port),
    "--host",
    "127.0.0.1",
    "--state",
    path.join(folder, "data"),
  ]
  child = spawn(process.execPath, args, {
    cwd: root,
    env: { PATH: process.env["PATH"] ?? "", ...env },
    stdio: ["ignore", "pipe", "pipe"],
  })
  for (const stream of [child.stdout, child.stderr]) stream?.on("data", (text: Buffer) => (printed += text.toString()))
  return child
}

async function start(env: Record<string, string> = {}): Promise<void> {
  run({
    MASTER_KEY_FILE: secret,
    BOOTSTRAP_MANAGEMENT_KEY: BOOTSTRAP,
    OPENAI_API_KEY: "vendor-key-0123456789",
    OPENAI_BASE_URL: vendorUrl,
    VLLM_BASE_URL: vendorUrl,
    PRIVATE_HOSTS: "127.0.0.1",
    ...env,
  })
  await eventually(() => expect(printed).toContain('"ready"'))
}

async function stop(): Promise<void> {
  child.kill("SIGTERM")
  const [code] = (await once(child, "exit")) as [number | null]
  expect(code, printed).toBe(0)
}

type Call = [method: string, resource: string, key: string, body?: object]

type Answer<Body> = { status: number; body: Body }

async function call(...[method, resource, key, body]: Call) {
  const response = await fetch(`${url}/api/v1${resource}`, {
    method,
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    ...(body && { body: JSON.stringify(body) }),
  })
  return { status: response.status, body: JSON.parse(await response.text()) }
}

type Chat = { choices: { message: { content: string } }[]; error?: { message: string } }
const chat = (key: string, model: string): Promise<Answer<Chat>> =>
  call("POST", "/chat/completions", key, { model, messages: [{ role: "user", content: "Hello" }] })

test("it exits with the names of missing secrets", async () => {
  const [code] = (await once(run({}), "exit")) as [number | null]
  expect(code).toBe(1)
  expect(printed).toMatch(/MASTER_KEY is missing.*BOOTSTRAP_MANAGEMENT_KEY is missing/s)
})

test("it serves discovered models of a provider, and keeps keys and balances over a restart", async () => {
  await start()
  expect((await fetch(`${url}/ready`)).status).toBe(200)
  type Made = { data: { management_key: string; api_key: string } }
  const made: Answer<Made> = await call("POST", "/organizations", BOOTSTRAP, { name: "Test", starting_balance_usd: 5 })
  const { api_key: key, management_key: manager } = made.body.data

  type Found = { data: { provider: string; models: number; added: number; unpriced: number; error: string | null }[] }
  const discover = (): Promise<Answer<Found>> => call("POST", "/catalogue/discover", BOOTSTRAP, {})
  const found = await discover()
  expect(found.body.data).toContainEqual({
    provider: "openai",
    models: 3,
    added: 3,
    removed: 0,
    unpriced: 3,
    error: null,
    key_errors: [],
  })
  expect(found.body.data).toContainEqual({
    provider: "vllm",
    models: 3,
    added: 3,
    removed: 0,
    unpriced: 0,
    error: null,
    key_errors: [],
  })

  // A self-hosted model is free; a vendor's model has to be priced before it is called.
  expect((await chat(key, "vllm/gpt-brand-new")).body.choices[0]?.message.content).toBe("From the vendor")
  const refused = await chat(key, "openai/gpt-brand-new")
  expect([refused.status, refused.body.error?.message]).toEqual([404, expect.stringContaining("no price is known")])
  const pricing = { prompt: "0.001", completion: "0.001" }
  const priced = { model: "openai/gpt-brand-new", provider: "openai", pricing }
  expect((await call("PATCH", "/catalogue/endpoints", BOOTSTRAP, priced)).status).toBe(200)
  expect((await chat(key, "openai/gpt-brand-new")).status).toBe(200)

  // Models that the vendor no longer lists are removed, unless they have a manual price.
  listed = [{ id: "gpt-4.1-mini" }]
  const again = await discover()
  expect(again.body.data).toContainEqual({
    provider: "openai",
    models: 1,
    added: 0,
    removed: 1,
    unpriced: 1,
    error: null,
    key_errors: [],
  })
  expect((await chat(key, "openai/gpt-brand-new")).status).toBe(200)
  expect((await chat(key, "vllm/gpt-brand-new")).status).toBe(404)

  type Credits = { data: { total_usage: number } }
  const credits = (): Promise<Answer<Credits>> => call("GET", "/credits", manager)
  const before = await credits()
  expect(before.body.data.total_usage).toBe(0.014)
  expect((await chat(key, "openai/gpt-brand-new")).status).toBe(200)
  await stop()

  await start({ OPENAI_API_KEY: "wrong-key" })
  expect((await credits()).body.data.total_usage).toBe(0.021)
  // The call just before the stop holds nothing any more: its isolate returned its lease.
  type Ladder = { data: { kind: string; held: number }[] }
  const ladder: Answer<Ladder> = await call("GET", "/key/limits", key)
  expect(ladder.body.data.map(({ held }) => held)).toEqual(ladder.body.data.map(() => 0))
  const ofOne: Answer<Found> = await call("POST", "/catalogue/discover", BOOTSTRAP, { providers: ["openai"] })
  const [failed] = ofOne.body.data
  expect(failed?.error).toMatch(/returned 401: the key is wrong/)
  expect(failed?.error).not.toContain("wrong-key")
  // Every call logged a line of JSON, without the key or the prompt.
  expect(printed).not.toMatch(/vendor-key|Hello/)
  await stop()
})

test("a SIGTERM lets running streams end, rejects new requests meanwhile, and leaves nothing to be charged later", async () => {
  // Calls are not logged: the end must not depend on it. A lease that is not returned is charged after two seconds.
  const quiet = { LOG_CALLS: "off", HOLD_TTL_MS: "2000" }
  await start(quiet)
  type Made = { data: { api_key: string; management_key: string } }
  const made: Answer<Made> = await call("POST", "/organizations", BOOTSTRAP, {
    name: "Test",
    starting_balance_usd: 100,
  })
  const { api_key: key, management_key: manager } = made.body.data
  const price = {
    model: "openai/gpt-4.1-mini",
    provider: "openai",
    pricing: { prompt: "0.000001", completion: "0.000001" },
  }
  expect((await call("POST", "/catalogue/discover", BOOTSTRAP, { providers: ["openai"] })).status).toBe(200)
  expect((await call("PATCH", "/catalogue/endpoints", BOOTSTRAP, price)).status).toBe(200)
  const stream = await fetch(`${url}/api/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify({ model: price.model, stream: true, messages: [{ role: "user", content: "Hello" }] }),
  })
  expect((await chat(key, price.model)).status).toBe(200)
  child.kill("SIGTERM")
  const ended = once(child, "exit")
  await eventually(async () => expect((await fetch(`${url}/health`)).status).toBe(503))
  const late = await chat(key, price.model)
  expect([late.status, late.body.error?.message]).toEqual([503, expect.stringContaining("restarting")])
  finishStream?.()
  expect(await stream.text()).toMatch(/and last.*\[DONE\]/s)
  expect(await ended).toEqual([0, null])

  await start(quiet)
  type Credits = Answer<{ data: { total_usage: number } }>
  const usage = async () => ((await call("GET", "/credits", manager)) as Credits).body.data.total_usage
  expect(await usage()).toBe(0.000014)
  await setTimeout(2_500)
  expect(await usage()).toBe(0.000014)
  await stop()
})

test("the address of a client is that of its connection, unless CLIENT_IP_HEADER names a proxy's header", async () => {
  const addressWith = async (env: Record<string, string>): Promise<string | null> => {
    await start(env)
    type Made = { data: { management_key: string } }
    const made: Answer<Made> = await call("POST", "/organizations", BOOTSTRAP, { name: "Addresses" })
    const manager = made.body.data.management_key
    const created = await fetch(`${url}/api/v1/keys`, {
      method: "POST",
      headers: {
        authorization: `Bearer ${manager}`,
        "content-type": "application/json",
        "cf-connecting-ip": "203.0.113.9",
        "mf-cf-blob": JSON.stringify({ clientIp: "203.0.113.9:1" }),
        "x-forwarded-for": "203.0.113.9, 198.51.100.7",
      },
      body: JSON.stringify({ name: "key" }),
    })
    expect(created.status).toBe(201)
    type Entries = { data: { action: string; ip_address: string | null }[] }
    const entries: Answer<Entries> = await call("GET", "/audit", manager)
    await stop()
    return entries.body.data.find(({ action }) => action === "api_key.create")?.ip_address ?? null
  }
  expect(await addressWith({})).toBe("127.0.0.1")
  expect(await addressWith({ CLIENT_IP_HEADER: "X-Forwarded-For" })).toBe("198.51.100.7")
})

test("a second process on the same state exits with 1", async () => {
  await start()
  const first = child
  const [code] = (await once(run({ MASTER_KEY_FILE: secret, BOOTSTRAP_MANAGEMENT_KEY: BOOTSTRAP }), "exit")) as [number]
  expect([code, printed]).toEqual([1, expect.stringContaining("in use by process")])
  child = first
  await stop()
})
