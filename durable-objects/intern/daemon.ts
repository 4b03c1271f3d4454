import type { Env } from "../../src/config/env.ts"
import { Disk } from "../../src/interns/embedded/shell/disk.ts"
import { agentsText } from "../../src/interns/embedded/prompt.ts"
import { type Numbered, readFrame } from "../../src/interns/hosts/daemon-frames.ts"
import { CLOSE, type DaemonConfig, type Hello } from "../../src/interns/hosts/daemon-protocol.ts"
import type { HostEvents, InternConfig, InternHost } from "../../src/interns/hosts/host.ts"
import { openInternKey } from "../../src/interns/access/intern-key.ts"
import type { AcpMessage } from "../../src/interns/run/acp/acp.ts"
import { principalByHash } from "../../src/policy/authenticate.ts"
import { logError, logWarning } from "../../src/support/log.ts"
import { serverOf } from "../../src/support/mcp-tools.ts"
import { valueOrTimeout } from "../../src/support/time/time.ts"
import type { Peer } from "./facts.ts"
import type { RunStore } from "./run-store.ts"
import { isObject } from "../../src/support/text/json.ts"

const TAG = "daemon"
const DESTROY_TIMEOUT_MS = 8_000
const DESTROY_RPC = "destroy"
const SHUTDOWN_RPC = "shutdown"

/** `apiBase`: URL at which the daemon reached the gateway. Absent in connections of older versions. */
type Socket = { isWelcome: boolean; dialled: number; apiBase?: string }

/**
 * The connection to a daemon, which dials in. It hibernates with the object. Frames are stored until the daemon has
 * acknowledged them.
 */
export class DaemonLink implements InternHost {
  readonly startLabel = "Waiting for the daemon to dial in"
  readonly lateMessage =
    "No daemon has connected. Create a join token with POST /interns/{id}/daemon/token, then run: " +
    "npm run daemon -- --url <gateway> --intern <id> --token-file <file> --agent opencode"
  readonly #ctx: DurableObjectState
  readonly #env: Env
  readonly #runs: RunStore
  readonly #events: HostEvents
  #destroyed: ((isArchived: boolean) => void) | undefined

  constructor(ctx: DurableObjectState, env: Env, runs: RunStore, events: HostEvents) {
    this.#ctx = ctx
    this.#env = env
    this.#runs = runs
    this.#events = events
    ctx.storage.sql.exec(
      "CREATE TABLE IF NOT EXISTS unacknowledged (seq INTEGER PRIMARY KEY, body TEXT NOT NULL) STRICT",
    )
  }

