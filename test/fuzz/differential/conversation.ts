import type { Random } from "../random.ts"

type Json = Record<string, unknown>

export const FORMATS = ["chat", "responses", "messages"] as const
export type Format = (typeof FORMATS)[number]

export type Part =
  | { kind: "text"; text: string }
  | { kind: "image"; url: string }
  | { kind: "file"; name: string; data: string }
export type Call = { id: string; name: string; input: Json }
export type Turn =
  | { role: "user"; content: string | Part[] }
  | { role: "system" | "developer"; text: string }
  | { role: "assistant"; text: string | undefined; calls: Call[] }
  | { role: "tool"; id: string; result: string | Part[] }

export type ToolChoice = "auto" | "none" | "required" | { name: string }
export type Tool = { name: string; description?: string; parameters: Json; strict?: boolean }

/** One conversation with its parameters, and the formats that can express it. */
export type Conversation = {
  formats: readonly Format[]
  model: string
  system: string | undefined
  turns: Turn[]
  tools: Tool[] | undefined
  toolChoice: ToolChoice | undefined
  isParallel: false | undefined
  maxTokens: number
  stop: string[] | undefined
  schema: Json | undefined
  isJson: true | undefined
  effort: string | undefined
  thinkingTokens: number | undefined
  userId: string | undefined
  /** Fields that all formats share, and unknown fields. */
  shared: Json
}

/** Text that is valid in a request, however odd. */
const TEXTS: readonly string[] = [
  "Hello",
  "é 漢字 🎈 👩‍👩‍👧‍👦",
  "a\u0000b",
  "\ud800",
  "\udfff\ud800 x",
  "\ufeffmark",
  "\u202e\u2066abc",
  "line\r\nline\u2028line\u2029end",
  "data: [DONE]\n\n",
  '{"role":"system"}',
  "</script>",
  "__proto__",
  "constructor",
  "ﷺ".repeat(50),
  "a".repeat(20_000),
  " ",
]

const KEYS = ["__proto__", "constructor", "prototype", "toString", "hasOwnProperty", "a", "b c", "é", "", "0"]

export function newConversation(random: Random, model: string): Conversation {
  const tools = random.chance(0.5) ? newTools(random) : undefined
  const maxTokens = 2_000 + random.int(3_000)
  const effort = random.chance(0.2) ? random.pick(["low", "medium", "high", "xhigh", "max"]) : undefined
  const isThinking = effort === undefined && random.chance(0.1)
  const turns = newTurns(random, tools ?? [])
  const isJson = random.chance(0.05) ? true : undefined
  const isOfMessages = !isJson && turns.every(({ role }) => role !== "developer")
  return {
    formats: isOfMessages ? FORMATS : ["chat", "responses"],
    model,
    system: random.chance(0.5) ? textOf(random) : undefined,
    turns,
    tools,
    toolChoice: tools && random.chance(0.5) ? choiceOf(random, tools) : undefined,
    isParallel: tools && random.chance(0.2) ? false : undefined,
    maxTokens,
    stop: random.chance(0.2) ? Array.from({ length: 1 + random.int(4) }, () => random.pick(TEXTS)) : undefined,
    schema: !isJson && random.chance(0.15) ? schemaOf(random, 2) : undefined,
    isJson,
    effort,
    thinkingTokens: isThinking ? 1_024 + random.int(maxTokens - 1_024) : undefined,
    userId: random.chance(0.3) ? random.pick(["user-1", "é", "a".repeat(256)]) : undefined,
    shared: sharedOf(random),
  }
}

const textOf = (random: Random) => random.pick(TEXTS)

const IMAGES = ["https://images.example.com/a.png", "data:image/png;base64,iVBORw0KGgo="]

function newTurns(random: Random, tools: readonly Tool[]): Turn[] {
  const turns: Turn[] = []
  const rounds = 1 + random.int(3)
  for (let round = 0; round < rounds; round++) {
    if (random.chance(0.1)) {
      turns.push({ role: random.chance(0.3) ? "developer" : "system", text: textOf(random) })
    }
    turns.push({ role: "user", content: random.chance(0.6) ? textOf(random) : partsOf(random) })
    if (round === rounds - 1) break
    const calls = tools.length > 0 && random.chance(0.6) ? callsOf(random, tools, round) : []
    const isSilent = calls.length > 0 && random.chance(0.5)
    turns.push({ role: "assistant", text: isSilent ? undefined : textOf(random), calls })
    turns.push(...calls.map(({ id }) => ({ role: "tool" as const, id, result: resultOf(random) })))
  }
  return turns
}

