import type { RpcId } from "./acp/acp.ts"
import { cancel, onAnswer } from "./advance.ts"
import { newRun } from "./opening.ts"
import type { Run, Step } from "./run.ts"

/**
 * Transitions of a run whose prompt came from an ACP client. The client receives the messages of the agent unchanged,
 * so it has every question at once and answers with a JSON-RPC result.
 */

type ClientOpening = {
  id: string
  session: string
  /** The agent's id of the session that the client has open. */
  acp: string
  client: NonNullable<Run["client"]>
  prompt: unknown
}

export function startClientRun({ id, session, acp, client, prompt }: ClientOpening, now: number, rpc: number): Step {
  const run: Run = { ...newRun({ id, session, mode: "manual", client }, now), acp, promptRpc: rpc }
  const params = { sessionId: acp, prompt }
  return {
    run,
    effects: [
      { do: "bind", acp },
      { do: "request", rpc, method: "session/prompt", params },
    ],
  }
}

/** The client answers the open question, or one that is queued behind it. `rpc`: the agent's id of the question. */
export function onClientAnswer(run: Run, rpc: RpcId, result: unknown, now: number): Step {
  if (run.question?.rpc === rpc) return onAnswer(run, { is: "result", result }, now)
  const queued = run.queued.filter((question) => question.rpc !== rpc)
  if (queued.length === run.queued.length) return { run, effects: [] }
  return { run: { ...run, queued }, effects: [{ do: "respond", rpc, result }] }
}

/** The client has disconnected. A turn that was answered by id continues in the background. */
export function onClientDisconnect(run: Run, now: number): Step {
  return run.isBackground ? { run: { ...run, client: null }, effects: [] } : cancel(run, "client_closed_request", now)
}
