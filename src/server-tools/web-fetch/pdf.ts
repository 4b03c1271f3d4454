const MAX_PAGES = 500

export type PdfText =
  | { ok: true; text: string; pages: number; isCut: boolean }
  | { ok: false; reason: "broken" | "encrypted" | "without text" }

/** A page's text, as far as a PDF reader's pieces of it are known here. */
type Piece = { str?: string; hasEOL?: boolean }

/** The text layer of a PDF. The reader is half a megabyte compressed, and is loaded with the first PDF. */
export async function readPdf(bytes: Uint8Array, maxPages = MAX_PAGES): Promise<PdfText> {
  const { getDocumentProxy } = await import("unpdf")
  try {
    // A copy, since the reader keeps what it is given; no verbosity, since its warnings quote the document.
    const document = await getDocumentProxy(bytes.slice(), { verbosity: 0 })
    try {
      const count = Math.min(document.numPages, maxPages)
      const pages: string[] = []
      for (let number = 1; number <= count; number++) {
        const page = await document.getPage(number)
        const { items } = await page.getTextContent()
        pages.push(toText(items as Piece[]))
        page.cleanup()
      }
      const text = pages.join("\n\n").trim()
      if (text === "") return { ok: false, reason: "without text" }
      return { ok: true, text, pages: document.numPages, isCut: count < document.numPages }
    } finally {
      await document.loadingTask.destroy()
    }
  } catch (thrown) {
    return { ok: false, reason: (thrown as Error).name === "PasswordException" ? "encrypted" : "broken" }
  }
}

function toText(pieces: readonly Piece[]): string {
  return pieces
    .map(({ str = "", hasEOL }) => (hasEOL ? `${str}\n` : str))
    .join("")
    .trim()
}

export const PDF_FAULTS = {
  broken: "it is not a PDF that can be read",
  encrypted: "it is a PDF with a password",
  "without text": "it is a PDF without a text layer, such as a scan",
} as const