  get #peer(): Peer {
    return this.#runs.fact("peer") ?? { epoch: "", received: 0, next: 1, isReady: false }
  }

  #setPeer(change: Partial<Peer>): void {
    this.#runs.setFact("peer", { ...this.#peer, ...change })
  }

  get epoch(): string {
    return this.#peer.epoch
  }

  get isUp(): boolean {
    return this.#current !== undefined && this.#peer.isReady
  }

  /** Whether a daemon is connected, whether or not its agent is ready. */
  get isAttached(): boolean {
    return this.#current !== undefined
  }

  /** The active connection: the latest one that completed the handshake. */
  get #current(): WebSocket | undefined {
    return this.#sockets().find((socket) => stateOf(socket).isWelcome)
  }

  #sockets(): WebSocket[] {
    const open = this.#ctx.getWebSockets(TAG).filter(({ readyState }) => readyState === WebSocket.OPEN)
    return open.toSorted((a, b) => stateOf(b).dialled - stateOf(a).dialled)
  }

  /** A daemon reads the new configuration when it reconnects. */
  start(_config: InternConfig): Promise<void> {
    this.#setPeer({ isReady: false })
    this.#closeAll(CLOSE.reconfigured, "reconfigured")
    return Promise.resolve()
  }

  attach(apiBase: string): Response {
    const { 0: client, 1: server } = new WebSocketPair()
    server.serializeAttachment({ isWelcome: false, dialled: Date.now(), apiBase } satisfies Socket)
    this.#ctx.acceptWebSocket(server, [TAG])
    return new Response(null, { status: 101, webSocket: client })
  }

  send(message: AcpMessage): void {
    const { next } = this.#peer
    this.#setPeer({ next: next + 1 })
    const body = JSON.stringify(message)
    this.#ctx.storage.sql.exec("INSERT INTO unacknowledged (seq, body) VALUES (?, ?)", next, body)
    const socket = this.#current
    if (socket) sendTo(socket, `{"seq":${next},"msg":${body}}`)
  }

  async stop(): Promise<void> {
    if (this.isUp) this.send({ jsonrpc: "2.0", id: SHUTDOWN_RPC, method: "_intern/shutdown", params: {} })
    return Promise.resolve()
  }

  async destroy(): Promise<boolean> {
    if (!this.isUp) return false
    const confirmed = new Promise<boolean>((resolve) => (this.#destroyed = resolve))
    this.send({ jsonrpc: "2.0", id: DESTROY_RPC, method: "_intern/destroy", params: {} })
    const isArchived = (await valueOrTimeout(confirmed, DESTROY_TIMEOUT_MS)) ?? false
    if (isArchived) this.#closeAll(CLOSE.revoked, "destroyed")
    return isArchived
  }

  /** Closes connections that were opened with the old token. */
  revoke(): void {
    this.#closeAll(CLOSE.revoked, "the join token was revoked")
  }

  closed(socket: WebSocket): void {
    // Closing a replaced connection does not disconnect the daemon.
    if (stateOf(socket).isWelcome && this.#sockets().every((other) => other === socket || !stateOf(other).isWelcome)) {
      this.#events.down()
    }
  }

  frame(socket: WebSocket, data: string | ArrayBuffer): void {
    const frame = typeof data === "string" ? readFrame(data) : undefined
    if (!frame) return socket.close(CLOSE.malformed, "not a frame")
    if ("hello" in frame) return this.#hello(socket, frame.hello)
    if (!stateOf(socket).isWelcome) return
    if ("ping" in frame) return sendTo(socket, '{"pong":1}')
    if ("ack" in frame) this.#ctx.storage.sql.exec("DELETE FROM unacknowledged WHERE seq <= ?", frame.ack)
    if ("seq" in frame) this.#receive(socket, frame)
  }

  #receive(socket: WebSocket, { seq, msg }: Numbered): void {
    const { received } = this.#peer
    if (seq > received + 1) return socket.close(CLOSE.gap, `expected ${received + 1}`)
    if (seq === received + 1) {
      this.#setPeer({ received: seq })
      this.#read(msg)
    }
    sendTo(socket, `{"ack":${this.#peer.received}}`)
  }

  #read(message: AcpMessage): void {
    if (message.method === "_intern/ready") {
      this.#setPeer({ isReady: true })
      return this.#events.up()
    }
    if (message.method === "_intern/agent_exited") {
      this.#setPeer({ isReady: false })
      const { message: reason } = isObject(message.params) ? message.params : {}
      if (typeof reason === "string") this.#events.failed(reason)
      return this.#events.gone()
    }
    if (message.id === DESTROY_RPC) {
      const { archived } = isObject(message.result) ? message.result : {}
      return this.#destroyed?.(archived === true)
    }
    if (message.id !== SHUTDOWN_RPC) this.#events.message(message)
  }

  #hello(socket: WebSocket, hello: Hello): void {
    for (const other of this.#sockets()) {
      if (other === socket) continue
      other.serializeAttachment({ ...stateOf(other), isWelcome: false })
      other.close(CLOSE.replaced, "replaced")
    }
    const isSame = hello.epoch === this.#peer.epoch
    if (isSame && hello.oldest > this.#peer.received + 1) return socket.close(CLOSE.lost, "frames are lost")
    if (!isSame) this.#begin(hello.epoch)
    this.#ctx.storage.sql.exec("DELETE FROM unacknowledged WHERE seq < ?", hello.from)
    const work = this.#welcome(socket, hello.from)
    this.#ctx.waitUntil(
      work.catch((cause: unknown) => {
        logError("a daemon was not welcomed", { intern: this.#runs.fact("identity")?.id }, cause)
        socket.close(1011, "not welcomed")
      }),
    )
  }

  #begin(epoch: string): void {
    this.#ctx.storage.sql.exec("DELETE FROM unacknowledged")
    this.#setPeer({ epoch, received: 0, next: 1, isReady: false })
    this.#events.gone()
  }

  async #welcome(socket: WebSocket, from: number): Promise<void> {
    const config = await this.#config(stateOf(socket).apiBase)
    const { epoch, received, next, isReady } = this.#peer
    const rows = [
      ...this.#ctx.storage.sql.exec<{ seq: number; body: string }>("SELECT seq, body FROM unacknowledged ORDER BY seq"),
    ]
    const oldest = rows[0]?.seq ?? next
    if (oldest > from && from !== next)
      logWarning("a daemon requested frames that are no longer stored", { from, oldest })
    socket.serializeAttachment({ ...stateOf(socket), isWelcome: true })
    sendTo(socket, JSON.stringify({ welcome: { epoch, from: received + 1, next, oldest, config } }))
    for (const { seq, body } of rows) sendTo(socket, `{"seq":${seq},"msg":${body}}`)
    if (isReady) this.#events.up()
  }

  /** `apiBase`: of the daemon's own request. Other requests may have another host, which clients choose. */
  async #config(apiBase: string | undefined): Promise<DaemonConfig> {
    const identity = this.#runs.fact("identity")
    if (!identity) throw new Error("A connected daemon has no intern.")
    const base = apiBase ?? identity.apiBase
    const { row, key } = await openInternKey(this.#env, identity, identity.id)
    const model = this.#runs.fact("model") ?? row.model
    const principal = await principalByHash(row.keyHash, this.#env, Date.now())
    return {
      intern_id: row.id,
      name: row.name,
      model,
      instructions: this.#instructions(row.instructions),
      files_url: `${base}/interns/${row.id}/daemon/files`,
      api_base: base,
      api_key: key,
      mcp_servers: [...new Set((principal?.mcpTools ?? []).map(serverOf))],
      secrets_url: `${base}/interns/${row.id}/daemon/secrets`,
      egress_url: `${base}/interns/${row.id}/daemon/egress`,
    }
  }

  /** Instructions of the intern and its initial AGENTS.md: the daemon writes both to one file. */
  #instructions(instructions: string | null): string | null {
    const parts = [instructions ?? "", agentsText(new Disk(this.#ctx.storage.sql))].filter((part) => part !== "")
    return parts.length === 0 ? null : parts.join("\n\n")
  }

  #closeAll(code: number, rule: string): void {
    for (const socket of this.#sockets()) socket.close(code, rule)
  }
}

function stateOf(socket: WebSocket): Socket {
  return (socket.deserializeAttachment() as Socket | null) ?? { isWelcome: false, dialled: 0 }
}

/** Ignores a closed socket: unacknowledged frames are sent again when the daemon reconnects. */
function sendTo(socket: WebSocket, text: string): void {
  try {
    socket.send(text)
  } catch {
    socket.close(1011, "broken")
  }
}
