import { account, document, records, statuses } from "./proofs.ts"
import { rowsOf, testsIn } from "./rows.ts"

const STATUS = statuses("%s: %i")
const FORBIDDEN = statuses("returns 403 to other keys and names the keys that may")
const NO_KEY = testsIn("http/contract.worker.test.ts")("rejects a request without a key")
const PAGES = statuses("GET %s accepts a page size of 1 to 100 and a skip count from 0")
const GUARDRAIL = records("guardrails and their assignments have every field")
const UUID = account("%s %s: an id that is not a UUID is rejected")
const DEFAULT = account("GET %s is 400 without a default workspace unless one is named")
const PLACE = account("GET %s lists the default workspace, or the named one")
const MAPPING = testsIn("scim/mappings.worker.test.ts")("adds the members of a group to a workspace, and is idempotent")
const BUDGET = statuses("a missing %s budget is deleted with 200")
const VENDOR = account("with provider status %i is a %i")
const CELLS = testsIn("datasets/session-cost.worker.test.ts")(
  "returns the median cost by app, model and turns, for cells that are large enough",
)
const DATASET = statuses("accepts a page size of 1 to 500, a skip count to 5000, and four turn ranges")

/** Part "Endpoints": SCIM, BYOK, guardrails, destinations, budgets, files, datasets, credits. */
export const accountEndpointRows = [
  ...rowsOf(
    "POST /scim/group-mappings",
    [
      MAPPING,
      "A mapping puts the people of a group into a workspace.",
      "The same mapping again succeeds and is applied again.",
      "A different role is 409.",
      "The answer is the mapping.",
    ],
    [
      testsIn("scim/memberships.worker.test.ts")(
        "memberships always equal those of directory, mappings and manual changes, through crashes and deletions",
      ),
      "Memberships follow the directory and the mappings.",
    ],
    [STATUS, "400 without the two ids.", "404 for an unknown group."],
    [NO_KEY, "401 without a key."],
    [FORBIDDEN, "A management key is required."],
  ),
  ...rowsOf(
    "GET /scim/groups",
    [account("a SCIM group and its mapping have every field"), "The groups are in data, with their count."],
    [STATUS, "404 for an unknown directory."],
    [PAGES, "The list has pages."],
    [NO_KEY, "401 without a key."],
    [FORBIDDEN, "A management key is required."],
  ),
  ...rowsOf(
    "GET /scim/sync-jobs/{id}",
    [records("a SCIM sync job has every field"), "The job is in data."],
    [UUID, "The id is a UUID."],
    [STATUS, "404 for a job that is not there."],
    [NO_KEY, "401 without a key."],
    [FORBIDDEN, "A management key is required."],
  ),
  ...rowsOf(
    "GET /byok",
    [records("a BYOK credential has every field and never the key"), "The credentials are in data, with their count."],
    [PAGES, "The list has pages."],
    [PLACE, "workspace_id chooses the workspace, by default that of the account."],
    [DEFAULT, "400 where the default workspace is deleted and none is named."],
    [
      testsIn("byok/byok.worker.test.ts")("are listed by page and by provider, newest first"),
      "provider chooses the provider.",
    ],
    [STATUS, "400 for a provider outside the enumeration."],
    [NO_KEY, "401 without a key."],
    [FORBIDDEN, "A management key is required."],
  ),
  ...rowsOf(
    "GET /guardrails",
    [GUARDRAIL, "The guardrails are in data, with their count."],
    [PAGES, "The list has pages."],
    [PLACE, "A filter chooses the workspace, by default that of the account."],
    [DEFAULT, "400 where the default workspace is deleted and none is named."],
    [NO_KEY, "401 without a key."],
    [FORBIDDEN, "A management key is required."],
  ),
  ...rowsOf(
    "GET /guardrails/{id}/assignments/keys",
    [GUARDRAIL, "The assignments are in data, with their count."],
    [
      account("GET /guardrails/{id}/assignments/keys accepts a page size of 1 to 100 and a skip count"),
      "The list has pages.",
    ],
    [UUID, "The id is a UUID."],
    [STATUS, "404 for a guardrail that is not there."],
    [NO_KEY, "401 without a key."],
    [FORBIDDEN, "A management key is required."],
  ),
  ...rowsOf(
    "GET /guardrails/assignments/members",
    [GUARDRAIL, "The assignments are in data, with their count."],
    [PAGES, "The list has pages."],
    [NO_KEY, "401 without a key."],
    [FORBIDDEN, "A management key is required."],
  ),
  ...rowsOf(
    "GET /observability/destinations/{id}",
    [records("an observability destination has every field, its credentials masked"), "The destination is in data."],
    [UUID, "The id is a UUID."],
    [STATUS, "404 for a destination that is not there."],
    [NO_KEY, "401 without a key."],
    [FORBIDDEN, "A management key is required."],
  ),
  ...rowsOf(
    "DELETE /workspaces/{id}/budgets/{interval}",
    [
      BUDGET,
      "The workspace is named by UUID or slug.",
      "interval is daily, weekly, monthly or lifetime.",
      "The answer is deleted: true, also where there was none.",
    ],
    [
      testsIn("budgets/budgets.worker.test.ts")("are set, read, listed and removed, by id or slug"),
      "A lifetime budget never resets.",
    ],
    [
      testsIn("budgets/budgets.worker.test.ts")("strictly decrease from lifetime to daily"),
      "Budgets decrease from the longest window to the shortest.",
    ],
    [STATUS, "400 for another interval.", "404 for an unknown workspace."],
    [NO_KEY, "401 without a key."],
    [FORBIDDEN, "A management key is required."],
  ),
  ...rowsOf(
    "GET /files/{file_id}/content",
    [
      STATUS,
      "A file id has at most 256 characters of its pattern.",
      "400 for an uploaded file.",
      "404 for a file that is not there.",
    ],
    [
      testsIn("interns/embedded.worker.test.ts")("publishes a file that keys of its workspace can download"),
      "A file made by the service is downloaded.",
    ],
    [
      testsIn("files/files.worker.test.ts")(
        "of another workspace are not found, and those of an unnamed one need a management key",
      ),
      "The workspace is that of the caller unless one is named.",
    ],
    [
      account("is read at %s with the workspace's credential, as raw bytes"),
      "A provider selector reads at one of two vendors.",
      "The answer is raw bytes.",
    ],
    [account("is rejected at any other provider, and without a credential"), "403 without an own key for that vendor."],
    [VENDOR, "404, 429, 502 and 503 of the vendor are in the envelope."],
    [NO_KEY, "401 without a key."],
  ),
  ...rowsOf(
    "GET /datasets/session-cost",
    [
      CELLS,
      "app_slug, model and turn_range filter the cells.",
      "The data is made weekly.",
      "meta has the window of the source.",
      "Cells have no user and no session.",
    ],
    [DATASET, "turn_range is one of four.", "A page has 1 to 500 cells, after 0 to 5000."],
    [
      document("the session-cost dataset documents limit 1 to 500, 100 by default, and offset 0 to 5000, 0 by default"),
      "A page has 100 cells by default, from the first.",
    ],
    [testsIn("datasets/session-cost.worker.test.ts")("rejects %s with its name"), "400 names the parameter."],
    [STATUS, "401 without a key."],
    [
      testsIn("access/flood.worker.test.ts")(
        "an address that floods with wrong keys gets 429 except for valid keys, and other addresses do not",
      ),
      "429 of an address that floods.",
    ],
    [document("the session-cost dataset may be reused with attribution"), "It may be reused with attribution."],
  ),
  ...rowsOf("POST /credits/vendor", [
    account("the charge endpoint is gone for every key and body, and names the web purchase flow"),
    "The answer is always 410.",
    "The envelope names the web purchase flow.",
  ]),
]
