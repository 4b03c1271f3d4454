import { expect } from "vitest"
import { RPC_ERRORS } from "../../src/interns/hosts/client-frames.ts"
import { AcpClient, type Question, type Site, siteOf } from "./acp-client.ts"
import { eventually } from "./eventually.ts"
import type { TestClient } from "./world.ts"

/** A session that the editor has open: the text that it receives after opening it. */
type Opened = { name: string; from: number; expected: string }

/** The ACP client of the model test, and what it must receive. It connects when it is needed. */
export class Editor {
  readonly #as: TestClient
  readonly #internId: string
  /** By the session id of the chat API. */
  readonly opened = new Map<string, Opened>()
  /** Questions that it received, by the agent's id. */
  readonly questions = new Map<string, Question>()
  closedQuestions = 0
  #site: Site | undefined
  client: AcpClient | undefined
  #shown = 0

  constructor(as: TestClient, internId: string) {
    this.#as = as
    this.#internId = internId
  }

  async connected(): Promise<AcpClient> {
    this.#site ??= await siteOf(this.#as, this.#internId)
    this.client ??= await AcpClient.connect(this.#site)
    return this.client
  }

  /** The connection is closed, with all its sessions. */
  gone(): void {
    this.client?.close()
    this.client = undefined
    this.forget()
    this.#shown = 0
    this.closedQuestions = 0
  }

  /** The sessions have to be loaded again. */
  forget(): void {
    this.opened.clear()
    this.questions.clear()
  }

  async open(session: string, name: string): Promise<void> {
    const client = await this.connected()
    expect((await client.request("session/load", { sessionId: name })).error).toBeUndefined()
    this.opened.set(session, { name, from: client.received.length, expected: "" })
  }

  async refusedLoad(name: string, expected: object): Promise<void> {
    expect((await (await this.connected()).request("session/load", { sessionId: name })).error).toMatchObject(expected)
  }

  async refusedPrompt(name: string, expected: object): Promise<void> {
    const client = await this.connected()
    const id = client.prompt(name, "?")
    // A prompt that is accepted has no response until its turn ends.
    await eventually(() => {
      const answer = client.received.find((message) => message.method === undefined && message.id === id)
      expect(answer?.error).toMatchObject(expected)
    })
  }

  /** Text of the agent in a session, which the editor receives if it has it open. */
  agentText(session: string, text: string): void {
    const opened = this.opened.get(session)
    if (opened) opened.expected += text
  }

  /** A question of the agent, once the editor has received it. */
  async shows(rpc: string): Promise<void> {
    const question = await this.client?.nextQuestion(undefined, this.#shown)
    this.#shown += 1
    if (question) this.questions.set(rpc, question)
  }

  /** All earlier messages of the editor have arrived. */
  async settled(): Promise<void> {
    await this.client?.get("initialize")
  }

  /** The end of its prompt. */
  async ended(request: number, reason: string | undefined): Promise<void> {
    const { result, error } = (await this.client?.answerTo(request)) ?? {}
    if (reason === undefined) expect(result).toEqual({ stopReason: "end_turn" })
    else if (reason === "run_ended") expect(result).toEqual({ stopReason: "cancelled" })
    else if (reason === "turn_failed") expect(error).toMatchObject({ code: -32_603 })
    else if (reason === "stream_severed") expect(error).toMatchObject({ code: RPC_ERRORS.away })
    else expect(error ?? result).toBeDefined()
  }

  async check(): Promise<void> {
    const { client } = this
    if (!client) return
    await eventually(() => {
      for (const [session, { name, from, expected }] of this.opened) {
        expect(textOf(client, name, from), session).toBe(expected)
      }
      const closed = client.received.filter(({ method }) => method === "$/cancel_request")
      expect(closed).toHaveLength(this.closedQuestions)
    })
    const answers = client.received.filter(({ method }) => method === undefined).map(({ id }) => id)
    expect(new Set(answers).size).toBe(answers.length)
  }
}

type Update = { sessionId: string; update: { content?: { text?: string } } }

function textOf({ received }: AcpClient, name: string, from: number): string {
  const updates = received.slice(from).filter(({ method }) => method === "session/update")
  const matching = updates.map(({ params }) => params as Update).filter(({ sessionId }) => sessionId === name)
  return matching.map(({ update }) => update.content?.text ?? "").join("")
}
