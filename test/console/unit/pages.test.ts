import { expect, test } from "vitest"
import { readAll, readByCursor } from "../../../src/console/api/pages.ts"

/** A list of this many rows, as the API pages it. `says`: the total that it reports; null for none. */
function listOf(total: number, reported: number | null = total) {
  const paths: string[] = []
  const read = async <T>(path: string) => {
    paths.push(path)
    const url = new URL(path, "http://gateway.test")
    const [limit, offset] = ["limit", "offset"].map((name) => Number(url.searchParams.get(name)))
    const length = Math.max(0, Math.min(limit ?? 0, total - (offset ?? 0)))
    const data = Array.from({ length }, (_, index) => (offset ?? 0) + index)
    return { data, ...(reported !== null && { total_count: reported }) } as T
  }
  return { asked: paths, read }
}

test.each([0, 1, 99, 100, 101, 250, 1_000, 1_234])("all of %i rows are read, in order", async (total) => {
  const { asked: paths, read } = listOf(total)
  const { data, total_count } = await readAll<number>("/keys?workspace_id=w", read)
  expect(data).toEqual(Array.from({ length: total }, (_, index) => index))
  expect(total_count).toBe(total)
  expect(paths.length).toBe(Math.max(1, Math.ceil(total / 100)))
  expect(paths[0]).toBe("/keys?workspace_id=w&limit=100&offset=0")
})

test.each([0, 100, 250])("a list without a total ends with a page that is not full: %i rows", async (total) => {
  const { read } = listOf(total, null)
  expect((await readAll<number>("/vault", read)).data).toHaveLength(total)
})

test("reading ends if rows were deleted meanwhile, and at 5,000 rows of a huge list", async () => {
  expect((await readAll<number>("/keys", listOf(150, 400).read)).data).toHaveLength(150)
  const huge = await readAll<number>("/keys", listOf(9_000).read)
  expect([huge.data.length, huge.total_count]).toEqual([5_000, 9_000])
})

test.each([
  [100, 250, 1],
  [200, 250, 2],
  [400, 250, 3],
])("up to %i of %i rows take %i requests, and the count includes all", async (most, total, requests) => {
  const { asked: paths, read } = listOf(total)
  const list = await readAll<number>("/keys", read, most)
  expect([list.data.length, list.total_count, paths.length]).toEqual([Math.min(most, total), total, requests])
})

/** A list of this many rows, as the API pages it by cursor. */
function cursorListOf(total: number) {
  return async <T>(path: string) => {
    const url = new URL(path, "http://gateway.test")
    const start = Number(url.searchParams.get("starting_after") ?? 0)
    const end = Math.min(total, start + Number(url.searchParams.get("limit")))
    const data = Array.from({ length: end - start }, (_, index) => start + index)
    return { data, has_more: end < total, ...(end < total && { next_cursor: String(end) }) } as T
  }
}

test.each([
  [0, 100, 0],
  [100, 100, 100],
  [250, 100, 100],
  [250, 200, 200],
  [250, 400, 250],
])("of %i rows paged by cursor, a limit of %i reads %i, in order", async (total, most, length) => {
  const list = await readByCursor<number>("/interns?q=a", most, cursorListOf(total))
  expect(list.data).toEqual(Array.from({ length }, (_, index) => index))
  expect(list.has_more).toBe(length < total)
})
