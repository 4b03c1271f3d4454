import { describe, expect, test } from "vitest"
import { plainCall } from "../../src/money/price-list.ts"
import type { Pricing } from "../../src/money/pricing.ts"
import { newMeter } from "../../src/formats/chat/meter.ts"
import type { Target } from "../../src/routing/target.ts"
import { chargeFor } from "../../src/inference/accounting/charge.ts"
import { chatReader } from "../../src/formats/readers/chat.ts"
import { messagesReader } from "../../src/formats/readers/messages.ts"
import { responsesReader } from "../../src/formats/readers/responses.ts"
import type { ResponseReader } from "../../src/formats/readers/reader.ts"

/** USD per million prompt, cached, written and completion tokens. */
const PRICES: Pricing = {
  prompt: "0.000002",
  input_cache_read: "0.0000002",
  input_cache_write: "0.0000025",
  input_cache_write_1h: "0.000004",
  completion: "0.00001",
}
const PROMPT = 2_000
const CACHED = 200
const WRITTEN = 2_500
const WRITTEN_1H = 4_000
const COMPLETION = 10_000

const TEXT = "It is what it is, and that is all."
const chatWith = (usage: unknown) => [
  { id: "c", object: "chat.completion.chunk", choices: [{ index: 0, delta: { content: TEXT } }] },
  { id: "c", object: "chat.completion.chunk", choices: [{ index: 0, delta: {}, finish_reason: "stop" }] },
  ...(usage === undefined ? [] : [{ id: "c", object: "chat.completion.chunk", choices: [], usage }]),
]
const responsesWith = (usage: unknown) => [
  { type: "response.output_text.delta", delta: TEXT },
  { type: "response.completed", response: { id: "r", status: "completed", output: [], usage } },
]
const messagesWith = (start: unknown, end: unknown) => [
  { type: "message_start", message: { id: "m", usage: start } },
  { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: TEXT } },
  { type: "message_delta", delta: { stop_reason: "end_turn" }, usage: end },
  { type: "message_stop" },
]

/** Nano-USD by the provider's price list. */
const cost = ({ prompt = 0, cached = 0, written = 0, anHour = 0, completion = 0 }) =>
  prompt * PROMPT + cached * CACHED + written * WRITTEN + anHour * WRITTEN_1H + completion * COMPLETION

type Row = [claim: string, reader: ResponseReader, events: Record<string, unknown>[], nano: number]

