import * as z from "zod"
import { GatewayError } from "../../errors/errors.ts"
import { explain } from "../../http/schema.ts"
import { type AudioFile, type ImageFiles, toAudioFile, type Transcription } from "./requests.ts"
import { ImageRequest, TranscriptionRequest } from "./schemas.ts"

/** Requests with files: multipart forms, as clients of the OpenAI API send them. */

/** Bytes of a body: 25 MB of audio in base64, and the JSON around it. */
export const MAX_FORM_BYTES = 36 * 1024 * 1024
const MAX_FILE_BYTES = 25 * 1024 * 1024
const MAX_IMAGES = 16

type Incoming = { raw: Request; json: () => Promise<unknown> }

const isForm = ({ headers }: Request) => (headers.get("content-type") ?? "").startsWith("multipart/form-data")

/** Reads a transcription request, from JSON or a multipart form. */
export async function readTranscription({ raw, json }: Incoming): Promise<{ request: Transcription; file: AudioFile }> {
  if (!isForm(raw)) {
    const body = await json().catch(() => undefined)
    const request = check(TranscriptionRequest, body)
    return { request, file: toAudioFile(request.input_audio) }
  }
  const form = await readForm(raw)
  const [part] = filesIn(form, "file")
  if (!part) throw new GatewayError("invalid_request", "file: must be a form part with the audio and a file name.")
  const request = check(TranscriptionRequest.omit({ input_audio: true }), toFields(form))
  const bytes = new Uint8Array(await part.arrayBuffer())
  return { request, file: { bytes, name: nameOf(part, "audio"), type: typeOf(part) } }
}

/** Reads a request to edit images from a multipart form. */
export async function readImageEdit(
  raw: Request,
): Promise<{ request: z.infer<typeof ImageRequest>; files: ImageFiles }> {
  if (!isForm(raw)) {
    throw new GatewayError("invalid_request", "body: must be multipart/form-data, with the image in the part image.")
  }
  const form = await readForm(raw)
  const request = check(ImageRequest, toFields(form))
  const images = [...filesIn(form, "image"), ...filesIn(form, "image[]")]
  if (images.length === 0 || images.length > MAX_IMAGES) {
    throw new GatewayError("invalid_request", `image: must be 1 to ${MAX_IMAGES} form parts with an image and a name.`)
  }
  const [mask] = filesIn(form, "mask")
  return {
    request,
    files: { images: images.map((one) => renameFile(one, "image")), mask: mask && renameFile(mask, "mask") },
  }
}

/** Providers read the ending of a name only, and guardrails cannot read it at all, so the client's is not sent. */
function nameOf({ name }: File, plain: string): string {
  const [ending = ""] = /\.[a-z0-9]{1,5}$/i.exec(name) ?? []
  return plain + ending.toLowerCase()
}

function typeOf({ type }: File): string {
  const [plain = "application/octet-stream"] = /^(?:audio|video|image|application)\/[\w.+-]{1,40}/i.exec(type) ?? []
  return plain.toLowerCase()
}

function renameFile(file: File, plain: string): File {
  return new File([file], nameOf(file, plain), { type: typeOf(file) })
}

async function readForm(request: Request): Promise<FormData> {
  const form = await request.formData().catch(() => undefined)
  if (!form) throw new GatewayError("invalid_request", "body: must be a valid multipart form.")
  return form
}

function filesIn(form: FormData, name: string): File[] {
  const files = form.getAll(name).filter((part) => part instanceof File)
  if (files.some(({ size }) => size > MAX_FILE_BYTES)) {
    throw new GatewayError("payload_too_large", `${name}: must be at most ${MAX_FILE_BYTES} bytes.`)
  }
  return files
}

const NUMBERS = ["temperature", "n", "output_compression", "partial_images"]
const OBJECTS = ["provider", "trace"]
const FLAGS = ["stream"]

/** Converts the text parts of a form to the fields of a JSON request. */
function toFields(form: FormData): Record<string, unknown> {
  const fields: Record<string, unknown> = {}
  for (const key of new Set(form.keys())) {
    const values = form.getAll(key)
    const value = values.find((one) => typeof one === "string")
    if (value === undefined) continue
    if (key.endsWith("[]")) fields[key.slice(0, -2)] = values.filter((one) => typeof one === "string")
    else if (NUMBERS.includes(key)) fields[key] = Number(value)
    else if (FLAGS.includes(key)) fields[key] = value === "true"
    else fields[key] = OBJECTS.includes(key) ? parse(key, value) : value
  }
  return fields
}

function parse(key: string, json: string): unknown {
  try {
    return JSON.parse(json)
  } catch {
    throw new GatewayError("invalid_request", `${key}: must be a JSON object.`)
  }
}

function check<T extends z.ZodType>(schema: T, value: unknown): z.infer<T> {
  const checked = schema.safeParse(value)
  if (!checked.success) throw new GatewayError("invalid_request", explain(checked.error))
  return checked.data
}
