/** A message with images is far smaller. */
const MAX_LINE_BYTES = 32 * 1024 * 1024
const LF = 10

/** Fails at a line that is too long, which would fill the memory of the daemon. Passes everything else unchanged. */
export function limitLines(): TransformStream<Uint8Array, Uint8Array> {
  let size = 0
  return new TransformStream({
    transform(chunk, controller) {
      const end = chunk.lastIndexOf(LF)
      size = end === -1 ? size + chunk.byteLength : chunk.byteLength - end - 1
      if (size > MAX_LINE_BYTES)
        controller.error(new Error(`The agent sent a line of more than ${MAX_LINE_BYTES} bytes.`))
      else controller.enqueue(chunk)
    },
  })
}