const rows: Row[] = [
  [
    "OpenAI: cached tokens are a part of the prompt",
    chatReader,
    chatWith({
      prompt_tokens: 1_000,
      completion_tokens: 50,
      total_tokens: 1_050,
      prompt_tokens_details: { cached_tokens: 600, audio_tokens: 0 },
      completion_tokens_details: { reasoning_tokens: 0, accepted_prediction_tokens: 0 },
    }),
    cost({ prompt: 400, cached: 600, completion: 50 }),
  ],
  [
    "OpenAI: reasoning is a part of the completion",
    chatReader,
    chatWith({
      prompt_tokens: 100,
      completion_tokens: 500,
      total_tokens: 600,
      completion_tokens_details: { reasoning_tokens: 450 },
    }),
    cost({ prompt: 100, completion: 500 }),
  ],
  [
    "OpenAI Responses: the same with other field names",
    responsesReader,
    responsesWith({
      input_tokens: 1_000,
      input_tokens_details: { cached_tokens: 600 },
      output_tokens: 500,
      output_tokens_details: { reasoning_tokens: 450 },
      total_tokens: 1_500,
    }),
    cost({ prompt: 400, cached: 600, completion: 500 }),
  ],
  [
    "Anthropic: cache reads and writes are not part of the input",
    messagesReader,
    messagesWith(
      { input_tokens: 10, cache_read_input_tokens: 600, cache_creation_input_tokens: 300, output_tokens: 1 },
      { output_tokens: 40 },
    ),
    cost({ prompt: 10, cached: 600, written: 300, completion: 40 }),
  ],
  [
    "Anthropic: one-hour cache writes are part of the cache writes, and cost more",
    messagesReader,
    messagesWith(
      {
        input_tokens: 10,
        cache_read_input_tokens: 600,
        cache_creation_input_tokens: 300,
        cache_creation: { ephemeral_5m_input_tokens: 200, ephemeral_1h_input_tokens: 100 },
        output_tokens: 1,
      },
      { output_tokens: 40 },
    ),
    cost({ prompt: 10, cached: 600, written: 200, anHour: 100, completion: 40 }),
  ],
  [
    "an upstream gateway: its own field for one-hour cache writes",
    chatReader,
    chatWith({
      prompt_tokens: 910,
      completion_tokens: 40,
      total_tokens: 950,
      prompt_tokens_details: { cached_tokens: 600, cache_write_tokens: 300, cache_write_1h_tokens: 100 },
    }),
    cost({ prompt: 10, cached: 600, written: 200, anHour: 100, completion: 40 }),
  ],
  [
    "Google: thinking tokens are only in the total",
    chatReader,
    chatWith({ prompt_tokens: 100, completion_tokens: 20, total_tokens: 520 }),
    cost({ prompt: 100, completion: 420 }),
  ],
  [
    "xAI: reasoning is not part of the completion, as the total shows",
    chatReader,
    chatWith({
      prompt_tokens: 100,
      completion_tokens: 20,
      total_tokens: 420,
      prompt_tokens_details: { cached_tokens: 64, text_tokens: 100 },
      completion_tokens_details: { reasoning_tokens: 300 },
    }),
    cost({ prompt: 36, cached: 64, completion: 320 }),
  ],
  [
    "Mistral: tokens of audio are part of the total only, and are no completion",
    chatReader,
    chatWith({ prompt_tokens: 4, completion_tokens: 63, total_tokens: 326, prompt_audio_seconds: 20 }),
    cost({ prompt: 4, completion: 63 }),
  ],
  [
    "DeepSeek: cached tokens are the cache hits",
    chatReader,
    chatWith({
      prompt_tokens: 1_000,
      completion_tokens: 50,
      total_tokens: 1_050,
      prompt_cache_hit_tokens: 768,
      prompt_cache_miss_tokens: 232,
      completion_tokens_details: { reasoning_tokens: 30 },
    }),
    cost({ prompt: 232, cached: 768, completion: 50 }),
  ],
  [
    "Moonshot: cached tokens are a top-level field",
    chatReader,
    chatWith({ prompt_tokens: 1_000, completion_tokens: 50, total_tokens: 1_050, cached_tokens: 900 }),
    cost({ prompt: 100, cached: 900, completion: 50 }),
  ],
  [
    "Mistral and Groq: plain counts with extra fields",
    chatReader,
    chatWith({
      prompt_tokens: 100,
      completion_tokens: 50,
      total_tokens: 150,
      prompt_audio_seconds: {},
      queue_time: 0.01,
      completion_time: 0.1,
    }),
    cost({ prompt: 100, completion: 50 }),
  ],
  [
    "a router with cache writes: part of the prompt, like cached tokens",
    chatReader,
    chatWith({
      prompt_tokens: 1_000,
      completion_tokens: 50,
      total_tokens: 1_050,
      prompt_tokens_details: { cached_tokens: 500, cache_write_tokens: 400 },
    }),
    cost({ prompt: 100, cached: 500, written: 400, completion: 50 }),
  ],
  [
    "LiteLLM: cache reads and writes are top-level fields, and part of the prompt",
    chatReader,
    chatWith({
      prompt_tokens: 1_000,
      completion_tokens: 50,
      total_tokens: 1_050,
      cache_read_input_tokens: 500,
      cache_creation_input_tokens: 400,
    }),
    cost({ prompt: 100, cached: 500, written: 400, completion: 50 }),
  ],
  [
    "Groq: usage below x_groq",
    chatReader,
    [...chatWith(undefined), { choices: [], x_groq: { id: "q", usage: { prompt_tokens: 9, completion_tokens: 50 } } }],
    cost({ prompt: 9, completion: 50 }),
  ],
  [
    "Moonshot: usage in the choice that ends the response",
    chatReader,
    [
      ...chatWith(undefined),
      { choices: [{ index: 0, delta: {}, finish_reason: "stop", usage: { prompt_tokens: 9, completion_tokens: 50 } }] },
    ],
    cost({ prompt: 9, completion: 50 }),
  ],
  [
    "zeros after a count are not a count",
    chatReader,
    [
      ...chatWith({ prompt_tokens: 100, completion_tokens: 50, total_tokens: 150 }),
      { choices: [], usage: { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 } },
    ],
    cost({ prompt: 100, completion: 50 }),
  ],
  [
    "a total that counts cached tokens twice adds no reasoning",
    chatReader,
    chatWith({
      prompt_tokens: 100,
      completion_tokens: 50,
      total_tokens: 230,
      prompt_tokens_details: { cached_tokens: 80 },
    }),
    cost({ prompt: 20, cached: 80, completion: 50 }),
  ],
  [
    "more cached than prompt tokens counts as all of the prompt",
    chatReader,
    chatWith({ prompt_tokens: 100, completion_tokens: 0, prompt_tokens_details: { cached_tokens: 900 } }),
    cost({ cached: 100 }),
  ],
  [
    "an explicit zero costs nothing",
    chatReader,
    chatWith({ prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 }),
    0,
  ],
  [
    "Responses: an explicit zero costs nothing",
    responsesReader,
    responsesWith({ input_tokens: 0, output_tokens: 0 }),
    0,
  ],
  [
    "Anthropic: an explicit zero costs nothing",
    messagesReader,
    messagesWith({ input_tokens: 0, output_tokens: 0 }, { output_tokens: 0 }),
    0,
  ],
]

