import * as fc from "fast-check"
import { afterEach, expect, test, vi } from "vitest"
import { writeTranscript } from "../../src/inference/media/transcript-formats.ts"
import {
  expectJson,
  newKey,
  newWorkspace,
  openHolds,
  operatorClient,
  receiptOf,
  type Workspace,
} from "../support/world.ts"

type Json = Record<string, unknown>

const SOUND = { data: btoa("\0".repeat(40_000)), format: "wav" }

afterEach(() => vi.restoreAllMocks())

function respondWith(answer: () => Response): FormData[] {
  const sent: FormData[] = []
  vi.spyOn(globalThis, "fetch").mockImplementation(async (input, init) => {
    sent.push(await new Request(input, init).formData())
    return answer()
  })
  return sent
}

let made = 0
async function newModel(): Promise<string> {
  const id = `acme/written-${(made += 1)}`
  const pricing = { prompt: "0", completion: "0", second: "0.001" }
  const endpoints = [{ provider: "replica-a", upstream_id: "up", pricing }]
  const models = [{ id, name: id, output_modalities: ["transcription"], endpoints }]
  await expectJson(200, operatorClient.put("/catalogue", { models }))
  return id
}

const transcribe = ({ as }: Pick<Workspace, "as">, more: Json, api = "transcriptions") =>
  as.post(`/audio/${api}`, { model: "sim/transcribe", input_audio: SOUND, ...more })

const SEGMENTS = [
  { id: 0, start: 0, end: 2.5, text: " Hello there." },
  { id: 1, start: 2.5, end: 3_723.0404, text: " One\n\ntwo --> three" },
]
const VERBOSE = {
  task: "transcribe",
  language: "english",
  duration: 12.5,
  text: "Hello there. One two.",
  segments: SEGMENTS,
}

test.each([
  ["text", "json", "text/plain; charset=utf-8", "Hello there. One two.\n"],
  [
    "srt",
    "verbose_json",
    "text/plain; charset=utf-8",
    "1\n00:00:00,000 --> 00:00:02,500\nHello there.\n\n2\n00:00:02,500 --> 01:02:03,040\nOne two -> three\n\n",
  ],
  [
    "vtt",
    "verbose_json",
    "text/vtt; charset=utf-8",
    "WEBVTT\n\n00:00:00.000 --> 00:00:02.500\nHello there.\n\n00:00:02.500 --> 01:02:03.040\nOne two -> three\n\n",
  ],
])("a transcript as %s is written from the %s of the provider, and charged", async (format, asked, type, text) => {
  for (const api of ["transcriptions", "translations"]) {
    const workspace = await newWorkspace()
    const model = await newModel()
    const sent = respondWith(() => Response.json(VERBOSE))
    const more = { model, response_format: format, timestamp_granularities: ["word"] }
    const response = await transcribe(workspace, more, api)
    const written = response.clone()
    expect([response.status, response.headers.get("content-type")]).toEqual([200, type])
    expect(await written.text()).toBe(text)
    expect(sent[0]?.get("response_format")).toBe(asked)
    expect(sent[0]?.getAll("timestamp_granularities[]")).toEqual([])
    expect((await receiptOf(workspace, response)).total_cost).toBeCloseTo(0.0125, 9)
    expect(await openHolds(workspace)).toEqual([])
  }
})

test("a provider without segments gets one cue for the whole audio", async () => {
  const model = await newModel()
  respondWith(() => Response.json({ text: "Hello", usage: { type: "duration", seconds: 4 } }))
  const response = await transcribe(await newWorkspace(), { model, response_format: "srt" })
  expect(await response.text()).toBe("1\n00:00:00,000 --> 00:00:04,000\nHello\n\n")
})

test("an error is JSON, whatever the format of the transcript", async () => {
  const model = await newModel()
  respondWith(() => Response.json({ error: { message: "No" } }, { status: 400 }))
  for (const format of ["text", "srt", "vtt"]) {
    await expectJson(400, transcribe(await newWorkspace(), { model, response_format: format }))
  }
})

test("text that a guardrail redacts is redacted in every format", async () => {
  for (const format of ["text", "srt", "vtt"]) {
    const workspace = await newWorkspace()
    const filters = { content_filters: [{ action: "redact", pattern: "bytes", label: "WORD" }] }
    const { data } = await expectJson<{ data: { id: string } }>(
      201,
      workspace.manage.post("/guardrails", { name: "Rail", ...filters }),
    )
    const { hash, as } = await newKey(workspace)
    const keys = { key_hashes: [hash] }
    await expectJson(200, workspace.manage.post(`/guardrails/${data.id}/assignments/keys`, keys))
    const text = await (await transcribe({ as }, { response_format: format })).text()
    expect(text).toContain("[WORD]")
    expect(text).not.toContain("bytes")
  }
})

test("cues never overlap the text: whatever a provider reports, each has one number, one time and one line", async () => {
  const time = fc.oneof(fc.double(), fc.constant(null), fc.string())
  const segment = fc.record({ start: time, end: time, text: fc.oneof(fc.string(), fc.constant("a\r\n\r\n--> b")) })
  const CUE = /^\d+\n\d{2,}:\d\d:\d\d,\d{3} --> \d{2,}:\d\d:\d\d,\d{3}\n[^\r\n]*\n\n/
  await fc.assert(
    fc.asyncProperty(fc.array(segment, { minLength: 1, maxLength: 4 }), async (segments) => {
      const response = await writeTranscript(Response.json({ text: "x", segments }), "srt")
      let rest = await response.text()
      for (let at = 0; at < segments.length; at++) {
        expect(rest).toMatch(CUE)
        rest = rest.replace(CUE, "")
      }
      expect(rest).toBe("")
    }),
  )
})
