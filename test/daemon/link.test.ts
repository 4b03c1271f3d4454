import type { AnyMessage } from "@agentclientprotocol/sdk"
import * as fc from "fast-check"
import { expect, test } from "vitest"
import { Link, MAX_BUFFERED_BYTES } from "../../src/daemon/link.ts"
import { runs } from "../support/runs.ts"

type Frame = { seq: number; msg: { params: unknown } }

const message = (params: unknown): AnyMessage => ({ jsonrpc: "2.0", method: "m", params })

/** One end, with the messages it has sent and received. */
class End {
  readonly link = new Link("epoch")
  readonly sentNumbers: number[] = []
  readonly taken: unknown[] = []
  /** Frames on their way to the other end. */
  frames: string[] = []
  #frames: string[] = []

  /** Sends an earlier frame again. */
  repeat(index: number): void {
    const frame = this.#frames.at(index % Math.max(1, this.#frames.length))
    if (frame !== undefined) this.frames.push(frame)
  }

  send(isUp: boolean, padding = ""): void {
    const number = this.sentNumbers.length
    this.sentNumbers.push(number)
    const frame = this.link.send(message({ number, padding }))
    this.#frames.push(frame)
    if (isUp) this.frames.push(frame)
  }

  /** Receives one frame of the other end; false if a gap closes the socket. */
  receive(other: End, isAcked: boolean): boolean {
    const text = other.frames.shift()
    if (text === undefined) return true
    const { seq, msg } = JSON.parse(text) as Frame
    const received = this.link.receive(seq)
    if (received === "take") this.taken.push((msg.params as { number: number }).number)
    if (isAcked) other.link.acked(this.link.taken)
    return received !== "gap"
  }
}

/** Connects a new socket: each end states its position and resends from the other's. False if those frames are gone. */
function connect(one: End, other: End): boolean {
  const [hello, welcome] = [one.link.hello(), other.link.hello()]
  const [again, back] = [one.link.welcomed(welcome), other.link.welcomed(hello)]
  if (!again || !back) return false
  one.frames = again
  other.frames = back
  return true
}

const step = fc.oneof(
  fc.record({ kind: fc.constant("send" as const), by: fc.nat(1) }),
  fc.record({ kind: fc.constant("hear" as const), by: fc.nat(1), isAcked: fc.boolean() }),
  fc.record({ kind: fc.constant("repeat" as const), by: fc.nat(1), index: fc.nat(20) }),
  fc.constant({ kind: "sever" as const }),
  fc.constant({ kind: "connect" as const }),
)

test("each side receives everything once and in order, whatever happens to the sockets", () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 80 }), (steps) => {
      const ends: [End, End] = [new End(), new End()]
      let isUp = connect(...ends)
      for (const each of steps) {
        if (each.kind === "send") ends[each.by === 0 ? 0 : 1].send(isUp)
        else if (each.kind === "repeat" && isUp) ends[each.by === 0 ? 0 : 1].repeat(each.index)
        else if (each.kind === "hear" && isUp) {
          const [by, other] = each.by === 0 ? ends : (ends.toReversed() as [End, End])
          isUp = by.receive(other, each.isAcked)
        } else if (each.kind === "sever") isUp = false
        else if (each.kind === "connect") isUp = connect(...ends)
        for (const end of ends) if (!isUp) end.frames = []
      }
      expect(connect(...ends)).toBe(true)
      for (const [by, other] of [ends, ends.toReversed() as [End, End]]) {
        while (other.frames.length > 0) expect(by.receive(other, true)).toBe(true)
        expect(by.taken).toEqual(other.sentNumbers)
        expect(other.link.isDrained).toBe(true)
      }
    }),
    { numRuns: runs(4) },
  )
})

test("frames dropped to keep within the ring are detected, and nothing is skipped", () => {
  const sizes = fc.array(fc.constantFrom(10, 900_000), { minLength: 1, maxLength: 12 })
  fc.assert(
    fc.property(sizes, (all) => {
      const ends: [End, End] = [new End(), new End()]
      ends[0].send(true)
      connect(...ends)
      ends[1].receive(ends[0], false)
      for (const size of all) ends[0].send(false, "x".repeat(size))
      const isKept = all.reduce((sum, size) => sum + size + 100, 200) <= MAX_BUFFERED_BYTES
      const isResumed = connect(...ends)
      if (isKept) expect(isResumed).toBe(true)
      if (!isResumed) return
      while (ends[0].frames.length > 0) expect(ends[1].receive(ends[0], true)).toBe(true)
      expect(ends[1].taken).toEqual(ends[0].sentNumbers)
    }),
    { numRuns: runs(0.6) },
  )
})

test("another epoch or an unknown position cannot be resumed", () => {
  const link = new Link("mine")
  link.send(message(1))
  expect(link.welcomed({ epoch: "other", from: 1, oldest: 1 })).toBeUndefined()
  expect(link.welcomed({ epoch: "mine", from: 3, oldest: 1 })).toBeUndefined()
  expect(link.welcomed({ epoch: "mine", from: 2, oldest: 1 })).toEqual([])
  expect(link.welcomed({ epoch: "mine", from: 1, oldest: 1 })).toBeUndefined()
})
