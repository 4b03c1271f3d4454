import http from "node:http"

/** One piece of a played answer: text to send, `null` for silence without end, "!" for a broken connection. */
type Piece = string | null

/**
 * The provider that CUSTOM_PROVIDERS of the suite names `played`: a real HTTP server, which sends what the request's own
 * `play` field says. A field the gateway does not know is forwarded, so a test carries its provider's lines with it.
 */
export async function startPlayed(): Promise<number> {
  const server = http.createServer((request, response) => {
    let body = ""
    request.on("data", (chunk: Buffer) => (body += chunk.toString()))
    request.on("end", () => {
      const { play = [] } = JSON.parse(body || "{}") as { play?: Piece[] }
      response.writeHead(200, { "content-type": "text/event-stream" })
      void perform(response, play)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  server.unref()
  return (server.address() as { port: number }).port
}

async function perform(response: http.ServerResponse, play: readonly Piece[]): Promise<void> {
  for (const piece of play) {
    if (piece === null) return
    if (piece === "!") {
      // What was written must have left before the connection breaks.
      await new Promise((resolve) => setTimeout(resolve, 20))
      response.destroy()
      return
    }
    if (!response.write(piece)) await new Promise((resolve) => response.once("drain", resolve))
  }
  response.end()
}
