import { concat } from "../../support/bytes.ts"

/** 16-bit samples, one channel. */
const SAMPLES_PER_SECOND = 8_000
export const BYTES_PER_SECOND = 2 * SAMPLES_PER_SECOND
const SAMPLES_PER_CHARACTER = 400
const NOTE_HERTZ = 440
const LOUDNESS = 0x2000

/** A note that lasts as long as the text. */
export function tone(text: string): Uint8Array {
  const samples = text.length * SAMPLES_PER_CHARACTER
  const view = new DataView(new ArrayBuffer(2 * samples))
  for (let at = 0; at < samples; at++) {
    const level = LOUDNESS * Math.sin((2 * Math.PI * NOTE_HERTZ * at) / SAMPLES_PER_SECOND)
    view.setInt16(2 * at, level, true)
  }
  return new Uint8Array(view.buffer)
}

const WAV_HEADER_BYTES = 44

/** Samples with a WAV header. */
export function toWav(samples: Uint8Array): Uint8Array {
  const header = new Uint8Array(WAV_HEADER_BYTES)
  const view = new DataView(header.buffer)
  const name = (at: number, text: string) => header.set(new TextEncoder().encode(text), at)
  name(0, "RIFF")
  view.setUint32(4, WAV_HEADER_BYTES - 8 + samples.byteLength, true)
  name(8, "WAVEfmt ")
  view.setUint32(16, 16, true)
  view.setUint16(20, 1, true)
  view.setUint16(22, 1, true)
  view.setUint32(24, SAMPLES_PER_SECOND, true)
  view.setUint32(28, BYTES_PER_SECOND, true)
  view.setUint16(32, 2, true)
  view.setUint16(34, 16, true)
  name(36, "data")
  view.setUint32(40, samples.byteLength, true)
  return concat([header, samples])
}
