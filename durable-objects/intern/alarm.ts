import { logError } from "../../src/support/log.ts"

/** The alarm of an object, written only when it changes. Times are epoch milliseconds. */
export class Alarm {
  readonly #storage: DurableObjectStorage
  #at: number | null = null

  constructor(storage: DurableObjectStorage) {
    this.#storage = storage
  }

  async load(): Promise<void> {
    this.#at = await this.#storage.getAlarm()
  }

  /** Called when the alarm has fired. */
  fired(): void {
    this.#at = null
  }

  /** Sets the alarm. A time in the past fires at once. */
  set(dueAt: number | null): void {
    // The runtime rejects an alarm at 0.
    const at = dueAt === null ? null : Math.max(dueAt, 1)
    if (at === this.#at) return
    this.#at = at
    const work = at === null ? this.#storage.deleteAlarm() : this.#storage.setAlarm(at)
    void work.catch((cause: unknown) => logError("an alarm was not set", {}, cause))
  }
}
