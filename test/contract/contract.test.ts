import { expect, test } from "vitest"
import { missingTests } from "../documented-tests.ts"
import { accountRows } from "./account-rows.ts"
import { chatRows, responsesRows } from "./field-rows.ts"
import { internRows } from "./intern-rows.ts"
import type { ContractRow } from "./rows.ts"
import { streamRows } from "./stream-rows.ts"
import { vaultRows } from "./vault-rows.ts"

/** Rules of request fields are rows of their own, which fields.worker.test.ts runs (field-rows.ts). */
const rows: readonly ContractRow[] = [...streamRows, ...accountRows, ...internRows, ...vaultRows]

test("every promise of the interface names a test that exists", () => {
  expect(missingTests(rows.map(({ proof }) => proof))).toEqual([])
})

test("no promise is in the table twice", () => {
  const promises = rows.map(({ section, promise }) => `${section}: ${promise}`)
  expect(promises.filter((one, at) => promises.indexOf(one) !== at)).toEqual([])
})

test("every rule of a request field has bodies that follow or break it", () => {
  const empty = [...chatRows, ...responsesRows].filter(
    ({ accepts = [], refuses = [] }) => accepts.length + refuses.length === 0,
  )
  expect(empty).toEqual([])
})
