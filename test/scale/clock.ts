import type { Timer } from "../../src/support/time/time.ts"

type Entry = { at: number; run: () => void }

/** Simulated time, in epoch milliseconds: timers fire in order, and `Date.now` returns the time of the one that fires. */
export class Clock implements Timer {
  now = Date.UTC(2026, 0, 1)
  readonly #heap: Entry[] = []
  readonly #realNow = Date.now

  install(): () => void {
    Date.now = () => this.now
    return () => (Date.now = this.#realNow)
  }

  after(ms: number, run: () => void): () => void {
    const entry: Entry = { at: this.now + Math.max(0, ms), run }
    this.#push(entry)
    return () => (entry.run = () => undefined)
  }

  readonly wait = (ms: number) => new Promise<undefined>((resolve) => this.after(ms, () => resolve(undefined)))

  /** Before the next timer fires, the work of the previous one has gone as far as it can. */
  async runUntil(until: number): Promise<void> {
    for (;;) {
      const next = this.#heap[0]
      if (!next || next.at > until) break
      this.now = Math.max(this.now, next.at)
      while (this.#heap[0] && this.#heap[0].at <= this.now) this.#pop().run()
      await new Promise((resolve) => setImmediate(resolve))
    }
    this.now = until
  }

  #push(entry: Entry): void {
    const heap = this.#heap
    let at = heap.push(entry) - 1
    while (at > 0) {
      const parent = (at - 1) >> 1
      const above = heap[parent]
      if (!above || above.at <= entry.at) break
      heap[at] = above
      at = parent
    }
    heap[at] = entry
  }

  #pop(): Entry {
    const heap = this.#heap
    const [top] = heap
    const last = heap.pop()
    if (!top || !last) throw new Error("No timer is due.")
    if (heap.length === 0) return top
    let at = 0
    for (;;) {
      let child = 2 * at + 1
      const [left, right] = [heap[child], heap[child + 1]]
      if (!left) break
      if (right && right.at < left.at) child++
      const smaller = heap[child]
      if (!smaller || smaller.at >= last.at) break
      heap[at] = smaller
      at = child
    }
    heap[at] = last
    return top
  }
}
