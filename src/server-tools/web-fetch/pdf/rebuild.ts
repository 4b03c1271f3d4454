import { type Content, readContent } from "./content.ts"
import { type Add, copyFont } from "./fonts.ts"
import { PdfObjects } from "./objects.ts"
import { type Dict, PdfError, Ref, toBytes, type Value, write } from "./syntax.ts"

/**
 * Work limit of one file, about 0.5 s: a unit is a byte of its text operators, counted again each time they are drawn.
 * The rest of a file is limited by its size.
 */
export const PDF_WORK = 600_000
/** Work limit of all files of one request. */
export const PDF_WORK_PER_REQUEST = 900_000
const PAGE_WORK = 400
const DRAW_WORK = 250
const BYTES_PER_WORK = 40
const DECODED_BYTES_PER_WORK = 16
const MAX_NODES = 20_000
const MAX_FORM_DEPTH = 12
const INHERITED = ["Resources", "MediaBox", "CropBox"]

export type Rebuilt = { bytes: Uint8Array; pages: number; kept: number; work: number }

type Form = { ref: Ref; work: number }
type Resources = { written: Dict; draw: Map<string, Form> }

/**
 * Rebuilds the file with only the text of its pages, up to the work limit. A PDF library cannot be stopped within a
 * page, and files can be made to keep one busy for hours: instead its input is bounded.
 */
export async function rebuildPdf(bytes: Uint8Array, maxPages: number, maxWork = PDF_WORK): Promise<Rebuilt> {
  const objects = await PdfObjects.parse(bytes)
  return new Rebuilder(objects, maxWork).rebuild(maxPages)
}

class Rebuilder {
  readonly #objects: PdfObjects
  readonly #maxWork: number
  readonly #out: string[] = []
  readonly #contents = new Map<string, { content: Content; ref: Ref }>()
  readonly #fonts = new Map<number, Ref | undefined>()
  readonly #forms = new Map<number, Form | undefined>()
  /** Streams that are part of contents, and the bytes of those that are read again as a part of others. */
  readonly #parts = new Set<number>()
  #repeatedBytes = 0

  constructor(objects: PdfObjects, maxWork: number) {
    this.#objects = objects
    this.#maxWork = maxWork
  }

  async rebuild(maxPages: number): Promise<Rebuilt> {
    const catalog = this.#reserve()
    const tree = this.#reserve()
    const { pages, total } = this.#pages(maxPages)
    const kids: Ref[] = []
    let work = 0
    let overhead = this.#overhead
    for (const page of pages) {
      const rebuilt = await this.#page(page, tree)
      overhead = this.#overhead
      if (overhead + work + rebuilt.work > this.#maxWork) {
        if (kids.length === 0) throw new PdfError("too large")
        break
      }
      work += rebuilt.work
      kids.push(this.#add(rebuilt.dict))
    }
    this.#set(
      catalog,
      new Map<string, Value>([
        ["Type", "/Catalog"],
        ["Pages", tree],
      ]),
    )
    this.#set(
      tree,
      new Map<string, Value>([
        ["Type", "/Pages"],
        ["Kids", kids],
        ["Count", String(kids.length)],
      ]),
    )
    return { bytes: this.#file(catalog), pages: total, kept: kids.length, work: overhead + work }
  }

