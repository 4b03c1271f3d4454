import { expect, test } from "vitest"
import type { AuditRecord } from "../../../src/console/api/account-types.ts"
import { whyDisabled } from "../../../src/console/pages/keys/why-disabled.ts"

const record = (disabled: boolean, at: string): AuditRecord => ({
  id: "01a22010-8c2c-72bb-b40c-1de0dee2d336",
  action: "api_key.update",
  resource_type: "api_key",
  resource_id: "a",
  workspace_id: null,
  key_hash: "b",
  key_label: "sk-gw-v1-abc...xyz",
  creator_user_id: null,
  ip_address: null,
  user_agent: null,
  request_id: "req",
  changed_fields: ["disabled"],
  changes: { disabled },
  created_at: at,
})

test("a key that was disabled by hand names the key that did it", () => {
  const records = [record(true, "2026-01-02T00:00:00Z"), record(false, "2026-01-01T00:00:00Z")]
  const expected = { by: "key", label: "sk-gw-v1-abc...xyz", at: "2026-01-02T00:00:00Z" }
  expect(whyDisabled(records, true)).toEqual(expected)
  expect(whyDisabled(records, false)).toEqual(expected)
})

test("a disabled key without an audit record, of an owner who left, was disabled by the directory", () => {
  expect(whyDisabled([], false)).toEqual({ by: "directory" })
  expect(whyDisabled([record(false, "2026-01-01T00:00:00Z")], false)).toEqual({ by: "directory" })
})

test("without an entry and with its owner, no reason is made up", () => {
  expect(whyDisabled([], true)).toBeNull()
})
