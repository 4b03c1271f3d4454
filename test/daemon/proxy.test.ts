import { spawn } from "node:child_process"
import { X509Certificate } from "node:crypto"
import { once } from "node:events"
import { mkdtempSync, writeFileSync } from "node:fs"
import http from "node:http"
import https from "node:https"
import net, { type AddressInfo } from "node:net"
import { tmpdir } from "node:os"
import path from "node:path"
import type { Duplex } from "node:stream"
import tls from "node:tls"
import * as fc from "fast-check"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { newAuthority } from "../../src/daemon/proxy/authority.ts"
import { open, publicConnect, AddressError } from "../../src/daemon/proxy/connect.ts"
import { gatewayEgress } from "../../src/daemon/proxy/egress.ts"
import { type Proxy, startProxy } from "../../src/daemon/proxy/proxy.ts"
import type { ReleasedSecret } from "../../src/vault/secret.ts"
import { answerEgress, fetchFrom } from "./egress.ts"
import { removeFolder } from "../support/remove-folder.ts"

const basic = (text: string) => `Basic ${Buffer.from(text).toString("base64")}`
const HELD = "vault-token-0123456789abcdef"
const VALUE = "the-value-of-the-secret"
const SECRET: ReleasedSecret = { name: "token", hosts: ["api.example.com"], placeholder: HELD, value: VALUE }

type Seen = { host: string; method: string; path: string; headers: http.IncomingHttpHeaders; body: string }

const upstreams = newAuthority("of the internet")
const authority = newAuthority("of the tests")
const seen: Seen[] = []
let secrets: ReleasedSecret[] = []
/** The secrets that the proxy knows; undefined for all. */
let known: ReleasedSecret[] | undefined
let unbound = 0
const servers: (http.Server | https.Server)[] = []
let internet: https.Server
let gateway: http.Server
let proxy: Proxy
let strict: Proxy

const waiting: http.ServerResponse[] = []
const portOf = (server: net.Server) => (server.address() as AddressInfo).port

/** Every host of the internet, on one port, each with its certificate. */
function answerAll(name: (request: http.IncomingMessage) => string) {
  return (request: http.IncomingMessage, response: http.ServerResponse) => {
    let body = ""
    request.on("data", (part: Buffer) => (body += part.toString()))
    request.on("end", () => {
      seen.push({
        host: name(request),
        method: request.method ?? "",
        path: request.url ?? "",
        headers: request.headers,
        body,
      })
      if (request.url === "/chunks") {
        response.write("one ")
        response.end("two")
      } else if (request.url === "/echo") {
        response.setHeader("x-echo", String(request.headers.authorization))
        response.end(JSON.stringify({ headers: request.headers, base64: btoa(JSON.stringify(request.headers)) }))
      } else if (request.url?.startsWith("/redirect")) {
        const location = `https://elsewhere.example.com/?token=${request.headers.authorization?.slice(7)}`
        response.writeHead(302, { location, "set-cookie": ["a=1", `b=${VALUE}`] }).end()
      } else if (request.url === "/events") {
        response.setHeader("content-type", "text/event-stream")
        response.write("data: one\n\n")
        waiting.push(response)
      } else response.end(`from ${name(request)}`)
    })
  }
}

