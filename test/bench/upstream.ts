import { createServer, type ServerResponse } from "node:http"
import { serveParent } from "./child.ts"
import { type Answer, requestedAnswer, contentFrame, documentOf, USAGE_FRAME } from "./workloads.ts"

/** The provider: an OpenAI-compatible server in a separate process, whose responses take next to no CPU. */

let [connections, requests] = [0, 0]

const server = createServer((request, response) => {
  let body = ""
  request.setEncoding("utf8")
  request.on("data", (chunk: string) => (body += chunk))
  request.on("end", () => {
    requests += 1
    const answer = requestedAnswer(body)
    if (!answer) response.writeHead(400, { "content-type": "application/json" }).end('{"error":{"message":"what?"}}')
    else if (answer.events === 0)
      response.writeHead(200, { "content-type": "application/json" }).end(documentFor(answer))
    else stream(answer, response)
  })
})
server.keepAliveTimeout = 60_000
server.on("connection", () => (connections += 1))
server.listen(0, "127.0.0.1", () => {
  const address = server.address()
  if (address && typeof address === "object")
    serveParent({ port: address.port }, async () => ({ connections, requests }))
})

const documents = new Map<number, string>()

function documentFor(answer: Answer): string {
  const document = documents.get(answer.bytes) ?? documentOf(answer)
  documents.set(answer.bytes, document)
  return document
}

function stream(answer: Answer, response: ServerResponse): void {
  const { events, perSecond } = answer
  response.writeHead(200, { "content-type": "text/event-stream" })
  const startedAt = performance.now()
  let sent = 0
  const send = () => {
    const due = perSecond === 0 ? events : Math.floor(((performance.now() - startedAt) / 1_000) * perSecond) + 1
    for (; sent < Math.min(due, events); sent += 1) response.write(contentFrame(sent, answer))
    if (sent < events) return
    clearInterval(timer)
    response.write(USAGE_FRAME)
    response.end("data: [DONE]\n\n")
  }
  const timer = setInterval(send, 1_000 / (perSecond || 1_000))
  response.on("close", () => clearInterval(timer))
  send()
}
