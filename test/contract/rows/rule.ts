import {
  agent,
  defaults,
  document,
  internStream,
  internUpdate,
  keys,
  lifecycle,
  programme,
  records,
  requests,
  runs,
  statuses,
  vault,
} from "./proofs.ts"
import { rowsOf, testsIn } from "./rows.ts"

const credit = testsIn("contract/credit.worker.test.ts")
const fields = testsIn("contract/fields.worker.test.ts")("%s")
const FREE = testsIn("ledger/free-requests.worker.test.ts")(
  "return 429 when the minute is used up by all keys, without a hold; paid models still work",
)
const TIMES = defaults(
  "a turn of an intern has 300 s, a question 5 minutes, and a keepalive is sent after 30 s of idle time",
)
const ANSWER = runs("pauses the run, and the answer resumes it")
const STORED = internUpdate("is stored with %s")
const REFUSED = internUpdate("is rejected with %s")
const LATE = runs("after the deadline returns 409, and an invalid answer does not move the deadline")
const QUESTION = internStream(
  "sends a permission question as one tool call with every option, then tool_calls and the final chunk",
)

/** Parts "States and transitions", "Authentication", "Limits" and "Versioning". */
export const ruleRows = [
  ...rowsOf(
    "States and transitions",
    [
      ANSWER,
      "A run in manual mode pauses on a question.",
      "The run is still open while it is paused.",
      "The answer in time continues the stream from the pause.",
    ],
    [QUESTION, "The stream of a question ends with tool_calls, the session chunk and [DONE]."],
    [LATE, "A paused run is cancelled at its deadline.", "A rejected answer does not move the deadline."],
    [runs("leaves a paused run open"), "A client that leaves after a question leaves the run paused."],
    [runs("cancels a streaming run"), "A client that leaves while the run streams cancels it."],
    [
      internStream("of a cancelled run ends with 410 run_ended in an error chunk, then the final chunk"),
      "A run that its intern ends is 410 run_ended, then the final chunk and [DONE].",
    ],
    [
      lifecycle("suspending cancels the run, and the client receives run_ended"),
      "A suspended intern ends its runs with run_ended.",
    ],
    [
      runs("ends with stream_severed when the agent does not confirm the cancellation in time"),
      "A connection that breaks without confirmation is stream_severed.",
    ],
    [
      runs("ends with stream_severed when the daemon stays away, and paused runs stay"),
      "A client that has left gets no final event.",
    ],
    [
      lifecycle("provision boots it, suspend stops it and keeps its disk, provision resumes it"),
      "An intern is running after its provision and stopped after it is suspended.",
    ],
    [
      lifecycle("returns 201 with every field, and 200 with the same intern for the same request"),
      "A new intern is queued.",
    ],
    [
      lifecycle("provisioning reports that it waits for the daemon"),
      "An intern is provisioning while it waits for its host.",
    ],
    [
      lifecycle("without a model and a default it fails, and the message names INTERN_MODEL"),
      "An intern whose provision fails is failed.",
    ],
    [
      lifecycle("deleting without the daemon's archive ends in destroy_failed until the loss is acknowledged"),
      "An intern whose deletion fails is destroy_failed.",
    ],
    [
      lifecycle("a changed model takes effect at the next provision"),
      "A changed model takes effect at the next provision.",
      "Until then GET has the configured model, and chunks the running one.",
    ],
    [
      testsIn("scim/mappings.worker.test.ts")("applies the directory in steps and counts groups"),
      "A new sync job is queued.",
      "A sync job counts the groups that it synced and deleted.",
    ],
    [
      records("a preset has every field; a second call creates a new version; other fields are ignored"),
      "A new preset is active.",
    ],
    [records("a response has every field of its result"), "A response that is whole is completed."],
  ),
  ...rowsOf(
    "Authentication",
    [
      testsIn("http/contract.worker.test.ts")("rejects a request without a key"),
      "Every operation but the public ones needs a key.",
    ],
    [keys("Authorization: %s is rejected"), "A key is a bearer token in Authorization."],
    [
      testsIn("http/contract.worker.test.ts")("the removed charge endpoint always returns 410"),
      "The deprecated credits operation needs no key.",
    ],
    [keys("in kind"), "Management and provisioning keys are kinds of keys."],
    [keys("a free-tier key can call only free models"), "A free-tier key calls free models."],
    [keys("%s"), "An unknown, disabled, deleted or expired key is a 401."],
    [
      statuses("returns 403 to other keys and names the keys that may"),
      "403 says that only management keys may do this.",
    ],
    [
      vault("is limited to the workspace of the key"),
      "A key selects its workspace.",
      "A vault route has no default workspace to fall back to.",
    ],
    [
      lifecycle("is limited to keys of its workspace in organizations with interns; others get 404"),
      "A key sees the interns of its workspace.",
    ],
    [
      lifecycle("with the intern's key covers only that intern and the list of its secrets"),
      "The key of an intern sees that intern.",
      "The key of an intern can always list its secrets.",
    ],
    [programme("$method $path of another intern is 404"), "To the key of an intern every other intern is a 404."],
    [
      programme("$method $path is 404"),
      "The collection and the workspace vault are a 404 to the key of an intern.",
      "Outside the programme every intern and vault route is a 404.",
    ],
    [
      vault("returns 503 for writes while they are disabled, and reads still work"),
      "Writes with the key of an intern follow the rules of the vault.",
    ],
    [
      vault("is accessible with the intern's key, which gets 404 for other vaults"),
      "The key of an intern writes to its own vault.",
    ],
    [
      lifecycle("returns 403 for chat with a key whose creator left the organization"),
      "Chat is 403 for a key whose creator left the organization.",
    ],
    [programme("$method $path is rejected"), "Regional hostnames refuse every intern, vault and daemon route."],
    [
      statuses("an authorization code is exchanged once, for a key and a user id, with each challenge method"),
      "A code of the PKCE flow becomes a key of the user.",
    ],
    [
      testsIn("oauth/oauth.worker.test.ts")("leads from sign-in and consent to a working code"),
      "The redirect of the authorization page carries the code.",
    ],
    [records("%s: enabled adds routing metadata"), "Routing metadata is opt-in for each call."],
  ),
  ...rowsOf(
    "Limits",
    [credit("the limit of a key applies to %s"), "The limit of a key holds for all inference."],
    [
      testsIn("ledger/crowd.worker.test.ts")(
        "500 concurrent streams of a key with room for 100: 100 succeed, 400 get 402, and exactly the limit is spent",
      ),
      "The limit of a key holds exactly under concurrent calls.",
    ],
    [
      credit("a key whose limit is used up is served again after the reset of its limit"),
      "limit_reset gives a key its limit again.",
      "Waiting for the reset resolves a 402.",
    ],
    [
      credit("an account without balance is served once its balance is above zero"),
      "An account needs a balance above zero.",
      "A higher balance resolves a 402.",
    ],
    [credit("a balance below zero is 402 for free models too"), "A negative balance refuses free models."],
    [
      FREE,
      "More keys do not raise a rate limit.",
      "Free variants have a limit per minute.",
      "Paid models have no such limit.",
    ],
    [
      testsIn("ledger/free-requests.worker.test.ts")("have a higher daily limit after a purchase of credit"),
      "A purchase of credit raises the limit per day.",
    ],
    [
      testsIn("access/flood.worker.test.ts")(
        "an address that floods with wrong keys gets 429 except for valid keys, and other addresses do not",
      ),
      "Floods from an address are blocked.",
    ],
    [statuses("%s: %i"), "The body of a chat above its limit is 413.", "A file id has at most 256 characters."],
    [
      testsIn("interns/requests.worker.test.ts")(
        "returns 413, 415, 400 or 404 for a body that is too large or not JSON and for an unknown intern",
      ),
      "A chat with an intern has a body of at most 1048576 bytes.",
    ],
    [
      internUpdate("accepts 1048576 bytes declared as JSON, and returns 413 for more and 415 for another type"),
      "An update of an intern has a body of at most 1048576 bytes.",
    ],
    [
      TIMES,
      "An intern's question waits 5 minutes.",
      "A chat with an intern has 300 s.",
      "A keepalive comes every 30 s.",
    ],
    [defaults("a lifecycle operation of an intern has 10 s"), "An operation on the life of an intern has 10 s."],
    [
      STORED,
      "A secret's value has up to 65536 characters.",
      "A secret has up to 100 hosts.",
      "A secret's name has up to 255 characters.",
    ],
    [REFUSED, "A secret beyond a limit is a 400."],
    [
      internUpdate("accepts %j"),
      "An intern's name has 2 to 17 characters.",
      "A description has up to 2000 characters.",
      "Instructions have up to 100000 characters.",
      "A model slug has up to 200 characters.",
    ],
    [internUpdate("rejects %j as invalid_body"), "A field of an intern beyond its limit is a 400."],
    [
      statuses("GET %s accepts a page size of 1 to 100 and a skip count from 0"),
      "A page of BYOK, guardrails and SCIM has 1 to 100 records.",
    ],
    [
      statuses("accepts a page size of 1 to 500, a skip count to 5000, and four turn ranges"),
      "A page of the dataset has 1 to 500 cells, after up to 5000.",
    ],
    [
      fields,
      "Metadata has at most 16 pairs, keys of 64 and values of 512 characters.",
      "session_id has at most 256 characters.",
      "There are at most 30 steps of server tools.",
      "There are up to 4 stop sequences.",
    ],
    [
      testsIn("inference/request.worker.test.ts")("a session header that is too long is rejected with 400"),
      "The x-session-id header has the limit of the field.",
    ],
    [
      agent("%j: ends after %i rounds, the last with tool_choice none"),
      "There are 30 steps of server tools by default.",
    ],
    [keys("returns usage in every window"), "GET /key has the limit, what remains and the usage."],
  ),
  ...rowsOf(
    "Versioning",
    [
      document("the interface is version 1.0.0, under a base path that ends in /api/v1"),
      "The base path ends in /api/v1.",
      "The description of the interface is version 1.0.0.",
    ],
    [
      records("the session-cost dataset has its version, its window and its creation time"),
      "meta.version of the dataset is v1.",
    ],
    [document("the document marks %s.%s as deprecated"), "max_tokens, route and rate_limit are deprecated."],
    [document("the document marks the charge endpoint as deprecated"), "The charge endpoint is deprecated."],
    [requests("limits the output by max_completion_tokens, or by max_tokens without it"), "max_tokens is still read."],
    [records("%s: enabled adds routing metadata"), "The legacy metadata header is still read."],
  ),
]
