import { valueOrTimeout } from "../../src/support/time/time.ts"

/** Requests that wait for the charge of one call or of any call. */
export class Waiters {
  readonly #waiting = new Map<string, () => void>()

  /** Resolves with the next charge of the call, or after the timeout. */
  async wait(id: string, timeoutMs: number): Promise<void> {
    await valueOrTimeout(new Promise<void>((resolve) => this.#waiting.set(id, resolve)), timeoutMs)
    this.#waiting.delete(id)
  }

  charged(ids: readonly string[]): void {
    for (const id of ids) this.#waiting.get(id)?.()
    if (ids.length > 0) this.#waiting.get(ANY_CALL)?.()
  }
}

export const ANY_CALL = "any"