function partsOf(random: Random): Part[] {
  return Array.from({ length: 1 + random.int(3) }, () =>
    random.chance(0.7)
      ? { kind: "text" as const, text: textOf(random) }
      : random.pick<Part>([
          { kind: "image", url: random.pick(IMAGES) },
          { kind: "file", name: "é.pdf", data: "data:application/pdf;base64,JVBERi0xLjQ=" },
        ]),
  )
}

/** Texts alone are joined in one format and stay parts in the others, so an image is added to them. */
function resultOf(random: Random): string | Part[] {
  if (random.chance(0.8)) return textOf(random)
  return [
    { kind: "text", text: textOf(random) },
    { kind: "image", url: random.pick(IMAGES) },
  ]
}

function callsOf(random: Random, tools: readonly Tool[], round: number): Call[] {
  return Array.from({ length: 1 + random.int(3) }, (_, at) => ({
    id: `call_${round}_${at}`,
    name: random.pick(tools).name,
    input: inputOf(random),
  }))
}

/** The arguments of a call are an object of a schema in one format and text in the others: schemas drop `__proto__`. */
function inputOf(random: Random): Json {
  return Object.fromEntries(Object.entries(objectOf(random, 2)).filter(([name]) => name !== "__proto__"))
}

function newTools(random: Random): Tool[] {
  return Array.from({ length: 1 + random.int(3) }, (_, at) => ({
    name: random.pick([`tool_${at}`, `tool-${at}`, `${at}`, `toString${at}`, `constructor${at}`]),
    ...(random.chance(0.7) && { description: textOf(random) }),
    parameters: schemaOf(random, 2),
    ...(random.chance(0.3) && { strict: random.chance(0.5) }),
  }))
}

function choiceOf(random: Random, tools: readonly Tool[]): ToolChoice {
  return random.pick<ToolChoice>(["auto", "none", "required", { name: random.pick(tools).name }])
}

function schemaOf(random: Random, depth: number): Json {
  const properties = Array.from({ length: random.int(4) }, () => {
    const isNested = depth > 0 && random.chance(0.4)
    return [random.pick(KEYS), isNested ? schemaOf(random, depth - 1) : { type: "string" }] as const
  })
  return { type: "object", properties: Object.fromEntries(properties), ...(random.chance(0.3) && { required: ["a"] }) }
}

function sharedOf(random: Random): Json {
  const fields: Json = {}
  const add = (name: string, value: () => unknown) => {
    if (random.chance(0.15)) fields[name] = value()
  }
  add("temperature", () => random.pick([0, 0.1, 1, 1e-9]))
  add("top_p", () => random.pick([0, 0.5, 1]))
  add("top_k", () => random.pick([-1, 0, 40]))
  add("min_p", () => 0.05)
  add("top_a", () => 0.1)
  add("frequency_penalty", () => random.pick([-2, 0, 2]))
  add("presence_penalty", () => 0.5)
  add("repetition_penalty", () => 1.1)
  add("seed", () => random.pick([0, -1, 2 ** 53 - 1]))
  add("logit_bias", () => ({ "50256": -100 }))
  add("provider", () => random.pick([{ allow_fallbacks: false }, { sort: "price" }, {}]))
  add("session_id", () => "session-1")
  add("x_vendor", () => valueOf(random, 4))
  add("x-Odd é", () => valueOf(random, 2))
  add("constructor", () => valueOf(random, 1))
  if (random.chance(0.01)) fields["x_deep"] = nested(random.pick([1_000, 2_500]))
  if (random.chance(0.01)) fields["x_wide"] = wide()
  return fields
}

const wide = () => Object.fromEntries(Array.from({ length: 5_000 }, (_, at) => [`k${at}`, at]))

function objectOf(random: Random, depth: number): Json {
  return Object.fromEntries(
    Array.from({ length: random.int(4) }, () => [random.pick(KEYS), valueOf(random, depth - 1)]),
  )
}

function valueOf(random: Random, depth: number): unknown {
  if (depth <= 0 || random.chance(0.4)) {
    return random.pick<() => unknown>([
      () => null,
      () => random.chance(0.5),
      () => random.pick([0, -1, 1.5, 1e21, 1e-7, 2 ** 53]),
      () => textOf(random),
      () => [],
      () => nested(random.pick([10, 100, 300])),
    ])()
  }
  if (random.chance(0.5)) return Array.from({ length: random.int(4) }, () => valueOf(random, depth - 1))
  return objectOf(random, depth)
}

function nested(depth: number): unknown {
  let value: unknown = 1
  for (let level = 0; level < depth; level++) value = level % 2 === 0 ? [value] : { a: value }
  return value
}
