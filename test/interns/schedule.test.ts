import * as fc from "fast-check"
import { expect, test } from "vitest"
import { cronError } from "../../src/interns/schedule.ts"

const TOO_OFTEN = "cron: must leave at least 5 minutes between two runs."
const MALFORMED = "cron: must be a cron expression of five fields, such as 0 8 * * 1-5, and timezone an IANA name."

/** All times of two days in minutes. */
function timesOf(minutes: readonly number[], hours: readonly number[]): number[] {
  const ofDay = hours.flatMap((hour) => minutes.map((minute) => hour * 60 + minute))
  return [...ofDay, ...ofDay.map((at) => at + 24 * 60)].toSorted((a, b) => a - b)
}

const setOf = (max: number) => fc.uniqueArray(fc.integer({ min: 0, max }), { minLength: 1, maxLength: 14 })

test("two runs less than 5 minutes apart are rejected at any time of creation", () => {
  fc.assert(
    fc.property(setOf(59), setOf(23), fc.integer({ min: 0, max: 4e12 }), (minutes, hours, now) => {
      const times = timesOf(minutes, hours)
      const isTooOften = times.some((at, index) => index > 0 && at - (times[index - 1] ?? 0) < 5)
      expect(cronError(`${minutes.join()} ${hours.join()} * * *`, "UTC", now)).toBe(isTooOften ? TOO_OFTEN : undefined)
    }),
  )
})

test.each(["*/7 * * * *", "0,5,10,15,20,25,30,35,40,45,50,55,56 * * * *", "2,58 9,20,21 * * *", "* * 29 2 *"])(
  "%s is rejected whatever the next runs are",
  (cron) => {
    for (let minute = 0; minute < 60; minute += 5) {
      expect(cronError(cron, "Europe/Berlin", Date.UTC(2031, 0, 6, 12, minute))).toBe(TOO_OFTEN)
    }
  },
)

test.each([
  ["a date", "2040-01-01T00:00:00", "UTC"],
  ["six fields", "0 0 8 * * *", "UTC"],
  ["an empty time zone", "0 8 * * *", ""],
  ["an unknown time zone", "0 8 * * *", "Europe/Atlantis"],
])("%s is rejected", (_, cron, timezone) => {
  expect(cronError(cron, timezone, 0)).toBe(MALFORMED)
})

test.each(["*/5 * * * *", "@hourly", "0 8 L * *", "0 0 29 2 *", "30 2 * * *", " 0 8 * * 1-5 "])(
  "%s is accepted",
  (cron) => {
    expect(cronError(cron, "Europe/Berlin", Date.UTC(2031, 0, 6))).toBeUndefined()
  },
)
