import { faults, internStream, keys, records, relay, requests, runs, statuses } from "./proofs.ts"
import { rowsOf, testsIn } from "./rows.ts"

const FREE = testsIn("ledger/free-requests.worker.test.ts")(
  "return 429 when the minute is used up by all keys, without a hold; paid models still work",
)
const FIRST_FAILURE = faults("sim/%s is HTTP %i, streamed or not, and costs nothing")
const RATE_HEADERS = statuses(
  "a rate limit of the provider keeps its retry hint and its code; a success has no rate-limit headers",
)
const QUESTION = internStream(
  "sends a permission question as one tool call with every option, then tool_calls and the final chunk",
)
const DELTAS = records(
  "a stream of responses has text deltas with all their fields, numbered in order, and the sentinel",
)

/** Parts "Events" and "Errors". */
export const eventRows = [
  ...rowsOf(
    "Events",
    [
      records("a chat stream is chunks of one id and ends with the sentinel"),
      "Each data line of a chat stream is a chat.completion.chunk.",
      "A chat stream ends with [DONE].",
    ],
    [
      relay("ends in an error chunk when cut between events, charged for the delivered content"),
      "An error in the middle of a stream is a chunk with finish_reason error.",
    ],
    [relay("counts as cut without a finish reason and [DONE]"), "A stream that breaks off is never a complete answer."],
    [
      DELTAS,
      "A text delta of a response has type, delta, item_id and logprobs.",
      "A text delta of a response has integer content_index and output_index.",
      "sequence_number counts the events of a response.",
      "A stream of responses ends with [DONE].",
    ],
    [
      testsIn("inference/compliance.worker.test.ts")(
        "%s ends the stream with response.failed after the deltas sent so far",
      ),
      "A response that fails in the middle ends in response.failed.",
    ],
    [
      internStream("is chunks with a delta and a finish reason, then the final chunk with the usage of the intern"),
      "Chunks of an intern are chat.completion.chunk objects.",
      "Choices of an intern's chunk have delta and finish_reason.",
      "The final chunk after stop has empty choices, the session id and the reported usage.",
      "[DONE] follows the final chunk.",
    ],
    [
      runs("with a form accepts only JSON that matches its schema"),
      "A form is a question whose answer is JSON of its schema.",
    ],
    [
      internStream("has null as its usage if the intern reported none"),
      "usage is null where the intern reported none.",
    ],
    [
      QUESTION,
      "A question is one tool call with id, index 0 and the type function.",
      "The function of a question is service.provide_input.",
      "Its arguments are a JSON string with kind, operation and options.",
      "A permission question has the four options.",
      "A question is followed by finish_reason tool_calls.",
      "The final chunk follows tool_calls with the session id.",
      "usage is null after tool_calls.",
    ],
    [internStream("of a failed agent has the final chunk after the error chunk"), "The final chunk follows an error."],
    [
      testsIn("runtime/interns.test.ts")(
        "a client that disconnects while its intern is silent is noticed by a heartbeat, and its turn is cancelled",
      ),
      "The comment keepalive is written in silence.",
    ],
    [
      testsIn("contract/defaults.test.ts")(
        "a turn of an intern has 300 s, a question 5 minutes, and a keepalive is sent after 30 s of idle time",
      ),
      "A keepalive comes after 30 s of silence.",
    ],
    [
      testsIn("observability/delivery.worker.test.ts")(
        "calls that match its filter rules, even on content that privacy mode withholds",
      ),
      "Delivery is configured for each destination.",
    ],
  ),
  ...rowsOf(
    "Errors",
    [statuses("%s: %i"), "Every error has the envelope and the HTTP status of its code."],
    [
      statuses("%s: %i"),
      "400: a malformed body, an unsupported value, or the download of an uploaded file.",
      "401: an unknown key.",
      "402: the limit of the key is used up.",
      "404: a resource that is not there.",
      "410: a removed endpoint.",
      "413: a body that is too large.",
      "415: a body that is not declared as JSON.",
    ],
    [
      testsIn("contract/account.worker.test.ts")("GET %s is 400 without a default workspace unless one is named"),
      "400: the default workspace is deleted.",
    ],
    [keys("an account without balance can call only free models"), "402: the account has no credits."],
    [statuses("returns 403 to other keys and names the keys that may"), "403: a management key is required."],
    [
      records("a guardrail that blocks returns its patterns, and its stage if metadata was requested"),
      "403: a guardrail blocked the request.",
    ],
    [
      testsIn("interns/lifecycle.worker.test.ts")(
        "returns 403 for chat with a key whose creator left the organization",
      ),
      "403: the creator of the key left the organization.",
    ],
    [
      testsIn("contract/interns-access.worker.test.ts")("$method $path is 404"),
      "404: any intern or vault route outside the programme or the scope of the key.",
    ],
    [
      FIRST_FAILURE,
      "408: an operation timed out.",
      "422: a request is well-formed but invalid.",
      "429: a rate limit.",
      "502: a provider failed.",
      "503: a provider is temporarily unavailable.",
    ],
    [
      testsIn("presets/presets.worker.test.ts")("that is archived rejects a new version"),
      "409: a conflict of a preset.",
    ],
    [
      testsIn("scim/mappings.worker.test.ts")("adds the members of a group to a workspace, and is idempotent"),
      "409: a mapping with a different role.",
    ],
    [
      testsIn("contract/intern-update.worker.test.ts")(
        "a fault inside the gateway is 500 in the envelope, with the reason internal_error on an intern route",
      ),
      "500: an internal error.",
    ],
    [
      internStream("ends with a retryable 504 timeout if the agent does not open a session in time"),
      "504: the intern did not answer in time.",
    ],
    [
      requests("a provider status %i for a response is %i in the envelope, with its code"),
      "524: the request of a provider timed out.",
      "529: a provider is overloaded.",
    ],
    [
      FREE,
      "Free models have a limit per minute.",
      "A 429 of the service has the three X-RateLimit headers.",
      "A success on a free model has no such header.",
    ],
    [
      testsIn("ledger/free-requests.worker.test.ts")("have a limit per minute and per UTC day"),
      "Free models have a limit per day.",
    ],
    [
      testsIn("access/flood.worker.test.ts")(
        "an address that floods with wrong keys gets 429 except for valid keys, and other addresses do not",
      ),
      "A 429 may come from the protection against floods.",
    ],
    [
      RATE_HEADERS,
      "A 429 of a provider has its code in metadata.provider_code.",
      "A provider's hint becomes Retry-After.",
      "A successful answer has no X-RateLimit header.",
    ],
    [
      faults("a model list falls back to the next model, and only the model that responded is charged"),
      "Other providers are tried before an error reaches the caller.",
    ],
    [
      faults("Retry-After is sent only when every provider tried gave a hint"),
      "Retry-After is there only where every provider that was asked gave a hint.",
    ],
    [
      keys("a key over its limit gets 402 with a hint, and works again after the limit is raised"),
      "A higher limit of the key resolves a 402.",
    ],
    [
      testsIn("contract/credit.worker.test.ts")("an account without balance is served once its balance is above zero"),
      "A higher balance resolves a 402.",
    ],
    [
      testsIn("contract/credit.worker.test.ts")(
        "a key whose limit is used up is served again after the reset of its limit",
      ),
      "The reset of the key's limit resolves a 402.",
    ],
    [
      requests("a rate limit after a stream has started is a chunk with finish_reason error"),
      "A rate limit after the start of a stream is an error chunk.",
    ],
    [
      testsIn("inference/compliance.worker.test.ts")("%s is an HTTP error, streamed or not"),
      "An error before the first content is an HTTP error, streamed or not.",
    ],
  ),
  ...rowsOf(
    "Intern errors",
    [
      runs("with an unknown id, of another session, invalid or repeated returns its reason and moves no deadline"),
      "bad_request: 400, not retryable: the answer is not accepted.",
      "interaction_unknown: 404, not retryable.",
      "interaction_not_pending: 409, not retryable: the run has ended.",
    ],
    [
      testsIn("contract/intern-update.worker.test.ts")("rejects %j as invalid_body"),
      "invalid_body: 400, not retryable.",
    ],
    [
      testsIn("contract/intern-update.worker.test.ts")(
        "is a 404 for an unknown intern, and a 403 for the intern's key",
      ),
      "not_found: 404, not retryable.",
    ],
    [
      testsIn("contract/intern-update.worker.test.ts")(
        "an operation of an intern that takes too long is 408 timeout: %s %s",
      ),
      "timeout: 408, retryable, of an operation on the life of an intern.",
    ],
    [runs("is cancelled at its time limit and ends with 408 timeout"), "timeout: 408, retryable, of a chat."],
    [
      internStream("ends with a retryable 504 timeout if the agent does not open a session in time"),
      "timeout: 504, retryable.",
    ],
    [
      testsIn("interns/lifecycle.worker.test.ts")(
        "returns 409 name_taken for a name that its creator already uses in the workspace",
      ),
      "name_taken: 409, not retryable.",
    ],
    [
      testsIn("interns/lifecycle.worker.test.ts")("of an intern that does not run returns 409 intern_not_running"),
      "intern_not_running: 409, not retryable.",
    ],
    [
      runs("returns 410 attachment_failed when output exceeds the buffer, and a cancel frees the session"),
      "attachment_failed: 410, not retryable.",
    ],
    [
      internStream("of a cancelled run ends with 410 run_ended in an error chunk, then the final chunk"),
      "run_ended: 410, in the stream.",
    ],
    [
      runs("ends with stream_severed when the agent does not confirm the cancellation in time"),
      "stream_severed: in the stream.",
    ],
    [
      testsIn("contract/intern-update.worker.test.ts")(
        "accepts 1048576 bytes declared as JSON, and returns 413 for more and 415 for another type",
      ),
      "payload_too_large: 413, not retryable, above 1048576 bytes.",
      "unsupported_media_type: 415, not retryable.",
    ],
    [runs("returns 429 rate_limited over the limit of turns per minute"), "rate_limited: 429, retryable."],
    [runs("that is lost returns 502 intern_unreachable after the wait"), "intern_unreachable: 502, retryable."],
    [runs("returns 503 busy when the intern has the maximum of open runs"), "busy: 503, retryable."],
    [
      testsIn("contract/intern-update.worker.test.ts")(
        "a fault inside the gateway is 500 in the envelope, with the reason internal_error on an intern route",
      ),
      "internal_error: 500, retryable.",
    ],
    [
      testsIn("vault/vault.worker.test.ts")("returns 503 for writes while they are disabled, and reads still work"),
      "Vault writes are 503 while they are disabled.",
    ],
  ),
]
