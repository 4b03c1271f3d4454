import type { AcpEvent } from "./acp/acp.ts"
import type { Effect, Run, Step } from "./run.ts"

/**
 * Messages that steer a turn in progress. The client got 202 for each, so a message that reaches the agent after its turn
 * becomes the next prompt of the same run, which therefore ends only when the agent has responded to all of them.
 */

export const textBlock = (text: string) => ({ type: "text", text })

/** The client sends a further message to a run that it streams. */
export function steer(run: Run, text: string, rpc: number): Step {
  if (run.promptRpc === null || run.acp === null) {
    return { run: { ...run, pendingPrompts: [...run.pendingPrompts, text] }, effects: [] }
  }
  return steered(run, run.acp, text, rpc)
}

export function steered(run: Run, acp: string, text: string, rpc: number): Step {
  const params = { sessionId: acp, prompt: [textBlock(text)] }
  const steers = [...(run.steers ?? []), { rpc, text }]
  return { run: { ...run, steers }, effects: [{ do: "request", rpc, method: "_intern/steer", params }] }
}

type AgentResponse = AcpEvent & { is: "result" | "failure" }

/** The run after the agent's response to a steering message; undefined for the response to another request. */
export function onSteerResponse(run: Run, response: AgentResponse): Run | undefined {
  const { steers = [], lateTexts = [] } = run
  const message = steers.find(({ rpc }) => rpc === response.rpc)
  if (!message) return undefined
  const remaining = steers.filter((one) => one !== message)
  return { ...run, steers: remaining, lateTexts: isTaken(response) ? lateTexts : [...lateTexts, message.text] }
}

function isTaken(response: AgentResponse): boolean {
  return response.is === "result" && !NOT_TAKEN.includes(response.result["outcome"])
}

/** Outcomes of the steering extension for a message that the agent did not take. */
const NOT_TAKEN: readonly unknown[] = ["promptRequired", "failed"]

/** The next prompt, of the messages that came after the agent's turn; undefined for none. */
export function latePrompt(run: Run, rpc: number): Step | undefined {
  const { acp, lateTexts = [] } = run
  if (acp === null || lateTexts.length === 0) return undefined
  const params = { sessionId: acp, prompt: [textBlock(lateTexts.join("\n\n"))] }
  const effect: Effect = { do: "request", rpc, method: "session/prompt", params }
  return { run: { ...run, promptRpc: rpc, lateTexts: [], heldResult: null, graceDeadline: null }, effects: [effect] }
}
