import type { AnyMessage } from "@agentclientprotocol/sdk"
import { type Hello, PROTOCOL_VERSION, type Welcome } from "../interns/hosts/daemon-protocol.ts"

/** Limit of unacknowledged frames. Beyond it the oldest are dropped, and the link cannot resume from them. */
export const MAX_BUFFERED_BYTES = 4 * 1_048_576

type BufferedFrame = { seq: number; text: string; bytes: number }

/**
 * One side of a link with numbered frames that outlives its sockets: sent frames are kept until acknowledged, received
 * ones are handled once and in order. An epoch is one numbering, for one agent process.
 */
export class Link {
  readonly epoch: string
  #next = 1
  #wanted = 1
  #kept: BufferedFrame[] = []
  #keptBytes = 0

  constructor(epoch: string) {
    this.epoch = epoch
  }

  hello(): Hello {
    return { version: PROTOCOL_VERSION, epoch: this.epoch, next: this.#next, oldest: this.#oldest, from: this.#wanted }
  }

  /** The frames to send again, in order; undefined if the two sides cannot resume. */
  welcomed(welcome: Pick<Welcome, "epoch" | "from" | "oldest">): string[] | undefined {
    // An epoch without received frames starts at the gateway's position.
    if (this.#wanted === 1) this.#wanted = Math.max(1, welcome.oldest)
    const isResumable = welcome.from >= this.#oldest && welcome.from <= this.#next && welcome.oldest <= this.#wanted
    if (welcome.epoch !== this.epoch || !isResumable) return undefined
    this.acked(welcome.from - 1)
    return this.#kept.map(({ text }) => text)
  }

  /** The frame of a message, to be sent now if there is a socket; it is kept in any case. */
  send(msg: AnyMessage): string {
    const seq = this.#next++
    const text = JSON.stringify({ seq, msg })
    const bytes = Buffer.byteLength(text)
    this.#kept.push({ seq, text, bytes })
    this.#keptBytes += bytes
    while (this.#keptBytes > MAX_BUFFERED_BYTES) this.#drop()
    return text
  }

  /** The other side has received everything up to this number. */
  acked(seq: number): void {
    while (this.#kept[0] && this.#kept[0].seq <= seq) this.#drop()
  }

  /** Decides on a received frame by its number. */
  receive(seq: number): "take" | "seen" | "gap" {
    if (seq < this.#wanted) return "seen"
    if (seq > this.#wanted) return "gap"
    this.#wanted += 1
    return "take"
  }

  /** The number of the last frame that was taken. */
  get taken(): number {
    return this.#wanted - 1
  }

  /** Whether all sent frames were acknowledged. */
  get isDrained(): boolean {
    return this.#kept.length === 0
  }

  get #oldest(): number {
    return this.#kept[0]?.seq ?? this.#next
  }

  #drop(): void {
    this.#keptBytes -= this.#kept.shift()?.bytes ?? 0
  }
}
