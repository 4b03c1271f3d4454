import type { Sent } from "./egress-fetch.ts"

/** What is shorter is found in what has nothing to do with it. */
const LEAST_HIDDEN = 8

const encoder = new TextEncoder()

/** A character for a byte, so that bytes that are no text stay as they are. */
function toBinary(bytes: Uint8Array): string {
  const parts: string[] = []
  for (let at = 0; at < bytes.length; at += 8_192) parts.push(String.fromCharCode(...bytes.subarray(at, at + 8_192)))
  return parts.join("")
}

/**
 * Takes out of an answer what a host says back of the secrets that it was sent: values as they are, as JSON has them, and
 * the headers made of them. It is no promise: a host that means to tell can write them in other ways.
 */
export function hiding({ released, secrets }: Extract<Sent, { ok: true }>) {
  const values = secrets.flatMap(({ value, placeholder }) => [
    [value, placeholder] as const,
    [JSON.stringify(value).slice(1, -1), placeholder] as const,
  ])
  const isSent = new Set(released.map(([sent]) => sent))
  const forms = [...released, ...values]
    .filter(([form]) => form.length >= LEAST_HIDDEN || isSent.has(form))
    .map(([form, asked]) => [toBinary(encoder.encode(form)), asked] as const)
  const text = (said: string) => forms.reduce((told, [form, asked]) => told.replaceAll(form, () => asked), said)
  return {
    /** Of a header: a character for a byte. */
    text,
    bytes(bytes: Uint8Array): Uint8Array {
      const said = toBinary(bytes)
      const told = text(said)
      return told === said ? bytes : Uint8Array.from(told, (char) => char.charCodeAt(0))
    },
  }
}
