/** Detects the type of a file from its bytes: neither its name nor the client's Content-Type is trusted. */

/** Enough for the first entries of an office document. */
export const HEAD_BYTES = 65_536

const SLICE = 8_192

/** One character per byte. */
function toBinary(bytes: Uint8Array): string {
  let text = ""
  for (let at = 0; at < bytes.byteLength; at += SLICE) text += String.fromCharCode(...bytes.subarray(at, at + SLICE))
  return text
}

const MAGIC: readonly (readonly [RegExp, string])[] = [
  [/^%PDF-/, "application/pdf"],
  [/^\x89PNG\r\n/, "image/png"],
  [/^\xff\xd8\xff/, "image/jpeg"],
  [/^GIF8[79]a/, "image/gif"],
  [/^RIFF[^]{4}WEBP/, "image/webp"],
  [/^RIFF[^]{4}WAVE/, "audio/wav"],
  [/^fLaC/, "audio/flac"],
  [/^OggS/, "audio/ogg"],
  [/^ID3/, "audio/mpeg"],
  // An MPEG audio frame, layer III.
  [/^\xff[\xe2\xe3\xf2\xf3\xfa\xfb]/, "audio/mpeg"],
]

const OFFICE: readonly (readonly [string, string])[] = [
  ["word/", "application/vnd.openxmlformats-officedocument.wordprocessingml.document"],
  ["xl/", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"],
  ["ppt/", "application/vnd.openxmlformats-officedocument.presentationml.presentation"],
]

/** The type of a file by its first bytes; "text" if all bytes are needed, undefined if it is not supported. */
export function kindOf(head: Uint8Array): string | undefined {
  const start = toBinary(head.subarray(0, HEAD_BYTES))
  const match = MAGIC.find(([pattern]) => pattern.test(start))
  if (match) return match[1]
  if (start.startsWith("PK\x03\x04")) {
    // Entry names in a zip are not compressed.
    return OFFICE.find(([folder]) => new RegExp(`PK\\x03\\x04[^]{26}${folder}`).test(start))?.[1]
  }
  return start.includes("\0") ? undefined : "text"
}

/** Reads a text in chunks and detects its type at the end. */
export class TextKind {
  readonly #decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: false })
  #start = ""

  /** False once the text is not UTF-8. */
  take(bytes: Uint8Array, isLast: boolean): boolean {
    try {
      const text = this.#decoder.decode(bytes, { stream: !isLast })
      if (text.includes("\0")) return false
      if (this.#start.length < HEAD_BYTES) this.#start += text
      return true
    } catch {
      return false
    }
  }

  /** `filename`: distinguishes CSV and Markdown from plain text. */
  kind(filename: string): string {
    const extension = /\.(\w+)$/.exec(filename)?.[1]?.toLowerCase() ?? ""
    if (isLines(this.#start)) return "application/x-ndjson"
    if (/^\s*[[{]/.test(this.#start) && (extension === "json" || isJson(this.#start))) return "application/json"
    return { csv: "text/csv", md: "text/markdown", markdown: "text/markdown" }[extension] ?? "text/plain"
  }
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

/** At least two lines, each of which is an object. */
function isLines(text: string): boolean {
  const [first = "", second = ""] = text.split("\n")
  return [first, second].every((line) => line.trimStart().startsWith("{") && isJson(line))
}
