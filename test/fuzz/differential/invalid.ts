import type { Random } from "../random.ts"
import { oddValue } from "../values.ts"

type Json = Record<string, unknown>

/** Fields that make a request invalid in every format. */
export const INVALID: readonly Json[] = [
  { temperature: 5 },
  { temperature: "warm" },
  { top_p: -1 },
  { top_k: 1.5 },
  { seed: "1" },
  { frequency_penalty: 3 },
  { model: "" },
  { model: 7 },
  { model: "none/none" },
  { model: "a".repeat(257) },
  { model: "__proto__" },
  { models: "constructor" },
  { stream: "yes" },
  { user: "a".repeat(257) },
  { session_id: 5 },
  { provider: { only: ["nobody"] } },
  { provider: { sort: "color" } },
  { provider: [] },
  { plugins: [{ id: "unknown" }] },
  { service_tier: "gold" },
  { n: 0 },
  { n: "1" },
  { trace: 5 },
  { tools: {} },
  { tools: [null] },
  { tool_choice: 5 },
  { preset: "no-such-preset" },
  { logit_bias: { a: "b" } },
  { messages: 5 },
]

/** Fields of a plain chat request, with values at their limits, beyond them, and of any other type. */
export function oddFields(random: Random): Json {
  return Object.fromEntries(
    Array.from({ length: 1 + random.int(3) }, () => [
      random.pick(PLAIN_FIELDS),
      random.chance(0.3) ? oddValue(random) : random.pick(LIMITS),
    ]),
  )
}

const PLAIN_FIELDS =
  "model messages stream stream_options usage max_tokens max_completion_tokens temperature top_p frequency_penalty presence_penalty seed stop n tools tool_choice parallel_tool_calls response_format user session_id".split(
    " ",
  )

const NUMBERS = [0, -0, 1, 1.5, 2, 2.000001, -2, -2.1, 4, 128, 129, 2 ** 53 - 1, 2 ** 53, -(2 ** 53)]
const NAMES = ["1", "", "none", "auto", "required", "function"]
const LIMITS: readonly unknown[] = [
  null,
  true,
  false,
  ...NUMBERS,
  ...NAMES,
  "a".repeat(256),
  "a".repeat(257),
  [],
  [""],
  ["a", "b", "c", "d", "e"],
  {},
  { include_usage: 1 },
  { include_usage: null },
  { include: "yes" },
  { type: "text" },
  { type: "json_schema" },
  { type: "function", function: { name: "tool_0" } },
  [{ role: "tool", content: "a" }],
  [{ role: "user", content: [] }],
  [{ role: "constructor", content: "a" }],
  [{ type: "function", function: { name: "a".repeat(65) } }],
  [{ type: "function", function: { name: "é" } }],
  [{ type: "function" }],
  [{ type: "unknown" }],
]
