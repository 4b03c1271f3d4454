import { abortAllDurableObjects, evictDurableObject } from "cloudflare:test"
import * as fc from "fast-check"
import { expect, test } from "vitest"
import { RPC_ERRORS } from "../../src/interns/hosts/client-frames.ts"
import { internObject } from "../support/intern-object.ts"
import type { AcpMessage } from "../../src/interns/run/acp/acp.ts"
import { AcpClient, type Question, type Site, siteOf } from "../support/acp-client.ts"
import { newDaemonIntern, MockDaemon } from "../support/daemon.ts"
import { newWorkspace, expectJson, type Workspace } from "../support/world.ts"
import { eventually } from "../support/eventually.ts"
import { runs } from "../support/runs.ts"

/**
 * For any order of operations of ACP clients, the agent and the runtime: output of the agent reaches only the client that
 * has the session, every question of the agent gets one response, from that client or on its behalf, every prompt gets one
 * response, and a disconnected client's turn is cancelled.
 */

const OPERATIONS = {
  connect: 4,
  close: 1,
  open: 3,
  load: 2,
  prompt: 6,
  say: 4,
  ask: 5,
  answer: 5,
  cancel: 1,
  end: 3,
  evict: 2,
  crash: 1,
} as const
type Operation = { do: keyof typeof OPERATIONS; slot: number; session: number; question: number }

type Prompt = { client: AcpClient; id: number; message: AcpMessage; isLeft: boolean }
type ReceivedRequest = {
  rpc: string
  acp: string
  client: AcpClient | undefined
  shown: Question | undefined
  answer: unknown
}

const CANCELLED = { outcome: { outcome: "cancelled" } }

class Setup {
  readonly site: Site
  readonly daemon: MockDaemon
  readonly slots: (AcpClient | undefined)[] = [undefined, undefined, undefined]
  readonly sessions: string[] = []
  readonly owners = new Map<string, AcpClient>()
  readonly prompts = new Map<string, Prompt>()
  readonly questions: ReceivedRequest[] = []
  readonly shown = new Map<AcpClient, string[]>()
  readonly cancels = new Map<string, number>()
  /** An object that wakes up repeats the cancellation to the agent. */
  wasEvicted = false
  #count = 0

  constructor(site: Site, daemon: MockDaemon) {
    this.site = site
    this.daemon = daemon
  }

  get object() {
    return internObject(this.daemon.intern.id)
  }

  static async of(workspace: Workspace): Promise<Setup> {
    const intern = await newDaemonIntern(workspace)
    const daemon = await new MockDaemon(intern).dial()
    const running = () => expectJson(200, workspace.as.get(`/interns/${intern.id}`))
    await eventually(async () => expect(await running()).toMatchObject({ status: "running" }))
    return new Setup(await siteOf(workspace.as, intern.id), daemon)
  }

  async do({ do: what, slot, session, question }: Operation): Promise<void> {
    const client = this.slots[slot]
    const acp = this.sessions[session % Math.max(1, this.sessions.length)]
    if (what === "connect") return this.connect(slot)
    if (what === "evict") return this.evict()
    if (what === "crash") return this.crash()
    if (what === "open" && client) return this.open(client)
    if (what === "close" && client) return this.close(slot, client)
    if (what === "answer" && client) return this.answer(client, this.questions.at(-1 - question))
    if (acp === undefined) return
    if (what === "say") return this.say(acp)
    if (what === "ask") return this.ask(acp)
    if (what === "end") return this.end(acp)
    if (client === undefined) return
    if (what === "load") return this.load(client, acp)
    if (what === "prompt") return this.prompt(client, acp)
    if (what === "cancel") this.cancel(client, acp)
  }

  async connect(slot: number): Promise<void> {
    if (this.slots[slot]) return
    const client = await AcpClient.connect(this.site)
    this.slots[slot] = client
    this.shown.set(client, [])
  }

  async open(client: AcpClient): Promise<void> {
    if (this.sessions.length === 3) return
    const acp = await client.newSession()
    this.sessions.push(acp)
    this.owners.set(acp, client)
  }

  async load(client: AcpClient, acp: string): Promise<void> {
    const { error } = await client.request("session/load", { sessionId: acp })
    expect(error?.code).toBe(this.prompts.has(acp) ? RPC_ERRORS.busy : undefined)
    if (error === undefined) this.owners.set(acp, client)
  }

  async prompt(client: AcpClient, acp: string): Promise<void> {
    const isOwn = this.owners.get(acp) === client
    const before = this.daemon.received.filter(({ method }) => method === "session/prompt").length
    const id = client.prompt(acp, `prompt ${this.#count++}`)
    if (!isOwn || this.prompts.has(acp)) {
      const { error } = await client.answerTo(id)
      expect(error?.code).toBe(isOwn ? RPC_ERRORS.busy : RPC_ERRORS.noSession)
      return
    }
    const message = await this.daemon.receives("session/prompt", before)
    this.prompts.set(acp, { client, id, message, isLeft: false })
  }

  say(acp: string): void {
    const text = `said ${this.#count++}.`
    this.daemon.text(acp, text)
    const owner = this.owners.get(acp)
    if (owner) this.shown.get(owner)?.push(`${acp}: ${text}`)
  }

