import { configOf } from "../../src/config/config.ts"
import type { Env } from "../../src/config/env.ts"
import { newJoinToken } from "../../src/interns/access/tokens.ts"
import { moveIntern } from "../../src/interns/store.ts"
import { openContainer } from "../../src/interns/hosts/container-rpc.ts"
import type { InternConfig, InternHost } from "../../src/interns/hosts/host.ts"
import type { AcpMessage } from "../../src/interns/run/acp/acp.ts"
import { internError } from "../../src/interns/lifecycle/reasons.ts"
import type { DaemonLink } from "./daemon.ts"

const NOT_BOUND = "This deployment runs no containers: set INTERN_CONTAINER and [[containers]] in wrangler.toml."

/** A daemon in a Cloudflare container (durable-objects/container). It dials in like any other daemon. */
export class ContainerHost implements InternHost {
  readonly startLabel = "Starting the container"
  readonly lateMessage =
    "The container did not connect. Read its log, and check that it can reach the gateway at PUBLIC_URL."
  readonly #internId: string
  readonly #link: DaemonLink
  readonly #env: Env

  constructor(internId: string, env: Env, link: DaemonLink) {
    this.#internId = internId
    this.#link = link
    this.#env = env
  }

  get isUp(): boolean {
    return this.#link.isUp
  }

  get epoch(): string {
    return this.#link.epoch
  }

  /** Each start creates a new join token, which only the container has. */
  async start(config: InternConfig): Promise<void> {
    const container = this.#container
    if (!container) throw internError("intern_rejected", NOT_BOUND)
    // Never from the Host header of a request, because the container sends its token to this URL.
    const url = URL.parse(configOf(this.#env).PUBLIC_URL ?? "")
    if (!url) throw new Error("A container needs the URL of the gateway: set PUBLIC_URL.")
    const { secret, hash } = newJoinToken()
    await moveIntern(this.#env.DB, config, { from: [], columns: { joinTokenHash: hash }, now: Date.now() })
    await this.#link.start(config)
    const dialIn = { INTERN_GATEWAY_URL: url.origin, INTERN_ID: config.id, INTERN_JOIN_TOKEN: secret }
    await container.launch(dialIn).catch((cause: unknown) => {
      throw new Error(toStartError(cause), { cause })
    })
  }

  attach(apiBase: string): Response {
    return this.#link.attach(apiBase)
  }

  frame(socket: WebSocket, data: string | ArrayBuffer): void {
    this.#link.frame(socket, data)
  }

  closed(socket: WebSocket): void {
    this.#link.closed(socket)
  }

  revoke(): void {
    this.#link.revoke()
  }

  send(message: AcpMessage): void {
    this.#link.send(message)
  }

  async stop(): Promise<void> {
    await this.#link.stop()
    await this.#container?.halt()
  }

  async destroy(): Promise<boolean> {
    const isArchived = await this.#link.destroy()
    await this.#container?.remove()
    return isArchived
  }

  get #container() {
    return openContainer(this.#env, this.#internId)
  }
}

/** Explains errors of the runtime, which are less clear than those of the container's own methods. */
function toStartError(cause: unknown): string {
  const message = cause instanceof Error ? cause.message : String(cause)
  if (message.startsWith("Containers have not been enabled")) return NOT_BOUND
  if (!message.startsWith("internal error")) return message
  return `The runtime has no container (${message}). On your own machine it needs a container engine, such as Docker.`
}
