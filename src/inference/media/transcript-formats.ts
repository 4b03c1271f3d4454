import { isObject, type Json, objectsOf } from "../../support/text/json.ts"

/** Formats of a transcript. A provider sends the first two; the gateway writes the others from them. */
export const TRANSCRIPT_FORMATS = ["json", "verbose_json", "text", "srt", "vtt"] as const
export type TranscriptFormat = (typeof TRANSCRIPT_FORMATS)[number]

type Cue = { start: number; end: number; text: string }

type Written = { providerFormat: "json" | "verbose_json"; type: string; write: (transcript: Json) => string }

const WRITTEN: Partial<Record<TranscriptFormat, Written>> = {
  text: { providerFormat: "json", type: "text/plain; charset=utf-8", write: (transcript) => `${textOf(transcript)}\n` },
  srt: { providerFormat: "verbose_json", type: "text/plain; charset=utf-8", write: writeSrt },
  vtt: { providerFormat: "verbose_json", type: "text/vtt; charset=utf-8", write: writeVtt },
}

type Formatted = { response_format?: TranscriptFormat | null | undefined; timestamp_granularities?: unknown }

/** The request for a document, which also has the duration to charge and the text that guardrails read. */
export function withProviderFormat<Request extends Formatted>(request: Request): Request {
  const written = WRITTEN[request.response_format ?? "json"]
  // Cues are segments, which a request for words alone leaves out.
  return written ? { ...request, response_format: written.providerFormat, timestamp_granularities: undefined } : request
}

/** The transcript in the requested format. Errors stay JSON. */
export async function writeTranscript(response: Response, format: TranscriptFormat): Promise<Response> {
  const written = WRITTEN[format]
  if (!written || !response.ok) return response
  const transcript = await response.json<Json>()
  const headers = new Headers(response.headers)
  headers.set("content-type", written.type)
  headers.delete("content-length")
  return new Response(written.write(transcript), { status: response.status, headers })
}

function writeSrt(transcript: Json): string {
  return cuesOf(transcript)
    .map(({ start, end, text }, at) => `${at + 1}\n${timestamp(start, ",")} --> ${timestamp(end, ",")}\n${text}\n\n`)
    .join("")
}

function writeVtt(transcript: Json): string {
  const cues = cuesOf(transcript).map(
    ({ start, end, text }) => `${timestamp(start, ".")} --> ${timestamp(end, ".")}\n${text}\n\n`,
  )
  return `WEBVTT\n\n${cues.join("")}`
}

/** One cue per segment, or one for all of the audio if the provider reports no segments. */
function cuesOf(transcript: Json): Cue[] {
  const segments = objectsOf(transcript["segments"])
  if (segments.length === 0) return [{ start: 0, end: durationOf(transcript), text: line(textOf(transcript)) }]
  let latest = 0
  return segments.map((segment) => {
    const start = secondsIn(segment["start"]) ?? latest
    latest = Math.max(start, secondsIn(segment["end"]) ?? start)
    return { start, end: latest, text: line(textOf(segment)) }
  })
}

function durationOf({ duration, usage }: Json): number {
  return secondsIn(duration) ?? (isObject(usage) ? secondsIn(usage["seconds"]) : undefined) ?? 0
}

const MAX_SECONDS = 1_000_000

function secondsIn(value: unknown): number | undefined {
  return typeof value === "number" && value >= 0 ? Math.min(value, MAX_SECONDS) : undefined
}

function textOf({ text }: Json): string {
  return typeof text === "string" ? text : ""
}

/** An empty line or an arrow would end the cue. */
function line(text: string): string {
  return text
    .trim()
    .replace(/\s*[\r\n]\s*/g, " ")
    .replaceAll("-->", "->")
}

function timestamp(seconds: number, mark: "," | "."): string {
  const milliseconds = Math.round(seconds * 1_000)
  const [hours, minutes, rest] = [
    Math.floor(milliseconds / 3_600_000),
    Math.floor(milliseconds / 60_000) % 60,
    Math.floor(milliseconds / 1_000) % 60,
  ].map((part) => String(part).padStart(2, "0"))
  return `${hours}:${minutes}:${rest}${mark}${String(milliseconds % 1_000).padStart(3, "0")}`
}
