import { brotliCompressSync, deflateSync, gzipSync } from "node:zlib"
import type { Random } from "../random.ts"
import { mutate, oddValue } from "../values.ts"
import type { Valid } from "./valid.ts"

/** An HTTP response as bytes, with the state of the connection after them. */
export type Garbage = {
  status: number
  headers: Record<string, string>
  body: Buffer
  framing: "chunked" | "length" | "close" | "long" | "short" | "bad chunks"
  /** After the body: an orderly end, a reset, or nothing until the gateway disconnects. */
  ending: "end" | "reset" | "silence"
  /** Size of the chunks in which the body is written. */
  pieceBytes: number
  /** The applied mutations, for the report. */
  steps: string[]
}

const TYPES = [
  "text/event-stream",
  "text/event-stream; charset=utf-16",
  "application/json",
  "text/html",
  "text/plain",
  "",
  "application/octet-stream",
  "audio/mpeg",
  "a/b; é",
]
const BODILESS = [200, 201, 202, 204, 205, 206, 304, 404, 429, 500]
const STATUSES = [
  200, 201, 203, 206, 226, 299, 300, 302, 400, 402, 409, 418, 429, 451, 500, 501, 503, 520, 529, 599, 999,
]

export function newGarbage(valid: Valid, random: Random): Garbage {
  const garbage: Garbage = {
    status: 200,
    headers: { "content-type": valid.type },
    body: Buffer.from(valid.body),
    framing: "chunked",
    ending: "end",
    pieceBytes: random.pick([1, 7, 64, 4_096, 1 << 20]),
    steps: [],
  }
  const isText = random.chance(0.85)
  const ofText = isText ? 1 + random.int(2) : 0
  for (let step = 0; step < ofText; step++) apply(random.pick(Object.entries(TEXT_STEPS)), garbage, random)
  if (!isText || random.chance(0.3)) apply(random.pick(Object.entries(HTTP_STEPS)), garbage, random)
  // One byte at a time is for short bodies.
  if (garbage.body.length > 10_000) garbage.pieceBytes = Math.max(garbage.pieceBytes, 4_096)
  return garbage
}

type Step = (garbage: Garbage, random: Random) => void

function apply([name, step]: [string, Step], garbage: Garbage, random: Random): void {
  garbage.steps.push(name)
  step(garbage, random)
}

const ofText =
  (change: (text: string, random: Random) => string): Step =>
  (garbage, random) => {
    // Byte for byte, so that a part that is not UTF-8 stays unchanged.
    garbage.body = Buffer.from(change(garbage.body.toString("latin1"), random), "latin1")
  }
const utf8 = (text: string) => Buffer.from(text).toString("latin1")

/** Joins frames again, after a change of their list. */
const ofFrames = (change: (frames: string[], random: Random) => string[]) =>
  ofText((text, random) => change(text.split("\n\n"), random).join("\n\n"))

const COMMENTS = [
  ": comment",
  ":",
  "retry: 0",
  "id: 7",
  "id",
  "event: error",
  "event: ping",
  "x-unknown: y",
  "data",
  "data:",
]
const FRAMES = [
  "data: null",
  "data: 0",
  "data: []",
  "data: {}",
  'data: "text"',
  "data: {",
  "data: [DONE",
  "data: [done]",
]

