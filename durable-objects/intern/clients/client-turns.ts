import { promptText } from "../../../src/interns/hosts/client-sessions.ts"
import type { RpcId } from "../../../src/interns/run/acp/acp.ts"
import * as machine from "../../../src/interns/run/advance.ts"
import { answerText, toQuestionText } from "../../../src/interns/run/answer.ts"
import { onClientAnswer, onClientDisconnect, startClientRun } from "../../../src/interns/run/client-turn.ts"
import type { Run, Step } from "../../../src/interns/run/run.ts"
import type { SessionLog } from "../sessions/session-log.ts"
import type { SessionPermissions } from "../sessions/session-permissions.ts"

type Deps = {
  log: SessionLog
  standing: SessionPermissions
  now: () => number
  nextRpc: () => number
  /** Admits a request, or throws the reason for the rejection. */
  admit: () => void
  apply: (step: Step) => void
}

type Opening = { session: string; acp: string; client: NonNullable<Run["client"]>; prompt: unknown[] }

/** Turns of ACP clients, which are runs like those of chats. */
export class ClientTurns {
  readonly #deps: Deps
  readonly admit: () => void

  constructor(deps: Deps) {
    this.#deps = deps
    this.admit = deps.admit
  }

  start({ prompt, ...opening }: Opening): void {
    const { log, now, nextRpc, apply } = this.#deps
    const rpc = nextRpc()
    log.prompt(opening.session, promptText(prompt), "acp")
    apply(startClientRun({ id: crypto.randomUUID(), ...opening, prompt }, now(), rpc))
  }

  /** Handles the client's answer to the open question of its turn, or to a later one that was already shown. */
  answer(run: Run, rpc: RpcId, result: unknown): void {
    const { log, standing, now, apply } = this.#deps
    const { session, question, queued } = run
    const answered = [question, ...queued].find((one) => one?.rpc === rpc)
    if (!answered || !question) return
    if (answered !== question) {
      const questionText = toQuestionText({ ...answered, deadline: question.deadline })
      log.add(session, { kind: "question", id: answered.id, question: questionText })
    }
    log.add(session, { kind: "answer", question_id: answered.id, content: answerText(answered, result) })
    apply(onClientAnswer(run, rpc, standing.ofClient(session, answered, result), now()))
  }

  stop(run: Run): void {
    this.#deps.apply(machine.cancel(run, "stopped", this.#deps.now()))
  }

  /** The client has disconnected. */
  left(run: Run): void {
    this.#deps.apply(onClientDisconnect(run, this.#deps.now()))
  }
}