  async ask(acp: string): Promise<void> {
    const rpc = `q${this.#count++}`
    const client = this.owners.get(acp)
    const before = client?.received.filter(({ method }) => method === "session/request_permission").length
    this.daemon.requestPermission(acp, rpc)
    const shown = await client?.nextQuestion("session/request_permission", before)
    this.questions.push({ rpc, acp, client, shown, answer: client ? undefined : CANCELLED })
  }

  /** By the session's client or another, for the first time or again. */
  answer(client: AcpClient, requests: ReceivedRequest | undefined): void {
    if (!requests?.shown) return
    const optionId = `choice ${this.#count++}`
    client.choose(requests.shown, optionId)
    if (requests.client === client) requests.answer ??= { outcome: { outcome: "selected", optionId } }
  }

  cancel(client: AcpClient, acp: string): void {
    client.send({ method: "session/cancel", params: { sessionId: acp } })
    const prompt = this.prompts.get(acp)
    if (prompt?.client === client && !prompt.isLeft) this.#cancelled(acp)
  }

  async end(acp: string): Promise<void> {
    const prompt = this.prompts.get(acp)
    if (!prompt) return
    const stopReason = `end ${this.#count++}`
    this.daemon.end(prompt.message, stopReason)
    this.prompts.delete(acp)
    for (const requests of this.questions) if (requests.acp === acp) requests.answer ??= CANCELLED
    if (!prompt.isLeft) expect((await prompt.client.answerTo(prompt.id)).result).toEqual({ stopReason })
  }

  close(slot: number, client: AcpClient): void {
    client.close()
    this.slots[slot] = undefined
    this.#gone(client)
  }

  async evict(): Promise<void> {
    this.wasEvicted = true
    await evictDurableObject(this.object)
  }

  async crash(): Promise<void> {
    this.wasEvicted = true
    await abortAllDurableObjects()
    this.daemon.cut()
    for (const [slot, client] of this.slots.entries()) {
      if (client) this.#gone(client)
      this.slots[slot] = undefined
    }
    await this.daemon.dial()
  }

  #gone(client: AcpClient): void {
    for (const [acp, owner] of this.owners) if (owner === client) this.owners.delete(acp)
    for (const requests of this.questions) if (requests.client === client) requests.answer ??= CANCELLED
    for (const [acp, prompt] of this.prompts) {
      if (prompt.client !== client || prompt.isLeft) continue
      prompt.isLeft = true
      this.#cancelled(acp)
    }
  }

  #cancelled(acp: string): void {
    this.cancels.set(acp, (this.cancels.get(acp) ?? 0) + 1)
  }

  /** Waits until all messages in flight have arrived. */
  async settle(): Promise<void> {
    const connected = this.slots.filter((client) => client !== undefined)
    const beginAll = () => Promise.all(connected.map((client) => client.get("initialize")))
    await beginAll()
    await this.daemon.settled()
    const reported = () => this.daemon.received.filter(({ method }) => method === "_intern/vault_changed").length
    const before = reported()
    await this.object.vaultChanged()
    await eventually(() => expect(reported(), "barrier").toBeGreaterThan(before))
    await beginAll()
  }

  async check(): Promise<void> {
    // A closed socket is noticed with a delay.
    await eventually(async () => {
      await this.settle()
      for (const { rpc, answer } of this.questions) {
        expect(this.daemon.answersTo(rpc).map(({ result }) => result)).toEqual(answer === undefined ? [] : [answer])
      }
      for (const acp of this.sessions) {
        const cancels = this.daemon.received.filter(
          (received) => received.method === "session/cancel" && of(received) === acp,
        )
        const expected = this.cancels.get(acp) ?? 0
        if (this.wasEvicted) expect(cancels.length).toBeGreaterThanOrEqual(expected)
        else expect(cancels.length).toBe(expected)
      }
    })
    for (const [client, output] of this.shown) {
      const updates = client.received.filter(({ method }) => method === "session/update")
      expect(updates.map((message) => `${of(message)}: ${textOf(message)}`)).toEqual(output)
      const answers = client.received.filter(({ method }) => method === undefined).map(({ id }) => id)
      expect(new Set(answers).size).toBe(answers.length)
    }
  }
}

type Update = { sessionId: string; update: { content: { text: string } } }
const of = ({ params }: AcpMessage) => (params as Update).sessionId
const textOf = ({ params }: AcpMessage) => (params as Update).update.content.text

test("any schedule of clients, the agent and the runtime delivers and answers every message exactly once", async () => {
  const workspace = await newWorkspace()
  const names = Object.keys(OPERATIONS) as (keyof typeof OPERATIONS)[]
  const operation = fc.record({
    do: fc.oneof(...names.map((name) => ({ weight: OPERATIONS[name], arbitrary: fc.constant(name) }))),
    slot: fc.nat({ max: 2 }),
    session: fc.nat({ max: 2 }),
    question: fc.nat({ max: 2 }),
  })
  await fc.assert(
    fc.asyncProperty(fc.array(operation, { minLength: 25, maxLength: 50, size: "max" }), async (operations) => {
      const deps = await Setup.of(workspace)
      await deps.connect(0)
      for (const one of operations) {
        await deps.do(one)
        await deps.check()
      }
    }),
    { numRuns: runs(0.25), endOnFailure: true },
  )
})
