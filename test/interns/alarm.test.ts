import * as fc from "fast-check"
import { expect, test } from "vitest"
import { Alarm } from "../../durable-objects/intern/alarm.ts"

/** Like the runtime: rejects an alarm at 0 or before. */
function newStorage() {
  const state: { at: number | null; refused: number } = { at: null, refused: 0 }
  const storage = {
    getAlarm: () => Promise.resolve(state.at),
    deleteAlarm: () => {
      state.at = null
      return Promise.resolve()
    },
    setAlarm: (at: number) => {
      if (at <= 0) {
        state.refused++
        return Promise.reject(new TypeError("setAlarm() cannot be called with an alarm time <= 0"))
      }
      state.at = at
      return Promise.resolve()
    },
  }
  return { state, alarm: new Alarm(storage as unknown as DurableObjectStorage) }
}

test("an alarm is set for every instant, at least at 1, and deleted for null", () => {
  fc.assert(
    fc.property(fc.array(fc.option(fc.nat())), (instants) => {
      const { state, alarm } = newStorage()
      for (const at of [...instants, 0, null, 0]) {
        alarm.set(at)
        expect(state).toEqual({ at: at === null ? null : Math.max(1, at), refused: 0 })
      }
    }),
  )
})
