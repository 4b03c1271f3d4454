import { estimateTokens } from "../support/tokens.ts"

/**
 * Deterministic embeddings: each word is hashed to a direction and a text is the sum of its words, so texts with common
 * words are close. No model of meaning is involved.
 */
const DIMENSIONS = 256
const MAX_DIMENSIONS = 2_048

export type EmbeddingResult =
  | { ok: true; body: Record<string, unknown> }
  | { ok: false; message: string; param: string }

export function embed(request: Record<string, unknown>): EmbeddingResult {
  const texts = toTexts(request["input"])
  if (!texts)
    return { ok: false, message: "'input' must be a non-empty string, array of strings or tokens.", param: "input" }
  const dimensions = request["dimensions"] ?? DIMENSIONS
  if (
    typeof dimensions !== "number" ||
    !Number.isInteger(dimensions) ||
    dimensions < 1 ||
    dimensions > MAX_DIMENSIONS
  ) {
    return { ok: false, message: `'dimensions' must be from 1 to ${MAX_DIMENSIONS}.`, param: "dimensions" }
  }
  const asBase64 = request["encoding_format"] === "base64"
  const data = texts.map((text, index) => {
    const vector = toVector(text, dimensions)
    return { object: "embedding", index, embedding: asBase64 ? toBase64(vector) : Array.from(vector) }
  })
  const tokens = texts.reduce((sum, text) => sum + Math.max(1, estimateTokens(text)), 0)
  return {
    ok: true,
    body: { object: "list", data, model: request["model"], usage: { prompt_tokens: tokens, total_tokens: tokens } },
  }
}

/** A string, strings, token ids, or lists of token ids. */
function toTexts(input: unknown): string[] | undefined {
  if (typeof input === "string") return input === "" ? undefined : [input]
  if (!Array.isArray(input) || input.length === 0) return undefined
  if (input.every((one) => typeof one === "number")) return [input.join(" ")]
  const texts = input.map((one) => (Array.isArray(one) ? one.join(" ") : one))
  return texts.every((text): text is string => typeof text === "string" && text !== "") ? texts : undefined
}

function toVector(text: string, dimensions: number): Float32Array {
  const vector = new Float32Array(dimensions)
  for (const word of text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [text]) {
    let state = hash(word)
    for (let index = 0; index < dimensions; index++) {
      state = Math.imul(state ^ (state >>> 15), 0x2c1b3c6d) ^ index
      vector[index] = (vector[index] ?? 0) + ((state >>> 8) / 0xff_ff_ff - 0.5)
    }
  }
  const length = Math.hypot(...vector) || 1
  return vector.map((value) => value / length)
}

/** FNV-1a. */
function hash(word: string): number {
  let value = 0x811c9dc5
  for (let index = 0; index < word.length; index++) value = Math.imul(value ^ word.charCodeAt(index), 0x01000193)
  return value
}

function toBase64(vector: Float32Array): string {
  return btoa(String.fromCharCode(...new Uint8Array(vector.buffer)))
}
