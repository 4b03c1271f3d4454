import { GatewayError } from "../errors/errors.ts"
import { isGatewayFileId } from "../formats/file-id.ts"
import { toFileText } from "../formats/file-text.ts"
import { isText } from "../server-tools/web-fetch/document.ts"
import { toBase64 } from "../support/text/encoding.ts"
import { isArray, isObject, type Json } from "../support/text/json.ts"

/** A stored file that the principal may read. `read` throws if its bytes are unavailable. */
export type StoredFile = { filename: string; mimeType: string; sizeBytes: number; read: () => Promise<Uint8Array> }

export type FindFile = (id: string) => Promise<StoredFile | undefined>

/** Base64 of all files fits a request body of 16 MiB. */
export const MAX_INLINE_BYTES = 10 * 1024 * 1024
const MAX_FILES = 20
/** A part of a tool result is the deepest: `messages[].content[].content[].source`. */
const MAX_DEPTH = 10

/** The fields of a request that have content parts. */
const CONVERSATION = ["messages", "input"] as const
/** The fields below them that have content parts. Others, such as the input of a tool call, are data of the client. */
const NESTED = new Set(["content", "output", "source"])

/** A file id, and the part of the request that names it. */
type Reference = { id: string; path: string; part: Json }

/**
 * The body of a chat, responses or messages request with the data of the gateway's files in place of their ids: text
 * becomes text, images and audio become parts of their kind, and any other file becomes file data. Throws 400 for a file
 * that does not exist in the workspace of the principal, and 413 if the files are too large.
 */
export async function inlineFiles<Body extends object>(body: Body, find: FindFile): Promise<Body> {
  const references = fileReferences(body).filter(({ id }) => isGatewayFileId(id))
  if (references.length === 0) return body
  if (references.length > MAX_FILES) {
    throw new GatewayError("invalid_request", `At most ${MAX_FILES} files are read in one request.`)
  }
  const [parts, contents] = [new Map<Json, Json>(), new Map<string, Content>()]
  let bytes = 0
  for (const { id, path, part } of references) {
    const content = contents.get(id) ?? (await load(id, path, MAX_INLINE_BYTES - bytes, find))
    contents.set(id, content)
    // A file that is named twice is sent twice.
    bytes += content.bytes.byteLength
    if (bytes > MAX_INLINE_BYTES) throw tooLargeError(path)
    parts.set(part, toPart(part, content, path))
  }
  const changed = CONVERSATION.flatMap((name) =>
    name in body ? [[name, replaceParts(Reflect.get(body, name), parts, 0)] as const] : [],
  )
  return { ...body, ...Object.fromEntries(changed) }
}

/** Content parts that name a file by its id, at the gateway or at a provider. */
export function fileReferences(body: object): Reference[] {
  return CONVERSATION.flatMap((name) => referencesIn(Reflect.get(body, name), name, 0))
}

function referencesIn(value: unknown, path: string, depth: number): Reference[] {
  if (depth > MAX_DEPTH) return []
  if (isArray(value)) return value.flatMap((one, at) => referencesIn(one, `${path}[${at}]`, depth + 1))
  if (!isObject(value)) return []
  const id = idOf(value)
  if (id !== undefined) return [{ id, path, part: value }]
  return Object.entries(value).flatMap(([name, one]) =>
    NESTED.has(name) ? referencesIn(one, `${path}.${name}`, depth + 1) : [],
  )
}

/** The id of the file that a content part names. */
function idOf({ type, file, source, file_id: id }: Json): string | undefined {
  const named =
    type === "file" && isObject(file)
      ? file["file_id"]
      : (type === "document" || type === "image") && isObject(source) && source["type"] === "file"
        ? source["file_id"]
        : type === "input_file" || type === "input_image" || type === "container_upload"
          ? id
          : undefined
  return typeof named === "string" ? named : undefined
}

type Content = Pick<StoredFile, "filename" | "mimeType"> & { bytes: Uint8Array }

