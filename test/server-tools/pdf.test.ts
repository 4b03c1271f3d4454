import { describe, expect, test } from "vitest"
import { parseFiles } from "../../src/plugins/file-parser.ts"
import { readPdf } from "../../src/server-tools/web-fetch/pdf.ts"
import { PDF_WORK, rebuildPdf } from "../../src/server-tools/web-fetch/pdf/rebuild.ts"
import { file, latin1, RESOURCES, stream, words } from "../support/pdf.ts"
import { rejectionOf } from "./mock-network.ts"

const form = (text: string) => stream(text, `/Type/XObject/Subtype/Form/BBox[0 0 300 200]/Resources ${RESOURCES}`)

describe("a PDF over the work limit", () => {
  test("is rejected on its first page, with a hint to save it in parts", async () => {
    const evil = file(500, await stream(words(100_000)))
    expect(await readPdf(evil)).toEqual({ ok: false, reason: "too large" })
    const base64 = btoa(String.fromCharCode(...evil))
    const part = { type: "file", file: { file_data: base64, filename: "evil.pdf" } }
    const parsed = () =>
      parseFiles(
        [{ role: "user", content: [part] }],
        { engine: "cloudflare-ai" },
        { fetchFile: () => Promise.reject() },
      )
    expect(await rejectionOf(parsed)).toMatch(/too much work to read; save it in parts/)
  })

  test("is cut when its pages share contents, each of which counts", async () => {
    const reported = await readPdf(file(500, await stream(words(2_000))))
    expect(reported).toMatchObject({ ok: true, pages: 500, isCut: true })
    expect(reported.ok && reported.work).toBeLessThanOrEqual(PDF_WORK)
  })

  test.each<[string, () => Promise<Uint8Array>]>([
    ["unpacks to hundreds of megabytes", async () => file(1, await stream(" ".repeat(20_000_000)))],
    ["is compressed several times", async () => file(1, await stream(" ".repeat(1_000_000), "", 5))],
    ["has nested form objects", async () => file(1, await form("/A Do ".repeat(40_000)), [await form(words(1))])],
    [
      "has a stream of objects that unpacks to megabytes",
      async () => file(1, words(1), [await stream("1 0 ".repeat(4_000_000), "/Type/ObjStm/N 4000000/First 16000000")]),
    ],
    [
      "has an array without an end in a map of characters, for each of its entries",
      async () => {
        const map = await stream(`beginbfrange ${"<0><0>[".repeat(1_000_000)} endbfrange`)
        const font = "<</Type/Font/Subtype/TrueType/BaseFont/Helvetica/ToUnicode 5 0 R>>"
        return file(1, await stream(words(12_000)), [map], font)
      },
    ],
    [
      "has texts without an end in many objects",
      async () => {
        const kids = Array.from({ length: 15_000 }, (_, at) => `${at + 10} 0 R`).join(" ")
        const texts = Array.from({ length: 15_000 }, (_, at) => `${at + 10} 0 obj(\n`).join("")
        return latin1(
          `1 0 obj<</Pages 2 0 R>>\n2 0 obj<</Kids[${kids}]>>\ntrailer<</Root 1 0 R>>\n${texts}${"a".repeat(4_000_000)}`,
        )
      },
    ],
    [
      "unpacks base 85 to megabytes",
      async () => file(1, `<</Filter/ASCII85Decode>>\nstream\n${"z".repeat(4_000_000)}~>\nendstream`),
    ],
    ["has 100,000 nested arrays", async () => file(1, await stream(words(1)), [], `<</A${"[".repeat(100_000)}`)],
  ])("is rejected if it %s", async (_, make) => {
    expect(await readPdf(await make())).toEqual({ ok: false, reason: "too large" })
  })

  test("is read without the parts that are over the limit", async () => {
    const map = await stream("1 beginbfrange <00000000> <00ffffff> <0041> endbfrange")
    const font = "<</Type/Font/Subtype/TrueType/BaseFont/Helvetica/ToUnicode 5 0 R>>"
    expect(await readPdf(file(1, words(1), [map], font))).toMatchObject({ ok: false })
    const packed = await stream(words(1))
    expect(await readPdf(file(1, packed, [map], font))).toMatchObject({ ok: true, text: "Hello" })
    const drawsItself = await form(`/A Do ${words(1)}`)
    expect(await readPdf(file(1, await stream("/A Do"), [drawsItself]))).toMatchObject({ ok: true, text: "Hello" })
  })

  test("is cut when its contents repeat a stream, also without any text", async () => {
    const contents = (at: number) => "4 0 R ".repeat(500 + at)
    const pages = Array.from({ length: 400 }, (_, at) => `<</Type/Page/Contents[${contents(at)}]/MediaBox[0 0 9 9]>>`)
    const kids = pages.map((_, at) => `${at + 5} 0 R`).join(" ")
    const objects = ["<</Pages 2 0 R>>", `<</Kids[${kids}]>>`, "null", await stream("S ".repeat(2_000)), ...pages]
    const body = objects.map((object, at) => `${at + 1} 0 obj\n${object}\nendobj\n`).join("")
    expect((await rebuildPdf(latin1(`${body}trailer<</Root 1 0 R>>`), 500)).kept).toBeLessThan(10)
  })

  test("is searched once for its objects, however many streams follow one of them", async () => {
    const streams = "stream\nendstream ".repeat(300_000)
    const read = await readPdf(file(1, await stream(words(1)), [`<<>>\n${streams}`]))
    expect(read).toMatchObject({ ok: true, text: "Hello" })
  })

  test("is reduced to its text for the reader", async () => {
    const lines = "0 0 m 1 1 l S ".repeat(10_000)
    const rebuilt = await rebuildPdf(file(1, await stream(`${lines}${words(1)} BI /W 1 ID (x) EI ${lines}`)), 10)
    expect(rebuilt.bytes.length).toBeLessThan(2_000)
    expect(rebuilt.work).toBeLessThan(20_000)
  })
})

