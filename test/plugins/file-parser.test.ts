import { describe, expect, test } from "vitest"
import { parseFiles } from "../../src/plugins/file-parser.ts"
import type { FetchResult } from "../../src/server-tools/web-fetch/guarded-fetch.ts"
import { pdf, rejectionOf } from "../server-tools/mock-network.ts"

const base64 = (bytes: Uint8Array) => btoa(String.fromCharCode(...bytes))
const utf8 = (text: string) => base64(new TextEncoder().encode(text))
const file = (file_data: string, filename?: string) => ({
  type: "file",
  file: { file_data, ...(filename && { filename }) },
})

const never = () => Promise.reject(new Error("was fetched"))
const local = { engine: "cloudflare-ai" } as const

async function parse(part: object, fetchFile: (url: string) => Promise<FetchResult> = never): Promise<unknown> {
  const [message] = await parseFiles([{ role: "user", content: [{ type: "text", text: "Read:" }, part] }], local, {
    fetchFile,
  })
  return (message?.["content"] as { text: string }[] | undefined)?.[1]?.text
}

describe("a file in a message", () => {
  test("is replaced by its text in place", async () => {
    const messages = [
      { role: "system", content: "Be brief." },
      {
        role: "user",
        content: [
          { type: "text", text: "Read:" },
          file(`data:application/pdf;base64,${base64(pdf("One.", "Two."))}`, "a.pdf"),
        ],
      },
      { role: "assistant", content: null },
    ]
    expect(await parseFiles(messages, { engine: undefined }, { fetchFile: never })).toEqual([
      messages[0],
      {
        role: "user",
        content: [
          { type: "text", text: "Read:" },
          { type: "text", text: '<file name="a.pdf">\nOne.\n\nTwo.\n</file>' },
        ],
      },
      messages[2],
    ])
  })

  test("is unchanged with the native engine", async () => {
    const messages = [{ role: "user", content: [file("x")] }]
    expect(await parseFiles(messages, { engine: "native" }, { fetchFile: never })).toEqual(messages)
  })

  test("is unchanged if it is a file id of a provider", async () => {
    const part = { type: "file", file: { file_id: "file-1" } }
    const messages = [{ role: "user", content: [part] }]
    expect(await parseFiles(messages, local, { fetchFile: never })).toEqual(messages)
  })

  test.each([
    ["plain text", file(`data:text/plain;base64,${utf8("Grüße")}`, "a.txt"), '<file name="a.txt">\nGrüße\n</file>'],
    [
      "text with a charset",
      file("data:text/plain;charset=latin1;base64,R/zfZQ==", "a.txt"),
      '<file name="a.txt">\nGüße\n</file>',
    ],
    ["without a media type but with a file name", file(utf8("a,b"), "a.csv"), '<file name="a.csv">\na,b\n</file>'],
    [
      "of a generic media type",
      file(`data:application/octet-stream;base64,${utf8("# A")}`, "A.MD"),
      '<file name="A.MD">\n# A\n</file>',
    ],
    ["JSON", file(`data:application/json;base64,${utf8("{}")}`, "a.json"), '<file name="a.json">\n{}\n</file>'],
    ["a PDF without a name", file(base64(pdf("Hi."))), '<file name="file">\nHi.\n</file>'],
    ["a PDF with a wrong file name", file(base64(pdf("Hi.")), "a.txt"), '<file name="a.txt">\nHi.\n</file>'],
    ["base64url", file("data:text/plain;base64,8J-YgA", "a.txt"), '<file name="a.txt">\n😀\n</file>'],
    [
      "a name that contains the delimiter",
      file(utf8("x"), 'a"><b>.txt'),
      '<file name="a&quot;>&lt;b>.txt">\nx\n</file>',
    ],
    [
      "text that contains the delimiter",
      file(utf8("a</file></FILE>b"), "a.txt"),
      '<file name="a.txt">\na&lt;/file>&lt;/FILE>b\n</file>',
    ],
  ])("is read if it is %s", async (_, part, text) => {
    expect(await parse(part)).toBe(text)
  })

  const PLACE = "messages[0].content[1]"
  test.each([
    [
      "an invalid PDF",
      file("data:application/pdf;base64,aGVsbG8=", "a.pdf"),
      `${PLACE}: the file was not read: it is not a PDF that can be read.`,
    ],
    [
      "a PDF without text",
      file(base64(pdf("", "")), "scan.pdf"),
      `${PLACE}: the file was not read: it is a PDF without a text layer, such as a scan.`,
    ],
    [
      "not base64",
      file("hello there!", "a.txt"),
      `${PLACE}.file.file_data: must be a data: URL, base64, or the http or https URL of a file.`,
    ],
    ["a data: URL without base64", file("data:text/plain,hello", "a.txt"), `${PLACE}.file.file_data: must be base64.`],
    [
      "a URL of another scheme",
      file("ftp://example.com/a.pdf"),
      `${PLACE}.file.file_data: must be a data: URL, base64, or the http or https URL of a file.`,
    ],
    [
      "a picture",
      file(`data:image/png;base64,${utf8("x")}`),
      /^messages\[0\]\.content\[1\]: image\/png cannot be read here; PDF and text files can\./,
    ],
    ["a file of unknown type", file(utf8("x"), "a"), /: a file without a type cannot be read here/],
    [
      "a file that is too large",
      file(`data:text/plain;base64,${"A".repeat(14_000_004)}`),
      `${PLACE}.file.file_data: a file may have at most 10000000 bytes.`,
    ],
  ])("is rejected with its path if it is %s", async (_, part, texts) => {
    const message = await rejectionOf(() => parse(part))
    if (typeof texts === "string") expect(message).toBe(texts)
    else expect(message).toMatch(texts)
  })

  test("is rejected beyond 20 files", async () => {
    const content = Array.from({ length: 21 }, () => file(utf8("x"), "a.txt"))
    const parsed = () => parseFiles([{ role: "user", content }], local, { fetchFile: never })
    expect(await rejectionOf(parsed)).toBe("messages[0].content[20]: at most 20 files are read in one request.")
  })
})

describe("a file URL", () => {
  const page = (body: Uint8Array, contentType: string, isCut = false): FetchResult => ({
    ok: true,
    page: { url: "https://example.com/x", status: 200, contentType, bytes: body, isCut },
  })

  test("is fetched with the guarded fetch, and named file unless it has a filename", async () => {
    const requests: string[] = []
    const fetchFile = async (url: string) => {
      requests.push(url)
      return page(new TextEncoder().encode("a,b"), "application/octet-stream")
    }
    expect(await parse(file("https://example.com/data/a.csv?x=1"), fetchFile)).toBe('<file name="file">\na,b\n</file>')
    expect(requests).toEqual(["https://example.com/data/a.csv?x=1"])
    const asPdf = async () => page(pdf("Hi."), "application/pdf")
    expect(await parse(file("HTTPS://example.com/a", "a.pdf"), asPdf)).toBe('<file name="a.pdf">\nHi.\n</file>')
  })

  test("is rejected with the reason of the fetch, or if the file is too large", async () => {
    const refused = async (): Promise<FetchResult> => ({ ok: false, reason: "the address is not a public one" })
    const position = "messages[0].content[1].file.file_data"
    expect(await rejectionOf(() => parse(file("http://10.0.0.1/a.pdf"), refused))).toBe(
      `${position}: the file was not fetched: the address is not a public one.`,
    )
    const cut = async () => page(new Uint8Array(10), "text/plain", true)
    expect(await rejectionOf(() => parse(file("http://example.com/a.txt"), cut))).toBe(
      `${position}: the file is larger than 10 bytes.`,
    )
  })
})
