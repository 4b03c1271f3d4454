import { hashKey } from "../../access/key.ts"
import type { Env } from "../../config/env.ts"
import { principalByHash } from "../../policy/authenticate.ts"
import { logError } from "../../support/log.ts"
import type { ConfigStore, HostEvents, InternConfig, InternHost } from "../hosts/host.ts"
import { requireActive } from "../access/access.ts"
import { openInternKey } from "../access/intern-key.ts"
import { findIntern } from "../store.ts"
import type { InternRow } from "../table.ts"
import { releaseSecrets } from "../../vault/release.ts"
import type { AcpMessage } from "../run/acp/acp.ts"
import { EmbeddedAgent } from "./agent.ts"
import { callModel, type CallGateway, readCost } from "./call-model.ts"
import { mcpConsent, type ResolvedCall, shellConsent } from "./consent.ts"
import { Disk } from "./shell/disk.ts"
import { McpClient } from "./mcp-client.ts"
import { McpToolbox } from "./mcp-tools.ts"
import { Memory } from "./memory.ts"
import { publishFile } from "./publish.ts"
import { systemPrompt } from "./prompt.ts"
import { placeholdersOf, shellFetch } from "./shell/network.ts"
import { needsPermission, isBuiltIn, runTool, TOOL_DEFINITIONS, type ToolCall } from "./tools.ts"

type EmbeddedHostDeps = {
  runs: ConfigStore
  events: HostEvents
  /**
   * Sends requests to the gateway without leaving the isolate, as calls of a session of the agent; null for free
   * requests.
   */
  gatewayFor: (session: string | null) => CallGateway
}

type Resolving = { signal: AbortSignal; callGateway: CallGateway }

/** The agent built into every gateway: a loop in the intern's object that uses the gateway's chat endpoint. */
export class EmbeddedHost implements InternHost {
  readonly epoch = "embedded"
  readonly startLabel = "Starting the agent"
  readonly lateMessage = "The agent did not start."
  readonly #ctx: DurableObjectState
  readonly #env: Env
  readonly #runs: ConfigStore
  readonly #agent: EmbeddedAgent
  readonly #disk: Disk
  readonly #toolbox: McpToolbox
  #key: string | undefined

  constructor(ctx: DurableObjectState, env: Env, { runs, events, gatewayFor }: EmbeddedHostDeps) {
    this.#ctx = ctx
    this.#env = env
    this.#runs = runs
    this.#disk = new Disk(ctx.storage.sql)
    this.#agent = new EmbeddedAgent(new Memory(ctx.storage.sql), {
      emit: events.message,
      callModel: async (session, messages, { signal, emitText }) => {
        const key = await this.#ownKey()
        const config = this.#config
        const { byName, unavailable } = await this.#toolbox.tools(signal)
        const request = {
          model: config.model,
          messages: [{ role: "system", content: systemPrompt(config, this.#disk, unavailable) }, ...messages],
          tools: [...TOOL_DEFINITIONS, ...[...byName.values()].map(({ definition }) => definition)],
        }
        return callModel(gatewayFor(session), {
          key,
          request,
          signal,
          handlers: {
            text: (text, model) => emitText("agent_message_chunk", text, config.model ?? model),
            thought: (text, model) => emitText("agent_thought_chunk", text, config.model ?? model),
          },
        })
      },
      resolve: (session, call, signal) => this.#resolve(call, { signal, callGateway: gatewayFor(session) }),
    })
    const client = new McpClient({ callGateway: gatewayFor(null), key: () => this.#ownKey() })
    const costOf = async (id: string) => readCost(gatewayFor(null), await this.#ownKey(), id)
    this.#toolbox = new McpToolbox({ client, permitted: () => this.#permittedTools(), costOf, now: Date.now })
  }

  async #resolve(call: ToolCall, { signal, callGateway }: Resolving): Promise<ResolvedCall> {
    if (isBuiltIn(call)) {
      const run = async (stopped: AbortSignal) => ({ text: await this.#runBuiltIn(call, stopped), cost: 0 })
      return { consent: needsPermission(call) ? shellConsent(call) : null, run }
    }
    const tool = await this.#toolbox.find(call, signal)
    if (tool) {
      const run = async (stopped: AbortSignal) => this.#toolbox.run(tool, call, { signal: stopped, callGateway })
      return { consent: mcpConsent(tool, call), run }
    }
    return { consent: null, run: async () => ({ text: `There is no tool ${call.function.name}.`, cost: 0 }) }
  }

  async #runBuiltIn(call: ToolCall, signal: AbortSignal): Promise<string> {
    const env = this.#env
    const secrets = (row: InternRow) => releaseSecrets(env, row.id)
    const row = needsPermission(call) ? await this.#row() : undefined
    // Checked for each request: a command may run for minutes after its key was revoked.
    const intern = async () => {
      const current = await this.#row()
      if (current) await requireActive(env, current)
      return current
    }
    const names = row ? placeholdersOf(await secrets(row)) : {}
    const waitUntil = (work: Promise<unknown>) => this.#ctx.waitUntil(work)
    return runTool(call, {
      disk: this.#disk,
      env: names,
      fetch: shellFetch(env, { intern, secrets, stopped: signal, waitUntil }),
      signal,
      publish: (filename, content) => this.#publish(filename, content),
    })
  }

  /** MCP tools that the intern's key may call now; the gateway checks each call again. */
  async #permittedTools(): Promise<readonly string[]> {
    const principal = await principalByHash(hashKey(await this.#ownKey()), this.#env, Date.now())
    return principal?.mcpTools ?? []
  }

  get isUp(): boolean {
    return this.#runs.fact("config") !== undefined
  }

  get #config(): InternConfig {
    const config = this.#runs.fact("config")
    if (!config) throw new Error("The agent has no configuration.")
    return config
  }

  async #ownKey(): Promise<string> {
    const { organizationId, workspaceId, id } = this.#config
    this.#key ??= (await openInternKey(this.#env, { organizationId, workspaceId }, id)).key
    return this.#key
  }

  #row(): Promise<InternRow | undefined> {
    const scope = this.#config
    return findIntern(this.#env.DB, scope, scope.id)
  }

  async #publish(path: string, content: Uint8Array): Promise<string> {
    const row = await this.#row()
    if (!row) throw new Error("The intern no longer exists.")
    const { id } = await publishFile(this.#env, row, path, content)
    return id
  }

  async start(config: InternConfig): Promise<void> {
    this.#runs.setFact("config", config)
    // The key may have changed since the last start.
    this.#key = undefined
    await this.#ownKey()
  }

  /** Deferred: the caller may be in the middle of a state change that the agent's messages affect. */
  send(message: AcpMessage): void {
    const work = Promise.resolve()
      .then(() => this.#agent.receive(message))
      .catch((cause: unknown) => logError("embedded agent failed", {}, cause))
    this.#ctx.waitUntil(work)
  }

  resume(): void {
    this.#ctx.waitUntil(this.#agent.resume().catch((cause: unknown) => logError("embedded agent failed", {}, cause)))
  }

  stop(): Promise<void> {
    return Promise.resolve()
  }

  /** The disk is stored in the object, which deletes it itself. */
  destroy(): Promise<boolean> {
    return Promise.resolve(true)
  }
}
