import { account, internStream, internUpdate, lifecycle, records, requests, runs, statuses, vault } from "./proofs.ts"
import { rowsOf, testsIn } from "./rows.ts"

const STATUS = statuses("%s: %i")
const FORBIDDEN = statuses("returns 403 to other keys and names the keys that may")
const NO_KEY = testsIn("http/contract.worker.test.ts")("rejects a request without a key")
const PAGES = statuses("GET %s accepts a page size of 1 to 100 and a skip count from 0")
const METADATA = records("%s: enabled adds routing metadata")
const BLOCKED = records("a guardrail that blocks returns its patterns, and its stage if metadata was requested")
const FAILURES = testsIn("inference/faults.worker.test.ts")("sim/%s is HTTP %i, streamed or not, and costs nothing")
const PROVIDER = requests("a provider status %i for a response is %i in the envelope, with its code")
const DOCUMENT = requests("%s: a response is a document unless stream is true")
const EXCHANGE = statuses(
  "an authorization code is exchanged once, for a key and a user id, with each challenge method",
)
const PRESET = records("a preset has every field; a second call creates a new version; other fields are ignored")
const UUID = account("%s %s: an id that is not a UUID is rejected")
const STORED = internUpdate("is stored with %s")
const REFUSED = internUpdate("is rejected with %s")
const HOSTS = internUpdate("has its hosts normalized and unique, and its value is never returned")
const WRITES = vault("returns 503 for writes while they are disabled, and reads still work")
const ANSWER = runs("pauses the run, and the answer resumes it")
const REVEAL = lifecycle("of a running intern is revealed, never cached, and every reveal is in the audit log")

