import type { Balance, HoldRequest, HoldVerdict, Ledger } from "../../durable-objects/ledger.ts"
import type { Env } from "../env.ts"
import type { Generation } from "../generations/generation.ts"
import { wait } from "../support/time.ts"
import type { FreeLimits } from "./free-requests.ts"
import type { Counters } from "./ledger.ts"

/** The ledger of an organization: the one place that holds and charges its money. */
export function openLedger(env: Env, organizationId: string): LedgerClient {
  return new LedgerClient(env.LEDGER.get(env.LEDGER.idFromName(organizationId)), waitingOf(organizationId))
}

/** How long a settlement waits for another call to take it along. */
const COMPANY_MS = 15
/** How long a call that took a settlement along may be silent before it is taken for dead. */
const CARRIER_PATIENCE_MS = 1_000

/**
 * A settlement on its way. Calls share nothing but this plain data: a promise of a call whose client has left may never
 * settle, so no call waits for another's.
 */
type Waiting = { generation: Generation; state: "waiting" | "taken" | "charged" | "returned" }

const waiting = new Map<string, Waiting[]>()

function waitingOf(organizationId: string): Waiting[] {
  let list = waiting.get(organizationId)
  if (!list) {
    list = []
    waiting.set(organizationId, list)
  }
  return list
}

/**
 * One call's way to the ledger. A settlement goes along with the next call that this isolate makes there, whichever call
 * that is, or by itself after a moment: under load that halves the trips and the ledger's writes. Reading is always
 * preceded by what was settled here before. A settlement that an isolate takes with it when it dies is made by the
 * ledger's alarm, from the hold.
 */
export class LedgerClient {
  readonly #stub: DurableObjectStub<Ledger>
  readonly #waiting: Waiting[]

  constructor(stub: DurableObjectStub<Ledger>, list: Waiting[]) {
    this.#stub = stub
    this.#waiting = list
  }

  async hold(request: HoldRequest): Promise<HoldVerdict> {
    const hold = async (settlements: Generation[]): Promise<HoldVerdict> => this.#stub.hold(request, settlements)
    if (this.#waiting.length === 0) return hold([])
    // What goes along may be at fault: it must not cost another call its hold.
    return this.#carrying(hold).catch(() => hold([]))
  }

  async renew(id: string, estimateNano: number, ttlMs: number): Promise<void> {
    await this.#stub.renew(id, estimateNano, ttlMs)
  }

  /** Resolves when the generation is charged. */
  async settle(generation: Generation): Promise<void> {
    const own: Waiting = { generation, state: "waiting" }
    this.#waiting.push(own)
    await wait(COMPANY_MS)
    if (own.state === "waiting") await this.#flush()
    else if (own.state === "taken") await wait(CARRIER_PATIENCE_MS)
    // By itself, if it was not taken along or came back. Charged once however often it is asked.
    if (own.state !== "charged") await this.#stub.settle([generation])
  }

  async usage(keyHashes: string[]): Promise<Counters[]> {
    await this.#flush()
    return this.#stub.usage(keyHashes)
  }

  async freeToday(limits: FreeLimits): Promise<{ limit: number; used: number }> {
    return this.#stub.freeToday(limits)
  }

  async balance(): Promise<Balance> {
    await this.#flush()
    return this.#stub.balance()
  }

  async generation(id: string): Promise<Generation | null> {
    await this.#flush()
    return this.#stub.generation(id)
  }

  async credit(id: string, amountNano: number): Promise<{ ok: boolean; balance: Balance }> {
    return this.#stub.credit(id, amountNano)
  }

  /** What cannot be charged now is charged by its own call, or from its hold by the ledger's alarm. */
  async #flush(): Promise<void> {
    if (this.#waiting.length === 0) return
    await this.#carrying((settlements) => this.#stub.settle(settlements)).catch(() => undefined)
  }

  /** Make a call that takes along what waits; if it fails, each of what it took is left to its own call. */
  async #carrying<T>(call: (settlements: Generation[]) => Promise<T>): Promise<T> {
    const taken = this.#waiting.splice(0)
    for (const one of taken) one.state = "taken"
    try {
      const answer = await call(taken.map(({ generation }) => generation))
      for (const one of taken) one.state = "charged"
      return answer
    } catch (error) {
      for (const one of taken) one.state = "returned"
      throw error
    }
  }
}