const bounds = { promptEstimate: 70, pieces: {} as never, priced: plainCall() }
const HELD = 1_000_000_000

function charge(reader: ResponseReader, events: Record<string, unknown>[], held = HELD) {
  const reading = newMeter()
  for (const event of events) reader.read(reading, event)
  return chargeFor(reading, {
    target: { endpoint: { pricing: PRICES } } as unknown as Target,
    bounds,
    heldNano: held,
    isComplete: true,
  })
}

describe("the provider's token counts are charged at its prices", () => {
  test.each(rows)("%s", (_, reader, events, nano) => {
    expect(charge(reader, events)).toMatchObject({ costNano: nano, tokensFrom: "upstream" })
  })
})

test.each([
  [
    "chat",
    chatReader,
    [{ choices: [], usage: { prompt_tokens: 9, completion_tokens: 0, total_tokens: 9 } }, ...chatWith(undefined)],
  ],
  ["Anthropic", messagesReader, messagesWith({ input_tokens: 9, output_tokens: 1 }, undefined)],
] as [string, ResponseReader, Record<string, unknown>[]][])(
  "%s: a count from before the text does not include it, but its prompt counts",
  (_, reader, events) => {
    const { tokens, tokensFrom } = charge(reader, events)
    expect(tokensFrom).toBe("estimate")
    expect(tokens.prompt).toBe(9)
    expect(tokens.completion).toBeGreaterThanOrEqual(TEXT.length / 4)
  },
)

describe("a missing count does not make a call free", () => {
  test.each([
    ["no usage", chatReader, chatWith(undefined)],
    ["a usage of null", chatReader, chatWith(null)],
    ["a usage that is not an object", chatReader, chatWith("many")],
    ["an incomplete usage", chatReader, chatWith({ prompt_tokens: 12 })],
    ["a negative usage", chatReader, chatWith({ prompt_tokens: -1, completion_tokens: -1 })],
    ["Responses: no usage", responsesReader, responsesWith(undefined)],
    ["Anthropic: no usage", messagesReader, messagesWith(undefined, undefined)],
  ] as [string, ResponseReader, Record<string, unknown>[]][])(
    "%s: delivered content is charged by estimate",
    (_, reader, events) => {
      const charged = charge(reader, events)
      expect(charged.tokensFrom).toBe("estimate")
      expect(charged.tokens.prompt).toBeGreaterThan(0)
      expect(charged.tokens.completion).toBeGreaterThanOrEqual(TEXT.length / 4)
      expect(charged.costNano).toBe(charged.tokens.prompt * PROMPT + charged.tokens.completion * COMPLETION)
      expect(charge(reader, events, 5).costNano).toBe(5)
    },
  )
})
