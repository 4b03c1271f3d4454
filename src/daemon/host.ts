import { existsSync, readFileSync } from "node:fs"
import type { AnyMessage } from "@agentclientprotocol/sdk"
import type { VisibleSecret } from "../vault/secret.ts"
import { type Agent, startAgent } from "./agent/agent-process.ts"
import { environmentOf, setupOf } from "./agent/agents.ts"
import { agentsFile, type Folder, prepare } from "./files/folder.ts"
import { storeInitialFiles } from "./files/initial-files.ts"
import type { DaemonConfig } from "../interns/hosts/daemon-protocol.ts"
import { type Authority, newAuthority } from "./proxy/authority.ts"
import { publicConnect } from "./proxy/connect.ts"
import { gatewayEgress } from "./proxy/egress.ts"
import { type Proxy, startProxy } from "./proxy/proxy.ts"
import { proxyEnvironment } from "./proxy/proxy-environment.ts"
import { secretFileEnv, secretFiles } from "./files/secret-files.ts"
import { readSecrets } from "./secrets.ts"

export type HostDeps = {
  internId: string
  folder: Folder
  agent: readonly string[]
  joinToken: string
  gateway: URL
  allowedHosts: readonly string[] | undefined
  agentUid: number | undefined
  log: (text: string) => void
}

/** State that the gateway wants: stopped, running, or restarted with a changed configuration. */
export type TargetState = "stopped" | "running" | "reconfigured"

/** Environment of an agent: its folder, its settings and its proxy. Only the gateway has the values of secrets. */
export class Host {
  readonly #deps: HostDeps
  readonly #authority: Authority
  #proxy: Proxy | undefined
  #secrets: readonly VisibleSecret[] = []
  /** Variables of the agent that no secret may replace. */
  #reserved: ReadonlySet<string> = new Set()
  #refreshed: Promise<TargetState> | undefined
  /** Settings that the agent was started with. */
  #applied: string | undefined
  config: DaemonConfig | undefined

  constructor(deps: HostDeps) {
    this.#deps = deps
    this.#authority = newAuthority(deps.internId)
  }

  /** Starts the proxy before anything else: all traffic of the agent goes through it. */
  async open(): Promise<void> {
    const { gateway, allowedHosts, joinToken, log } = this.#deps
    this.#proxy = await startProxy({
      authority: this.#authority,
      secrets: () => this.#secrets,
      egress: gatewayEgress(() => new URL(this.config?.egress_url ?? ""), joinToken),
      onUnbound: () => void this.refresh().catch((thrown: unknown) => log(String(thrown))),
      gateway,
      allowedHosts,
      connect: publicConnect(),
    })
  }

  async startAgent(handlers: {
    onMessage: (message: AnyMessage) => void
    onExit: (code: number | null) => void
  }): Promise<Agent> {
    const { folder, agent, agentUid: uid, joinToken, log } = this.#deps
    if (!this.config || !this.#proxy) throw new Error("The gateway has not accepted the daemon yet.")
    // An agent that starts at once also needs its secrets.
    await this.#refreshed
    this.#applied = settingsOf(this.config)
    const { argv, env, files, firstFiles, package: name } = setupOf(agent, this.config, folder)
    const out = proxyEnvironment(folder, {
      proxy: this.#proxy.url,
      authority: this.#authority,
      gateway: this.#deps.gateway,
      trusted: trustedByDaemon(),
    })
    const set = [env, out.env, secretFileEnv(folder)]
    this.#reserved = new Set(Object.keys(environmentOf(process.env, folder, [], ...set)))
    await storeInitialFiles(folder, { url: this.config.files_url, joinToken, owner: uid, log })
    const first = existsSync(folder.home) ? {} : firstFiles
    await prepare(folder, { ...first, ...files, ...out.files, ...this.#agentsFiles() }, uid)
    const environment = environmentOf(process.env, folder, this.#secrets, ...set)
    const command = { argv, cwd: folder.work, env: environment, uid, ...(name !== undefined && { package: name }) }
    const started = await startAgent(command, handlers)
    if (!started.mcpHttp && (this.config.mcp_servers ?? []).length > 0) {
      log("the agent does not support MCP servers over HTTP: it does not get those of the intern")
    }
    return started
  }

  /**
   * Reads the secrets and the wanted state again. If that fails, the previous secrets stay: the gateway checks every
   * request that uses one.
   */
  refresh(): Promise<TargetState> {
    this.#refreshed = this.#refresh()
    return this.#refreshed
  }

  async #refresh(): Promise<TargetState> {
    const { folder, joinToken, agentUid, log } = this.#deps
    if (!this.config) return "stopped"
    let target: TargetState = "running"
    try {
      const secrets = await readSecrets(this.config.secrets_url, joinToken)
      this.#secrets = secrets?.data ?? []
      // A change takes effect with the next provision, not with a reconnect.
      const isChanged = this.#applied !== undefined && this.#applied !== settingsOf(this.config)
      if (!secrets) target = "stopped"
      else if (secrets.status === "provisioning" && isChanged) target = "reconfigured"
    } catch (thrown) {
      log(thrown instanceof Error ? thrown.message : String(thrown))
    }
    if (existsSync(folder.work)) {
      const logFailure = (thrown: unknown) => log(`the agent's files were not updated: ${String(thrown)}`)
      await prepare(folder, this.#agentsFiles(), agentUid).catch(logFailure)
    }
    return target
  }

  #agentsFiles(): Record<string, string> {
    const { folder } = this.#deps
    const instructions = agentsFile(folder, this.config?.instructions ?? null, this.#secrets)
    return { ...instructions, ...secretFiles(folder, this.#secrets, this.#reserved) }
  }
}

function settingsOf(config: DaemonConfig): string {
  return JSON.stringify({ ...config, files_url: "", secrets_url: "", egress_url: "" })
}

function trustedByDaemon(): string {
  const file = process.env["NODE_EXTRA_CA_CERTS"] ?? ""
  return file !== "" && existsSync(file) ? readFileSync(file, "utf8") : ""
}
