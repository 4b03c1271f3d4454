import { htmlToText } from "./html.ts"
import { PDF_ERRORS, readPdf } from "./pdf.ts"
import { PDF_WORK, PDF_WORK_PER_REQUEST } from "./pdf/rebuild.ts"
import type { Page } from "./guarded-fetch.ts"

export type Readable = { ok: true; title: string | undefined; text: string } | { ok: false; reason: string }

/** Remaining PDF work of a request. */
export type Budget = { work: number }
export const newBudget = (): Budget => ({ work: PDF_WORK_PER_REQUEST })
const MIN_WORK = 10_000
/**
 * Characters of HTML that are read: elements are the expensive part of a page, and each has at least three characters.
 */
const MAX_HTML = 1_000_000

const HTML = /^(?:text\/html|application\/xhtml\+xml)$/
const TEXT =
  /^(?:text\/.+|application\/(?:.+\+)?(?:json|xml|yaml)|application\/(?:json5|x-ndjson|jsonl|x-yaml|toml|javascript|ecmascript|x-sh|sql|graphql))$/

/** Text of a page by its content type. */
export async function readDocument(
  { url, contentType, bytes, isCut }: Page,
  budget: Budget = newBudget(),
): Promise<Readable> {
  const type = toMediaType(contentType)
  if (type === "application/pdf" || isPdf(bytes))
    return isCut ? unreadable("the PDF is too large") : read(bytes, budget)
  if (HTML.test(type)) {
    try {
      const html = decode(bytes, contentType)
      const { title, text } = await htmlToText(html.slice(0, MAX_HTML), url)
      const note = html.length > MAX_HTML ? "\n[… the page is longer than the gateway reads]" : ""
      return { ok: true, title: title || undefined, text: text + note }
    } catch {
      return unreadable("the page's HTML could not be read")
    }
  }
  if (isText(type)) return { ok: true, title: undefined, text: decode(bytes, contentType) }
  return unreadable(type === "" ? "it has no content type" : `its content type, ${type}, is not text, HTML or PDF`)
}

/** Removes characters that a media type cannot contain: servers can send anything. */
export function toMediaType(contentType: string): string {
  const type = (contentType.split(";")[0] ?? "").trim().toLowerCase()
  return /^[\w.+-]{1,60}\/[\w.+-]{1,100}$/.test(type) ? type : ""
}

export function isText(mediaType: string): boolean {
  return TEXT.test(mediaType)
}

export function isPdf(bytes: Uint8Array): boolean {
  return new TextDecoder().decode(bytes.subarray(0, 5)) === "%PDF-"
}

async function read(bytes: Uint8Array, budget: Budget): Promise<Readable> {
  if (budget.work < MIN_WORK) return unreadable("the PDFs of this request already took too much work")
  const maxWork = Math.min(PDF_WORK, budget.work)
  // Deducted before the work, because other tool calls of the round run concurrently.
  budget.work -= maxWork
  const pdf = await readPdf(bytes, { maxWork })
  if (!pdf.ok) return unreadable(PDF_ERRORS[pdf.reason])
  budget.work += maxWork - pdf.work
  const note = pdf.isCut ? `\n[… the PDF has ${pdf.pages} pages; the rest is left out]` : ""
  return { ok: true, title: undefined, text: pdf.text + note }
}

function unreadable(reason: string): Readable {
  return { ok: false, reason }
}

/** In the encoding of the header or of the first kilobyte; otherwise UTF-8. */
export function decode(bytes: Uint8Array, contentType: string): string {
  const charset = /charset\s*=\s*["']?([\w-]{1,40})/i
  const start = new TextDecoder("latin1").decode(bytes.subarray(0, 1_024))
  const label =
    charset.exec(contentType)?.[1] ?? (/<meta[^>]*charset/i.test(start) ? charset.exec(start)?.[1] : undefined)
  return toDecoder(label).decode(bytes)
}

function toDecoder(label: string | undefined): TextDecoder {
  try {
    return new TextDecoder(label ?? "utf-8")
  } catch {
    return new TextDecoder()
  }
}