beforeAll(async () => {
  const SNICallback = (name: string, done: (error: null, context: tls.SecureContext) => void) =>
    done(null, upstreams.contextFor(name))
  internet = https.createServer(
    { SNICallback },
    answerAll(({ socket }) => String((socket as tls.TLSSocket).servername)),
  )
  const plain = answerAll(() => "the gateway")
  const trusted = fetchFrom(() => portOf(internet), [upstreams.certificate])
  const untrusted = fetchFrom(() => portOf(internet), [authority.certificate])
  gateway = http.createServer((request, response) => {
    if (request.url !== "/egress" && request.url !== "/untrusting") return plain(request, response)
    if (request.headers.authorization !== "Bearer the-join-token") return void response.writeHead(401).end()
    const fetch = request.url === "/egress" ? trusted : untrusted
    return void answerEgress(request, response, { secrets: () => secrets, fetch })
  })
  servers.push(internet, gateway)
  for (const server of servers) {
    server.listen(0, "127.0.0.1")
    await once(server, "listening")
  }
  const connect = async (host: string, port: number) => {
    if (host === "inside.example.com") throw new AddressError("The address of the host is not public.")
    return open("127.0.0.1", port === 443 || port === 8443 ? portOf(internet) : port)
  }
  const deps = {
    authority,
    secrets: () => known ?? secrets,
    egress: gatewayEgress(() => new URL(`http://127.0.0.1:${portOf(gateway)}/egress`), "the-join-token"),
    onUnbound: () => void (unbound += 1),
    gateway: new URL(`http://127.0.0.1:${portOf(gateway)}`),
    allowedHosts: undefined,
    connect,
  }
  proxy = await startProxy(deps)
  strict = await startProxy({ ...deps, allowedHosts: ["other.example.com"] })
  secrets = [SECRET]
})

afterAll(async () => {
  await proxy.close()
  await strict.close()
  for (const server of servers) {
    server.closeAllConnections()
    server.close()
  }
})

type ReceivedRequest = {
  by?: URL
  /** Target of CONNECT, if the client is made to connect elsewhere. */
  via?: string
  path?: string
  method?: string
  headers?: Record<string, string>
  body?: string | string[]
  trust?: string
  /** Disconnects once this text has arrived. */
  until?: string
}
type Answered = { status: number; text: string; headers: http.IncomingHttpHeaders; seen: Seen | undefined }
type Echo = { headers: Record<string, string>; base64: string }

/** A request to a host through the proxy. */
async function send(
  host: string,
  { by = proxy.url, via = `${host}:443`, ...requests }: ReceivedRequest = {},
): Promise<Answered> {
  const before = seen.length
  const credentials = Buffer.from(`${by.username}:${by.password}`).toString("base64")
  const headers = { "proxy-authorization": `Basic ${credentials}` }
  const request = http.request({ host: by.hostname, port: by.port, method: "CONNECT", path: via, headers })
  request.end()
  type Connected = { response: http.IncomingMessage; socket: Duplex; head: Buffer }
  const { response, socket, head } = await new Promise<Connected>((resolve, reject) => {
    request.on("connect", (response, socket, head) => resolve({ response, socket, head }))
    request.on("error", reject)
  })
  if (response.statusCode !== 200) {
    let text = head.toString()
    for await (const part of socket) text += String(part)
    return { status: response.statusCode ?? 0, text, headers: response.headers, seen: undefined }
  }
  const secure = tls.connect({
    socket,
    servername: host,
    ca: requests.trust ?? [authority.certificate, upstreams.certificate],
  })
  await new Promise((resolve, reject) => {
    secure.once("secureConnect", resolve)
    secure.once("error", reject)
  })
  return exchange(secure, host, requests, before)
}

async function exchange(
  secure: tls.TLSSocket,
  host: string,
  requests: ReceivedRequest,
  before: number,
): Promise<Answered> {
  const { method = "GET", path: target = "/", headers = {}, body } = requests
  const length = body === undefined ? {} : { "content-length": body.length }
  const framing = Array.isArray(body) ? { "transfer-encoding": "chunked" } : length
  const all = { host, ...framing, ...headers }
  const request = http.request({ method, path: target, headers: all, createConnection: () => secure })
  for (const part of Array.isArray(body) ? body : []) request.write(part)
  request.end(Array.isArray(body) ? undefined : body)
  const response = await new Promise<http.IncomingMessage>((resolve, reject) => {
    request.on("response", resolve)
    request.on("error", reject)
  })
  let text = ""
  for await (const part of response) {
    text += String(part)
    if (text === requests.until) break
  }
  secure.destroy()
  return { status: response.statusCode ?? 0, text, headers: response.headers, seen: seen.slice(before).at(0) }
}

/** A plain http request through the proxy. */
async function get(url: string, credentials = basic(`${proxy.url.username}:${proxy.url.password}`)) {
  const headers = { "proxy-authorization": credentials, ...bearer }
  const request = http.get({ host: "127.0.0.1", port: proxy.url.port, path: url, headers })
  const [response] = (await once(request, "response")) as [http.IncomingMessage]
  let text = ""
  for await (const part of response) text += String(part)
  return { status: response.statusCode ?? 0, text }
}

