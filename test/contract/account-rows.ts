import type { ContractRow } from "./rows.ts"

export const accountRows: readonly ContractRow[] = [
  {
    section: "Account endpoints",
    promise: "An authorization code is exchanged once, with its verifier.",
    proof: {
      file: "test/contract/statuses.worker.test.ts",
      name: "an authorization code is exchanged once, for a key and a user id, under each challenge method",
    },
  },
  {
    section: "Account endpoints",
    promise: "A preset is created or gets a version; only fields of its config are kept.",
    proof: {
      file: "test/contract/records.worker.test.ts",
      name: "a preset has every field; a second call makes a new version; other fields are ignored",
    },
  },
  {
    section: "Account endpoints",
    promise: "Deleting a budget answers the same where there was none.",
    proof: { file: "test/contract/statuses.worker.test.ts", name: "a %s budget that never was is deleted as well" },
  },
  {
    section: "Account endpoints",
    promise: "Workspace budgets decrease from the longest window to the shortest.",
    proof: { file: "test/budgets/budgets.worker.test.ts", name: "strictly decrease from lifetime to daily" },
  },
  {
    section: "Account endpoints",
    promise: "The dataset takes its filters, page size and skip count within their ranges.",
    proof: {
      file: "test/contract/statuses.worker.test.ts",
      name: "takes a page size of 1 to 500, a skip count to 5000, and four turn ranges",
    },
  },
  {
    section: "Account endpoints",
    promise: "Lists take a page size of 1 to 100 and a skip count.",
    proof: {
      file: "test/contract/statuses.worker.test.ts",
      name: "GET %s takes a page size of 1 to 100 and a skip count from 0",
    },
  },
  {
    section: "Account endpoints",
    promise: "Files that were uploaded are not downloadable; those made by the service are.",
    proof: {
      file: "test/interns/embedded.worker.test.ts",
      name: "publishes a file, which people of its workspace download",
    },
  },
  {
    section: "Account endpoints",
    promise: "Management routes are a 403 for other keys.",
    proof: {
      file: "test/contract/statuses.worker.test.ts",
      name: "answers 403 to a key that does not manage, and says which keys do",
    },
  },
  {
    section: "Account endpoints",
    promise: "Management routes are a 401 without a key.",
    proof: { file: "test/contract/statuses.worker.test.ts", name: "answers 401 without a key" },
  },
  {
    section: "Account endpoints",
    promise: "Each documented refusal has its status and the envelope.",
    proof: { file: "test/contract/statuses.worker.test.ts", name: "%s: %i" },
  },
  {
    section: "SCIM",
    promise: "A mapping that exists with the same role is applied again; another role is a conflict.",
    proof: {
      file: "test/scim/mappings.worker.test.ts",
      name: "puts the people of a group into a workspace, and is the same when it is made again",
    },
  },
  {
    section: "SCIM",
    promise: "Memberships follow the directory and the mappings.",
    proof: {
      file: "test/scim/memberships.worker.test.ts",
      name: "memberships always equal what directory, mappings and hands gave, through crashes and deletions",
    },
  },
  {
    section: "SCIM",
    promise: "A sync job counts the groups that it brings in line.",
    proof: {
      file: "test/scim/mappings.worker.test.ts",
      name: "brings everything in line with the directory, in steps, and counts groups",
    },
  },
  {
    section: "Records",
    promise: "GET /key has every field.",
    proof: {
      file: "test/contract/records.worker.test.ts",
      name: "GET /key has every field, of the key that asks, with its label masked",
    },
  },
  {
    section: "Records",
    promise: "Chat completion results have every field.",
    proof: {
      file: "test/contract/records.worker.test.ts",
      name: "a chat completion has every field of its result, and no routing metadata unless it was requested",
    },
  },
  {
    section: "Records",
    promise: "Routing metadata is opt-in under both headers and has every field.",
    proof: { file: "test/contract/records.worker.test.ts", name: "%s: enabled adds routing metadata" },
  },
  {
    section: "Records",
    promise: "Responses results have every field.",
    proof: { file: "test/contract/records.worker.test.ts", name: "a response has every field of its result" },
  },
  {
    section: "Records",
    promise: "Embeddings models have every field.",
    proof: {
      file: "test/contract/records.worker.test.ts",
      name: "embedding models have every field, prices as decimal strings and a path that answers",
    },
  },
  {
    section: "Records",
    promise: "A guardrail block names its patterns and its stage.",
    proof: {
      file: "test/contract/records.worker.test.ts",
      name: "a guardrail that blocks names its patterns, and its stage where metadata was requested",
    },
  },
  {
    section: "Records",
    promise: "BYOK credentials have every field and never the key.",
    proof: {
      file: "test/contract/records.worker.test.ts",
      name: "a BYOK credential has every field and never the key",
    },
  },
  {
    section: "Records",
    promise: "Guardrails and their assignments have every field.",
    proof: { file: "test/contract/records.worker.test.ts", name: "guardrails and their assignments have every field" },
  },
  {
    section: "Records",
    promise: "Destinations have every field, credentials masked.",
    proof: {
      file: "test/contract/records.worker.test.ts",
      name: "an observability destination has every field, its credentials masked",
    },
  },
  {
    section: "Records",
    promise: "Sync jobs have every field.",
    proof: { file: "test/contract/records.worker.test.ts", name: "a SCIM sync job has every field" },
  },
  {
    section: "Records",
    promise: "Interns have every field.",
    proof: {
      file: "test/contract/records.worker.test.ts",
      name: "an intern has every field, and a status of the eight",
    },
  },
  {
    section: "Records",
    promise: "The dataset's meta has every field.",
    proof: {
      file: "test/contract/records.worker.test.ts",
      name: "the session-cost dataset says its version, its window and when it was made",
    },
  },
]
