import type { PdfObjects } from "./objects.ts"
import { type Dict, PdfError, Ref, type Value } from "./syntax.ts"

/** Keys that define the characters and widths of a font's codes. */
const FONT = "Type Subtype BaseFont FirstChar LastChar Widths Name FontMatrix FontBBox DW CIDSystemInfo".split(" ")
const DESCRIPTOR =
  "Type FontName FontFamily Flags FontBBox ItalicAngle Ascent Descent CapHeight StemV MissingWidth AvgWidth".split(" ")
/** Limit of characters per font, summed over all ranges. */
const MAX_CHARACTERS = 70_000
const MAX_ITEMS = 20_000
const MAX_DEPTH = 6

/** Adds an object to the new file and returns its reference. */
export type Add = (dict: Dict, stream?: string) => Ref

/** Copies what text extraction needs of a font. Glyph programs are omitted: reading them would be wasted work. */
export async function copyFont(value: Value | undefined, objects: PdfObjects, add: Add): Promise<Ref | undefined> {
  const font = objects.dict(value)
  if (!font) return undefined
  const copy = fields(font, FONT, objects)
  await copyTable(font, copy, objects, add)
  const encoding = objects.get(font.get("Encoding"))
  if (encoding instanceof Map && encoding.has("Length")) copy.set("Encoding", "/Identity-H")
  else if (encoding !== undefined) copy.set("Encoding", plain(encoding, objects))
  const descendants = objects.get(font.get("DescendantFonts"))
  if (Array.isArray(descendants))
    copy.set("DescendantFonts", [add(copyDescendant(objects.dict(descendants[0]), objects, add))])
  const descriptor = objects.dict(font.get("FontDescriptor"))
  if (descriptor) copy.set("FontDescriptor", add(fields(descriptor, DESCRIPTOR, objects)))
  return add(copy)
}

function copyDescendant(font: Dict | undefined, objects: PdfObjects, add: Add): Dict {
  if (!font) return new Map()
  const copy = fields(font, FONT, objects)
  const widths = objects.get(font.get("W"))
  if (Array.isArray(widths) && countOf(widths, objects) <= MAX_CHARACTERS) copy.set("W", plain(widths, objects))
  const descriptor = objects.dict(font.get("FontDescriptor"))
  if (descriptor) copy.set("FontDescriptor", add(fields(descriptor, DESCRIPTOR, objects)))
  return copy
}

/** `c first last w` applies to each code of its range. */
function countOf(widths: readonly Value[], objects: PdfObjects): number {
  let count = 0
  for (let at = 0; at < widths.length;) {
    const second = objects.get(widths[at + 1])
    if (Array.isArray(second)) {
      count += second.length
      at += 2
    } else {
      const range = objects.number(second) - objects.number(widths[at])
      if (!(range >= 0)) return Number.POSITIVE_INFINITY
      count += range + 1
      at += 3
    }
  }
  return count
}

/** Rewrites the character map: a few bytes of the original can expand to millions of characters. */
async function copyTable(font: Dict, copy: Dict, objects: PdfObjects, add: Add): Promise<void> {
  const value = font.get("ToUnicode")
  const resolved = objects.get(value)
  if (typeof resolved === "string") copy.set("ToUnicode", resolved)
  const text = await objects.stream(value)
  const clean = text === undefined ? undefined : cleanTable(text)
  if (clean !== undefined) copy.set("ToUnicode", add(new Map(), clean))
}

const HEX = "<[0-9A-Fa-f\\s]{0,64}>"
const ENTRIES = {
  codespacerange: new RegExp(`(${HEX})\\s*(${HEX})`, "g"),
  bfchar: new RegExp(`(${HEX})\\s*(${HEX})`, "g"),
  bfrange: new RegExp(`(${HEX})\\s*(${HEX})\\s*(${HEX}|\\[[^\\][]*\\])`, "g"),
} as const

function cleanTable(text: string): string | undefined {
  const out = ["/CIDInit /ProcSet findresource begin 12 dict begin begincmap /CMapName /T def /CMapType 2 def"]
  let count = 0
  for (const [, kind = "", body = ""] of text.matchAll(/begin(codespacerange|bfchar|bfrange)([^]*?)(?=end|begin|$)/g)) {
    const entries = [...body.matchAll(ENTRIES[kind as keyof typeof ENTRIES])]
    for (const [, from = "", to = ""] of entries) {
      const range = kind === "bfrange" ? codeOf(to) - codeOf(from) : 0
      count += range >= 0 ? range + 1 : Number.POSITIVE_INFINITY
    }
    if (!(count <= MAX_CHARACTERS)) return undefined
    if (entries.length > 0) out.push(`${entries.length} begin${kind}`, ...entries.map(([entry]) => entry), `end${kind}`)
  }
  return `${out.join("\n")}\nendcmap end end`
}

function codeOf(hex: string): number {
  return Number.parseInt(hex.replaceAll(/[^0-9A-Fa-f]/g, "") || "0", 16)
}

function fields(dict: Dict, names: readonly string[], objects: PdfObjects): Dict {
  return new Map(
    names.flatMap((name) => {
      const value = dict.get(name)
      return value === undefined ? [] : [[name, plain(value, objects)] as const]
    }),
  )
}

/** A value without references. */
function plain(value: Value, objects: PdfObjects, counted = { items: 0 }, depth = 0): Value {
  if (depth > MAX_DEPTH || ++counted.items > MAX_ITEMS) throw new PdfError("too large")
  const found = objects.get(value) ?? "null"
  if (Array.isArray(found)) return found.map((one) => plain(one, objects, counted, depth + 1))
  if (found instanceof Map) {
    return new Map([...found].map(([key, inner]) => [key, plain(inner, objects, counted, depth + 1)]))
  }
  return found
}