const bearer = { authorization: `Bearer ${HELD}` }

describe("the value is sent", () => {
  test("to its bound host", async () => {
    const reported = await send("api.example.com", { headers: bearer, path: "/v1/x?y=%7C1" })
    expect(reported).toMatchObject({ status: 200, text: "from api.example.com" })
    expect(reported.seen).toMatchObject({ path: "/v1/x?y=%7C1", headers: { authorization: `Bearer ${VALUE}` } })
  })

  test("in Basic credentials", async () => {
    const reported = await send("api.example.com", { headers: { authorization: basic(`git:${HELD}`) } })
    expect(reported.seen?.headers.authorization).toBe(basic(`git:${VALUE}`))
  })

  test("for any spelling of the host", async () => {
    const reported = await send("api.example.com", { via: "API.EXAMPLE.COM.:443", headers: bearer })
    expect(reported.seen?.headers.authorization).toBe(`Bearer ${VALUE}`)
  })

  test("with unchanged bodies, sized or chunked, and the response is streamed", async () => {
    for (const body of [`{"key":"${HELD}"}`, [`{"key":`, `"${HELD}"}`]]) {
      for (const method of ["POST", "DELETE"]) {
        const reported = await send("api.example.com", { method, headers: bearer, body, path: "/chunks" })
        expect(reported).toMatchObject({ text: "one two", seen: { method, body: `{"key":"${HELD}"}` } })
        expect(reported.seen?.headers.authorization).toBe(`Bearer ${VALUE}`)
      }
    }
  })
})

describe("the gateway relays", () => {
  test("events as they arrive", async () => {
    const answered = send("api.example.com", { headers: bearer, path: "/events", until: "data: one\n\n" })
    expect((await answered).text).toBe("data: one\n\n")
    for (const response of waiting.splice(0)) response.end()
  })

  test("large bodies in both directions, byte for byte", async () => {
    const body = Array.from({ length: 64 }, (_, at) => String.fromCharCode(97 + (at % 26)).repeat(65_536))
    const reported = await send("api.example.com", { method: "PUT", headers: bearer, body })
    expect(reported.seen?.body).toBe(body.join(""))
  })

  test("responses without a body, and errors of the host", async () => {
    const head = await send("api.example.com", { method: "HEAD", headers: bearer })
    expect(head).toMatchObject({ status: 200, text: "", seen: { method: "HEAD" } })
  })

  test("headers of 12 KB", async () => {
    const long = "x".repeat(12_000)
    const reported = await send("api.example.com", { headers: { ...bearer, "x-long": long } })
    expect(reported.seen?.headers["x-long"]).toBe(long)
  })
})

