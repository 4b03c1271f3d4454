import { spawn } from "node:child_process"
import { mkdtempSync, writeFileSync } from "node:fs"
import http from "node:http"
import { tmpdir } from "node:os"
import path from "node:path"
import { setTimeout as wait } from "node:timers/promises"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { root } from "../../src/dev/options.ts"
import { decodeResponse, encodeEnvelope } from "../../src/vault/egress-envelope.ts"
import { end, npmStart, type Started } from "../acceptance/npm-start.ts"
import { eventually } from "../support/eventually.ts"
import { ECHOES } from "./echoes.ts"
import { openRawHost } from "./raw-host.ts"
import { newInternApi } from "./intern-client.ts"
import { removeFolder } from "../support/remove-folder.ts"

/**
 * Attacks of an agent with a join token on a bound host that echoes its requests, against the gateway as `npm start`
 * runs it.
 */

const VALUE = "Canary/Value+of=the-Secret"
const TOKEN = "canary-Name-Token42"
const SPACED = " canary with spaces at its ends  "
const MIB = 1_048_576

let folder: string
let host: Awaited<ReturnType<typeof openRawHost>>
let gateway: Started
let egressUrl: string
let token: string
let printed = ""
const held: Record<string, string> = {}

beforeAll(async () => {
  folder = mkdtempSync(path.join(tmpdir(), "gateway-attacks-"))
  host = await openRawHost(ECHOES)
  const ca = path.join(folder, "ca.pem")
  writeFileSync(ca, host.ca)
  const hosts = JSON.stringify({ "api.bound.example": host.origin })
  const env = { ...process.env, NODE_EXTRA_CA_CERTS: ca, EGRESS_TEST_HOSTS: hosts }
  gateway = await npmStart(path.join(folder, "gateway"), (args) => {
    const child = spawn(process.execPath, ["src/dev/start.ts", ...args], {
      cwd: root,
      env,
      stdio: ["ignore", "pipe", "pipe"],
    })
    for (const stream of [child.stdout, child.stderr]) stream.on("data", (text: Buffer) => (printed += text.toString()))
    return child
  })
  const internApi = newInternApi(gateway.url, gateway.apiKey)
  const { id } = await internApi.json<{ id: string }>("POST", "/interns", {
    name: "attacker",
    host: "daemon",
    provision: true,
  })
  // The last one belongs to the agent: it ends as the value begins.
  const values = { api_token: VALUE, name_token: TOKEN, spaced: SPACED, overlap: "12345678Ca" }
  for (const [name, value] of Object.entries(values)) {
    await internApi.json("PUT", `/vault/interns/${id}/secrets/${name}`, { hosts: ["api.bound.example"], value })
  }
  token = (await internApi.json<{ token: string }>("POST", `/interns/${id}/daemon/token`)).token
  egressUrl = `${gateway.url}/interns/${id}/daemon/egress`
  const given = await fetch(`${gateway.url}/interns/${id}/daemon/secrets`, {
    headers: { authorization: `Bearer ${token}` },
  })
  const { data } = (await given.json()) as { data: { name: string; placeholder: string }[] }
  for (const { name, placeholder } of data) held[name] = placeholder
}, 240_000)

afterAll(async () => {
  await end(gateway)
  host.close()
  removeFolder(folder)
}, 60_000)

type Reported = { status: number; envelope: string; body: string; all: string }

/** Writes the request by hand: `fetch` would not send all of it. */
async function send(
  target: string,
  more: { method?: string; headers?: [string, string][]; body?: Buffer } = {},
): Promise<Reported> {
  const url = target.startsWith("/") ? `https://api.bound.example${target}` : target
  const headers = more.headers ?? [["Authorization", `Bearer ${held["api_token"]}`]]
  const envelope = { method: more.method ?? "GET", url, headers, hasBody: more.body !== undefined }
  const request = http.request(egressUrl, {
    method: "POST",
    maxHeaderSize: 1 << 20,
    headers: {
      authorization: `Bearer ${token}`,
      "x-egress-request": encodeEnvelope(envelope),
      "content-length": more.body?.byteLength ?? 0,
    },
  })
  return new Promise((resolve, reject) => {
    request.on("error", reject).on("response", async (response) => {
      const parts: Buffer[] = []
      // What was received before a connection breaks off counts, too.
      response.on("data", (part: Buffer) => parts.push(part)).on("error", () => {})
      await new Promise((done) => response.on("close", done))
      const decoded = JSON.stringify(decodeResponse(String(response.headers["x-egress-response"])) ?? null)
      const body = Buffer.concat(parts).toString("latin1")
      const all = [decoded, body, JSON.stringify(response.rawHeaders), JSON.stringify(response.rawTrailers)].join("\n")
      resolve({ status: response.statusCode ?? 0, envelope: decoded, body, all })
    })
    request.end(more.body)
  })
}

/** No eight characters of a value may appear. */
function expectHidden(text: string): void {
  for (const value of [VALUE, TOKEN, SPACED.trim()]) {
    for (let at = 0; at + 8 <= value.length; at++) {
      expect(text.toLowerCase().replaceAll("\0", "")).not.toContain(value.slice(at, at + 8).toLowerCase())
    }
  }
}

