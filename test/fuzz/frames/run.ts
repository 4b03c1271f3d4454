import http from "node:http"
import { type Gateway, PROVIDER_MODELS, startGateway } from "../../runtime/gateway.ts"
import { type Format, FORMATS } from "../differential/conversation.ts"
import { RESOURCES } from "../differential/requests.ts"
import { Random } from "../random.ts"
import { send } from "../send.ts"
import { type CallFormat, chargeFaults, faultsOf } from "./check.ts"
import { GEMINI_FORMATS } from "./gemini.ts"
import { type GarbageUpstream, startGarbageUpstream } from "./upstream.ts"

export type FramesReport = {
  calls: number
  statuses: Record<string, number>
  faults: { index: number; what: string; steps: string; sent: string; answer: string }[]
  exceptions: string[]
  openHolds: number
}

type Options = { seed: number; count: number; onProgress?: (calls: number) => void; most?: number }

const CONCURRENCY = 8
/** More than all timers together, on a busy machine. */
const STREAM_MS = 20_000
const CALL_FORMATS: readonly CallFormat[] = [...FORMATS, ...GEMINI_FORMATS]
const PROVIDERS: Readonly<Record<Format, string>> = { chat: "chatty", responses: "native", messages: "claudish" }

const TIMEOUTS = {
  FIRST_FRAME_TIMEOUT_MS: "1000",
  FIRST_BYTE_TIMEOUT_MS: "1000",
  IDLE_TIMEOUT_MS: "1000",
  EARLY_COMMIT_MS: "300",
  KEEPALIVE_MS: "200",
}

/** Sends valid calls in every format to providers of every format with broken responses. */
export async function fuzzFrames({ seed, count, onProgress, most = 20 }: Options): Promise<FramesReport> {
  const upstream = await startGarbageUpstream()
  const gateway = await startGateway(upstream.baseUrl, { ...TIMEOUTS, ...toProviders(upstream.baseUrl) }, true)
  const agent = new http.Agent({ keepAlive: true, maxSockets: CONCURRENCY })
  const report: FramesReport = { calls: 0, statuses: {}, faults: [], exceptions: [], openHolds: 0 }
  try {
    const organization = await gateway.newOrganization()
    const run = new FramesRun({ gateway, upstream, agent, key: organization.apiKey, report })
    let next = 0
    const work = async (worker: number) => {
      while (next < count && report.faults.length < most) {
        const index = next++
        await run.one({ worker, index, seed: seed * 1_000_003 + index })
        report.calls++
        if (report.calls % 500 === 0) onProgress?.(report.calls)
      }
    }
    await Promise.all(Array.from({ length: CONCURRENCY }, (_, worker) => work(worker)))
    report.exceptions = exceptionsOf(gateway)
    report.openHolds = (await gateway.holds(organization.id)).length
    return report
  } finally {
    agent.destroy()
    await gateway.stop()
    await upstream.close()
  }
}

function toProviders(baseUrl: string): { CUSTOM_PROVIDERS: string } {
  const provider = (format: Format) => ({
    slug: PROVIDERS[format],
    base_url: baseUrl,
    api_key: "sk-scripted",
    ...(format === "responses" && { responses: true }),
    ...(format === "messages" && { wire: "anthropic" }),
    models: PROVIDER_MODELS.map((model) => ({ ...model, id: `${PROVIDERS[format]}-${model.id}` })),
  })
  return { CUSTOM_PROVIDERS: JSON.stringify(FORMATS.map(provider)) }
}

function exceptionsOf({ runtimeLogs, logs }: Gateway): string[] {
  const uncaught = runtimeLogs.filter((line) => /uncaught|unhandled/i.test(line))
  const internal = logs.filter((line) => /TypeError|RangeError|SyntaxError|ReferenceError/.test(line))
  return [...new Set([...uncaught, ...internal])].map((line) => line.slice(0, 1_000))
}

type Parts = { gateway: Gateway; upstream: GarbageUpstream; agent: http.Agent; key: string; report: FramesReport }
type Call = { worker: number; index: number; seed: number }

class FramesRun {
  readonly #parts: Parts
  readonly #kinds = new Set<string>()

  constructor(parts: Parts) {
    this.#parts = parts
  }

  async one({ worker, index, seed }: Call): Promise<void> {
    const { gateway, upstream, agent, report } = this.#parts
    const random = new Random(seed)
    const [format, ofProvider] = [random.pick(CALL_FORMATS), random.pick(FORMATS)]
    const provider = PROVIDERS[ofProvider]
    const isStreamed = random.chance(0.7)
    const model = `${provider}-model-${worker * 20 + (index % 20)}`
    upstream.plan(model, seed)
    const answer = await send(gateway.url, this.#request(format, `${provider}/${model}`, isStreamed), agent, STREAM_MS)
    const status = answer?.status ?? 0
    report.statuses[status] = (report.statuses[status] ?? 0) + 1
    const faults = faultsOf({ format, isStreamed, isNative: format === ofProvider }, answer)
    if (answer?.status === 200 && faults.length === 0) {
      const id = String(answer.headers["x-generation-id"])
      const receipt = await gateway.get<Parameters<typeof chargeFaults>[2]>(this.#parts.key, `/generation?id=${id}`)
      faults.push(...chargeFaults({ format, isStreamed }, answer.text, receipt))
    }
    for (const what of faults) {
      const kind = `${format} of ${provider}, ${isStreamed ? "streamed" : "whole"}: ${what}`
      const name = kind.replaceAll(/\d+(?:\.\d+)?/g, "…")
      if (this.#kinds.has(name)) continue
      this.#kinds.add(name)
      const [garbage] = upstream.sent(model)
      const sent = garbage?.body.toString().slice(0, 3_000) ?? ""
      const { status: upstreamStatus, framing, ending } = garbage ?? {}
      const steps = `${garbage?.steps.join(", ")} (${upstreamStatus} ${framing} ${ending})`
      report.faults.push({ index, what: kind, steps, sent, answer: `${status} ${answer?.text.slice(-3_000)}` })
    }
  }

  #request(format: CallFormat, model: string, isStreamed: boolean) {
    if (format === "gemini" || format === "gemini array") {
      const method = isStreamed ? "streamGenerateContent" : "generateContent"
      const thinkingConfig = { includeThoughts: true }
      const body = { contents: [{ parts: [{ text: "Hi" }] }], generationConfig: { thinkingConfig } }
      return {
        method: "POST",
        path: `/api/v1beta/models/${model}:${method}${format === "gemini" && isStreamed ? "?alt=sse" : ""}`,
        headers: { "x-goog-api-key": this.#parts.key, "content-type": "application/json" },
        body: Buffer.from(JSON.stringify(body)),
      }
    }
    const input = format === "responses" ? { input: "Hi" } : { messages: [{ role: "user", content: "Hi" }] }
    const body = { model, ...input, ...(format === "messages" && { max_tokens: 1_000 }), stream: isStreamed }
    return {
      method: "POST",
      path: `/api/v1${RESOURCES[format]}`,
      headers: { authorization: `Bearer ${this.#parts.key}`, "content-type": "application/json" },
      body: Buffer.from(JSON.stringify(body)),
    }
  }
}
