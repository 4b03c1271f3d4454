import { execFileSync, spawn } from "node:child_process"
import { once } from "node:events"
import { mkdtempSync, writeFileSync } from "node:fs"
import http from "node:http"
import https from "node:https"
import net, { type AddressInfo } from "node:net"
import { tmpdir } from "node:os"
import path from "node:path"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { newAuthority } from "../../src/daemon/proxy/authority.ts"
import { root } from "../../src/dev/options.ts"
import { end, npmStart, type Started } from "../acceptance/npm-start.ts"
import { newInternApi } from "./intern-client.ts"
import { removeFolder } from "../support/remove-folder.ts"

/**
 * DNS rebinding, against the gateway as `npm start` runs it: its DNS over HTTPS resolves to a public address, and the
 * lookup of the connection, by a separate hosts file, to this computer. Needs Linux that lets a process mount for
 * itself and listen on 443.
 */

const LOOPBACK = "127.0.0.77"
const NAME = "rebind.example"

/** A mount namespace in which names resolve to this computer. */
const inNamespace = (script: string, ...args: string[]) =>
  ["unshare", "-rm", "sh", "-c", script, "sh", ...args] as const

async function listens(server: net.Server, port: number, address: string): Promise<boolean> {
  server.listen(port, address)
  return once(server, "listening").then(
    () => true,
    () => false,
  )
}

const lookups: string[] = []
let connections = 0
const authority = newAuthority("of nobody that is trusted")
const answer: http.RequestListener = (_request, response) => void response.end("the inside of this computer")
const secure = https.createServer({ SNICallback: (name, done) => done(null, authority.contextFor(name)) }, answer)
secure.on("connection", () => (connections += 1))
const plain = http.createServer(answer)
plain.on("connection", () => (connections += 1))
const dns = http.createServer((request, response) => {
  const { searchParams } = new URL(request.url ?? "", "http://dns")
  const isFirst = lookups.filter((one) => one === "A").length === 0
  lookups.push(searchParams.get("type") ?? "")
  const data = searchParams.get("name") === NAME && !isFirst ? LOOPBACK : "93.184.216.34"
  const Answer = searchParams.get("type") === "A" ? [{ type: 1, data }] : []
  response.setHeader("content-type", "application/dns-json").end(JSON.stringify({ Status: 0, Answer }))
})

const canMount = () => {
  try {
    const [file, ...args] = inNamespace("mount --bind /etc/hostname /etc/hosts")
    execFileSync(file, args, { stdio: "ignore" })
    return true
  } catch {
    return false
  }
}
const isPossible = canMount() && (await listens(secure, 443, LOOPBACK)) && (await listens(plain, 80, LOOPBACK))

describe.skipIf(!isPossible)("a name that resolves to this computer after its check", () => {
  let folder: string
  let gateway: Started
  let internApi: ReturnType<typeof newInternApi>

  beforeAll(async () => {
    folder = mkdtempSync(path.join(tmpdir(), "gateway-rebinding-"))
    await listens(dns, 0, "127.0.0.1")
    const hosts = path.join(folder, "hosts")
    writeFileSync(hosts, `127.0.0.1 localhost\n${LOOPBACK} ${NAME}\n`)
    const dnsUrl = `http://127.0.0.1:${(dns.address() as AddressInfo).port}/dns-query`
    gateway = await npmStart(path.join(folder, "gateway"), (args) => {
      const script = 'hosts="$1"; shift; mount --bind "$hosts" /etc/hosts && exec "$@"'
      const [file, ...rest] = inNamespace(script, hosts, process.execPath, "src/dev/start.ts", ...args)
      const env = { ...process.env, WEB_FETCH_DNS_URL: dnsUrl }
      return spawn(file, rest, { cwd: root, env, stdio: ["ignore", "pipe", "pipe"] })
    })
    internApi = newInternApi(gateway.url, gateway.apiKey)
  }, 240_000)

  afterAll(async () => {
    await end(gateway)
    for (const server of [secure, plain, dns]) server.close()
    removeFolder(folder)
  }, 60_000)

  const chat = async (model: string, content: unknown, more: object = {}) => {
    const body = { model, messages: [{ role: "user", content }], ...more }
    const response = await fetch(`${gateway.url}/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${gateway.apiKey}`, "content-type": "application/json" },
      body: JSON.stringify(body),
    })
    return response.text()
  }

  let intern: string | undefined
  const ways: Record<string, (url: string) => Promise<unknown>> = {
    "the embedded agent's curl": async (url) => {
      const input = { name: "rebinder", host: "embedded", model: "sim/agent", provision: true }
      intern ??= (await internApi.json<{ id: string }>("POST", "/interns", input)).id
      const reported = await (
        await internApi.prompt(intern, `$ curl -sS ${url}`, { approval_mode: "self-drive" })
      ).all()
      return reported.text
    },
    web_fetch: (url) => chat("sim/tool-call", url, { tools: [{ type: "service:web_fetch" }] }),
    "the URL of a file": (url) => {
      const plugins = [{ id: "file-parser", pdf: { engine: "cloudflare-ai" } }]
      const file = { type: "file", file: { filename: "a.txt", file_data: url } }
      return chat("sim/echo", [{ type: "text", text: "read" }, file], { plugins })
    },
    "a destination": async (url) => {
      const input = { name: "away", type: "webhook", config: { url, signingSecret: `whsec_${btoa("0".repeat(32))}` } }
      const headers = { authorization: `Bearer ${gateway.managementKey}`, "content-type": "application/json" }
      const send = (resource: string, body: object) =>
        fetch(gateway.url + resource, { method: "POST", headers, body: JSON.stringify(body) })
      const made = (await (await send("/observability/destinations", input)).json()) as { data?: { id: string } }
      if (!made.data) return JSON.stringify(made)
      return (await send(`/observability/destinations/${made.data.id}/test`, {})).text()
    },
  }

  const cases = Object.keys(ways).flatMap((way) => ["http", "https"].map((scheme) => [way, scheme] as const))

  test.each(cases)("gets no connection of %s over %s", async (way, scheme) => {
    ;[lookups.length, connections] = [0, 0]
    const reported = await ways[way]?.(`${scheme}://${NAME}/inside`)
    // The URL itself is allowed for each, except plain http to a destination.
    if (way !== "a destination" || scheme === "https") expect(lookups, String(reported)).toContain("A")
    expect(connections, String(reported)).toBe(0)
    expect(reported).not.toContain("the inside of this computer")
  })
})
