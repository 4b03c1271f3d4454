import { decodeBase64, toBase64 } from "../../support/text/encoding.ts"
import type { EmbeddingsRequest } from "./schemas.ts"

type Encoding = EmbeddingsRequest["encoding_format"]

const FLOAT_BYTES = 4

/**
 * A provider's vector in the encoding that the client requested: some providers ignore `encoding_format`, and clients
 * that request base64 read an array as an empty vector. Anything else stays unchanged.
 */
export function encodedVector(embedding: unknown, encoding: Encoding = "float"): unknown {
  if (encoding === "base64") return isVector(embedding) ? toBase64(toBytes(embedding)) : embedding
  return typeof embedding === "string" ? (toVector(embedding) ?? embedding) : embedding
}

const isVector = (value: unknown): value is number[] =>
  Array.isArray(value) && value.every((one) => typeof one === "number")

/** Float32, little-endian. */
function toBytes(vector: readonly number[]): Uint8Array {
  const view = new DataView(new ArrayBuffer(vector.length * FLOAT_BYTES))
  for (const [at, value] of vector.entries()) view.setFloat32(at * FLOAT_BYTES, value, true)
  return new Uint8Array(view.buffer)
}

function toVector(text: string): number[] | undefined {
  const bytes = decodeBase64(text)
  if (!bytes || bytes.byteLength % FLOAT_BYTES !== 0) return undefined
  const view = new DataView(bytes.buffer)
  return Array.from({ length: bytes.byteLength / FLOAT_BYTES }, (_, at) => view.getFloat32(at * FLOAT_BYTES, true))
}
