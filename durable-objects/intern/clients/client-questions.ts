import { type ClientFrame, isClientQuestion, cancelledResult } from "../../../src/interns/hosts/client-frames.ts"
import type { AcpMessage, RpcId } from "../../../src/interns/run/acp/acp.ts"
import type { Run } from "../../../src/interns/run/run.ts"
import type { Client, ClientSockets } from "./client-sockets.ts"
import type { ClientStore, PendingQuestion } from "./client-store.ts"
import type { RunStore } from "../run-store.ts"

type Deps = {
  runs: RunStore
  store: ClientStore
  sockets: ClientSockets
  /** Sends to the agent. */
  send: (message: Omit<AcpMessage, "jsonrpc">) => void
  /** Answers a question of a turn. */
  answer: (run: Run, rpc: RpcId, result: unknown) => void
}

/**
 * Questions of the agent that ACP clients show. Questions of a turn also belong to its run, so they are listed and can
 * be answered by id. The first answer is sent to the agent; later ones are dropped.
 */
export class ClientQuestions {
  readonly #deps: Deps

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** Sends a question. Returns whether the client can show it. */
  put(client: Client, { id: rpc, method }: AcpMessage, acp: string, params: Record<string, unknown>): boolean {
    if (rpc === undefined || method === undefined || !isClientQuestion(method)) return false
    // A form that the client cannot show is handled like a question without a client.
    if (method === "elicitation/create" && !client.showsForms) return false
    const { runs, store, sockets } = this.#deps
    const id = runs.nextRpc()
    store.put({ id, client: client.id, rpc, acp, method })
    sockets.send(client.id, { jsonrpc: "2.0", id, method, params })
    return true
  }

  answered({ id: client }: Client, { id, outcome }: ClientFrame & { is: "answer" }): void {
    const { runs, store, send, answer } = this.#deps
    const question = store.takeQuestion(id, client)
    if (!question) return
    const { rpc, acp, method } = question
    const run = runs.ofQuestion(acp, rpc)
    if (!run) return send({ id: rpc, ...outcome })
    answer(run, rpc, "result" in outcome ? outcome.result : cancelledResult(method))
  }

  /** The question was answered elsewhere: the client can stop showing it. */
  closed(rpc: RpcId): void {
    const { store } = this.#deps
    const question = store.takeQuestionOf(rpc)
    if (question) this.#hide(question)
  }

  #hide({ id, client }: PendingQuestion): void {
    this.#deps.sockets.send(client, { jsonrpc: "2.0", method: "$/cancel_request", params: { requestId: id } })
  }

  /** Questions of a disconnected client, except those that a run answers or keeps open. */
  withoutRun(questions: readonly PendingQuestion[]): PendingQuestion[] {
    return questions.filter(({ acp, rpc }) => !this.#deps.runs.ofQuestion(acp, rpc))
  }

  cancel(questions: readonly PendingQuestion[]): void {
    for (const question of questions) {
      this.#hide(question)
      this.#deps.send({ id: question.rpc, result: cancelledResult(question.method) })
    }
  }
}
