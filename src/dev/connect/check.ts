import path from "node:path"
import type { Api } from "../api.ts"
import { Failure } from "../failure.ts"
import { CLIENTS, type ClientName } from "../../connect/clients.ts"
import { isObject, parseJson } from "../../support/text/json.ts"
import { readText, filesWrittenFor } from "./files.ts"

/** `absent`: there is nothing to check, which is not a failure. */
export type Check = { is: "good" | "broken" | "absent"; about: string; message: string }

const good = (about: string, message: string): Check => ({ is: "good", about, message })
const broken = (about: string, message: string): Check => ({ is: "broken", about, message })
const absent = (about: string, message: string): Check => ({ is: "absent", about, message })

/** Expiry of keys and signatures of webhooks depend on the clock. */
const MAX_SKEW_SECONDS = 60

export function checkClock(headers: Headers, now: number): Check {
  const date = Date.parse(headers.get("date") ?? "")
  if (Number.isNaN(date)) return absent("clock", "the gateway sent no Date header")
  const seconds = Math.round((now - date) / 1_000)
  if (Math.abs(seconds) <= MAX_SKEW_SECONDS) return good("clock", "agrees with the gateway's")
  return broken("clock", `${Math.abs(seconds)} s ${seconds > 0 ? "ahead of" : "behind"} the gateway's. Set the clocks.`)
}

/** The text models that the key may call. */
export async function modelsOf(api: Api, key: string): Promise<string[]> {
  type Listing = { data: { id: string; architecture?: { output_modalities?: string[] } }[] }
  const { data } = await api.with<Listing>(key, "GET", "/models/user")
  return data
    .filter(({ architecture }) => architecture?.output_modalities?.includes("text") ?? true)
    .map(({ id }) => id)
}

/** Checks what the API key may do. `streamModel`: requests a short stream from it. */
export async function checkKey(api: Api, streamModel: string | undefined): Promise<Check[]> {
  const key = await attempt(() => Promise.resolve(api.clientKey))
  if (key instanceof Failure) return [absent("key", key.message)]
  type Key = { data: { label: string; limit_remaining: number | null } }
  const found = await attempt(() => api.with<Key>(key, "GET", "/key"))
  if (found instanceof Failure)
    return [broken("key", `${found.message} Create one: npm run gateway -- keys create NAME`)]
  const { label, limit_remaining: remaining } = found.data
  const models = await attempt(() => modelsOf(api, key))
  const count = models instanceof Failure ? 0 : models.length
  const advice = "Set a provider's key, or check the guardrails of this key"
  return [
    remaining !== null && remaining <= 0
      ? broken("key", `${label} has reached its limit. Raise it, or wait for its reset.`)
      : good("key", `${label}${remaining === null ? "" : `, ${remaining} USD left`}`),
    count > 0 ? good("models", `${count} for this key`) : broken("models", `none for this key. ${advice}.`),
    ...(streamModel === undefined ? [] : [await checkStream(api.url, key, streamModel)]),
  ]
}

async function attempt<T>(run: () => Promise<T>): Promise<T | Failure> {
  try {
    return await run()
  } catch (thrown) {
    if (thrown instanceof Failure) return thrown
    throw thrown
  }
}

async function checkStream(base: string, key: string, model: string): Promise<Check> {
  const messages = [{ role: "user", content: "Count from one to twenty in words." }]
  const startedAt = performance.now()
  const response = await fetch(`${base}/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify({ model, messages, max_tokens: 100, stream: true }),
  })
  if (!response.ok || !response.body) {
    await response.body?.cancel()
    return broken("stream", `${model} returned ${response.status}. Try another model.`)
  }
  let pieces = 0
  for await (const _ of response.body) pieces++
  return streamCheckOf({ pieces, hasLength: response.headers.has("content-length"), ms: performance.now() - startedAt })
}

/** A faster model's response can arrive in one piece without any buffering. */
const SLOW_ENOUGH_MS = 1_000

/** A buffering proxy forwards a stream in one piece, or with a length. */
export function streamCheckOf({ pieces, hasLength, ms }: { pieces: number; hasLength: boolean; ms: number }): Check {
  if (!hasLength && pieces > 1) return good("stream", `arrived in ${pieces} pieces`)
  if (!hasLength && ms < SLOW_ENOUGH_MS) {
    return absent(
      "stream",
      `arrived in one piece after ${Math.round(ms)} ms: the model is too fast for this check. Try a slower one`,
    )
  }
  return broken("stream", "arrived in one piece. Turn off response buffering in the proxy before the gateway.")
}

/** The gateway address in a client's configuration; undefined if it has none. */
const ADDRESSES: Partial<Record<ClientName, (home: string) => string | undefined>> = {
  codex: (home) => {
    const toml = readText(path.join(home, ".codex/config.toml")) ?? ""
    const [, provider] = /^\s*model_provider\s*=\s*"([^"]*)"/m.exec(toml) ?? []
    const [, section = ""] = toml.split(`[model_providers.${provider}]`)
    return provider === undefined ? undefined : /^\s*base_url\s*=\s*"([^"]*)"/m.exec(section)?.[1]
  },
  claude: (home) => textAt(readText(path.join(home, ".claude/settings.json")), ["env", "ANTHROPIC_BASE_URL"]),
  gemini: (home) => /^GOOGLE_GEMINI_BASE_URL=(.*)$/m.exec(readText(path.join(home, ".gemini/.env")) ?? "")?.[1],
  opencode: (home) =>
    textAt(readText(path.join(home, ".config/opencode/opencode.json")), ["provider", "gateway", "options", "baseURL"]),
  qwen: (home) => /^OPENAI_BASE_URL=(.*)$/m.exec(readText(path.join(home, ".qwen/.env")) ?? "")?.[1],
}

export function checkClients(home: string, base: string): Check[] {
  return CLIENTS.map((client) => {
    const address = ADDRESSES[client]?.(home)
    const remedy = `npm run gateway -- connect ${client}`
    if (address === base || `${address}/v1` === base) return good(client, "uses this gateway")
    if (filesWrittenFor(home, client).length > 0) {
      return broken(client, `was connected and no longer uses this gateway, but ${address ?? "none"}. Run: ${remedy}`)
    }
    if (client === "cursor") return absent(client, "not checked: its settings are in a database")
    return absent(client, address === undefined ? `not connected. ${remedy}` : `uses ${address}. ${remedy}`)
  })
}

function textAt(json: string | undefined, names: readonly string[]): string | undefined {
  let value: unknown = parseJson(json ?? "")
  for (const name of names) value = isObject(value) ? value[name] : undefined
  return typeof value === "string" ? value : undefined
}
