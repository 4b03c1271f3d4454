import { expect, test } from "vitest"
import { missingTests } from "../documented-tests.ts"
import { accountEndpointRows } from "./rows/account-endpoint.ts"
import { endpointRows } from "./rows/endpoint.ts"
import { eventRows } from "./rows/event.ts"
import { chatRows } from "./rows/field.ts"
import { internalErrorRows } from "./rows/internal-error.ts"
import { requestRows } from "./rows/request.ts"
import { resourceRows } from "./rows/resource.ts"
import { responsesRows } from "./rows/response-field.ts"
import type { ContractRow } from "./rows/rows.ts"
import { ruleRows } from "./rows/rule.ts"

/**
 * Rules of request fields are separate rows, which fields.worker.test.ts runs (rows/field.ts, rows/response-field.ts).
 */
const rows: readonly ContractRow[] = [
  ...resourceRows,
  ...requestRows,
  ...endpointRows,
  ...accountEndpointRows,
  ...eventRows,
  ...ruleRows,
  ...internalErrorRows,
]

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
