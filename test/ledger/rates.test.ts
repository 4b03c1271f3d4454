import * as fc from "fast-check"
import { expect, test } from "vitest"
import {
  currentCount,
  currentSlice,
  releaseRate,
  MINUTE_MS,
  minuteOf,
  type RateCount,
  rateShareOf,
  type RateSlice,
  type ReservedRate,
  refillSlice,
  rateRejectionOf,
  reserveRate,
} from "../../src/ledger/rates.ts"
import { runs } from "../support/runs.ts"

/** In each of them another kind is reached first. */
const LIMITS = [
  { scope: "key:k", requestsPerMinute: 200, tokensPerMinute: 90_000, concurrentRequests: 2_000 },
  { scope: "key:k", requestsPerMinute: 9_000, tokensPerMinute: 1_600, concurrentRequests: 9_000 },
  { scope: "key:k", requestsPerMinute: 9_000, tokensPerMinute: 90_000, concurrentRequests: 150 },
]

type Call = { taken: ReservedRate; used: number | undefined; isolate: number }

/** Isolates that admit calls from leases, with a ledger that counts the leases. */
class Fleet {
  readonly limit: (typeof LIMITS)[number]
  now = 7 * MINUTE_MS
  count: RateCount = { minute: 0, requests: 0, tokens: 0 }
  leasedSlots = 0
  readonly slices: (RateSlice | undefined)[] = [undefined, undefined, undefined]
  readonly calls: Call[] = []

  constructor(limit: (typeof LIMITS)[number]) {
    this.limit = limit
  }

  lease(isolate: number, tokens: number): void {
    this.count = currentCount(this.count, this.now)
    const use = { countOf: () => this.count, slotsOf: () => this.leasedSlots }
    const share = rateShareOf({ limits: [this.limit], tokens }, use)
    if (!share) return
    const { minute } = this.count
    this.count = { minute, requests: this.count.requests + share.requests, tokens: this.count.tokens + share.tokens }
    this.leasedSlots += share.slots
    this.slices[isolate] = refillSlice(this.slices[isolate], { ...share, minute })
  }

  open(isolate: number, tokens: number): void {
    const slice = this.slices[isolate]
    const left = slice && reserveRate(slice, tokens, this.now)
    if (!left) return
    expect(Math.min(left.tokens, left.requests, left.slots)).toBeGreaterThanOrEqual(0)
    this.slices[isolate] = left
    this.calls.push({ taken: { minute: left.minute, tokens }, used: undefined, isolate })
  }

  end(at: number, used: number): void {
    const running = this.calls.filter((call) => call.used === undefined)
    const call = running[at % Math.max(1, running.length)]
    const slice = call && this.slices[call.isolate]
    if (!slice) return
    call.used = used
    this.slices[call.isolate] = releaseRate(currentSlice(slice, this.now), call.taken, used)
  }

  check(): void {
    const minute = minuteOf(this.now)
    const admitted = this.calls.filter(({ taken }) => taken.minute === minute)
    const tokens = admitted.reduce((all, { taken, used }) => all + Math.min(taken.tokens, used ?? taken.tokens), 0)
    expect(admitted.length).toBeLessThanOrEqual(this.limit.requestsPerMinute)
    expect(tokens).toBeLessThanOrEqual(this.limit.tokensPerMinute)
    expect(this.calls.filter(({ used }) => used === undefined).length).toBeLessThanOrEqual(
      this.limit.concurrentRequests,
    )
    // What isolates have left is counted at the ledger and not yet used.
    const slots = this.slices.reduce((all, slice) => all + (slice?.slots ?? 0), 0)
    expect(slots + this.calls.filter(({ used }) => used === undefined).length).toBe(this.leasedSlots)
    const left = this.slices.flatMap((slice) => (slice ? [currentSlice(slice, this.now)] : []))
    if (this.count.minute === minute) {
      const requests = left.reduce((all, slice) => all + slice.requests, 0)
      expect(requests + admitted.length).toBeLessThanOrEqual(this.count.requests)
      const unused = left.reduce((all, slice) => all + slice.tokens, 0)
      const taken = admitted.reduce((all, call) => all + (call.used ?? call.taken.tokens), 0)
      expect(unused + taken).toBeLessThanOrEqual(this.count.tokens)
    }
  }
}

const isolate = fc.nat(2)
const tokens = fc.integer({ min: 1, max: 12 })
const step = fc.oneof(
  fc.tuple(isolate, tokens).map(
    ([at, some]) =>
      (fleet: Fleet) =>
        fleet.lease(at, some),
  ),
  fc.tuple(isolate, tokens, fc.nat(40)).map(([at, some, times]) => (fleet: Fleet) => {
    for (let call = 0; call <= times; call++) fleet.open(at, some)
  }),
  fc.tuple(fc.nat(), fc.nat(30), fc.nat(40)).map(([at, used, times]) => (fleet: Fleet) => {
    for (let call = 0; call <= times; call++) fleet.end(at, used)
  }),
  fc.constantFrom(1, 20_000, 60_000).map((ms) => (fleet: Fleet) => {
    fleet.now += ms
  }),
)

test("calls that isolates admit from leases exceed no limit", () => {
  fc.assert(
    fc.property(fc.constantFrom(...LIMITS), fc.array(step, { maxLength: 120, size: "max" }), (limit, steps) => {
      const fleet = new Fleet(limit)
      for (const run of steps) {
        run(fleet)
        fleet.check()
      }
    }),
    { numRuns: runs(20) },
  )
})

const none = { requestsPerMinute: null, tokensPerMinute: null, concurrentRequests: null }
const empty = { countOf: () => ({ minute: 0, requests: 0, tokens: 0 }), slotsOf: () => 0 }

test("the count of a clock that was hours ahead is reset when it is right again, and kept if it was minutes ahead", () => {
  const count = { minute: 600 * MINUTE_MS, requests: 9, tokens: 9 }
  expect(currentCount(count, 7 * MINUTE_MS)).toEqual({ minute: 7 * MINUTE_MS, requests: 0, tokens: 0 })
  expect(currentCount(count, 590 * MINUTE_MS)).toEqual(count)
})

test("a limit that is not set rejects nothing and leases without a bound", () => {
  const request = { limits: [{ ...none, scope: "a" }], tokens: 1e12 }
  expect(rateRejectionOf(request, empty)).toBeUndefined()
  expect(rateShareOf(request, empty)).toEqual({ requests: Infinity, tokens: Infinity, slots: Infinity })
})

test("near a limit nothing is leased", () => {
  const request = { limits: [{ ...none, scope: "a", requestsPerMinute: 127 }], tokens: 1 }
  expect(rateShareOf(request, empty)).toBeUndefined()
})

test("tokens beyond the estimate count against the next minute", () => {
  const slice = { minute: 0, requests: 5, tokens: 10, slots: 5 }
  const left = reserveRate(slice, 10, 0) ?? slice
  const after = currentSlice(releaseRate(left, { minute: 0, tokens: 10 }, 25), MINUTE_MS)
  expect(after).toEqual({ minute: MINUTE_MS, requests: 0, tokens: -15, slots: 5 })
})
