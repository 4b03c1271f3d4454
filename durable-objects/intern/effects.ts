import { toQuestionText } from "../../src/interns/run/answer.ts"
import type { AcpMessage, RpcId, TurnUsage } from "../../src/interns/run/acp/acp.ts"
import type { Effect, Finish, Run } from "../../src/interns/run/run.ts"
import type { TurnEnd } from "../../src/interns/run/transcript.ts"
import type { RunStore } from "./run-store.ts"
import type { SessionLog } from "./sessions/session-log.ts"
import type { InternStream } from "./sessions/stream.ts"

/** Dependencies of the effects. */
export type EffectDeps = {
  runs: RunStore
  log: SessionLog
  /** `isCounted`: the usage is known. Otherwise the returned function is called with it later. */
  onEnd: (
    run: Run,
    error: NonNullable<TurnEnd["error"]> | null,
    isCounted: boolean,
  ) => (usage: TurnUsage | null) => void
  /** Open client responses by run. */
  streams: Map<string, InternStream>
  send: (message: Omit<AcpMessage, "jsonrpc">) => void
  /** Epoch of the agent's memory. */
  epoch: () => string
  /** The model that the agent was started with. */
  model: () => string | null
  now: () => number
  /** Cost of a turn from the gateway's records; undefined if the agent counts itself. */
  measure: (run: Run) => Promise<TurnUsage | null> | undefined
  waitUntil: (work: Promise<unknown>) => void
  /** Called when a question is answered to the agent. */
  onRespond: (rpc: RpcId) => void
  /** Called when the turn of an ACP client ends. */
  onFinish: (run: Run, finish: Finish) => void
}

/** Performs an effect of a run that is already saved. */
export function perform(run: Run, effect: Effect, deps: EffectDeps): void {
  const { runs, streams, send, epoch, model, now } = deps
  const measured = record(run, effect, deps)
  switch (effect.do) {
    case "request":
      return send({ id: effect.rpc, method: effect.method, params: effect.params })
    case "notify":
      return send({ method: effect.method, params: effect.params })
    case "respond":
      deps.onRespond(effect.rpc)
      return send({ id: effect.rpc, result: effect.result })
    case "bind":
      return runs.bind(run.session, effect.acp, epoch(), now())
    case "send":
      return streams.get(run.id)?.write(effect.delta, run.model ?? model())
    case "keep":
      return runs.keep(run.id, effect.delta)
    case "forget kept":
      return runs.clearBuffer(run.id)
    case "replay": {
      for (const delta of runs.kept(run.id)) streams.get(run.id)?.write(delta, run.model ?? model())
      return runs.clearBuffer(run.id)
    }
    case "finish": {
      const stream = streams.get(run.id)
      streams.delete(run.id)
      if (run.client) return deps.onFinish(run, effect.finish)
      return stream?.finish(effect.finish, run.acp === null ? null : run.session, measured ?? run.usage)
    }
  }
}

/** Writes an effect to the transcript of the session. Returns usage that is still being read. */
function record(run: Run, effect: Effect, deps: EffectDeps): Promise<TurnUsage | null> | undefined {
  const { log, onEnd, measure, waitUntil } = deps
  const { session, usage } = run
  if (effect.do === "send" || effect.do === "keep") {
    const { delta } = effect
    if ("content" in delta) log.appendText(session, "text", delta.content)
    else log.appendText(session, "reasoning", delta.reasoning)
  }
  if (effect.do !== "finish") return undefined
  const { finish } = effect
  if (finish.reason === "tool_calls") {
    const { id } = finish.question
    log.add(session, { kind: "question", id, question: toQuestionText(finish.question) })
    return undefined
  }
  const error = finish.reason === "error" ? { reason: finish.error.reason, message: finish.error.message } : null
  const measured = measure(run)
  const entry = log.end(session, { ...(error && { error }), usage }, measured ? null : usage)
  const onCounted = onEnd(run, error, measured === undefined)
  if (measured) {
    waitUntil(
      measured.then((found) => {
        log.count(session, entry, found)
        onCounted(found)
      }),
    )
  }
  return measured
}