describe("a PDF as common programs write it", () => {
  test("is read with object streams, a custom character map and inherited resources", async () => {
    const table = await stream("1 beginbfchar <01> <0042> endbfchar 1 beginbfrange <02> <03> <0079> endbfrange")
    const descriptor = "<</Type/FontDescriptor/Flags 4/FontName/X>>"
    const font = `<</Type/Font/Subtype/TrueType/BaseFont/X/FirstChar 1/LastChar 3/Widths[500 500 500]/ToUnicode 9 0 R/FontDescriptor${descriptor}>>`
    const objects = [
      "<</Type/Catalog/Pages 2 0 R>>",
      "<</Type/Pages/Count 1/Kids[6 0 R]/Resources 7 0 R/MediaBox[0 0 300 200]>>",
    ]
    const all = [...objects, "<</Type/Page/Parent 2 0 R/Contents[8 0 R]>>", "<</Font<</F1 3 0 R>>>>", font]
    const ids = [1, 2, 6, 7, 3]
    let at = 0
    const head = all.map((object, index) => {
      const entry = `${ids[index]} ${at}`
      at += object.length + 1
      return entry
    })
    const first = head.join(" ").length + 1
    const packed = await stream(`${head.join(" ")} ${all.join(" ")}`, `/Type/ObjStm/N ${all.length}/First ${first}`)
    const content = await stream("BT /F1 12 Tf 10 100 Td <010203> Tj ET")
    const body = `10 0 obj\n${packed}\nendobj\n8 0 obj\n${content}\nendobj\n9 0 obj\n${table}\nendobj\n`
    const bytes = latin1(`%PDF-1.7\n${body}11 0 obj\n<</Type/XRef/Root 1 0 R/Length 0>>\nstream\n\nendstream\nendobj`)
    expect(await readPdf(bytes)).toMatchObject({ ok: true, text: "Byz", pages: 1, isCut: false })
  })

  test("reports that it is encrypted", async () => {
    const bytes = latin1(`%PDF-1.7\n1 0 obj\n<</Type/Catalog>>\nendobj\ntrailer\n<</Root 1 0 R/Encrypt 5 0 R>>`)
    expect(await readPdf(bytes)).toEqual({ ok: false, reason: "encrypted" })
  })
})
