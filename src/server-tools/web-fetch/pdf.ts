import { rebuildPdf, PDF_WORK } from "./pdf/rebuild.ts"
import { PdfError } from "./pdf/syntax.ts"

const MAX_PAGES = 500
/** Characters of text that are kept: about 500 pages of a book. */
const MAX_TEXT = 2_000_000

export type PdfText =
  | { ok: true; text: string; pages: number; isCut: boolean; work: number }
  | { ok: false; reason: "broken" | "encrypted" | "without text" | "too large" }

export type PdfLimits = { maxPages?: number; maxWork?: number }

/** A text item of a page, in the type of the PDF library as far as it is used. */
type Piece = { str?: string; hasEOL?: boolean }

/**
 * The text layer of a PDF, up to the work limit. The library is half a megabyte compressed and is loaded with the first
 * PDF. Other requests run between pages.
 */
export async function readPdf(
  bytes: Uint8Array,
  { maxPages = MAX_PAGES, maxWork = PDF_WORK }: PdfLimits = {},
): Promise<PdfText> {
  try {
    const rebuilt = await rebuildPdf(bytes, maxPages, maxWork)
    const text = await read(rebuilt.bytes, rebuilt.kept)
    if (text === "") return { ok: false, reason: "without text" }
    const { pages, kept, work } = rebuilt
    return { ok: true, text: text.slice(0, MAX_TEXT), pages, isCut: kept < pages || text.length > MAX_TEXT, work }
  } catch (thrown) {
    return { ok: false, reason: thrown instanceof PdfError ? thrown.reason : "broken" }
  }
}

async function read(bytes: Uint8Array, count: number): Promise<string> {
  const { getDocumentProxy } = await import("unpdf")
  // No verbosity: its warnings quote the document.
  const document = await getDocumentProxy(bytes, { verbosity: 0 })
  try {
    const pages: string[] = []
    for (let number = 1; number <= count; number++) {
      const page = await document.getPage(number)
      const { items } = await page.getTextContent()
      pages.push(toText(items as Piece[]))
      page.cleanup()
      if (number % PAGES_PER_BATCH === 0) await new Promise((resolve) => setTimeout(resolve, 0))
    }
    return pages.join("\n\n").trim()
  } finally {
    await document.loadingTask.destroy()
  }
}

const PAGES_PER_BATCH = 4

function toText(pieces: readonly Piece[]): string {
  return pieces
    .map(({ str = "", hasEOL }) => (hasEOL ? `${str}\n` : str))
    .join("")
    .trim()
}

export const PDF_ERRORS = {
  broken: "it is not a PDF that can be read",
  encrypted: "it is a PDF with a password or with restrictions; save it without them",
  "without text": "it is a PDF without a text layer, such as a scan",
  "too large": "it is a PDF that takes too much work to read; save it in parts, or send its text",
} as const
