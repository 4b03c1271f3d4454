import { afterEach, expect, test } from "vitest"
import {
  clearCache,
  type Entry,
  entryOf,
  invalidate,
  load,
  loadIfOld,
  refreshShown,
} from "../../../src/console/api/cache.ts"

const open: Entry[] = []
afterEach(() => {
  for (const entry of open.splice(0)) entry.users = 0
  clearCache()
})

/** An entry that a component shows, and its reads in order, which the test completes. */
function shown(key: string) {
  const reads: { answer: (data: unknown) => void; fail: (error: Error) => void }[] = []
  const entry = entryOf(key, () => {
    const { promise, resolve, reject } = Promise.withResolvers<unknown>()
    reads.push({ answer: resolve, fail: reject })
    return promise
  })
  entry.users = 1
  open.push(entry)
  return { entry, reads }
}

const settled = () => new Promise((resolve) => setTimeout(resolve))

test("a read that began before a change is not shown after it", async () => {
  const { entry, reads } = shown("/keys?limit=100")
  load(entry)
  invalidate("/keys")
  reads[1]?.answer(["kept"])
  await settled()
  reads[0]?.answer(["kept", "deleted"])
  await settled()
  expect(entry.state.value.data).toEqual(["kept"])
})

test("a change during a read starts another read, whichever completes first", async () => {
  const { entry, reads } = shown("/keys?limit=100")
  load(entry)
  invalidate("/keys")
  expect(reads).toHaveLength(2)
  reads[0]?.answer(["kept", "deleted"])
  await settled()
  expect(entry.state.value.data).toBeUndefined()
  reads[1]?.answer(["kept"])
  await settled()
  expect(entry.state.value.data).toEqual(["kept"])
})

test("a response for the previous session is not shown in the next one", async () => {
  const { entry, reads } = shown("/calls")
  load(entry)
  clearCache()
  reads[0]?.answer("of the other key")
  await settled()
  expect(entry.state.value).toMatchObject({ data: undefined, isLoading: true })
})

test("an entry without users is evicted by a change, and its late response is dropped", async () => {
  const { entry, reads } = shown("/presets")
  load(entry)
  entry.users = 0
  invalidate("/presets")
  reads[0]?.answer("old")
  await settled()
  const next = shown("/presets")
  expect(next.entry).not.toBe(entry)
  expect(next.entry.state.value.data).toBeUndefined()
})

test("reads are not concurrent without a change, and a failed one keeps the shown data", async () => {
  const { entry, reads } = shown("/models")
  load(entry)
  load(entry)
  expect(reads).toHaveLength(1)
  reads[0]?.answer("models")
  await settled()
  loadIfOld(entry)
  expect(reads).toHaveLength(1)
  load(entry)
  reads[1]?.fail(new Error("gone"))
  await settled()
  expect(entry.state.value).toMatchObject({ data: "models", error: { message: "gone" } })
  loadIfOld(entry)
  expect(reads).toHaveLength(3)
})

test("a returning user reads what is shown and old, and keeps it until the response", async () => {
  const { entry, reads } = shown("/calls?limit=6")
  load(entry)
  reads[0]?.answer("old")
  await settled()
  refreshShown()
  expect(reads).toHaveLength(1)
  entry.state.value = { ...entry.state.value, updatedAt: Date.now() - 60_000 }
  refreshShown()
  expect(reads).toHaveLength(2)
  expect(entry.state.value.data).toBe("old")
})

test("a retry after an error without data is loading again", async () => {
  const { entry, reads } = shown("/audit")
  load(entry)
  reads[0]?.fail(new Error("gone"))
  await settled()
  load(entry)
  expect(entry.state.value).toMatchObject({ isLoading: true, error: undefined })
})
