import { expect, test } from "vitest"
import { missingTests } from "../documented-tests.ts"
import type { ContractRow } from "./rows.ts"
import { vaultRows } from "./vault-rows.ts"

const rows: readonly ContractRow[] = [...vaultRows]

/** Lower it when a row gains a test; never raise it. */
const ROWS_WITHOUT_PROOF = 0

test("every promise of the interface names a test that exists", () => {
  expect(missingTests(rows.flatMap(({ proof }) => (proof === null ? [] : [proof])))).toEqual([])
})

test("the number of promises without a test does not grow", () => {
  expect(rows.filter(({ proof }) => proof === null)).toHaveLength(ROWS_WITHOUT_PROOF)
})