async function load(id: string, path: string, maxBytes: number, find: FindFile): Promise<Content> {
  const file = await find(id)
  if (!file) throw new GatewayError("invalid_request", `${path}: there is no file ${id} in this workspace.`)
  if (file.sizeBytes > maxBytes) throw tooLargeError(path)
  return { filename: file.filename, mimeType: file.mimeType, bytes: await file.read() }
}

function tooLargeError(path: string): GatewayError {
  const message = `${path}: the files of one request may have ${MAX_INLINE_BYTES} bytes in total.`
  return new GatewayError("payload_too_large", message)
}

const AUDIO_FORMATS: Readonly<Record<string, string>> = {
  "audio/mpeg": "mp3",
  "audio/wav": "wav",
  "audio/flac": "flac",
  "audio/ogg": "ogg",
}

/** The part with the content of the file, in the API format of the part. */
function toPart(part: Json, content: Content, path: string): Json {
  const { type } = part
  const isImage = content.mimeType.startsWith("image/")
  if (!isImage && (type === "image" || type === "input_image")) {
    throw new GatewayError("invalid_request", `${path}: the file is ${content.mimeType}, not an image.`)
  }
  const mark = part["cache_control"] === undefined ? {} : { cache_control: part["cache_control"] }
  if (type === "document" || type === "image") return { ...toBlock(part, content), ...mark }
  return { ...(type === "file" ? toChatPart(part, content) : toResponsesPart(part, content)), ...mark }
}

function toChatPart({ file }: Json, content: Content): Json {
  const { mimeType, filename } = content
  if (isText(mimeType)) return { type: "text", text: toText(content) }
  const audio = toAudio(content)
  if (audio) return audio
  const data = toDataUrl(content)
  if (mimeType.startsWith("image/")) return { type: "image_url", image_url: { url: data } }
  const named = isObject(file) ? file["filename"] : undefined
  return { type: "file", file: { filename: named ?? filename, file_data: data } }
}

function toResponsesPart(part: Json, content: Content): Json {
  const { mimeType, filename } = content
  if (isText(mimeType)) return { type: "input_text", text: toText(content) }
  const audio = toAudio(content)
  if (audio) return audio
  const data = toDataUrl(content)
  if (mimeType.startsWith("image/")) {
    return { type: "input_image", image_url: data, detail: part["detail"] ?? "auto" }
  }
  return { type: "input_file", filename: part["filename"] ?? filename, file_data: data }
}

/** A block of the messages format. */
function toBlock(part: Json, { mimeType, filename, bytes }: Content): Json {
  const title = part["title"] ?? filename
  if (isText(mimeType)) {
    const source = { type: "text", media_type: "text/plain", data: new TextDecoder().decode(bytes) }
    return { ...part, title, source }
  }
  const source = { type: "base64", media_type: mimeType, data: toBase64(bytes) }
  return mimeType.startsWith("image/") ? { type: "image", source } : { ...part, title, source }
}

function toAudio({ mimeType, bytes }: Content): Json | undefined {
  const format = AUDIO_FORMATS[mimeType]
  return format === undefined ? undefined : { type: "input_audio", input_audio: { data: toBase64(bytes), format } }
}

function toDataUrl({ mimeType, bytes }: Content): string {
  return `data:${mimeType};base64,${toBase64(bytes)}`
}

function toText({ filename, bytes }: Content): string {
  return toFileText(filename, new TextDecoder().decode(bytes))
}

function replaceParts(value: unknown, parts: ReadonlyMap<Json, Json>, depth: number): unknown {
  if (depth > MAX_DEPTH) return value
  if (isArray(value)) return value.map((one) => replaceParts(one, parts, depth + 1))
  if (!isObject(value)) return value
  const part = parts.get(value)
  if (part) return part
  const entries = Object.entries(value).map(([name, one]) =>
    NESTED.has(name) ? [name, replaceParts(one, parts, depth + 1)] : [name, one],
  )
  return Object.fromEntries(entries)
}
