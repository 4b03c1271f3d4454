import type { Usage } from "@agentclientprotocol/sdk/unstable"
import type { Agent } from "./agent/agent-process.ts"
import { isArray, isObject } from "../support/text/json.ts"

export type Prompt = { sessionId: string; prompt: unknown[] }

export function sessionOf(params: unknown): string {
  return isObject(params) && typeof params["sessionId"] === "string" ? params["sessionId"] : ""
}

export function promptOf(params: unknown): Prompt {
  const input = isObject(params) ? params : {}
  return { ...input, sessionId: sessionOf(input), prompt: isArray(input["prompt"]) ? input["prompt"] : [] }
}

/** State of one gateway prompt: further messages are queued behind the agent's turn. */
export type Run = { queue: unknown[][]; isCancelled: boolean }

type PromptResponse = { stopReason?: string; usage?: Usage | null } & Record<string, unknown>

/**
 * Runs the prompt, then one turn for each queued message: an agent that receives a second prompt during a turn may
 * abandon the first. Returns the last response with the usage of all turns.
 */
export async function runPrompts(agent: Pick<Agent, "request">, first: Prompt, run: Run): Promise<PromptResponse> {
  let response: PromptResponse = await agent.request("session/prompt", first)
  let { usage } = response
  for (let next = run.queue.shift(); next && !run.isCancelled && response.stopReason !== "cancelled";) {
    response = await agent.request("session/prompt", { sessionId: first.sessionId, prompt: next })
    usage = sumOf(usage, response.usage)
    next = run.queue.shift()
  }
  return usage ? { ...response, usage } : response
}

const COUNTS = [
  "totalTokens",
  "inputTokens",
  "outputTokens",
  "thoughtTokens",
  "cachedReadTokens",
  "cachedWriteTokens",
] as const

export function sumOf(one: Usage | null | undefined, other: Usage | null | undefined): Usage | null | undefined {
  if (!one || !other) return one ?? other
  const sum = { ...one, ...other }
  for (const count of COUNTS) {
    if (one[count] != null || other[count] != null) sum[count] = (one[count] ?? 0) + (other[count] ?? 0)
  }
  return sum
}

/** Outcomes of the ACP steering extension for an accepted message. */
const ACCEPTED_TYPES = ["injected", "startedNewTurn"]

/** Steers a run: within its turn if the agent supports it, otherwise after it. Undefined if the run has ended. */
export async function steer(
  agent: Pick<Agent, "request" | "steering">,
  prompt: Prompt,
  run: Run,
  isRunning: () => boolean,
): Promise<"injected" | "queued" | undefined> {
  if (!isRunning()) return undefined
  if (agent.steering) {
    const result = await agent.request("_session/steering", prompt).catch(() => undefined)
    if (ACCEPTED_TYPES.includes(String(result?.["outcome"]))) return "injected"
  }
  if (!isRunning()) return undefined
  run.queue.push(prompt.prompt)
  return "queued"
}
