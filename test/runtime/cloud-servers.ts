import { createHash, createHmac, createPublicKey, generateKeyPairSync, verify } from "node:crypto"
import http from "node:http"
import type { AddressInfo } from "node:net"
import { setTimeout as wait } from "node:timers/promises"

/** Scripted servers of two clouds, written after the vendors' documentation. Each authenticates requests itself. */

export type CloudRequest = { method: string; url: string; headers: http.IncomingHttpHeaders; body: string }
export type Reply = { status?: number; type?: string; body: string | readonly Uint8Array[] }
type Handler = (requests: CloudRequest) => Reply | Promise<Reply>

export type CloudServer = {
  origin: string
  requests: CloudRequest[]
  answer: (next: Handler) => void
  close: () => Promise<void>
}

async function startServer(guard: (requests: CloudRequest) => Reply | undefined): Promise<CloudServer> {
  const requests: CloudRequest[] = []
  let handler: Handler = () => ({ status: 500, body: "{}" })
  const server = http.createServer(async (request, response) => {
    const parts: Buffer[] = []
    for await (const part of request) parts.push(part as Buffer)
    const { method = "", url = "", headers } = request
    const one = { method, url, headers, body: Buffer.concat(parts).toString() }
    requests.push(one)
    const { status = 200, type = "application/json", body } = guard(one) ?? (await handler(one))
    response.writeHead(status, { "content-type": type })
    if (typeof body === "string") return response.end(body)
    for (const piece of body) {
      response.write(piece)
      await wait(1)
    }
    return response.end()
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    answer: (next) => (handler = next),
    close: () => {
      server.closeAllConnections()
      return new Promise((resolve) => server.close(() => resolve()))
    },
  }
}

export const ACCESS_KEY = {
  id: "AKIDEXAMPLE0123456789",
  secret: "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY",
  token: "session/token+of=a-role",
}
export const BEDROCK_API_KEY = "bedrock-api-key-YmVkcm9jay5hbWF6b25hd3MuY29tLzEyMzQ1Njc4OTA="

/** Bedrock: a request is signed with the access key for the region, or has the API key. */
export function startBedrock(region: string): Promise<CloudServer> {
  return startServer((requests) => {
    const sent = requests.headers.authorization ?? ""
    if (sent === `Bearer ${BEDROCK_API_KEY}`) return undefined
    const expected = expectedAuthorization(requests, region)
    if (sent === expected && requests.headers["x-amz-security-token"] === ACCESS_KEY.token) return undefined
    const message = `The request signature we calculated does not match: ${expected} but was ${sent}`
    return { status: 403, body: JSON.stringify({ message }) }
  })
}

/** Signature Version 4, step by step: https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html */
function expectedAuthorization({ method, url, headers, body }: CloudRequest, region: string): string {
  const { pathname, searchParams } = new URL(url, "http://host")
  const names = /SignedHeaders=([^,]+)/.exec(headers.authorization ?? "")?.[1]?.split(";") ?? []
  if (!names.includes("host") || !names.includes("x-amz-date") || !names.includes("x-amz-security-token")) return "none"
  const encode = (text: string) =>
    encodeURIComponent(text).replaceAll(/[!'()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`)
  const canonical = [
    method,
    pathname.split("/").map(encode).join("/"),
    [...searchParams]
      .map(([name, value]) => `${encode(name)}=${encode(value)}`)
      .toSorted()
      .join("&"),
    ...names.map((name) => `${name}:${String(headers[name]).trim()}`),
    "",
    names.join(";"),
    createHash("sha256").update(body).digest("hex"),
  ].join("\n")
  const stamp = String(headers["x-amz-date"])
  const scope = `${stamp.slice(0, 8)}/${region}/bedrock/aws4_request`
  const hash = createHash("sha256").update(canonical).digest("hex")
  const mac = (key: string | Buffer, text: string) => createHmac("sha256", key).update(text).digest()
  const day = mac(`AWS4${ACCESS_KEY.secret}`, stamp.slice(0, 8))
  const key = mac(mac(mac(day, region), "bedrock"), "aws4_request")
  const signature = mac(key, ["AWS4-HMAC-SHA256", stamp, scope, hash].join("\n")).toString("hex")
  const signed = `SignedHeaders=${names.join(";")}`
  return `AWS4-HMAC-SHA256 Credential=${ACCESS_KEY.id}/${scope}, ${signed}, Signature=${signature}`
}

const pair = generateKeyPairSync("rsa", { modulusLength: 2_048 })

export const SERVICE_ACCOUNT = {
  type: "service_account",
  project_id: "acme-prod",
  private_key_id: "kid-1",
  private_key: pair.privateKey.export({ type: "pkcs8", format: "pem" }).toString(),
  client_email: "gateway@acme-prod.iam.gserviceaccount.com",
}

type TokenServer = CloudServer & { issued: string[]; refuse: (error: string | null) => void }

/** Google's token endpoint: verifies the assertion's signature, times and claims with the account's public key. */
export async function startTokenServer(): Promise<TokenServer> {
  const issued: string[] = []
  let refusal: string | null = null
  const server = await startServer(() => undefined)
  server.answer(async ({ body, headers }) => {
    // Long enough for concurrent calls to wait for one exchange.
    await wait(50)
    const form = new URLSearchParams(body)
    const isForm = headers["content-type"] === "application/x-www-form-urlencoded"
    const isGrant = form.get("grant_type") === "urn:ietf:params:oauth:grant-type:jwt-bearer"
    const error = refusal ?? (isForm && isGrant ? faultOf(form.get("assertion") ?? "") : "unsupported_grant_type")
    if (error !== null) {
      const description = `Invalid JWT: ${form.get("assertion")}`
      return { status: 400, body: JSON.stringify({ error, error_description: description }) }
    }
    const token = `ya29.token-${issued.length + 1}-of-the-test`
    issued.push(token)
    return { body: JSON.stringify({ access_token: token, expires_in: 3_599, token_type: "Bearer" }) }
  })
  return { ...server, issued, refuse: (error) => (refusal = error) }
}

function faultOf(assertion: string): string | null {
  const [head = "", claims = "", signature = ""] = assertion.split(".")
  const data = Buffer.from(`${head}.${claims}`)
  const isSigned = verify(
    "RSA-SHA256",
    data,
    createPublicKey(pair.publicKey.export({ type: "spki", format: "pem" })),
    Buffer.from(signature, "base64url"),
  )
  if (!isSigned) return "invalid_grant"
  const { alg, kid } = JSON.parse(Buffer.from(head, "base64url").toString()) as Record<string, unknown>
  const payload = JSON.parse(Buffer.from(claims, "base64url").toString()) as Record<string, unknown>
  const now = Date.now() / 1_000
  const isFresh =
    Number(payload["iat"]) <= now + 5 &&
    Number(payload["exp"]) > now &&
    Number(payload["exp"]) - Number(payload["iat"]) <= 3_600
  const isOurs =
    alg === "RS256" &&
    kid === SERVICE_ACCOUNT.private_key_id &&
    payload["iss"] === SERVICE_ACCOUNT.client_email &&
    payload["aud"] === "https://oauth2.googleapis.com/token" &&
    payload["scope"] === "https://www.googleapis.com/auth/cloud-platform"
  return isFresh && isOurs ? null : "invalid_scope"
}

/** Vertex: a request needs a token that the token endpoint issued. */
export function startVertex({ issued }: TokenServer): Promise<CloudServer> {
  return startServer(({ headers }) => {
    const token = /^Bearer (.+)$/.exec(headers.authorization ?? "")?.[1]
    if (token !== undefined && issued.includes(token)) return undefined
    const error = { code: 401, message: `Request had invalid credentials: ${token}`, status: "UNAUTHENTICATED" }
    return { status: 401, body: JSON.stringify([{ error }]) }
  })
}

/** A stream of server-sent events. */
export function eventStream(events: readonly unknown[], isNamed = false): Reply {
  const frame = (event: unknown) => {
    const name = isNamed ? `event: ${(event as { type: string }).type}\n` : ""
    return Buffer.from(`${name}data: ${typeof event === "string" ? event : JSON.stringify(event)}\n\n`)
  }
  return { type: "text/event-stream", body: events.map(frame) }
}
