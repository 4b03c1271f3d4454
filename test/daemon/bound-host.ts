import { spawn } from "node:child_process"
import { createHash } from "node:crypto"
import { once } from "node:events"
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from "node:http"
import https from "node:https"
import type { AddressInfo } from "node:net"
import { newAuthority } from "../../src/daemon/proxy/authority.ts"

/** A request that a bound host received. */
export type ReceivedRequest = { path: string; method: string; headers: IncomingHttpHeaders }

export type BoundHost = {
  origin: string
  /** The CA of its certificate, in PEM. */
  ca: string
  requests: ReceivedRequest[]
  close: () => Promise<void>
}

/**
 * A real https server that stands in for bound hosts: it echoes, streams events, accepts uploads, serves downloads,
 * and serves git repositories below `repositories` to clients that send `password`.
 */
export async function openBoundHost(repositories: string, password: string): Promise<BoundHost> {
  const authority = newAuthority("of the bound host")
  const requests: ReceivedRequest[] = []
  const SNICallback = (name: string, done: (error: null, context: ReturnType<typeof authority.contextFor>) => void) =>
    done(null, authority.contextFor(name))
  const server = https.createServer({ SNICallback }, (request, response) => {
    const { url = "", method = "", headers } = request
    requests.push({ path: url, method, headers })
    const path = url.split("?")[0] ?? ""
    if (path === "/events") return events(response)
    if (path === "/heard") for (const each of waiting.splice(0)) each.end("data: last\n\n")
    if (path === "/upload") return upload(request, response)
    if (path === "/download") return void response.end(bytesOf(Number(url.split("?")[1])))
    if (path.includes(".git/")) return git(request, response, repositories, password)
    const sent = JSON.stringify(headers)
    const location = `https://elsewhere.example/?sent=${encodeURIComponent(String(headers.authorization))}`
    response.writeHead(path === "/redirect" ? 302 : 200, { "x-sent": String(headers.authorization), location })
    response.end(JSON.stringify({ path, headers, base64: Buffer.from(sent).toString("base64") }))
  })
  server.listen(0)
  await once(server, "listening")
  return {
    origin: `https://localhost:${(server.address() as AddressInfo).port}`,
    ca: authority.certificate,
    requests,
    close: async () => {
      server.closeAllConnections()
      server.close()
      await once(server, "close")
    },
  }
}

/** Reproducible bytes without a repeating pattern. */
export function bytesOf(size: number): Buffer {
  const blocks = Array.from({ length: Math.ceil(size / 32) }, (_, at) => createHash("sha256").update(`${at}`).digest())
  return Buffer.concat(blocks).subarray(0, size)
}

/** Sends the last event after a separate request confirms that the first was received. */
function events(response: ServerResponse): void {
  response.writeHead(200, { "content-type": "text/event-stream" })
  response.write("data: first\n\n")
  waiting.push(response)
}

const waiting: ServerResponse[] = []

function upload(request: IncomingMessage, response: ServerResponse): void {
  const hash = createHash("sha256")
  let size = 0
  request.on("data", (part: Buffer) => {
    hash.update(part)
    size += part.byteLength
  })
  request.on("end", () =>
    response.end(`${size} ${hash.digest("hex")} ${request.headers["content-length"] ?? "chunked"}`),
  )
}

/** `git http-backend` over CGI. */
function git(request: IncomingMessage, response: ServerResponse, root: string, password: string): void {
  const { url = "", method = "", headers } = request
  if (headers.authorization !== `Basic ${Buffer.from(`git:${password}`).toString("base64")}`) {
    return void response.writeHead(401, { "www-authenticate": 'Basic realm="git"' }).end()
  }
  const [path = "", query = ""] = url.split("?")
  const child = spawn("git", ["http-backend"], {
    env: {
      PATH: process.env["PATH"],
      GIT_PROJECT_ROOT: root,
      GIT_HTTP_EXPORT_ALL: "1",
      REMOTE_USER: "git",
      PATH_INFO: path,
      QUERY_STRING: query,
      REQUEST_METHOD: method,
      CONTENT_TYPE: headers["content-type"],
      HTTP_CONTENT_ENCODING: headers["content-encoding"],
      GIT_PROTOCOL: String(headers["git-protocol"] ?? ""),
    },
  })
  request.pipe(child.stdin)
  const parts: Buffer[] = []
  child.stdout.on("data", (part: Buffer) => parts.push(part))
  child.on("close", () => {
    const all = Buffer.concat(parts)
    const end = all.indexOf("\r\n\r\n")
    const lines = all.subarray(0, end).toString().split("\r\n")
    for (const line of lines) {
      const [name = "", value = ""] = line.split(": ")
      if (name === "Status") response.statusCode = Number(value.slice(0, 3))
      else response.setHeader(name, value)
    }
    response.end(all.subarray(end + 4))
  })
}
