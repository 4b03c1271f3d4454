import http from "node:http"
import net, { type AddressInfo } from "node:net"
import { type Document, type Operation, operationsOf } from "../fuzz/document.ts"
import { Contract, envelopeFaults } from "../support/contract.ts"

/** Test files read from here the responses that violated the document since the last read. */
export const VIOLATIONS_PATH = "/contract-violations"

/** The paths of the document, without health checks, pages and SCIM, which have other formats. */
const API_PATH = "/api/v1/"
const MAX_CHECKED_BYTES = 8_000_000

export type ContractProxy = { url: string; close: () => Promise<void> }

/** Relays clients and gateway byte for byte, and checks each response against the OpenAPI document. */
export async function startContractProxy(gatewayUrl: string): Promise<ContractProxy> {
  const document = (await (await fetch(`${gatewayUrl}/openapi.json`)).json()) as Document
  const { hostname, port, pathname } = new URL(gatewayUrl)
  const target = { hostname, port: Number(port), agent: new http.Agent({ keepAlive: true }) }
  const check = newCheck(document)
  const violations = new Set<string>()
  const server = http.createServer((request, response) => {
    if (request.url === VIOLATIONS_PATH) {
      response.end(JSON.stringify([...violations]))
      violations.clear()
    } else {
      pass(request, response, { target, onAnswer: (served) => check(served).forEach((one) => violations.add(one)) })
    }
  })
  server.on("upgrade", (request, socket, head) => tunnel(request, { client: socket as net.Socket, head, target }))
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}${pathname}`,
    close: () => {
      target.agent.destroy()
      server.closeAllConnections()
      return new Promise((resolve) => server.close(() => resolve()))
    },
  }
}

type Target = { hostname: string; port: number; agent: http.Agent }
type Answer = {
  method: string
  path: string
  status: number
  headers: http.IncomingHttpHeaders
  text: string
  isComplete: boolean
}

type Passing = { target: Target; onAnswer: (answer: Answer) => void }

function pass(request: http.IncomingMessage, response: http.ServerResponse, { target, onAnswer }: Passing): void {
  const { method = "GET", url: path = "/", rawHeaders } = request
  const withoutHopByHop = http.request({ ...target, method, path, headers: rawHeaders })
  // Neither end outlives the other.
  response.on("close", () => withoutHopByHop.destroy())
  response.on("error", () => undefined)
  // A gateway that responds before it has read the body may close the connection.
  withoutHopByHop.on("error", () => (response.headersSent ? request.resume() : response.destroy()))
  withoutHopByHop.on("response", (answer) => {
    const { statusCode: status = 0, statusMessage, headers } = answer
    response.writeHead(status, statusMessage, answer.rawHeaders)
    response.flushHeaders()
    const parts: Buffer[] = []
    let size = 0
    answer.on("data", (part: Buffer) => {
      size += part.byteLength
      if (size <= MAX_CHECKED_BYTES) parts.push(part)
    })
    answer.on("error", () => response.destroy())
    answer.on("close", () => {
      const isComplete = answer.complete && size <= MAX_CHECKED_BYTES
      onAnswer({ method, path, status, headers, text: Buffer.concat(parts).toString(), isComplete })
    })
    answer.pipe(response)
  })
  request.on("error", () => withoutHopByHop.destroy())
  request.pipe(withoutHopByHop)
}

type Tunnel = { client: net.Socket; head: Buffer; target: Target }

/** Tunnels a WebSocket: the document does not describe frames. */
function tunnel({ method, url, rawHeaders }: http.IncomingMessage, { client, head, target }: Tunnel): void {
  const withoutHopByHop = net.connect(target.port, target.hostname, () => {
    const lines = rawHeaders.flatMap((name, at) => (at % 2 === 0 ? [`${name}: ${rawHeaders[at + 1]}`] : []))
    withoutHopByHop.write([`${method} ${url} HTTP/1.1`, ...lines, "", ""].join("\r\n"))
    withoutHopByHop.write(head)
    withoutHopByHop.pipe(client)
    client.pipe(withoutHopByHop)
  })
  for (const [socket, other] of [
    [client, withoutHopByHop],
    [withoutHopByHop, client],
  ] as const) {
    socket.on("error", () => other.destroy())
    socket.on("close", () => other.destroy())
  }
}

function newCheck(document: Document): (answer: Answer) => string[] {
  const operations = operationsOf(document)
  const contract = new Contract(document, operations)
  const routes = operations.map((operation) => ({ operation, pattern: patternOf(operation) })).toSorted(bySpecificity)
  return ({ method, path, status, headers, text, isComplete }) => {
    if (method === "HEAD" || method === "OPTIONS") return []
    const bare = path.split("?")[0] ?? ""
    if (!bare.startsWith(API_PATH) || isOfService(bare, headers)) return []
    // The slash in the id of a model may be encoded.
    const [found] = [bare, bare.replaceAll(/%2f/gi, "/")].flatMap(
      (one) => routes.find(({ operation, pattern }) => operation.method === method && pattern.test(one)) ?? [],
    )
    const faults = status >= 400 && isComplete ? envelopeFaults(path, { status, text }) : []
    const served = { status, contentType: headers["content-type"], text, isComplete }
    if (found) faults.push(...contract.faults(found.operation, served))
    else if (status !== 404 && status !== 405) faults.push(`status ${status} of a route that is not in the document`)
    const name = found?.operation.name ?? `${method} ${bare}`
    return faults.map((fault) => `${name}, ${status}: ${fault}`)
  }
}

/** A passthrough service answers with statuses and bodies of its own. */
function isOfService(path: string, headers: http.IncomingHttpHeaders): boolean {
  return path.startsWith(`${API_PATH}passthrough/`) && headers["x-generation-id"] !== undefined
}

const patternOf = ({ path }: Operation) =>
  new RegExp(`^${path.replaceAll(/\{(?:path|model)\}/g, ".+").replaceAll(/\{\w+\}/g, "[^/]+")}$`)

/** `/models/count` before `/models/{author}`. */
function bySpecificity(one: { operation: Operation }, other: { operation: Operation }): number {
  const parameters = ({ operation }: { operation: Operation }) => operation.path.split("{").length
  return parameters(one) - parameters(other)
}
