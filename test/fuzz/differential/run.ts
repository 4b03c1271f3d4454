import http from "node:http"
import type { AddressInfo } from "node:net"
import { type Gateway, startGateway } from "../../runtime/gateway.ts"
import { type Answer, send } from "../send.ts"
import { type Difference, type Received, runCase, type Subject } from "./differential.ts"
import { type Script, toResponse } from "./script.ts"

export type DifferentialReport = {
  cases: number
  requests: number
  statuses: Record<string, number>
  differences: (Difference & { seed: number })[]
}

type Options = {
  seed: number
  count: number
  onProgress?: (cases: number) => void
  /** Stops after this many differences. */
  most?: number
}

const CONCURRENCY = 4
/** Fewer cases than a run has, so that an organization's balance does not end it. */
const CASES_OF_AN_ORGANIZATION = 2_000

/** Runs cases against a separate gateway. */
export async function differential({ seed, count, onProgress, most = 20 }: Options): Promise<DifferentialReport> {
  const upstream = await startScriptedUpstream()
  const gateway = await startGateway(upstream.baseUrl, {}, true)
  const agent = new http.Agent({ keepAlive: true, maxSockets: CONCURRENCY })
  const report: DifferentialReport = { cases: 0, requests: 0, statuses: {}, differences: [] }
  try {
    let next = 0
    const work = async (worker: number) => {
      let subject = await newSubject(gateway, { upstream, worker, agent, report })
      let cases = 0
      while (next < count && report.differences.length < most) {
        const caseSeed = seed * 1_000_003 + next++
        if (++cases % CASES_OF_AN_ORGANIZATION === 0) {
          subject = await newSubject(gateway, { upstream, worker, agent, report })
        }
        const difference = await runCase(subject, caseSeed)
        if (difference) report.differences.push({ ...difference, seed: caseSeed })
        report.cases++
        if (report.cases % 500 === 0) onProgress?.(report.cases)
      }
    }
    await Promise.all(Array.from({ length: CONCURRENCY }, (_, worker) => work(worker)))
    return report
  } finally {
    agent.destroy()
    await gateway.stop()
    await upstream.close()
  }
}

type Parts = { upstream: Upstream; worker: number; agent: http.Agent; report: DifferentialReport }

async function newSubject(gateway: Gateway, { upstream, worker, agent, report }: Parts): Promise<Subject> {
  const { apiKey } = await gateway.newOrganization()
  const model = `model-${worker}`
  return {
    model: `scripted/${model}`,
    send: async (resource, text, isDeclared) => {
      report.requests++
      const answer = await send(gateway.url, toSent(resource, text, { apiKey, isDeclared }), agent)
      const status = answer?.status ?? 0
      report.statuses[status] = (report.statuses[status] ?? 0) + 1
      return toReceived(answer)
    },
    play: (script) => upstream.scripts.set(model, script),
    upstream: () => upstream.bodies.get(model)?.splice(0) ?? [],
    receipt: (id) => gateway.get(apiKey, `/generation?id=${id}`),
  }
}

type Head = { apiKey: string; isDeclared: boolean }

function toSent(resource: string, text: string, { apiKey, isDeclared }: Head) {
  const length = isDeclared ? undefined : { "transfer-encoding": "chunked" }
  return {
    method: "POST",
    path: `/api/v1${resource}`,
    headers: { authorization: `Bearer ${apiKey}`, "content-type": "application/json", ...length },
    body: Buffer.from(text),
  }
}

function toReceived(answer: Answer | undefined): Received {
  if (!answer) return { status: 0, headers: {}, text: "no answer" }
  const headers = Object.entries(answer.headers).map(([name, value]) => [name, String(value)])
  return { status: answer.status, headers: Object.fromEntries(headers) as Record<string, string>, text: answer.text }
}

type Upstream = {
  baseUrl: string
  /** By the model of a call. */
  scripts: Map<string, Script>
  bodies: Map<string, string[]>
  close: () => Promise<void>
}

async function startScriptedUpstream(): Promise<Upstream> {
  const scripts = new Map<string, Script>()
  const bodies = new Map<string, string[]>()
  const server = http.createServer((request, response) => {
    const parts: Buffer[] = []
    request.on("data", (part: Buffer) => parts.push(part))
    request.on("end", () => {
      const text = Buffer.concat(parts).toString()
      const { model, stream } = JSON.parse(text) as { model: string; stream?: boolean }
      bodies.set(model, [...(bodies.get(model) ?? []), text])
      const script = scripts.get(model)
      if (!script) throw new Error(`No script for ${model}.`)
      const { status, type, body } = toResponse(script, stream === true)
      response.writeHead(status, { "content-type": type }).end(body)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  return {
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    scripts,
    bodies,
    close: () => {
      server.closeAllConnections()
      return new Promise((resolve) => server.close(() => resolve()))
    },
  }
}