describe("a host that echoes requests", () => {
  test.each(Object.keys(ECHOES).filter((one) => !["/endless", "/upload", "/cookie"].includes(one)))(
    "has the value hidden in its response: %s",
    async (one) => {
      const headers: [string, string][] = [
        ["Authorization", `Bearer ${held["api_token"]}`],
        ["X-Name", held["name_token"] ?? ""],
      ]
      const before = host.requests.length
      const reported = await send(one, { headers })
      expect(host.requests.length).toBeGreaterThan(before)
      expect(host.requests.at(-1)?.headers["authorization"]).toBe(`Bearer ${VALUE}`)
      expectHidden(reported.all)
    },
  )

  test("gets no Range header with a value, so that the value cannot be read byte by byte", async () => {
    const complete = await send("/range", {
      headers: [
        ["Authorization", held["api_token"] ?? ""],
        ["rAnGe", "bytes=0-0"],
        ["If-Range", "x"],
      ],
    })
    expect(complete.body).toBe(held["api_token"])
    expect(
      (
        await send("/range", {
          headers: [
            ["Authorization", "public"],
            ["Range", "bytes=0-0"],
          ],
        })
      ).body,
    ).toBe("p")
  })

  test("has a value hidden that overlaps another secret, and one with spaces at its ends", async () => {
    expectHidden((await send("/cookie", { headers: [["Cookie", `a=1; c=12345678${held["api_token"]}; b=2`]] })).all)
    const spaced = await send("/echo", { headers: [["X-Spaced", held["spaced"] ?? ""]] })
    expect(host.requests.at(-1)?.headers["x-spaced"]?.trim()).toBe(SPACED.trim())
    expectHidden(spaced.all)
  })

  test.each([
    "HEAD",
    "OPTIONS",
    "get",
    "post",
    "PROPFIND",
    "TRACE",
    "trace",
    "TRACK",
    "CONNECT",
    "GET / HTTP/1.1\r\nX: y",
    "",
  ])("reveals no value to the method %j", async (method) => {
    const reported = await send("/echo", { method })
    expectHidden(reported.all)
    if (/trac|connect|\s|^$/i.test(method)) expect(reported.status).toBeGreaterThanOrEqual(400)
  })
})

describe("an egress request", () => {
  test.each([
    ["a line break", [["X-A", "1\r\nX-B: 2"]]],
    ["a line break in a name", [["X-A: 1\r\nX-B", "2"]]],
    ["a NUL", [["X-A", "1\u00002"]]],
  ])("with %s in a header is not sent", async (_, headers) => {
    const before = host.requests.length
    expect((await send("/echo", { headers: headers as [string, string][] })).status).toBeGreaterThanOrEqual(400)
    expect(host.requests).toHaveLength(before)
  })

  test("cannot set its framing headers or its host", async () => {
    const headers: [string, string][] = [
      ["Content-Length", "5"],
      ["Transfer-Encoding", "chunked"],
      ["Connection", "authorization"],
      ["Host", "api.bound.example"],
      ["Host", "evil.example"],
      ["Authorization", `Bearer ${held["api_token"]}`],
      ["authorization", held["name_token"] ?? ""],
    ]
    const reported = await send("/echo", { headers })
    const { head = "", headers: sent = {} } = host.requests.at(-1) ?? {}
    expect(head).not.toMatch(/transfer-encoding|content-length: 5|evil/i)
    expect(sent["authorization"]).toBe(`Bearer ${VALUE}, ${TOKEN}`)
    expectHidden(reported.all)
  })

  test.each([
    "https://user@api.bound.example/echo",
    "https://api.bound.example:8443/echo",
    "https://api.bound.example@evil.example/echo",
    "https://evil.example\\@api.bound.example/echo",
    "https://[::1]/echo",
    "http://api.bound.example/echo",
    "https://xn--api.bound.example/",
    "https://api.bound.example..../echo",
    "https:///evil.example/echo",
    "file:///etc/passwd",
  ])("does not go to %s with a value", async (url) => {
    const before = host.requests.length
    const reported = await send(url)
    expect(reported.status).toBe(403)
    expect(host.requests).toHaveLength(before)
  })

  test("stays with its host, however its path is written", async () => {
    for (const target of [
      "//evil.example/x",
      "/\\evil.example/x",
      "/..//evil.example/",
      "/@evil.example",
      "?x",
      "/%2f%2fevil.example",
    ]) {
      const before = host.requests.length
      expect((await send(`https://API.Bound.Example.:443${target}`)).status).toBe(200)
      expect(host.requests).toHaveLength(before + 1)
    }
  })
})

describe("the gateway's egress", () => {
  test("keeps the values of concurrent requests apart", async () => {
    const names = ["api_token", "name_token"]
    const reported = await Promise.all(
      Array.from({ length: 60 }, async (_, at) => {
        const placeholder = held[names[at % 2] ?? ""] ?? ""
        const headers: [string, string][] = [
          ["X-Number", `n${at}.`],
          ["X-One", placeholder],
        ]
        const { body } = await send("/echo", { headers })
        return body.includes(`n${at}.`) && body.includes(placeholder) && body.split("vault-").length === 2
      }),
    )
    expect(reported).not.toContain(false)
  })

  test("closes the upstream request when the client disconnects", async () => {
    const disconnecting = new AbortController()
    const envelope = encodeEnvelope({
      method: "GET",
      url: "https://api.bound.example/endless",
      headers: [],
      hasBody: false,
    })
    const requests = fetch(egressUrl, {
      method: "POST",
      headers: { authorization: `Bearer ${token}`, "x-egress-request": envelope },
      signal: disconnecting.signal,
    })
    const endless = await eventually(() => {
      const one = host.requests.at(-1)
      expect(one?.path).toBe("/endless")
      return one
    }, 10_000)
    const response = await requests
    disconnecting.abort()
    await response.text().catch(() => {})
    expect(await Promise.race([endless?.closed, wait(20_000, "open")])).not.toBe("open")
  })

  test("streams an upload of 100 MB", async () => {
    const body = Buffer.alloc(100 * MIB, "upload")
    expect((await send("/upload", { method: "PUT", body })).body).toBe(String(body.byteLength))
  })

  test("logs no value", () => expectHidden(printed))
})
