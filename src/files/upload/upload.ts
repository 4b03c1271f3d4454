import { GatewayError } from "../../errors/errors.ts"
import { concat } from "../../support/bytes.ts"
import { HEAD_BYTES, kindOf, TextKind } from "../kind.ts"

const KINDS = "PDF, PNG, JPEG, GIF, WebP, DOCX, XLSX, PPTX, MP3, WAV, FLAC, OGG and UTF-8 text are taken"

/** An upload in progress: its bytes, and its type once they are all read. */
export type Upload = { content: AsyncIterable<Uint8Array>; mimeType: () => string }

/** Checks the bytes while they pass. Throws for empty content and unsupported types. */
export async function inspect(content: AsyncIterable<Uint8Array>, filename: string): Promise<Upload> {
  const source = content[Symbol.asyncIterator]()
  const { head, isComplete } = await readHead(source)
  if (head.byteLength === 0) throw new GatewayError("invalid_request", "file: is empty.")
  const kind = kindOf(head)
  if (kind === undefined) throw unknownKind()
  const text = kind === "text" ? new TextKind() : undefined
  async function* pass(): AsyncGenerator<Uint8Array> {
    if (text && !text.take(head, isComplete)) throw unknownKind()
    yield head
    if (isComplete) return
    for (;;) {
      const { done, value } = await source.next()
      if (done) break
      if (text && !text.take(value, false)) throw unknownKind()
      yield value
    }
    if (text && !text.take(new Uint8Array(), true)) throw unknownKind()
  }
  return { content: pass(), mimeType: () => text?.kind(filename) ?? kind }
}

function unknownKind(): GatewayError {
  return new GatewayError("invalid_request", `file: unsupported file type. ${KINDS}.`)
}

async function readHead(
  source: AsyncIterator<Uint8Array, undefined>,
): Promise<{ head: Uint8Array; isComplete: boolean }> {
  const chunks: Uint8Array[] = []
  let size = 0
  while (size < HEAD_BYTES) {
    const { done, value } = await source.next()
    if (done) return { head: joinChunks(chunks), isComplete: true }
    chunks.push(value.slice())
    size += value.byteLength
  }
  return { head: joinChunks(chunks), isComplete: false }
}

function joinChunks(chunks: readonly Uint8Array[]): Uint8Array {
  return chunks.length === 0 ? new Uint8Array() : concat(chunks)
}
