import { createHash, createHmac } from "node:crypto"
import { once } from "node:events"
import http from "node:http"
import type { AddressInfo } from "node:net"

export type Received = { method: string; path: string; headers: http.IncomingHttpHeaders; body: string }

/** An HTTP server that can be stopped and started again at its address. */
export async function startReceiver(answer: (received: Received) => number = () => 200) {
  const got: Received[] = []
  let server: http.Server | undefined
  let port = 0
  const start = async () => {
    server = http.createServer((request, response) => {
      const chunks: Buffer[] = []
      request.on("data", (chunk: Buffer) => chunks.push(chunk))
      request.on("end", () => {
        const { method = "", url = "", headers } = request
        const received = { method, path: url, headers, body: Buffer.concat(chunks).toString() }
        const status = answer(received)
        if (status < 300) got.push(received)
        response.writeHead(status).end(status < 300 ? "{}" : "refused")
      })
    })
    server.listen(port, "127.0.0.1")
    await once(server, "listening")
    port = (server.address() as AddressInfo).port
  }
  const stop = async () => {
    const stopped = server
    if (!stopped) return
    server = undefined
    stopped.closeAllConnections()
    stopped.close()
    await once(stopped, "close")
  }
  await start()
  return { url: `http://127.0.0.1:${port}`, got, start, stop }
}

const sha256 = (text: string) => createHash("sha256").update(text).digest("hex")
const hmac = (key: string | Buffer, text: string) => createHmac("sha256", key).update(text).digest()

export type S3Keys = { accessKeyId: string; secretAccessKey: string }

/** Whether a request to S3 is signed as AWS documents it: Signature Version 4, from the request itself. */
export function isSigned({ method, path, headers, body }: Received, { accessKeyId, secretAccessKey }: S3Keys): boolean {
  const [, credential = "", names = "", signature = ""] =
    /^AWS4-HMAC-SHA256 Credential=([^,]+), SignedHeaders=([^,]+), Signature=([0-9a-f]+)$/.exec(
      headers.authorization ?? "",
    ) ?? []
  const [key, day = "", region = "", service = "", end = ""] = credential.split("/")
  const at = String(headers["x-amz-date"])
  const contentHash = String(headers["x-amz-content-sha256"])
  const hash = contentHash === "UNSIGNED-PAYLOAD" ? contentHash : sha256(body)
  const canonical = [
    method,
    path,
    "",
    ...names.split(";").map((name) => `${name}:${String(headers[name]).trim()}`),
    "",
    names,
    hash,
  ].join("\n")
  const scope = `${day}/${region}/${service}/${end}`
  const toSign = ["AWS4-HMAC-SHA256", at, scope, sha256(canonical)].join("\n")
  const derived = [day, region, service, end].reduce<string | Buffer>(
    (made, part) => hmac(made, part),
    `AWS4${secretAccessKey}`,
  )
  const isBodySigned = contentHash === hash
  return (
    key === accessKeyId &&
    names.split(";").includes("host") &&
    isBodySigned &&
    hmac(derived, toSign).toString("hex") === signature
  )
}

type Attribute = { key: string; value: Record<string, unknown> }
export type Span = {
  traceId: string
  spanId: string
  parentSpanId?: string
  name: string
  kind: number
  startTimeUnixNano: string
  endTimeUnixNano: string
  attributes: Attribute[]
  status: { code: number; message?: string }
}
export type Export = {
  resourceSpans: {
    schemaUrl?: string
    resource: { attributes: Attribute[] }
    scopeSpans: { scope: { name: string }; spans: Span[] }[]
  }[]
}

export function exportsIn(got: readonly Received[]): Export[] {
  return got.map(({ body }) => JSON.parse(body) as Export)
}

export function spansIn(got: readonly Received[]): Span[] {
  return exportsIn(got).flatMap(({ resourceSpans }) =>
    resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans }) => spans)),
  )
}

export function attributeOf({ attributes }: Pick<Span, "attributes">, name: string): unknown {
  const found = attributes.find(({ key }) => key === name)
  return found && Object.values(found.value)[0]
}
