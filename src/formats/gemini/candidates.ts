import { mergeChoice, type PartialChoice } from "../chat/to-result.ts"
import { mergeDetails } from "../chat/normalize/merge-details.ts"
import { isObject, type Json, listOf, objectsOf } from "../../support/text/json.ts"
import { readDetails, textOf } from "../responses/reasoning-details.ts"
import { isDetail, type ReasoningDetail } from "../reasoning-detail.ts"
import { parseArguments } from "../tools/tool-arguments.ts"
import { toGeminiFinishReason } from "./finish-reasons.ts"
import { toGroundingMetadata } from "./grounding.ts"
import { toSignature } from "./signatures.ts"

/** Converts chunks of the chat format to candidates. Text is passed on at once, function calls when they are complete. */
export class Candidates {
  readonly #includesThoughts: boolean
  /** Names of functions that the chat request replaced, by their replacement. */
  readonly #toolNames: ReadonlyMap<string, string>
  readonly #choices = new Map<number, PartialChoice>()

  constructor(includesThoughts: boolean, toolNames: ReadonlyMap<string, string> = new Map()) {
    this.#includesThoughts = includesThoughts
    this.#toolNames = toolNames
  }

  /** The candidates with the new parts of a chunk. */
  advance(chunk: Json): Json[] {
    return objectsOf(chunk["choices"]).flatMap((choice) => {
      mergeChoice(this.#choices, choice)
      const parts = isObject(choice["delta"]) ? this.#toParts(choice["delta"]) : []
      return parts.length === 0 ? [] : [toCandidate(Number(choice["index"] ?? 0), parts)]
    })
  }

  /** The last candidate of each choice: function calls, signatures and the finish reason. */
  finish(): Json[] {
    const choices = [...this.#choices.values()].map(({ choice }) => choice).sort((a, b) => a.index - b.index)
    if (choices.length === 0) return [{ ...toCandidate(0, [{ text: "" }]), finishReason: "STOP" }]
    return choices.map(({ index, message, finish_reason: reason, native_finish_reason: native, logprobs }) => {
      const text = typeof message["content"] === "string" ? message["content"] : ""
      const grounding = toGroundingMetadata(listOf(message["annotations"]), text)
      return {
        ...toCandidate(index, lastParts(message, this.#toolNames)),
        finishReason: toGeminiFinishReason(reason, native),
        ...(grounding && { groundingMetadata: grounding }),
        ...(isObject(logprobs) && { logprobsResult: toLogprobs(logprobs) }),
      }
    })
  }

  #toParts(delta: Json): Json[] {
    const thoughts = this.#includesThoughts ? readDetails(delta).map(textOf).join("") : ""
    // A refusal is text; the finish reason marks it as a refusal.
    const text = [delta["content"], delta["refusal"]].filter((part) => typeof part === "string").join("")
    return [
      ...(thoughts === "" ? [] : [{ text: thoughts, thought: true }]),
      ...(text === "" ? [] : [{ text }]),
      ...objectsOf(delta["images"]).flatMap(toImagePart),
    ]
  }
}

function toCandidate(index: number, parts: Json[]): Json {
  return { index, content: { role: "model", parts } }
}

/** Clients send a signature back only with its part, so the first call has that of the reasoning before it. */
function lastParts(message: Json, toolNames: ReadonlyMap<string, string>): Json[] {
  const details = mergeDetails(listOf(message["reasoning_details"])).filter(isDetail)
  const calls = objectsOf(message["tool_calls"])
  if (calls.length === 0) {
    const signature = details.some(isVerified) ? toSignature(details) : undefined
    return [{ text: "", ...(signature !== undefined && { thoughtSignature: signature }) }]
  }
  return calls.map((call, at) => {
    const fn = isObject(call["function"]) ? call["function"] : {}
    const id = typeof call["id"] === "string" && call["id"] !== "" ? { id: call["id"] } : {}
    const name = String(fn["name"])
    const signature = toSignature(at === 0 ? details : [], call)
    return {
      functionCall: { ...id, name: toolNames.get(name) ?? name, args: toArgs(String(fn["arguments"])) },
      ...(signature !== undefined && { thoughtSignature: signature }),
    }
  })
}

/** Whether a provider needs the detail back: plain text of reasoning is only needed with calls. */
function isVerified({ type, signature, data }: ReasoningDetail): boolean {
  return Boolean(signature) || Boolean(data) || (type !== "reasoning.text" && type !== "reasoning.summary")
}

/** Models can write arguments that are not an object, which the API cannot express. */
function toArgs(text: string): Json {
  const args = parseArguments(text)
  if (args) return args
  return text.trim() === "" ? {} : { arguments: text }
}

const DATA_URL = /^data:([\w.+/-]+);base64,(.*)$/s

function toImagePart({ image_url: image }: Json): Json[] {
  const url = isObject(image) ? image["url"] : undefined
  if (typeof url !== "string") return []
  const [, mimeType, data] = DATA_URL.exec(url) ?? []
  return mimeType === undefined ? [{ fileData: { fileUri: url } }] : [{ inlineData: { mimeType, data } }]
}

function toLogprobs({ content }: Json): Json {
  const tokens = objectsOf(content)
  return {
    chosenCandidates: tokens.map(toLogprob),
    topCandidates: tokens.map(({ top_logprobs: top }) => ({ candidates: objectsOf(top).map(toLogprob) })),
  }
}

function toLogprob({ token, logprob }: Json): Json {
  return { token, logProbability: logprob }
}