  get #overhead(): number {
    const { byteLength, decodedBytes } = this.#objects
    return Math.ceil(byteLength / BYTES_PER_WORK + (decodedBytes + this.#repeatedBytes) / DECODED_BYTES_PER_WORK)
  }

  /** The pages in order, with their inherited attributes. */
  #pages(maxPages: number): { pages: Dict[]; total: number } {
    const root = this.#objects.dict(this.#objects.root)
    const pages: Dict[] = []
    const seen = new Set<Dict>()
    let total = 0
    const open: { node: Dict | undefined; above: Dict }[] = [
      { node: this.#objects.dict(root?.get("Pages")), above: new Map() },
    ]
    for (let entry = open.pop(); entry; entry = open.pop()) {
      const { node } = entry
      if (!node) continue
      const inherited: Dict = new Map(entry.above)
      for (const key of INHERITED) {
        const pageValue = node.get(key)
        if (pageValue !== undefined) inherited.set(key, pageValue)
      }
      const kids = this.#objects.get(node.get("Kids"))
      if (Array.isArray(kids)) {
        if (seen.has(node) || seen.size + kids.length > MAX_NODES) throw new PdfError("too large")
        seen.add(node)
        for (const kid of kids.toReversed()) open.push({ node: this.#objects.dict(kid), above: inherited })
        if (open.length > MAX_NODES) throw new PdfError("too large")
        continue
      }
      total++
      if (pages.length < maxPages) pages.push(new Map([...node, ...inherited]))
    }
    if (total === 0) throw new PdfError("broken")
    return { pages, total }
  }

  async #page(page: Dict, parent: Ref): Promise<{ dict: Dict; work: number }> {
    const { content, ref } = await this.#contentOf(page.get("Contents"))
    const resources = await this.#resourcesOf(page.get("Resources"), content, 0)
    const dict: Dict = new Map<string, Value>([
      ["Type", "/Page"],
      ["Parent", parent],
      ["Contents", ref],
      ["Resources", resources.written],
    ])
    this.#copyNumbers(page, ["MediaBox", "CropBox"], dict)
    return { dict, work: PAGE_WORK + content.work + drawingWork(content, resources.draw) }
  }

  /** The contents of a page are one or more streams, split between any two tokens. */
  async #contentOf(value: Value | undefined): Promise<{ content: Content; ref: Ref }> {
    const found = this.#objects.get(value)
    const refs = Array.isArray(found) ? found : value === undefined ? [] : [value]
    const key = refs.map((ref) => (ref instanceof Ref ? ref.id : "")).join()
    const cached = this.#contents.get(key)
    if (cached) return cached
    const parts: string[] = []
    let length = 0
    for (const ref of refs) {
      const text = (await this.#objects.stream(ref)) ?? ""
      length += text.length
      if (length > MAX_CONTENT) throw new PdfError("too large")
      if (ref instanceof Ref && this.#parts.has(ref.id)) this.#repeatedBytes += text.length
      else if (ref instanceof Ref) this.#parts.add(ref.id)
      parts.push(text)
    }
    const content = readContent(parts.join("\n"))
    const stream = { content, ref: this.#add(new Map(), content.text) }
    this.#contents.set(key, stream)
    return stream
  }

  async #resourcesOf(value: Value | undefined, { draws, fonts }: Content, depth: number): Promise<Resources> {
    const resources = this.#objects.dict(value)
    const fontDict = this.#objects.dict(resources?.get("Font"))
    const copied: Dict = new Map()
    for (const name of fonts) {
      const font = fontDict?.get(name)
      const copy = font === undefined ? undefined : await this.#fontOf(font)
      if (copy) copied.set(name, copy)
    }
    const drawable = this.#objects.dict(resources?.get("XObject"))
    const draw = new Map<string, Form>()
    for (const name of draws.keys()) {
      const form = await this.#formOf(drawable?.get(name), value, depth)
      if (form) draw.set(name, form)
    }
    const forms: Dict = new Map([...draw].map(([name, { ref }]) => [name, ref]))
    return {
      written: new Map([
        ["Font", copied],
        ["XObject", forms],
      ]),
      draw,
    }
  }

  async #fontOf(value: Value): Promise<Ref | undefined> {
    if (!(value instanceof Ref)) return copyFont(value, this.#objects, this.#add)
    if (!this.#fonts.has(value.id)) this.#fonts.set(value.id, await copyFont(value, this.#objects, this.#add))
    return this.#fonts.get(value.id)
  }

  /** A form that a page draws, with the forms that it draws itself. Recursive drawing is omitted. */
  async #formOf(value: Value | undefined, inherited: Value | undefined, depth: number): Promise<Form | undefined> {
    const form = this.#objects.dict(value)
    if (!(value instanceof Ref) || form?.get("Subtype") !== "/Form" || depth > MAX_FORM_DEPTH) return undefined
    if (this.#forms.has(value.id)) return this.#forms.get(value.id)
    this.#forms.set(value.id, undefined)
    const { content } = await this.#contentOf(value)
    const { written, draw } = await this.#resourcesOf(form.get("Resources") ?? inherited, content, depth + 1)
    const dict: Dict = new Map<string, Value>([
      ["Type", "/XObject"],
      ["Subtype", "/Form"],
      ["Resources", written],
    ])
    this.#copyNumbers(form, ["BBox", "Matrix"], dict)
    const formObject = { ref: this.#add(dict, content.text), work: content.work + drawingWork(content, draw) }
    this.#forms.set(value.id, formObject)
    return formObject
  }

  #copyNumbers(from: Dict, keys: readonly string[], to: Dict): void {
    for (const key of keys) {
      const numbers = this.#objects.get(from.get(key))
      if (!Array.isArray(numbers)) continue
      const copied = numbers.slice(0, 6).map((one) => this.#objects.number(one))
      if (copied.every((one) => Number.isFinite(one))) to.set(key, copied.map(String))
    }
  }

  #reserve(): Ref {
    return new Ref(this.#out.push(""))
  }

  #set(ref: Ref, dict: Dict): void {
    this.#out[ref.id - 1] = write(dict)
  }

  readonly #add: Add = (dict, stream) => {
    if (stream === undefined) return new Ref(this.#out.push(write(dict)))
    dict.set("Length", String(stream.length))
    return new Ref(this.#out.push(`${write(dict)}\nstream\n${stream}\nendstream`))
  }

  #file(catalog: Ref): Uint8Array {
    let text = "%PDF-1.7\n"
    const places: number[] = []
    for (const [at, object] of this.#out.entries()) {
      places.push(text.length)
      text += `${at + 1} 0 obj\n${object}\nendobj\n`
    }
    const table = places.map((scope) => `${String(scope).padStart(10, "0")} 00000 n \n`).join("")
    const size = places.length + 1
    const head = `xref\n0 ${size}\n0000000000 65535 f \n${table}trailer\n<</Size ${size}/Root ${catalog.id} 0 R>>`
    return toBytes(`${text}${head}\nstartxref\n${text.length}\n%%EOF\n`)
  }
}

const MAX_CONTENT = 4_000_000

/** A form is read each time that it is drawn. */
function drawingWork({ draws }: Content, forms: ReadonlyMap<string, Form>): number {
  let work = 0
  for (const [name, times] of draws) work += times * (DRAW_WORK + (forms.get(name)?.work ?? 0))
  return work
}
