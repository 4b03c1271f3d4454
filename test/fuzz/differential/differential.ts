import { Random } from "../random.ts"
import { brokenJson, mutate } from "../values.ts"
import { readAnswer } from "./answers.ts"
import { type Conversation, type Format, newConversation } from "./conversation.ts"
import { INVALID, oddFields } from "./invalid.ts"
import { normalizeUpstream, RESOURCES, toRequest } from "./requests.ts"
import { newScript, type Script } from "./script.ts"

type Json = Record<string, unknown>

export type Received = { status: number; headers: Record<string, string>; text: string }

/** A gateway with a scripted provider behind it. One case at a time. */
export type Subject = {
  /** A model that the provider has. */
  model: string
  /** `isDeclared`: with a Content-Length, which the hot path needs; without one, a call goes through the router. */
  send: (resource: string, text: string, isDeclared: boolean) => Promise<Received>
  /** Sets the next responses of the provider. */
  play: (script: Script) => void
  /** The raw bodies that the provider received since the last call. */
  upstream: () => string[]
  /** The generation of a call. */
  receipt: (generationId: string) => Promise<Json>
}

export type Difference = { what: string; request: string; one: string; other: string }

/** Sends one generated request on both paths, or one conversation in every format, and returns the first difference. */
export async function runCase(subject: Subject, seed: number): Promise<Difference | undefined> {
  const random = new Random(seed)
  const conversation = newConversation(random, subject.model)
  const script = newScript(random, conversation.tools?.map(({ name }) => name) ?? [])
  subject.play(script)
  const kind = random.next()
  if (kind < 0.5) return comparePaths(subject, brokenRequest(random, conversation))
  const invalid = kind < 0.6 ? random.pick(INVALID) : {}
  return compareFormats(subject, { conversation, script, invalid })
}

/** The text of a chat request, valid or not. */
function brokenRequest(random: Random, conversation: Conversation): string {
  const valid = toRequest("chat", conversation, random.chance(0.5))
  const kind = random.next()
  if (kind < 0.1) return JSON.stringify(valid)
  if (kind < 0.2) return brokenJson(valid, random)
  if (kind < 0.3) return JSON.stringify({ ...valid, ...random.pick(INVALID) })
  if (kind < 0.6) return JSON.stringify({ ...valid, ...oddFields(random) })
  const once = mutate(valid, random)
  return JSON.stringify(kind < 0.8 ? once : mutate(once, random)) ?? "null"
}

/** Values that differ between any two responses. */
const NAMES =
  /chatcmpl-[\w-]{36}|"(?:id|created)":(?:"gen-[^"]*"|\d+)|(?:gen|req)-[\w-]{36}|call_\w{32}|"retry_after_seconds":\d+/g
const HEADERS = new Set([
  "request-id",
  "x-request-id",
  "x-generation-id",
  "date",
  "retry-after",
  "connection",
  "keep-alive",
])

async function comparePaths(subject: Subject, text: string): Promise<Difference | undefined> {
  const seen = async (isDeclared: boolean) => {
    const received = await subject.send(RESOURCES.chat, text, isDeclared)
    const headers = Object.entries(received.headers).filter(([name]) => !HEADERS.has(name))
    return JSON.stringify({
      status: received.status,
      headers: headers.toSorted(),
      body: received.text.replaceAll(NAMES, ""),
      // The schema writes the fields that it knows first.
      upstream: subject.upstream().map((sent) => sorted(JSON.parse(sent))),
      receipt: await chargeOf(subject, received),
    })
  }
  const routed = await seen(false)
  const hot = await seen(true)
  if (hot === routed) return undefined
  return { what: "the hot path and the router differ", request: text, one: hot, other: routed }
}

async function chargeOf(subject: Subject, { status, headers }: Received): Promise<unknown[] | undefined> {
  const id = headers["x-generation-id"]
  if (status !== 200 || id === undefined) return undefined
  const receipt = await subject.receipt(id)
  const fields = ["total_cost", "tokens_prompt", "tokens_completion", "tokens_from", "ending", "cancelled"]
  return fields.map((field) => receipt[field])
}

type Case = { conversation: Conversation; script: Script; invalid: Json }
type Seen = { name: string; shown: string }

async function compareFormats(
  subject: Subject,
  { conversation, script, invalid }: Case,
): Promise<Difference | undefined> {
  let first: Seen | undefined
  for (const isStreamed of [false, true]) {
    for (const format of conversation.formats) {
      const text = JSON.stringify({ ...toRequest(format, conversation, isStreamed), ...invalid })
      const received = await subject.send(RESOURCES[format], text, true)
      const shown = await show(subject, { format, isStreamed, received, conversation, script })
      const name = `${format}, ${isStreamed ? "streamed" : "whole"}`
      first ??= { name, shown }
      if (shown !== first.shown) {
        return { what: `${first.name} and ${name} differ`, request: text, one: first.shown, other: shown }
      }
    }
  }
  return undefined
}

type Sent = {
  format: Format
  isStreamed: boolean
  received: Received
  conversation: Conversation
  script: Script
}

/** Everything that must be the same in every format, as text. */
async function show(subject: Subject, { format, isStreamed, received, conversation, script }: Sent): Promise<string> {
  const { status, text } = received
  const upstream = subject.upstream().map((body) => upstreamOf(body, conversation))
  if (status !== 200) return JSON.stringify({ status, upstream: sorted(upstream) })
  try {
    const { completion, cost, ...answer } = readAnswer(format, text, isStreamed)
    const [charged, , counted] = (await chargeOf(subject, received)) ?? []
    if (charged !== cost || counted !== completion) {
      return `${JSON.stringify({ charged, counted, cost, completion })} ${text.slice(0, 4_000)}`
    }
    // An estimate counts the chunks of a stream, which a document does not have.
    const usage = script.usage ? { completion, cost } : {}
    return JSON.stringify({ status, upstream: sorted(upstream), answer, usage })
  } catch (error) {
    return `unreadable (${String(error)}): ${text.slice(0, 4_000)}`
  }
}

function upstreamOf(body: string, conversation: Conversation): unknown {
  const { stream: _, stream_options: __, ...rest } = JSON.parse(body) as Json
  return normalizeUpstream(rest, conversation)
}

/** The same value with the fields of every object in order. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted)
  if (value === null || typeof value !== "object") return value
  const fields = Object.entries(value).toSorted(([one], [other]) => (one < other ? -1 : 1))
  return Object.fromEntries(fields.map(([name, field]) => [name, sorted(field)]))
}
