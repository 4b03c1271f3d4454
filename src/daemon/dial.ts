import { randomUUID } from "node:crypto"
import type { AnyMessage } from "@agentclientprotocol/sdk"
import { CLOSE, type DaemonConfig, type Welcome } from "../interns/hosts/daemon-protocol.ts"
import { Link } from "./link.ts"

const FIRST_WAIT_MS = 200
const MAX_WAIT_MS = 10_000
const PING_EVERY_MS = 30_000
/** Timeout from the dial to the welcome. */
const WELCOME_TIMEOUT_MS = 30_000
/** How long to wait for acknowledgements of the last frames before an epoch ends. */
const DRAIN_MS = 2_000
/** Statuses of a rejected token or intern, for which a retry is useless. */
const REJECTION_STATUSES = [401, 403, 404]

export type Ending = "replaced" | "refused"

export type Dialled = {
  attachUrl: URL
  joinToken: string
  onWelcome: (config: DaemonConfig) => void
  onMessage: (message: AnyMessage) => void
  /** The frame numbers cannot be resumed: the gateway has lost the state of the agent. */
  onLost: () => void
  onEnd: (ending: Ending, rule: string) => void
  log: (rule: string) => void
}

type Incoming = { welcome?: Welcome; seq?: number; msg?: AnyMessage; ack?: number; ping?: number; pong?: number }

/** Keeps a WebSocket to the gateway connected, and on it a link with numbered frames. */
export class Dial {
  readonly #deps: Dialled
  #link = new Link(randomUUID())
  #socket: WebSocket | undefined
  #isWelcome = false
  #failures = 0
  #timer: ReturnType<typeof setTimeout> | undefined
  #hasTraffic = true
  #onDrained: (() => void) | undefined

  constructor(deps: Dialled) {
    this.#deps = deps
    setInterval(() => this.#ping(), PING_EVERY_MS).unref()
  }

  open(): void {
    const { attachUrl, joinToken } = this.#deps
    const url = new URL(attachUrl)
    url.protocol = attachUrl.protocol === "https:" ? "wss:" : "ws:"
    // Node's constructor accepts headers; the type is the browser's, which does not.
    const headers = { authorization: `Bearer ${joinToken}` }
    const socket: WebSocket = Reflect.construct(WebSocket, [url, { headers }])
    this.#socket = socket
    let isOpen = false
    setTimeout(() => {
      if (socket === this.#socket && !this.#isWelcome) socket.close()
    }, WELCOME_TIMEOUT_MS).unref()
    socket.addEventListener("open", () => {
      isOpen = true
      socket.send(JSON.stringify({ hello: this.#link.hello() }))
    })
    socket.addEventListener("message", ({ data }) => {
      if (socket === this.#socket) this.#onFrame(String(data))
    })
    socket.addEventListener("close", ({ code }) => {
      if (socket === this.#socket) void this.#closed(code, isOpen)
    })
    // A close event always follows.
    socket.addEventListener("error", () => {})
  }

  send(message: AnyMessage): void {
    const frame = this.#link.send(message)
    if (this.#isWelcome) this.#socket?.send(frame)
  }

  /** Ends this epoch after its frames are acknowledged and begins another. */
  async renew(): Promise<void> {
    if (!this.#link.isDrained && this.#isWelcome) await this.#drained()
    this.#begin(CLOSE.done)
  }

  #drained(): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, DRAIN_MS)
      this.#onDrained = () => {
        clearTimeout(timer)
        resolve()
      }
    })
  }

  #begin(code: number): void {
    const before = this.#socket
    this.#socket = undefined
    this.#isWelcome = false
    this.#link = new Link(randomUUID())
    before?.close(code)
    clearTimeout(this.#timer)
    this.open()
  }

  #onFrame(text: string): void {
    this.#hasTraffic = true
    const frame = read(text)
    if (frame.ping !== undefined) this.#socket?.send(JSON.stringify({ pong: frame.ping }))
    if (frame.welcome) this.#welcome(frame.welcome)
    if (frame.ack !== undefined) {
      this.#link.acked(frame.ack)
      if (this.#link.isDrained) this.#onDrained?.()
    }
    if (frame.seq === undefined || !frame.msg || !this.#isWelcome) return
    const received = this.#link.receive(frame.seq)
    // Closing makes both sides resume from their last acknowledged frame.
    if (received === "gap") return this.#socket?.close(CLOSE.gap)
    this.#socket?.send(JSON.stringify({ ack: this.#link.taken }))
    if (received === "take") this.#deps.onMessage(frame.msg)
  }

  #welcome(welcome: Welcome): void {
    const again = this.#link.welcomed(welcome)
    if (!again) {
      this.#deps.log("the gateway and the daemon lost their message sequence: starting a new connection")
      this.#begin(CLOSE.lost)
      this.#deps.onLost()
      return
    }
    this.#isWelcome = true
    this.#failures = 0
    for (const frame of again) this.#socket?.send(frame)
    this.#deps.onWelcome(welcome.config)
  }

  async #closed(code: number, wasOpen: boolean): Promise<void> {
    this.#isWelcome = false
    this.#socket = undefined
    this.#onDrained?.()
    if (code === CLOSE.replaced) return this.#deps.onEnd("replaced", "Another daemon of this intern has connected.")
    if (code === CLOSE.revoked) return this.#deps.onEnd("refused", "The join token was revoked.")
    if (code === CLOSE.lost) {
      this.#link = new Link(randomUUID())
      this.#deps.onLost()
    }
    if (!wasOpen && (await this.#isRejected())) {
      return this.#deps.onEnd("refused", "The gateway rejected this join token for this intern.")
    }
    const longest = Math.min(MAX_WAIT_MS, FIRST_WAIT_MS * 2 ** this.#failures)
    this.#failures = Math.min(this.#failures + 1, 16)
    this.#timer = setTimeout(() => this.open(), longest * (0.5 + Math.random() / 2))
  }

  /** A WebSocket client does not expose the HTTP status of a rejection; the same request without the upgrade does. */
  async #isRejected(): Promise<boolean> {
    try {
      const headers = { authorization: `Bearer ${this.#deps.joinToken}` }
      const { status, body } = await fetch(this.#deps.attachUrl, { headers, redirect: "manual" })
      await body?.cancel()
      return REJECTION_STATUSES.includes(status)
    } catch {
      return false
    }
  }

  #ping(): void {
    if (!this.#isWelcome) return
    // No frame since the last ping: the connection is dead without a close event.
    if (!this.#hasTraffic) return this.#socket?.close()
    this.#hasTraffic = false
    this.#socket?.send(JSON.stringify({ ping: 1 }))
  }
}

function read(text: string): Incoming {
  try {
    return (JSON.parse(text) as Incoming | null) ?? {}
  } catch {
    return {}
  }
}
