import type { AnyMessage } from "@agentclientprotocol/sdk"
import type { ReleasedSecret } from "../vault/secret.ts"
import { type Agent, startAgent } from "./agent-process.ts"
import { environmentOf, setupOf } from "./agents.ts"
import { agentsFile, type Folder, prepare } from "./folder.ts"
import type { Config } from "./link.ts"
import { readSecrets } from "./secrets.ts"

export type HostWorld = {
  folder: Folder
  agent: readonly string[]
  joinToken: string
  gateway: URL
  allowedHosts: readonly string[] | undefined
  agentUid: number | undefined
  log: (words: string) => void
}

/** What an agent runs in: its folder, its settings, and the secrets that are put into what it sends. */
export class Host {
  readonly #world: HostWorld
  #secrets: readonly ReleasedSecret[] = []
  config: Config | undefined

  constructor(world: HostWorld) {
    this.#world = world
  }

  async open(): Promise<void> {}

  async startAgent(handlers: {
    onMessage: (message: AnyMessage) => void
    onExit: (code: number | null) => void
  }): Promise<Agent> {
    const { folder, agent, agentUid: uid } = this.#world
    if (!this.config) throw new Error("The gateway has not welcomed the daemon yet.")
    await this.refreshSecrets()
    const { words, env, files } = setupOf(agent, this.config, folder)
    await prepare(folder, files, uid)
    const whole = environmentOf(process.env, folder, this.#secrets, env)
    return startAgent({ words, cwd: folder.work, env: whole, uid }, handlers)
  }

  /** Where they cannot be had the agent goes on with those it has. */
  async refreshSecrets(): Promise<void> {
    const { folder, joinToken, agentUid, log } = this.#world
    if (!this.config) return
    try {
      this.#secrets = await readSecrets(this.config.secrets_url, joinToken)
    } catch (thrown) {
      log(thrown instanceof Error ? thrown.message : String(thrown))
    }
    await prepare(folder, agentsFile(folder, this.config.instructions, this.#secrets), agentUid)
  }
}
