export function latin1(text: string): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(text.length)
  for (let at = 0; at < text.length; at++) bytes[at] = text.charCodeAt(at)
  return bytes
}

async function deflate(text: string): Promise<string> {
  const packed = new Response(latin1(text)).body?.pipeThrough(new CompressionStream("deflate"))
  let out = ""
  for (const byte of new Uint8Array(await new Response(packed).arrayBuffer())) out += String.fromCharCode(byte)
  return out
}

/** A stream with its dictionary, compressed `filters` times. */
export async function stream(text: string, fields = "", filters = 1): Promise<string> {
  let packed = text
  for (let at = 0; at < filters; at++) packed = await deflate(packed)
  const names = "/FlateDecode ".repeat(filters)
  return `<<${fields}/Length ${packed.length}/Filter[${names}]>>\nstream\n${packed}\nendstream`
}

const HELVETICA = "<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>"
export const RESOURCES = "<</Font<</F1 3 0 R>>/XObject<</A 5 0 R>>>>"

/** A file of so many pages which share their contents, object 4. Objects from 5 on are `more`. */
export function file(count: number, content: string, more: string[] = [], font = HELVETICA): Uint8Array {
  const first = 5 + more.length
  const kids = Array.from({ length: count }, (_, at) => `${first + at} 0 R`).join(" ")
  const tree = `<</Type/Pages/Count ${count}/Kids[${kids}]/MediaBox[0 0 300 200]/Resources ${RESOURCES}>>`
  const pages = Array.from({ length: count }, () => "<</Type/Page/Parent 2 0 R/Contents 4 0 R>>")
  const objects = ["<</Type/Catalog/Pages 2 0 R>>", tree, font, content, ...more, ...pages]
  const body = objects.map((object, at) => `${at + 1} 0 obj\n${object}\nendobj\n`).join("")
  return latin1(`%PDF-1.7\n${body}trailer\n<</Root 1 0 R>>\n%%EOF`)
}

/** Content that writes a word `times` times. */
export const words = (times: number) => `BT /F1 12 Tf 10 100 Td ${"(Hello) Tj ".repeat(times)}ET`
