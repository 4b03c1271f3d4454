import { expect, test } from "vitest"
import { type Draft, NO_TOOL, toChange } from "../../../src/console/pages/guardrails/draft.ts"
import { toModels, toModelText } from "../../../src/console/pages/keys/over-budget.ts"

const draft: Draft = {
  name: "Tools",
  description: "",
  builtins: {},
  filters: [],
  allowedModels: "",
  ignoredModels: "",
  allowedProviders: "",
  ignoredProviders: "",
  mcpTools: "",
  limit: "",
  interval: "monthly",
  includesByok: false,
  requests: "",
  tokens: "",
  concurrent: "",
}

test.each([
  ["", null],
  [NO_TOOL, []],
  ["search/*\nfiles/read", ["search/*", "files/read"]],
])("a guardrail with %j as MCP tools allows %j", (mcpTools, allowed) => {
  expect(toChange({ ...draft, mcpTools })).toMatchObject({ allowed_mcp_tools: allowed })
})

test.each([[null], [[]], [["a/b", "c/d"]]])(
  "saving a key without a change keeps its models over budget, %j",
  (models) => {
    expect(toModels(toModelText(models))).toEqual(models)
  },
)