describe("the value is not sent", () => {
  test.each(["example.com", "v1.api.example.com", "other.example.com"])(
    "to %s: the placeholder stays",
    async (host) => {
      const reported = await send(host, { headers: bearer })
      expect(reported).toMatchObject({ status: 200, text: `from ${host}` })
      expect(reported.seen?.headers.authorization).toBe(`Bearer ${HELD}`)
    },
  )

  test("to its host on another port", async () => {
    const reported = await send("api.example.com", { via: "api.example.com:8443", headers: bearer })
    expect(reported.seen?.headers.authorization).toBe(`Bearer ${HELD}`)
  })

  test("to another site on the same connection: a different Host header gets 421", async () => {
    for (const headers of [
      { ...bearer, host: "evil.example" },
      { ...bearer, host: "api.example.com:8443" },
    ]) {
      const reported = await send("api.example.com", { headers })
      expect(reported).toMatchObject({ status: 421, seen: undefined })
    }
    const reported = await send("api.example.com", { headers: bearer, path: "https://evil.example/" })
    expect(reported).toMatchObject({ status: 421, seen: undefined })
  })

  test("to a host reached under another name: its certificate is rejected", async () => {
    const reported = send("api.example.com", {
      via: "other.example.com:443",
      headers: bearer,
      trust: authority.certificate,
    })
    await expect(reported).rejects.toThrow(/certificate/)
  })

  test("to a server without a certificate for its name", async () => {
    const untrusting = await startProxy({
      authority,
      secrets: () => secrets,
      egress: gatewayEgress(() => new URL(`http://127.0.0.1:${portOf(gateway)}/untrusting`), "the-join-token"),
      onUnbound: () => {},
      gateway: new URL("https://gateway.example"),
      allowedHosts: undefined,
      connect: () => open("127.0.0.1", portOf(internet)),
    })
    const before = seen.length
    expect(await send("api.example.com", { by: untrusting.url, headers: bearer })).toMatchObject({ status: 502 })
    expect(seen.length).toBe(before)
    await untrusting.close()
  })

  test("after the secret was deleted", async () => {
    secrets = []
    const reported = await send("api.example.com", { headers: bearer })
    expect(reported.seen?.headers.authorization).toBe(`Bearer ${HELD}`)
    // The daemon may not know yet: the gateway sends nothing, and the daemon reloads its secrets.
    known = [SECRET]
    const late = await send("api.example.com", { headers: bearer })
    expect(late).toMatchObject({ status: 403, seen: undefined })
    expect(unbound).toBe(1)
    known = undefined
    secrets = [SECRET]
  })

  test("back to the agent: it is hidden in the response body, in base64 and in headers", async () => {
    for (const headers of [bearer, { authorization: basic(`git:${HELD}`) }]) {
      const reported = await send("api.example.com", { headers, path: "/echo" })
      expect(reported.seen?.headers.authorization).not.toBe(headers.authorization)
      const decoded = Buffer.from((JSON.parse(reported.text) as Echo).base64, "base64").toString("latin1")
      const received = JSON.stringify(reported.headers) + reported.text + decoded
      for (const form of [VALUE, btoa(VALUE), btoa(`git:${VALUE}`)]) expect(received).not.toContain(form)
      expect((JSON.parse(reported.text) as Echo).headers.authorization).toBe(headers.authorization)
      expect(reported.headers["x-echo"]).toBe(headers.authorization)
    }
  })

  test("to a redirect target: the agent gets the location with the placeholder", async () => {
    const reported = await send("api.example.com", { headers: bearer, path: "/redirect" })
    expect(reported).toMatchObject({ status: 302, seen: { path: "/redirect" } })
    expect(reported.headers.location).toBe(`https://elsewhere.example.com/?token=${HELD}`)
    expect(reported.headers["set-cookie"]).toEqual(["a=1", `b=${HELD}`])
  })

  test("in a request smuggled into a body", async () => {
    const inner = `GET /smuggled HTTP/1.1\r\nHost: api.example.com\r\nAuthorization: Bearer ${HELD}\r\n\r\n`
    const before = seen.length
    // A GET with a body is not sent at all.
    expect(await send("api.example.com", { method: "GET", body: [inner] })).toMatchObject({ status: 403 })
    await send("api.example.com", { method: "POST", body: [inner] })
    expect(seen.slice(before).map(({ path: requests, body }) => [requests, body])).toEqual([["/", inner]])
  })
})

