import { toFileText } from "../formats/file-text.ts"
import { isObject, type Json } from "../support/text/json.ts"
import { decodeBase64 } from "../support/text/encoding.ts"
import { rejectAt } from "../server-tools/parse-at.ts"
import { decode, isPdf, isText, toMediaType } from "../server-tools/web-fetch/document.ts"
import type { FetchResult } from "../server-tools/web-fetch/guarded-fetch.ts"
import { PDF_ERRORS, readPdf } from "../server-tools/web-fetch/pdf.ts"
import { PDF_WORK, PDF_WORK_PER_REQUEST } from "../server-tools/web-fetch/pdf/rebuild.ts"
import type { FileParserOptions } from "./read-plugins.ts"

type File = { bytes: Uint8Array; mediaType: string; contentType: string }

export type FileReader = {
  /** Fetches a file from its URL: `fetchPublic` with the dependencies of this request. */
  fetchFile: (url: string) => Promise<FetchResult>
}

const MAX_FILE_BYTES = 10_000_000
const MAX_FILES = 20

/** Media types by file extension, for data without a type. */
const EXTENSIONS: Record<string, string> = {
  pdf: "application/pdf",
  txt: "text/plain",
  text: "text/plain",
  log: "text/plain",
  md: "text/markdown",
  markdown: "text/markdown",
  csv: "text/csv",
  tsv: "text/tab-separated-values",
  json: "application/json",
  jsonl: "application/x-ndjson",
  xml: "application/xml",
  yaml: "application/yaml",
  yml: "application/yaml",
  html: "text/html",
  htm: "text/html",
}

/** Replaces files with their text, unless the model reads files itself. */
export async function parseFiles(
  messages: readonly Json[],
  { engine }: FileParserOptions,
  reader: FileReader,
): Promise<Json[]> {
  if (engine === "native") return [...messages]
  let files = 0
  const budget = { work: PDF_WORK_PER_REQUEST }
  const parsed: Json[] = []
  // Sequential, so that only one file is in memory.
  for (const [index, message] of messages.entries()) {
    const { content } = message
    if (!Array.isArray(content)) {
      parsed.push(message)
      continue
    }
    const parts: unknown[] = []
    for (const [position, part] of content.entries()) {
      const path = `messages[${index}].content[${position}]`
      if (isFile(part) && ++files > MAX_FILES)
        throw rejectAt(path, `at most ${MAX_FILES} files are read in one request`)
      parts.push(isFile(part) ? await toTextPart(part, path, reader, budget) : part)
    }
    parsed.push({ ...message, content: parts })
  }
  return parsed
}

type FilePart = { type: "file"; file: { filename?: string | null; file_data: string } }

/** A file with an id belongs to the provider and is not parsed. */
function isFile(part: unknown): part is FilePart {
  if (!isObject(part) || part["type"] !== "file") return false
  return isObject(part["file"]) && typeof part["file"]["file_data"] === "string"
}

type Budget = { work: number }

async function toTextPart({ file }: FilePart, path: string, reader: FileReader, budget: Budget): Promise<Json> {
  const name = file.filename ?? "file"
  const text = await readText(await load(file.file_data, name, path, reader), path, budget)
  return { type: "text", text: toFileText(name, text) }
}

async function load(data: string, name: string, path: string, reader: FileReader): Promise<File> {
  if (/^https?:/i.test(data)) return loadUrl(data, name, path, reader)
  const [prefix = "", header = ""] = /^data:([^,]*),/i.exec(data.slice(0, 300)) ?? []
  const base64 = data.slice(prefix.length)
  if (prefix !== "" && !/;\s*base64\s*$/i.test(header)) throw rejectAt(`${path}.file.file_data`, "must be base64")
  const contentType = header.replace(/;\s*base64\s*$/i, "")
  return toFile(decodeFile(base64, path), contentType, name)
}

async function loadUrl(url: string, name: string, path: string, { fetchFile }: FileReader): Promise<File> {
  const fetched = await fetchFile(url)
  if (!fetched.ok) throw rejectAt(`${path}.file.file_data`, `the file was not fetched: ${fetched.reason}`)
  const { bytes, contentType, isCut } = fetched.page
  if (isCut) throw rejectAt(`${path}.file.file_data`, `the file is larger than ${bytes.byteLength} bytes`)
  return toFile(bytes, contentType, name === "file" ? (URL.parse(url)?.pathname ?? name) : name)
}

function toFile(bytes: Uint8Array, contentType: string, name: string): File {
  const stated = toMediaType(contentType)
  const byExtension = EXTENSIONS[(/\.(\w+)$/.exec(name)?.[1] ?? "").toLowerCase()]
  const isVague = stated === "" || stated === "application/octet-stream"
  const mediaType = isPdf(bytes) ? "application/pdf" : isVague ? (byExtension ?? stated) : stated
  return { bytes, mediaType, contentType }
}

function decodeFile(base64: string, path: string): Uint8Array {
  const tooLargeError = () => rejectAt(`${path}.file.file_data`, `a file may have at most ${MAX_FILE_BYTES} bytes`)
  if (base64.length > MAX_FILE_BYTES * 1.4) throw tooLargeError()
  const bytes = decodeBase64(base64)
  if (!bytes)
    throw rejectAt(`${path}.file.file_data`, "must be a data: URL, base64, or the http or https URL of a file")
  if (bytes.byteLength > MAX_FILE_BYTES) throw tooLargeError()
  return bytes
}

async function readText({ bytes, mediaType, contentType }: File, path: string, budget: Budget): Promise<string> {
  if (mediaType === "application/pdf") {
    const pdf = await readPdf(bytes, { maxWork: Math.min(PDF_WORK, budget.work) })
    if (!pdf.ok) throw rejectAt(path, `the file was not read: ${PDF_ERRORS[pdf.reason]}`)
    budget.work -= pdf.work
    return pdf.isCut ? `${pdf.text}\n[… the PDF has ${pdf.pages} pages; the rest is left out]` : pdf.text
  }
  if (isText(mediaType)) return decode(bytes, contentType)
  const kind = mediaType === "" ? "a file without a type" : mediaType
  throw rejectAt(
    path,
    `${kind} cannot be read here; PDF and text files can. Name the file with its ending, or set pdf.engine to "native" for a model that reads files`,
  )
}
