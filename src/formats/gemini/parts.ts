import { GatewayError } from "../../errors/errors.ts"
import type { Json } from "../../support/text/json.ts"
import { decodeBase64 } from "../../support/text/encoding.ts"
import type { GeminiPart } from "./schemas.ts"

/** Converts parts of the Gemini API to content parts of the chat format. */

/** The content of a user or tool message. A single text becomes a string, which every provider accepts. */
export function simplest(parts: readonly Json[]): string | Json[] {
  return parts.length > 1 ? [...parts] : joinTextParts(parts)
}

/** A content of nothing but texts becomes one string. */
export function joinTextParts(parts: readonly Json[], separator = ""): string | Json[] {
  const isText = parts.every((part): part is { type: "text"; text: string } => part["type"] === "text")
  return isText ? parts.map(({ text }) => text).join(separator) : [...parts]
}

/** The content of a part, for its place in the request: `path`. A part without content, such as a thought, is empty. */
export function toContentParts(part: GeminiPart, path: string): Json[] {
  const { text, inlineData, fileData, executableCode, codeExecutionResult } = part
  if (inlineData) return [toMedia(inlineData, path)]
  if (fileData) return [toFile(fileData, path)]
  if (executableCode) return [toText(codeBlock(executableCode.code))]
  if (codeExecutionResult) return [toText(codeBlock(codeExecutionResult.output ?? ""))]
  return text && part.thought !== true ? [toText(text)] : []
}

function toText(text: string): Json {
  return { type: "text", text }
}

/** The chat format has no parts for code that Google's service ran. */
function codeBlock(code: string): string {
  return `\`\`\`\n${code}\n\`\`\`\n`
}

type Blob = { mimeType: string; data: string }

function toMedia({ mimeType, data }: Blob, path: string): Json {
  const [kind, format = ""] = mimeType.toLowerCase().split(";", 1).join("").split("/")
  const url = `data:${mimeType};base64,${toStandardBase64(data)}`
  switch (kind) {
    case "image":
      return { type: "image_url", image_url: { url } }
    case "audio":
      return { type: "input_audio", input_audio: { data: toStandardBase64(data), format: AUDIO.get(format) ?? format } }
    case "video":
      return { type: "video_url", video_url: { url } }
    case "text": {
      const bytes = decodeBase64(data)
      if (!bytes) throw new GatewayError("invalid_request", `${path}.inlineData.data: must be base64.`)
      return toText(new TextDecoder().decode(bytes))
    }
    default:
      return { type: "file", file: { filename: `file.${format}`, file_data: url } }
  }
}

const AUDIO = new Map([
  ["mpeg", "mp3"],
  ["x-wav", "wav"],
  ["wave", "wav"],
  ["l16", "pcm16"],
  ["mp4", "m4a"],
])

/** Some clients send the URL-safe alphabet. */
function toStandardBase64(data: string): string {
  return data.replaceAll("-", "+").replaceAll("_", "/")
}

type FileData = { mimeType?: string | null | undefined; fileUri: string }

/** `fileUri`: a URL, or the id of a file of this gateway. */
function toFile({ mimeType, fileUri }: FileData, path: string): Json {
  if (fileUri.startsWith("file_")) return { type: "file", file: { file_id: fileUri } }
  if (!/^https?:\/\//i.test(fileUri)) {
    const rule = "must be an https URL or the id of a file of this gateway; send other data as inlineData"
    throw new GatewayError("invalid_request", `${path}.fileData.fileUri: ${rule}.`)
  }
  const kind = mimeType?.split("/")[0] ?? (isVideoPage(fileUri) ? "video" : "")
  if (kind === "image") return { type: "image_url", image_url: { url: fileUri } }
  if (kind === "video") return { type: "video_url", video_url: { url: fileUri } }
  return { type: "file", file: { file_data: fileUri } }
}

function isVideoPage(url: string): boolean {
  return /^https?:\/\/(?:www\.)?(?:youtube\.com|youtu\.be)\//i.test(url)
}