const TEXT_STEPS: Readonly<Record<string, Step>> = {
  cut: ofText((text, random) => text.slice(0, random.int(text.length + 1))),
  "cut and lost": (garbage, random) => {
    garbage.body = garbage.body.subarray(0, random.int(garbage.body.length + 1))
    garbage.ending = "reset"
  },
  "line ends": ofText((text, random) => text.replaceAll("\n", () => random.pick(["\n", "\r\n", "\r"]))),
  "CR only": ofText((text) => text.replaceAll("\n", "\r")),
  "byte order mark": ofText((text) => `\u00ef\u00bb\u00bf${text}`),
  "byte order mark inside": ofFrames((frames, random) => inserted(frames, utf8("\ufeff: a"), random)),
  lines: ofFrames((frames, random) => inserted(frames, random.pick(COMMENTS), random)),
  "lines in a frame": ofFrames((frames, random) =>
    replaced(frames, (frame) => [`${random.pick(COMMENTS)}\n${frame}`], random),
  ),
  "other frames": ofFrames((frames, random) => inserted(frames, random.pick(FRAMES), random)),
  "done early": ofFrames((frames, random) => inserted(frames, "data: [DONE]", random)),
  "error frame": ofFrames((frames, random) =>
    inserted(frames, `data: ${utf8(JSON.stringify({ error: oddValue(random) }))}`, random),
  ),
  "lost frame": ofFrames((frames, random) => replaced(frames, () => [], random)),
  "doubled frame": ofFrames((frames, random) => replaced(frames, (frame) => [frame, frame], random)),
  shuffled: ofFrames((frames, random) => frames.toSorted(() => random.next() - 0.5)),
  "changed JSON": ofFrames((frames, random) => replaced(frames, (frame) => [changed(frame, random)], random)),
  "changed JSON twice": ofFrames((frames, random) =>
    replaced(
      replaced(frames, (frame) => [changed(frame, random)], random),
      (frame) => [changed(frame, random)],
      random,
    ),
  ),
  "huge frame": ofFrames((frames, random) =>
    inserted(frames, `data: {"choices":[],"x":"${"a".repeat(random.pick([70_000, 1_100_000]))}"}`, random),
  ),
  "huge comment": ofFrames((frames, random) => inserted(frames, `: ${"a".repeat(1_100_000)}`, random)),
  "huge line": ofText((text) => text + "a".repeat(1_100_000)),
  "not UTF-8": ofText((text, random) => {
    const at = random.int(text.length)
    return text.slice(0, at) + random.pick(["\u00ff", "\u00c3", "\u00f0\u009f", "\u00ed\u00a0\u0080"]) + text.slice(at)
  }),
  "zero byte": ofText((text, random) => {
    const at = random.int(text.length)
    return `${text.slice(0, at)}\u0000${text.slice(at)}`
  }),
  binary: (garbage, random) => {
    garbage.body = Buffer.from(Array.from({ length: random.int(3_000) }, () => random.int(256)))
  },
  page: ofText(() => "<html><body>Bad gateway</body></html>"),
  twice: ofText((text) => text + text),
  blank: ofText((_text, random) =>
    random.pick(["", "\n", "\n\n\n\n", " ", "\r", "{}", "[]", "null", `{"a":`.repeat(5_000)]),
  ),
}

function inserted(frames: readonly string[], frame: string, random: Random): string[] {
  return frames.toSpliced(random.int(frames.length + 1), 0, frame)
}

function replaced(frames: readonly string[], change: (frame: string) => string[], random: Random): string[] {
  const at = random.int(Math.max(1, frames.length - 1))
  return frames.flatMap((frame, index) => (index === at ? change(frame) : [frame]))
}

/** A frame, or a document, with one value of its JSON replaced. */
function changed(frame: string, random: Random): string {
  const start = frame.search(/[{[]/)
  if (start === -1) return frame
  try {
    const value: unknown = JSON.parse(Buffer.from(frame.slice(start), "latin1").toString())
    return frame.slice(0, start) + utf8(JSON.stringify(mutate(value, random)) ?? "null")
  } catch {
    return frame
  }
}

const HTTP_STEPS: Readonly<Record<string, Step>> = {
  "another type": ({ headers }, random) => (headers["content-type"] = random.pick(TYPES)),
  "another status": (garbage, random) => (garbage.status = random.pick(STATUSES)),
  "no body": (garbage, random) => {
    garbage.status = random.pick(BODILESS)
    garbage.body = Buffer.alloc(0)
    garbage.framing = "length"
  },
  "declared length": (garbage) => (garbage.framing = "length"),
  "no length": (garbage) => (garbage.framing = "close"),
  "too long a length": (garbage) => (garbage.framing = "long"),
  "too short a length": (garbage) => (garbage.framing = "short"),
  "broken chunks": (garbage) => (garbage.framing = "bad chunks"),
  reset: (garbage) => (garbage.ending = "reset"),
  silence: (garbage, random) => {
    if (random.chance(0.2)) garbage.ending = "silence"
  },
  "an encoding that is not there": ({ headers }, random) =>
    (headers["content-encoding"] = random.pick(["gzip", "br", "deflate", "zstd", "identity", "gzip, gzip", "x"])),
  gzip: encoded("gzip", gzipSync),
  brotli: encoded("br", brotliCompressSync),
  deflate: encoded("deflate", deflateSync),
  "half a gzip": (garbage) => {
    encoded("gzip", gzipSync)(garbage)
    garbage.body = garbage.body.subarray(0, garbage.body.length / 2)
  },
  "odd headers": ({ headers }, random) => {
    headers["retry-after"] = random.pick(["1", "-1", "x", "1e9", "Wed, 21 Oct 2099 07:28:00 GMT"])
    headers["set-cookie"] = "a=b"
    headers["x-request-id"] = "é".repeat(100)
    headers["location"] = "http://127.0.0.1:1/"
  },
}

function encoded(name: string, encode: (body: Buffer) => Buffer) {
  return (garbage: Garbage) => {
    garbage.headers["content-encoding"] = name
    garbage.body = encode(garbage.body)
  }
}
