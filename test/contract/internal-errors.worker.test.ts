import { afterEach, expect, test, vi } from "vitest"
import { beforeSql } from "../faults/bindings.ts"
import { newWorkspace, type Workspace } from "../support/world.ts"
import { expectRejection } from "./rejection.ts"

const NOBODY = "00000000-0000-4000-8000-000000000000"
const CHAT = { model: "sim/echo", messages: [{ role: "user", content: "Hi" }] }
const RESPONSES = { model: "sim/echo", input: "Hi" }

/** The operations for which the interface names 500. */
const operations: [method: string, path: string, body?: unknown][] = [
  ["POST", "/chat/completions", CHAT],
  ["POST", "/responses", RESPONSES],
  ["GET", "/embeddings/models"],
  ["GET", "/key"],
  ["POST", "/auth/keys", { code: "x".repeat(43) }],
  ["POST", "/connect-links/redeem", { token: "x".repeat(43) }],
  ["POST", "/presets/team/responses", RESPONSES],
  ["PATCH", `/interns/${NOBODY}`, { name: "other" }],
  ["GET", `/interns/${NOBODY}/daemon`],
  ["POST", "/scim/group-mappings", { scim_group_id: NOBODY, workspace_id: NOBODY }],
  ["GET", "/scim/groups"],
  ["GET", `/scim/sync-jobs/${NOBODY}`],
  ["GET", "/byok"],
  ["GET", "/guardrails"],
  ["GET", `/guardrails/${NOBODY}/assignments/keys`],
  ["GET", "/guardrails/assignments/members"],
  ["GET", `/observability/destinations/${NOBODY}`],
  ["DELETE", "/workspaces/default/budgets/daily"],
  ["GET", "/files/file_nothing/content"],
  ["GET", "/datasets/session-cost"],
]

/** An unexpected fault, with a text that no client may read. */
const FAULT = "column key_hash of sk-gw-v1-secret is undefined"

afterEach(() => vi.restoreAllMocks())

const keyFor = ({ as, manage }: Workspace, path: string) => (/^\/(?:chat|responses|key|files)/.test(path) ? as : manage)

test.each(operations)("%s %s: an unexpected failure is a 500 without its text", async (method, path, body) => {
  const client = keyFor(await newWorkspace(), path)
  beforeSql(() => {
    throw new TypeError(FAULT)
  })
  const error = await expectRejection(500, client.call(method, path, body))
  expect(JSON.stringify(error)).not.toMatch(/key_hash|sk-gw|undefined|TypeError/)
})
