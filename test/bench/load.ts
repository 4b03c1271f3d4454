import { Agent, request as httpRequest } from "node:http"
import { serveParent } from "./child.ts"
import { type Answer, LAST_FRAMES, textOf, USAGE, type Workload } from "./workloads.ts"

/** The client: a separate process, so that its CPU time is not counted. */

export type Endpoint = { url: string; headers: Record<string, string> }
type Shape = Answer & Pick<Workload, "path">
/** `keys`: headers that the calls use in turn, instead of `headers`. */
export type Job = Endpoint & { body: string; keys?: readonly Record<string, string>[] | undefined } & (
    | { verify: true; workload: Shape }
    | { verify: false; workload: Workload }
  )

export type Load = {
  answers: number
  /** Content events that arrived in time. */
  events: number
  wrong: number
  /** The first faulty response. */
  fault: string | null
  /** Time to the first byte of the body. */
  firstByteMs: number
}

/** Delay of a paced stream that still counts as in time. */
const GRACE_MS = 1_000
/** Paced streams begin within this time, one after the other. */
const SPREAD_MS = 1_000
const TIMEOUT_MS = 10_000
const TAIL_BYTES = 2_048

type Exchange = { status: number; frames: number; inTime: number; text: string; firstByteMs: number }

function exchange(job: Job, agent: Agent, deadline: number): Promise<Exchange> {
  return new Promise((resolve, reject) => {
    const startedAt = performance.now()
    const headers = {
      ...job.headers,
      "content-type": "application/json",
      "content-length": Buffer.byteLength(job.body),
    }
    const outgoing = httpRequest(job.url, { method: "POST", agent, headers }, (response) => {
      const result: Exchange = { status: response.statusCode ?? 0, frames: 0, inTime: 0, text: "", firstByteMs: 0 }
      let endsWithLf = false
      response.on("data", (chunk: Buffer) => {
        const now = performance.now()
        result.firstByteMs ||= now - startedAt
        const frames = countBlankLines(chunk, endsWithLf)
        endsWithLf = chunk.at(-1) === LF && chunk.at(-2) !== LF
        result.frames += frames
        if (now <= deadline) result.inTime += frames
        result.text += chunk.toString("latin1")
        if (!job.verify) result.text = result.text.slice(-TAIL_BYTES)
      })
      response.on("end", () => resolve(result))
      response.on("error", reject)
    })
    outgoing.on("error", reject)
    outgoing.setTimeout(TIMEOUT_MS, () => outgoing.destroy(new Error("The answer stalled.")))
    outgoing.end(job.body)
  })
}

const LF = 10

function countBlankLines(chunk: Buffer, afterLf: boolean): number {
  let count = afterLf && chunk[0] === LF ? 1 : 0
  for (let at = chunk.indexOf("\n\n", count); at !== -1; at = chunk.indexOf("\n\n", at + 2)) count += 1
  return count
}

/** The fault of a response under load, judged by its end. */
function faultOf({ events, path }: Shape, { status, frames, text }: Exchange): string | null {
  if (status !== 200) return `status ${status}: ${text.slice(0, 300)}`
  if (!text.includes(`tokens":${USAGE.completion_tokens}`)) return `no usage in …${text.slice(-300)}`
  if (events === 0) return null
  if (path !== "messages" && !/data: ?\[DONE\]\n\n$/.test(text)) return `no [DONE] in …${text.slice(-300)}`
  return frames < events + LAST_FRAMES ? `${frames} events of ${events + LAST_FRAMES}` : null
}

type Usage = { completion_tokens?: number; output_tokens?: number }
type Body = {
  choices?: { message?: { content?: string }; delta?: { content?: string } }[]
  delta?: string | { text?: string }
  usage?: Usage | null
  response?: { usage?: Usage | null }
}

/** Reads one response in full. */
async function verify(job: Job, agent: Agent): Promise<Load> {
  const answer = await exchange(job, agent, Number.POSITIVE_INFINITY)
  const fault = faultOf(job.workload, answer) ?? contentFault(job.workload, answer.text)
  return toLoad([answer], job.workload, fault === null ? [] : [fault])
}

function contentFault(expected: Answer, text: string): string | null {
  const bodies = (expected.events === 0 ? [text] : (text.match(/^data: ?\{.*$/gm) ?? [])).map(
    (line) => JSON.parse(line.replace(/^data: ?/, "")) as Body,
  )
  const content = bodies.map(contentOf).join("")
  if (content !== textOf(expected)) return `other text: ${content.slice(0, 300)}`
  const usage = bodies.map((body) => body.usage ?? body.response?.usage).findLast((found) => found != null)
  const completion = usage?.completion_tokens ?? usage?.output_tokens
  return completion === USAGE.completion_tokens ? null : `other usage: ${JSON.stringify(usage)}`
}

function contentOf({ choices, delta }: Body): string {
  if (typeof delta === "string") return delta
  return delta?.text ?? choices?.[0]?.message?.content ?? choices?.[0]?.delta?.content ?? ""
}

async function drive(job: Job, workload: Workload, agent: Agent): Promise<Load> {
  const { concurrency, events, perSecond, seconds } = workload
  const answers: Exchange[] = []
  const faults: string[] = []
  const until = performance.now() + seconds * 1_000
  let calls = 0
  const one = async () => {
    const headers = job.keys?.[calls++ % job.keys.length] ?? job.headers
    // A paced stream has a known duration; the others have no deadline of their rate.
    const deadline =
      perSecond > 0 ? performance.now() + (events / perSecond) * 1_000 + GRACE_MS : Number.POSITIVE_INFINITY
    try {
      const answer = await exchange({ ...job, headers }, agent, deadline)
      answers.push(answer)
      const fault = faultOf(workload, answer)
      if (fault !== null) faults.push(fault)
    } catch (thrown) {
      faults.push(String(thrown))
    }
  }
  const worker = async (index: number) => {
    // Streams that began together would measure queueing, and send their events together.
    if (perSecond > 0) await new Promise((resolve) => setTimeout(resolve, (index / concurrency) * SPREAD_MS))
    do await one()
    while (
      perSecond === 0 &&
      (workload.calls === undefined ? performance.now() < until : answers.length < workload.calls)
    )
  }
  await Promise.all(Array.from({ length: concurrency }, (_, index) => worker(index)))
  return toLoad(answers, workload, faults)
}

function toLoad(answers: readonly Exchange[], { events }: Answer, faults: readonly string[]): Load {
  const firstBytes = answers.map(({ firstByteMs }) => firstByteMs).sort((a, b) => a - b)
  return {
    answers: answers.length,
    events: answers.reduce((sum, { inTime }) => sum + Math.min(inTime, events), 0),
    wrong: faults.length,
    fault: faults[0] ?? null,
    firstByteMs: firstBytes[Math.floor(firstBytes.length / 2)] ?? 0,
  }
}

serveParent({}, async (job: Job) => {
  const agent = new Agent({ keepAlive: true })
  try {
    return job.verify ? await verify(job, agent) : await drive(job, job.workload, agent)
  } catch (thrown) {
    return toLoad([], job.workload, [String(thrown)])
  } finally {
    agent.destroy()
  }
})
