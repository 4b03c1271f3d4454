import { spawn } from "node:child_process"
import { readdirSync, readFileSync, writeFileSync } from "node:fs"
import { Server } from "node:http"
import path from "node:path"
import { setTimeout } from "node:timers/promises"
import { pathToFileURL } from "node:url"
import { convertV4MiniflareOptions, Miniflare, type V4WorkerOptions } from "miniflare"
import {
  unstable_getMiniflareWorkerOptions as workerOptionsOf,
  unstable_readConfig as readConfig,
  unstable_splitSqlQuery as splitSql,
} from "wrangler"
import { useDirectOutbound } from "../../src/local/direct-outbound.ts"
import { modulesOf } from "../../src/local/bundle-modules.ts"
import { dist } from "../../src/local/paths.ts"
import { findFreePort } from "../support/free-port.ts"
import { serveParent } from "./child.ts"
import { ownChild } from "./cpu.ts"
import type { Endpoint } from "./load.ts"
import { MODEL, PRICE } from "./workloads.ts"

/** One target in a separate process, so that the CPU of its workerd can be measured. */

export type Target = Endpoint & {
  /** Process whose CPU is counted. */
  worker: number
  model: string
  /** The gateway's endpoint for charged credits; null for the others. */
  credits: Endpoint | null
  /** Headers of further keys of the gateway. */
  guarded?: Record<string, string>
  keys?: Record<string, string>[]
}

/** Number of keys that the row with many keys uses in turn. */
const MANY_KEYS = 400
/** Detectors that a team would turn on for all members. */
const DETECTORS = ["email", "phone", "credit-card", "secrets", "regex-prompt-injection"]

/** Folder of `prepare.ts` for targets that are not in the source, from the root of the project. */
export const FOLDER = ".wrangler/bench"
export const PORTKEY = `${FOLDER}/portkey/node_modules/@portkey-ai/gateway`

const [kind, upstreamPort] = process.argv.slice(2)
const upstream = `http://127.0.0.1:${upstreamPort}/v1`

const BARE = `export default {
  fetch(request) {
    const headers = new Headers(request.headers)
    headers.set("authorization", "Bearer upstream")
    return fetch("${upstream}/chat/completions", { method: "POST", headers, body: request.body })
  },
}`

/**
 * The minimal work of any gateway in JavaScript: it reads and rewrites both JSON bodies, or every chunk of a stream.
 */
const SCRIPT = `export default {
  async fetch(request, env, ctx) {
    const body = JSON.stringify(JSON.parse(await request.text()))
    const headers = { authorization: "Bearer upstream", "content-type": "application/json" }
    const response = await fetch("${upstream}/chat/completions", { method: "POST", headers, body })
    const type = response.headers.get("content-type")
    if (type === "application/json") {
      return new Response(JSON.stringify(JSON.parse(await response.text())), { headers: { "content-type": type } })
    }
    const { readable, writable } = new IdentityTransformStream()
    const pump = async () => {
      const [reader, writer] = [response.body.getReader(), writable.getWriter()]
      for (;;) {
        const { done, value } = await reader.read()
        if (done) return writer.close()
        await writer.write(value)
      }
    }
    ctx.waitUntil(pump())
    return new Response(readable, { headers: { "content-type": type } })
  },
}`

/** A direct socket of the Worker: Miniflare's usual one leads through a Worker that routes, and doubles the cost. */
const DIRECT = { cf: false as const, unsafeDirectSockets: [{ host: "127.0.0.1", port: 0 }] }

useDirectOutbound()

/**
 * Settings of wrangler.toml for the deployed Worker, without its source and its console: Miniflare puts a router in
 * front of a Worker that has assets, which is not part of it and costs 0.4 ms a request.
 */
function configured(): Pick<V4WorkerOptions, "compatibilityDate" | "compatibilityFlags"> {
  const { modulesRules: _, assets: __, ...options } = workerOptionsOf("wrangler.toml", "production").workerOptions
  return options
}

async function startWorker(name: string, script: string): Promise<Target> {
  const { compatibilityDate, compatibilityFlags } = configured()
  const miniflare = new Miniflare(
    convertV4MiniflareOptions({
      ...DIRECT,
      name,
      modules: true,
      script,
      ...(compatibilityDate && { compatibilityDate }),
      ...(compatibilityFlags && { compatibilityFlags }),
    }),
  )
  const url = await urlOf(miniflare)
  return { url, headers: {}, worker: ownChild("workerd"), model: MODEL, credits: null }
}

