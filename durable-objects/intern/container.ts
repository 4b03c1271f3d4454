import { configOf } from "../../src/config/config.ts"
import type { Env } from "../../src/config/env.ts"
import { newJoinToken } from "../../src/interns/tokens.ts"
import { moveIntern } from "../../src/interns/store.ts"
import type { InternConfig, InternHost } from "../../src/interns/hosts/host.ts"
import type { AcpMessage } from "../../src/interns/run/acp.ts"
import { internError } from "../../src/interns/reasons.ts"
import type { DaemonLink } from "./daemon.ts"

/**
 * A daemon in a Cloudflare container that this object starts: the image of src/daemon, which dials in as any other
 * does. Tested against a container binding of the tests' own; not against the platform's.
 */
export class ContainerHost implements InternHost {
  readonly startLabel = "Starting the container"
  readonly lateMessage =
    "The container did not connect. Read its log, and check that it can reach the gateway at PUBLIC_URL."
  readonly #ctx: DurableObjectState
  readonly #link: DaemonLink
  readonly #env: Env

  constructor(ctx: DurableObjectState, env: Env, link: DaemonLink) {
    this.#ctx = ctx
    this.#env = env
    this.#link = link
  }

  get isUp(): boolean {
    return this.#link.isUp
  }

  get epoch(): string {
    return this.#link.epoch
  }

  /** Each start creates a new join token, which only the container has. */
  async start(config: InternConfig): Promise<void> {
    const container = this.#container()
    // Not taken from the Host header of a request: the container sends its token there.
    const url = URL.parse(configOf(this.#env).PUBLIC_URL ?? "")
    if (!url) throw new Error("A container needs to know where the gateway is: set PUBLIC_URL.")
    const { secret, hash } = newJoinToken()
    await moveIntern(this.#env.DB, config, { from: [], columns: { joinTokenHash: hash }, now: Date.now() })
    if (container.running) await container.destroy()
    await this.#link.start(config)
    container.start({
      enableInternet: true,
      env: { INTERN_GATEWAY_URL: url.origin, INTERN_ID: config.id, INTERN_JOIN_TOKEN: secret },
    })
  }

  attach(): Response {
    return this.#link.attach()
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
    if (this.#ctx.container?.running) this.#ctx.container.signal(15)
  }

  async destroy(): Promise<boolean> {
    const isArchived = await this.#link.destroy()
    if (this.#ctx.container?.running) await this.#ctx.container.destroy()
    return isArchived
  }

  #container(): Container {
    const { container } = this.#ctx
    if (!container) {
      throw internError("intern_rejected", "This deployment binds no container to its interns: see [[containers]].")
    }
    return container
  }
}
