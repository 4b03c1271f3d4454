import { expect, test } from "vitest"
import { EMPTY_LIST, readList, toListText } from "../../../src/console/format/list.ts"
import { type Draft, toChange } from "../../../src/console/pages/guardrails/draft.ts"

const draft: Draft = {
  name: "Tools",
  description: "",
  builtins: {},
  filters: [],
  checks: [],
  allowedModels: "",
  ignoredModels: "",
  allowedProviders: "",
  ignoredProviders: "",
  mcpTools: "",
  limit: "",
  interval: "monthly",
  includesByok: false,
  counted: "key",
  metadataField: "",
  requests: "",
  tokens: "",
  concurrent: "",
}

test.each([
  ["", null],
  [EMPTY_LIST, []],
  ["search/*\nfiles/read", ["search/*", "files/read"]],
])("a guardrail with %j as MCP tools allows %j", (mcpTools, allowed) => {
  expect(toChange({ ...draft, mcpTools })).toMatchObject({ allowed_mcp_tools: allowed })
})

test.each([[null], [[]], [["a/b", "c/d"]]])(
  "saving a key without a change keeps its models over budget, %j",
  (models) => {
    expect(readList(toListText(models))).toEqual(models)
  },
)

test.each([
  ["key", { per_end_user: null, per_metadata: null }],
  ["end_user", { per_end_user: true, per_metadata: null }],
  ["metadata", { per_end_user: null, per_metadata: "team" }],
] as const)("a guardrail that counts each %s is sent as %j", (counted, sent) => {
  expect(toChange({ ...draft, counted, metadataField: " team " })).toMatchObject(sent)
})

test.each([[[{ check: "guard", action: "block" as const, direction: "both" as const }]], [[]]])(
  "the external checks of a guardrail, %j, are sent; none is null",
  (checks) => {
    expect(toChange({ ...draft, checks })).toMatchObject({ content_checks: checks.length > 0 ? checks : null })
  },
)