async function startGateway(): Promise<Target> {
  const bootstrapKey = "bench-bootstrap-management-key-0123456789"
  const custom = { slug: "local", base_url: upstream, api_key: "upstream", models: [{ id: MODEL, ...PRICE }] }
  const options = configured()
  const miniflare = new Miniflare(
    convertV4MiniflareOptions({
      ...options,
      ...DIRECT,
      ...modulesOf(path.join(dist, "gateway/index.js")),
      bindings: {
        // Not `options.bindings`: they include .dev.vars.
        ...readConfig({ config: "wrangler.toml", env: "production" }).vars,
        MASTER_KEY: Buffer.alloc(32, 7).toString("base64"),
        BOOTSTRAP_MANAGEMENT_KEY: bootstrapKey,
        CUSTOM_PROVIDERS: JSON.stringify([custom]),
      },
    }),
  )
  const url = await urlOf(miniflare)
  const database = await miniflare.getD1Database("DB")
  for (const file of readdirSync("d1-migrations").sort()) {
    const statements = splitSql(readFileSync(`d1-migrations/${file}`, "utf8"))
    await database.batch(statements.map((statement) => database.prepare(statement)))
  }

  const answer = await fetch(`${url}api/v1/organizations`, {
    method: "POST",
    headers: { authorization: `Bearer ${bootstrapKey}`, "content-type": "application/json" },
    body: JSON.stringify({ name: "Benchmark", starting_balance_usd: 1_000_000 }),
  })
  if (!answer.ok) throw new Error(`No organization: ${answer.status} ${await answer.text()}`)
  const { data } = (await answer.json()) as { data: { api_key: string; management_key: string } }
  const manage = await managerOf(`${url}api/v1`, data.management_key)
  return {
    url: `${url}api/v1/chat/completions`,
    headers: { authorization: `Bearer ${data.api_key}` },
    worker: ownChild("workerd"),
    model: `local/${MODEL}`,
    credits: { url: `${url}api/v1/credits`, headers: { authorization: `Bearer ${data.management_key}` } },
    guarded: await manage.newGuardedKey(),
    keys: await manage.newKeys(MANY_KEYS),
  }
}

/** Creates keys as a manager of the organization does. Each is returned as the headers of its calls. */
async function managerOf(baseUrl: string, managementKey: string) {
  const post = async <T>(path: string, body: object): Promise<T> => {
    const headers = { authorization: `Bearer ${managementKey}`, "content-type": "application/json" }
    const answer = await fetch(baseUrl + path, { method: "POST", headers, body: JSON.stringify(body) })
    if (!answer.ok) throw new Error(`POST ${path}: ${answer.status} ${await answer.text()}`)
    return (await answer.json()) as T
  }
  const newKey = async (name: string) => {
    const { key, data } = await post<{ key: string; data: { hash: string } }>("/keys", { name })
    return { headers: { authorization: `Bearer ${key}` }, hash: data.hash }
  }
  return {
    async newKeys(count: number) {
      const keys: Record<string, string>[] = []
      for (let at = 0; at < count; at++) keys.push((await newKey(`key ${at}`)).headers)
      return keys
    },
    async newGuardedKey() {
      const builtins = DETECTORS.map((slug) => ({ slug, action: "redact" }))
      const { data } = await post<{ data: { id: string } }>("/guardrails", {
        name: "bench",
        content_filter_builtins: builtins,
      })
      const { headers, hash } = await newKey("guarded")
      await post(`/guardrails/${data.id}/assignments/keys`, { key_hashes: [hash] })
      return headers
    },
  }
}

let miniflareInUse: Miniflare | undefined

async function urlOf(miniflare: Miniflare): Promise<string> {
  miniflareInUse = miniflare
  await miniflare.ready
  return (await miniflare.unsafeGetDirectURL()).href
}

/** Runs in this process, which is then the measured one. */
async function startPortkey(): Promise<Target> {
  const port = await findFreePort()
  // It would listen on every interface, and forward anyone's requests.
  const listen: unknown = Reflect.get(Server.prototype, "listen")
  Server.prototype.listen = function () {
    return Reflect.apply(listen as () => Server, this, [port, "127.0.0.1"])
  }
  process.argv.push(`--port=${port}`, "--headless")
  await import(pathToFileURL(`${PORTKEY}/build/start-server.js`).href)
  return {
    url: `http://127.0.0.1:${port}/v1/chat/completions`,
    headers: { authorization: "Bearer upstream", "x-portkey-provider": "openai", "x-portkey-custom-host": upstream },
    worker: process.pid,
    model: MODEL,
    credits: null,
  }
}

/** LiteLLM's proxy with one worker, no keys and no database, if its command is installed. */
async function startLitellm(): Promise<Target> {
  const port = await findFreePort()
  const config = `${FOLDER}/litellm.yaml`
  const parameters = { model: `openai/${MODEL}`, api_base: upstream, api_key: "upstream" }
  writeFileSync(config, JSON.stringify({ model_list: [{ model_name: MODEL, litellm_params: parameters }] }))
  const args = ["--config", config, "--host", "127.0.0.1", "--port", String(port), "--num_workers", "1"]
  const settings = {
    LITELLM_TELEMETRY: "False",
    LITELLM_LOCAL_MODEL_COST_MAP: "True",
    LITELLM_DANGEROUSLY_PERMIT_WEAK_OR_UNSET_MASTER_KEY: "true",
  }
  const proxy = spawn("litellm", args, { stdio: "ignore", env: { ...process.env, ...settings } })
  process.once("exit", () => proxy.kill("SIGKILL"))
  const url = `http://127.0.0.1:${port}`
  for (let tries = 0; ; tries++) {
    const isUp = await fetch(`${url}/health/liveliness`).then(
      ({ ok }) => ok,
      () => false,
    )
    if (isUp) break
    if (tries >= 240 || proxy.exitCode !== null) throw new Error("LiteLLM did not start.")
    await setTimeout(250)
  }
  return { url: `${url}/v1/chat/completions`, headers: {}, worker: proxy.pid ?? 0, model: MODEL, credits: null }
}

const start = {
  litellm: startLitellm,
  bare: () => startWorker("bare", BARE),
  script: () => startWorker("script", SCRIPT),
  gateway: startGateway,
  portkey: startPortkey,
}[kind ?? ""]
if (start) {
  serveParent(
    await start(),
    async () => ({}),
    async () => miniflareInUse?.dispose(),
  )
}
