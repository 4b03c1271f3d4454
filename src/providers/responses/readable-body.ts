/** A request to a provider whose response can be read as text. */
export async function fetchReadable(url: string, init: RequestInit): Promise<Response> {
  return withReadableBody(await fetch(url, init))
}

/**
 * The response with a body that can be read as text. The runtime decodes gzip and brotli by these exact names, but some
 * servers send deflate, gzip in capitals or by its former name (RFC 9110, section 8.4.1.3), also to requests for no compression.
 */
export async function withReadableBody(response: Response): Promise<Response> {
  const encoding = encodingsOf(response).join(", ")
  if (!response.body || !DECODABLE.includes(encoding)) return response
  const headers = new Headers(response.headers)
  headers.delete("content-encoding")
  headers.delete("content-length")
  const { status, statusText } = response
  const body =
    encoding === "deflate"
      ? await inflate(response.body)
      : response.body.pipeThrough<Uint8Array>(new DecompressionStream("gzip"))
  return new Response(body, { status, statusText, headers })
}

/** Decoded by the runtime. */
const BY_RUNTIME = ["gzip", "br"]
/** Servers name the character encoding here too, by mistake. */
const UNENCODED = ["", "identity", "none", "utf-8", "utf8"]
const DECODABLE = ["gzip", "x-gzip", "deflate"]

/** The encodings of a body that the runtime does not decode. */
function encodingsOf({ headers }: Response): string[] {
  const encoding = headers.get("content-encoding") ?? ""
  if (BY_RUNTIME.includes(encoding)) return []
  const names = encoding.split(",").map((name) => name.trim().toLowerCase())
  return names.filter((name) => !UNENCODED.includes(name))
}

/** The encoding of a body that `withReadableBody` returns unread, such as zstd; undefined for a readable body. */
export function unreadableEncoding(response: Response): string | undefined {
  const encodings = encodingsOf(response)
  return encodings.length === 0 ? undefined : encodings.join(", ")
}

/** Method of the zlib header, in its first byte. Servers also send the data without that header. */
const ZLIB_METHOD = 8

async function inflate(body: ReadableStream<Uint8Array>): Promise<ReadableStream<Uint8Array>> {
  const reader = body.getReader()
  const first = await reader.read()
  const isZlib = ((first.value?.[0] ?? ZLIB_METHOD) & 0x0f) === ZLIB_METHOD
  const { readable, writable } = new DecompressionStream(isZlib ? "deflate" : "deflate-raw")
  void copy(first, reader, writable.getWriter())
  return readable
}

/** A failure of one end is passed to the other. */
async function copy(
  first: ReadableStreamReadResult<Uint8Array>,
  reader: ReadableStreamDefaultReader<Uint8Array>,
  writer: WritableStreamDefaultWriter<BufferSource>,
): Promise<void> {
  try {
    for (let part = first; !part.done; part = await reader.read()) await writer.write(part.value.slice())
    await writer.close()
  } catch (cause) {
    await Promise.allSettled([reader.cancel(cause), writer.abort(cause)])
  }
}
