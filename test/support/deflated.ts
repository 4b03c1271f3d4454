/** A JSON response that is compressed with deflate, which the runtime does not decode. */
export function deflated(value: unknown): Response {
  const body = new Blob([JSON.stringify(value)]).stream().pipeThrough(new CompressionStream("deflate"))
  const headers = { "content-type": "application/json", "content-encoding": "deflate" }
  return new Response(body, { headers, encodeBody: "manual" })
}
