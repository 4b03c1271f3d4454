import { rowsOf, testsIn } from "./rows.ts"

const INTERNAL = testsIn("contract/internal-errors.worker.test.ts")(
  "%s %s: an unexpected failure is a 500 without its text",
)

/** The operations whose errors, in part "Endpoints", name 500. */
const sections = [
  "POST /chat/completions",
  "POST /responses",
  "GET /embeddings/models",
  "GET /key",
  "POST /auth/keys",
  "POST /presets/{slug}/responses",
  "PATCH /interns/{internId}",
  "GET /interns/{internId}/daemon",
  "POST /scim/group-mappings",
  "GET /scim/groups",
  "GET /scim/sync-jobs/{id}",
  "GET /byok",
  "GET /guardrails",
  "GET /guardrails/{id}/assignments/keys",
  "GET /guardrails/assignments/members",
  "GET /observability/destinations/{id}",
  "DELETE /workspaces/{id}/budgets/{interval}",
  "GET /files/{file_id}/content",
  "GET /datasets/session-cost",
]

export const internalErrorRows = sections.flatMap((section) =>
  rowsOf(section, [INTERNAL, "500 for an unexpected failure."]),
)