describe("the proxy sends nothing", () => {
  test.each(["127.0.0.1:443", "[::1]:443", "localhost:443", "169.254.169.254:80", "10.0.0.1:443", "db.internal:5432"])(
    "to internal addresses: %s",
    async (via) => {
      expect(await send("x.example.com", { via })).toMatchObject({ status: 403 })
    },
  )

  test("to a public name with an internal address", async () => {
    expect(await send("inside.example.com")).toMatchObject({
      status: 403,
      text: expect.stringContaining("not public"),
    })
  })

  test("to a host outside the allow list", async () => {
    expect(await send("evil.example.com", { by: strict.url })).toMatchObject({ status: 403 })
    expect(await send("other.example.com", { by: strict.url })).toMatchObject({ status: 200 })
    expect(await send("api.example.com", { by: strict.url, headers: bearer })).toMatchObject({ status: 200 })
  })

  test.each(["api.example.com", "user@api.example.com:443", "api.example.com:443/x", ":443"])(
    "to an invalid target: %s",
    async (via) => {
      expect(await send("api.example.com", { via })).toMatchObject({ status: 400 })
    },
  )

  test("without the proxy's credentials", async () => {
    const by = new URL(proxy.url)
    by.password = "wrong"
    expect(await send("api.example.com", { by, headers: bearer })).toMatchObject({ status: 407 })
    expect(await get("http://api.example.com/", "")).toMatchObject({ status: 407 })
  })

  test("over plain http, except to the gateway if it uses that", async () => {
    const before = seen.length
    for (const url of [
      "http://api.example.com/",
      "http://example.com/",
      `http://127.0.0.1:${portOf(internet)}/`,
      "/",
    ]) {
      expect(await get(url)).toMatchObject({ status: 403 })
    }
    expect(seen.length).toBe(before)
    expect(await get(`http://127.0.0.1:${portOf(gateway)}/api/v1/key`)).toEqual({
      status: 200,
      text: "from the gateway",
    })
    expect(seen.at(-1)).toMatchObject({ path: "/api/v1/key", headers: bearer })
    expect(seen.at(-1)?.headers["proxy-authorization"]).toBeUndefined()
  })
})

test("Node's fetch uses the proxy from its environment", async () => {
  const folder = mkdtempSync(path.join(tmpdir(), "gateway-proxy-"))
  const file = path.join(folder, "ca.pem")
  writeFileSync(file, authority.certificate)
  const script = `fetch("https://api.example.com/", {headers: {authorization: "Bearer ${HELD}"}})
    .then(async (r) => console.log(r.status, await r.text()))`
  const env = { ...process.env, HTTPS_PROXY: proxy.url.href, NODE_USE_ENV_PROXY: "1", NODE_EXTRA_CA_CERTS: file }
  const child = spawn(process.execPath, ["-e", script], { env })
  let printed = ""
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (text: Buffer) => (printed += text.toString()))
  await once(child, "close")
  removeFolder(folder)
  expect(printed.trim()).toBe("200 from api.example.com")
  expect(seen.at(-1)?.headers.authorization).toBe(`Bearer ${VALUE}`)
})

test("a name is resolved once, and every address of it must be public", async () => {
  const answers: Record<string, string[]> = {
    "mixed.example": ["93.184.216.34", "127.0.0.1"],
    "nothing.example": [],
    "mapped.example": ["::ffff:10.0.0.1"],
  }
  const requests: string[] = []
  const connect = publicConnect((host) => {
    requests.push(host)
    return Promise.resolve(answers[host] ?? [])
  })
  for (const host of Object.keys(answers)) await expect(connect(host, 443)).rejects.toBeInstanceOf(AddressError)
  for (const host of ["127.0.0.1", "::1", "169.254.169.254"]) {
    await expect(connect(host, 443)).rejects.toBeInstanceOf(AddressError)
  }
  expect(requests).toEqual(Object.keys(answers))
})

test("the proxy's CA signs for one host at a time, and for servers only", () => {
  const ca = new X509Certificate(authority.certificate)
  expect([ca.ca, ca.verify(ca.publicKey), ca.checkIssued(ca)]).toEqual([true, true, true])
  expect(newAuthority("of the tests").certificate).not.toBe(authority.certificate)
})

const label = fc.stringMatching(/^[a-z]([a-z0-9-]{0,8}[a-z0-9])?$/)
test("only the bound host gets the value, whatever host is requested", async () => {
  const hosts = fc.oneof(
    fc.constantFrom("api.example.com", "example.com", "other.example.com"),
    fc.tuple(label, fc.constantFrom("api.example.com", "example.com", "example")).map((parts) => parts.join(".")),
  )
  await fc.assert(
    fc.asyncProperty(hosts, async (host) => {
      const reported = await send(host, { headers: { ...bearer, "x-key": HELD, cookie: `a=${HELD}` } })
      const sent = JSON.stringify(reported.seen)
      expect(reported.status).toBe(200)
      expect(sent.includes(VALUE)).toBe(host === "api.example.com")
      expect(sent.includes(HELD)).toBe(host !== "api.example.com")
    }),
  )
})
