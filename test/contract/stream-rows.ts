import type { ContractRow } from "./rows.ts"

export const streamRows: readonly ContractRow[] = [
  {
    section: "Events",
    promise: "A stream of chat completions ends with the sentinel, and every chunk has one id.",
    proof: {
      file: "test/contract/records.worker.test.ts",
      name: "a chat stream is chunks of one id and ends with the sentinel",
    },
  },
  {
    section: "Events",
    promise: "A failure after the stream has started is a chunk with finish_reason error, not an HTTP error.",
    proof: {
      file: "test/inference/relay.worker.test.ts",
      name: "a stream cut between events ends in an error chunk, charged for what came",
    },
  },
  {
    section: "Events",
    promise: "A rate limit after the stream has started is such a chunk as well.",
    proof: {
      file: "test/inference/compliance.worker.test.ts",
      name: "%s ends in response.failed, with what was said until then",
    },
  },
  {
    section: "Events",
    promise: "A stream without its end is never told as complete.",
    proof: {
      file: "test/inference/relay.worker.test.ts",
      name: "an end without finish reason or [DONE] is a cut, not a success",
    },
  },
  {
    section: "Events",
    promise:
      "Text deltas of responses have all their fields and numbers in order, and the stream ends with the sentinel.",
    proof: {
      file: "test/contract/records.worker.test.ts",
      name: "a stream of responses has text deltas with all their fields, numbered in order, and the sentinel",
    },
  },
  {
    section: "Errors",
    promise: "Routing tries other providers before an error reaches the caller, and Retry-After needs a hint of each.",
    proof: {
      file: "test/inference/faults.worker.test.ts",
      name: "Retry-After is given only when every provider that was asked gave a hint",
    },
  },
  {
    section: "Errors",
    promise: "A platform limit carries X-RateLimit headers.",
    proof: {
      file: "test/ledger/free-requests.worker.test.ts",
      name: "is told 429 with the limit when its minute is full, by whichever key; nothing is held, paid models go on",
    },
  },
  {
    section: "Errors",
    promise: "A provider's rate limit keeps its code; a success has no rate-limit headers.",
    proof: {
      file: "test/contract/statuses.worker.test.ts",
      name: "a rate limit of the provider keeps its retry hint and its code; a success has no rate-limit headers",
    },
  },
  {
    section: "Errors",
    promise: "A spent key works again once its limit is raised.",
    proof: {
      file: "test/keys/routes.worker.test.ts",
      name: "a key without room is refused with 402, in words, and works again once its limit is raised",
    },
  },
  {
    section: "Errors",
    promise: "An account without balance is refused.",
    proof: {
      file: "test/keys/routes.worker.test.ts",
      name: "an account without balance is refused, but for what is free",
    },
  },
  {
    section: "Errors",
    promise: "A call that fails before its first content is an HTTP error, streamed or not.",
    proof: { file: "test/inference/compliance.worker.test.ts", name: "%s is an HTTP error, streamed or not" },
  },
  {
    section: "Responses request",
    promise: "max_tool_calls limits the steps; conditions override it.",
    proof: {
      file: "test/inference/agent.worker.test.ts",
      name: "max_tool_calls on /responses is such a number of steps, and conditions stand above it",
    },
  },
  {
    section: "Responses request",
    promise: "user never reaches a provider raw.",
    proof: {
      file: "test/contract/user.worker.test.ts",
      name: "%s: user reaches a provider as a stable pseudonym, never raw",
    },
  },
  {
    section: "Chat completion request",
    promise: "cache_control puts breakpoints on the last cacheable block.",
    proof: { file: "test/formats/messages/to-body.test.ts", name: "with cache_control at the top marks %s" },
  },
  {
    section: "Chat completion request",
    promise: "A session stays with one provider.",
    proof: { file: "test/routing/plan.test.ts", name: "a session stays with one, and sessions spread" },
  },
  {
    section: "Chat completion request",
    promise: "allow_fallbacks: false asks one provider.",
    proof: { file: "test/inference/request.worker.test.ts", name: "allow_fallbacks: false asks once" },
  },
  {
    section: "Limits",
    promise: "The x-session-id header has the same limit as the field.",
    proof: { file: "test/inference/request.worker.test.ts", name: "a session header outside its range is refused too" },
  },
  {
    section: "Limits",
    promise: "Free variants have limits per minute and day; paid models go on.",
    proof: {
      file: "test/ledger/free-requests.worker.test.ts",
      name: "is told 429 with the limit when its minute is full, by whichever key; nothing is held, paid models go on",
    },
  },
  {
    section: "Limits",
    promise: "A key's cap holds under concurrent calls, exactly.",
    proof: {
      file: "test/ledger/crowd.worker.test.ts",
      name: "500 streams at once under a key with room for 100: 100 are served, the rest are 402, and not a nano more is spent",
    },
  },
  {
    section: "Authentication",
    promise: "Every operation but the public ones needs a key.",
    proof: { file: "test/http/contract.worker.test.ts", name: "refuses a request with no key" },
  },
  {
    section: "Authentication",
    promise: "A free-tier key calls free models only.",
    proof: { file: "test/keys/routes.worker.test.ts", name: "a free-tier key calls what is free, and nothing else" },
  },
  {
    section: "Authentication",
    promise: "A disabled, deleted or expired key is refused.",
    proof: { file: "test/keys/lineage.worker.test.ts", name: "stops working when it is %s, and the answer says so" },
  },
]