/** Part "Endpoints": inference, keys, presets, interns and their vault. */
export const endpointRows = [
  ...rowsOf(
    "Endpoints",
    [
      testsIn("http/contract.worker.test.ts")("rejects a body that is not declared as JSON"),
      "A body is declared as application/json.",
    ],
    [PAGES, "A skip count is an integer of at least 0.", "A page size is an integer from 1 to 100."],
  ),
  ...rowsOf(
    "POST /chat/completions",
    [
      METADATA,
      "X-Service-Metadata enabled adds routing metadata.",
      "disabled adds none.",
      "The legacy header is read as well.",
    ],
    [
      records("a chat completion has every field of its result, and no routing metadata unless it was requested"),
      "Without the header there is no routing metadata.",
    ],
    [DOCUMENT, "The answer is JSON, or an event stream with stream true."],
    [STATUS, "400, 401, 402, 404 and 413 of the gateway are in the envelope."],
    [BLOCKED, "403 where a guardrail blocks."],
    [FAILURES, "404, 408, 413, 422, 429, 502 and 503 of a provider are in the envelope."],
  ),
  ...rowsOf(
    "POST /responses",
    [METADATA, "The header adds routing metadata."],
    [DOCUMENT, "The answer is JSON, or events that end with [DONE]."],
    [
      testsIn("inference/responses.worker.test.ts")("%j is rejected with 400 and a message that names %s"),
      "400 names the field.",
    ],
    [PROVIDER, "404, 408, 413, 422, 429, 502, 503, 524 and 529 are in the envelope."],
    [
      BLOCKED,
      "403 of a guardrail carries metadata.patterns.",
      "403 of a guardrail carries its stage where metadata was requested.",
    ],
  ),
  ...rowsOf("POST /embeddings", [
    testsIn("inference/embeddings.worker.test.ts")("%s are accepted"),
    "Embeddings of an input are answered.",
  ]),
  ...rowsOf(
    "GET /embeddings/models",
    [
      records("embedding models have every field, prices as decimal strings and a working details path"),
      "The models are in data.",
    ],
    [STATUS, "A key is required.", "400 for a page outside its range."],
  ),
  ...rowsOf(
    "GET /key",
    [
      records("GET /key has every field of the calling key, with its label masked"),
      "The record is that of the key that asks.",
    ],
    [testsIn("keys/routes.worker.test.ts")("%s"), "401 for a key that does not work."],
  ),
  ...rowsOf(
    "POST /auth/keys",
    [
      EXCHANGE,
      "A code is exchanged for a key and a user id.",
      "code_challenge_method is S256, plain or null.",
      "A code is exchanged once.",
    ],
    [
      testsIn("oauth/oauth.worker.test.ts")("is met only by its verifier"),
      "code_verifier must meet the challenge of the authorization request.",
    ],
    [STATUS, "400 for a body without a code or with another method.", "403 for a code that nobody got."],
  ),
  ...rowsOf(
    "POST /presets/{slug}/responses",
    [
      PRESET,
      "An unknown slug makes a preset.",
      "A known slug makes a new version.",
      "model and instructions are kept, instructions as system_prompt.",
      "Other fields are ignored without an error.",
    ],
    [STATUS, "400 for a slug that is not URL-safe."],
    [NO_KEY, "401 without a key."],
    [FORBIDDEN, "403 for a key that is no management key."],
    [account("a preset in a workspace of another organization is a 404"), "404 for the workspace of somebody else."],
    [
      testsIn("presets/presets.worker.test.ts")("that is archived rejects a new version"),
      "409 for an archived preset.",
    ],
  ),
  ...rowsOf(
    "POST /interns/{internId}/chat/completions",
    [
      internStream("is chunks with a delta and a finish reason, then the final chunk with the usage of the intern"),
      "The answer is an event stream that ends with [DONE].",
    ],
    [
      ANSWER,
      "approval_mode manual asks the caller.",
      "A question is answered with the session, the echoed call and a tool message.",
    ],
    [
      runs("is answered in self-drive with the narrowest permission available"),
      "Without approval_mode the run consents for the caller.",
    ],
    [runs("continues the agent's session when the request names its session"), "session_id names the conversation."],
    [
      runs("with a streaming turn is steered by a prompt and returns 202"),
      "A prompt to a running session answers with the session and the status steered.",
    ],
    [
      testsIn("interns/requests.worker.test.ts")("%j returns 400 bad_request, and the error names %s"),
      "400 names the field that is wrong.",
    ],
    [
      testsIn("interns/requests.worker.test.ts")(
        "returns 413, 415, 400 or 404 for a body that is too large or not JSON and for an unknown intern",
      ),
      "404 for an intern that the key does not see.",
      "A body is at most 1048576 bytes of JSON.",
    ],
    [
      testsIn("contract/interns-access.worker.test.ts")("$method $path is 404"),
      "The route is for the interns programme.",
    ],
  ),
  ...rowsOf(
    "PATCH /interns/{internId}",
    [
      internUpdate("keeps omitted fields, and clears those set to null"),
      "A field that is omitted stays.",
      "null clears a field.",
      "The answer is the intern.",
    ],
    [internUpdate("accepts %j"), "Every field takes values up to its limits."],
    [internUpdate("rejects %j as invalid_body"), "A value beyond a limit or a pattern is 400 invalid_body."],
    [
      internUpdate("accepts 1048576 bytes declared as JSON, and returns 413 for more and 415 for another type"),
      "A body that is not declared as JSON is 415.",
      "A body above 1048576 bytes is 413.",
    ],
    [
      testsIn("interns/lifecycle.worker.test.ts")("an update without a body, or with an empty one, changes nothing"),
      "An empty body needs no content type.",
    ],
    [
      internUpdate("is a 404 for an unknown intern, and a 403 for the intern's key"),
      "403 for the key of the intern.",
      "404 not_found for an intern that is not there.",
    ],
    [NO_KEY, "401 without a key."],
    [
      internUpdate("an operation of an intern that takes too long is 408 timeout: %s %s"),
      "408 timeout for an update that takes too long.",
    ],
    [
      lifecycle("returns 409 name_taken for a name that its creator already uses in the workspace"),
      "409 name_taken for a name that is in use.",
    ],
    [
      internUpdate(
        "a fault inside the gateway is 500 in the envelope, with the reason internal_error on an intern route",
      ),
      "500 for a fault inside the gateway.",
    ],
  ),
  ...rowsOf(
    "GET /interns/{internId}/daemon",
    [
      REVEAL,
      "The answer is the access of the daemon.",
      "The answer is not cached.",
      "Every reveal is in the audit log.",
    ],
    [
      lifecycle("of an intern that does not run returns 409 intern_not_running"),
      "409 for an intern that does not run.",
    ],
    [
      internUpdate("an operation of an intern that takes too long is 408 timeout: %s %s"),
      "408 timeout for a read that takes too long.",
    ],
    [NO_KEY, "401 without a key."],
    [
      lifecycle("is limited to keys of its workspace in organizations with interns; others get 404"),
      "404 for a key of another workspace.",
    ],
    [UUID, "The id is a UUID."],
  ),
  ...rowsOf(
    "PUT /vault/interns/{internId}/secrets/{name}",
    [
      STORED,
      "A name has 1 to 255 characters.",
      "A value has 1 to 65536 characters.",
      "A secret has 1 to 100 hosts.",
      "The answer is the metadata of the secret.",
    ],
    [
      REFUSED,
      "A name outside its pattern is a 400.",
      "hosts and value are required.",
      "A host has at most 254 characters.",
      "Schemes, ports, paths, wildcards and empty hosts are a 400.",
    ],
    [HOSTS, "A host is in lower case without its final dot.", "A host that is given twice is kept once."],
    [
      testsIn("vault/egress.test.ts")("is kept towards %s"),
      "A secret goes to its own hosts, never to a parent domain or another host.",
    ],
    [
      testsIn("vault/canaries.worker.test.ts")(
        "no route returns a vault value to any key or token, and none is in a log, a row or an object",
      ),
      "A value is encrypted at rest.",
      "A value is never returned by any route.",
    ],
    [
      vault("replaces value and hosts of a secret by name, and keeps its created_at"),
      "A second write replaces the secret.",
    ],
    [WRITES, "503 while vault writes are disabled."],
    [UUID, "The id is a UUID."],
  ),
  ...rowsOf(
    "DELETE /vault/interns/{internId}/secrets/{name}",
    [HOSTS, "204 without a body.", "404 for a secret that is not there."],
    [vault("is separate from the workspace's"), "404 for a secret of another scope."],
    [WRITES, "503 while vault writes are disabled."],
  ),
]
