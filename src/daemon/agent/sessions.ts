import type { McpServer } from "@agentclientprotocol/sdk"
import { isObject } from "../../support/text/json.ts"
import { sessionOf } from "../run.ts"
import { type Agent, RpcFailure } from "./agent-process.ts"

export type SessionSettings = {
  cwd: string
  /** MCP servers for the sessions of an agent. */
  mcpServers: (agent: Agent) => McpServer[]
  /** ACP session mode for new sessions, if the agent's default mode does not request permissions. */
  sessionMode: string | undefined
  /** ACP authentication method for an agent that requires one before it opens a session. */
  authMethod: string | undefined
}

/** ACP's code of an agent that requires authentication. */
const AUTH_REQUIRED = -32_000

/** Opens a session: `session/new`, `session/load` or `session/resume`. */
export async function openSession(
  agent: Agent,
  { method, params }: { method: string; params?: unknown },
  settings: SessionSettings,
): Promise<Record<string, unknown>> {
  const { cwd, sessionMode: modeId } = settings
  const extended = { ...(isObject(params) && params), cwd, mcpServers: settings.mcpServers(agent) }
  const result = await agent.request(method, extended).catch(async (thrown: unknown) => {
    if (!(thrown instanceof RpcFailure) || thrown.error.code !== AUTH_REQUIRED) throw thrown
    await authenticate(agent, settings.authMethod, thrown)
    return agent.request(method, extended)
  })
  const sessionId = sessionOf(result) || sessionOf(params)
  if (modeId !== undefined) await agent.request("session/set_mode", { sessionId, modeId })
  return result
}

async function authenticate(agent: Agent, methodId: string | undefined, required: RpcFailure): Promise<void> {
  if (methodId !== undefined && agent.authMethods.includes(methodId)) {
    await agent.request("authenticate", { methodId })
    return
  }
  const methods = agent.authMethods.join(", ") || "none"
  const message =
    `The agent requires authentication (${required.message.replace(/\.$/, "")}). Sign in as its user with HOME set to the folder home of ` +
    `--dir, or start the daemon with --auth-method. Methods of this agent: ${methods}.`
  throw new RpcFailure({ ...required.error, message })
}
