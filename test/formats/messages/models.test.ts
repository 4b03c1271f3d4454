import { expect, test } from "vitest"
import { traitsOf } from "../../../src/formats/messages/upstream/models.ts"

test.each([
  ["glm-5", "by budget", 8_192, true],
  ["deepseek-chat", "by budget", 8_192, true],
  ["claude-3-haiku-20240307", "by budget", 4_096, true],
  ["claude-3-5-sonnet-latest", "by budget", 8_192, true],
  ["claude-3-7-sonnet-20250219", "by budget", 32_000, true],
  ["claude-opus-4-20250514", "by budget", 32_000, true],
  ["claude-opus-4@20250514", "by budget", 32_000, true],
  ["claude-sonnet-4-0", "by budget", 32_000, true],
  ["claude-opus-4-1-20250805", "by budget", 32_000, true],
  ["us.anthropic.claude-sonnet-4-5-20250929-v1:0", "by budget", 32_000, true],
  ["claude-haiku-4.5", "by budget", 32_000, true],
  ["claude-opus-4-5-20251101", "by budget", 32_000, true],
  ["claude-opus-4-6", "either way", 32_000, true],
  ["anthropic.claude-sonnet-4-6-v1", "either way", 32_000, true],
  ["claude-opus-4-7", "adaptively", 32_000, false],
  ["claude-opus-4-8-20260401", "adaptively", 32_000, false],
  ["claude-sonnet-5", "adaptively", 32_000, false],
  ["claude-tomorrow-9", "adaptively", 32_000, false],
])("%s thinks %s", (id, thinks, maxTokens, samples) => {
  expect(traitsOf(id)).toMatchObject({ thinks, maxTokens, samples })
})

test.each([
  ["claude-sonnet-4-5", []],
  ["claude-opus-4-5", ["low", "medium", "high"]],
  ["claude-sonnet-4-6", ["low", "medium", "high", "max"]],
  ["claude-opus-5", ["low", "medium", "high", "xhigh", "max"]],
])("the effort levels of %s are %j", (id, efforts) => {
  expect(traitsOf(id).efforts).toEqual(efforts)
})

test.each([
  ["claude-fable-5", true],
  ["claude-opus-5-5", true],
  ["claude-opus-5", false],
  ["claude-sonnet-4-5", false],
])("%s always thinks: %s", (id, alwaysThinks) => {
  expect(traitsOf(id).alwaysThinks).toBe(alwaysThinks)
})
