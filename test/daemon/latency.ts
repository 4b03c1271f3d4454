import { spawn } from "node:child_process"
import { mkdtempSync, writeFileSync } from "node:fs"
import http from "node:http"
import type { Socket } from "node:net"
import { tmpdir } from "node:os"
import path from "node:path"
import tls from "node:tls"
import { newAuthority } from "../../src/daemon/proxy/authority.ts"
import { open } from "../../src/daemon/proxy/connect.ts"
import { gatewayEgress } from "../../src/daemon/proxy/egress.ts"
import { startProxy } from "../../src/daemon/proxy/proxy.ts"
import { root } from "../../src/dev/options.ts"
import { end, npmStart } from "../acceptance/npm-start.ts"
import { openBoundHost } from "./bound-host.ts"
import { removeFolder } from "../support/remove-folder.ts"

/**
 * Measures the latency of the gateway's egress: node test/daemon/latency.ts [requests]. The same 1 KB requests through
 * the daemon's proxy, one after the other on one connection: tunnelled as to any host, and by the gateway's egress as
 * to a bound host.
 */
const count = Number(process.argv[2] ?? 50)
const folder = mkdtempSync(path.join(tmpdir(), "gateway-latency-"))
const host = await openBoundHost(folder, "unused")
const ca = path.join(folder, "ca.pem")
writeFileSync(ca, host.ca)
const testHosts = JSON.stringify({ "api.bound.example": host.origin })
const env = { ...process.env, NODE_EXTRA_CA_CERTS: ca, EGRESS_TEST_HOSTS: testHosts }
const gateway = await npmStart(path.join(folder, "gateway"), (args) =>
  spawn(process.execPath, ["src/dev/start.ts", ...args], { cwd: root, env, stdio: ["ignore", "pipe", "pipe"] }),
)

async function call(method: string, resource: string, body?: unknown): Promise<Record<string, string>> {
  const headers = { authorization: `Bearer ${gateway.apiKey}`, "content-type": "application/json" }
  const text = body === undefined ? {} : { body: JSON.stringify(body) }
  const response = await fetch(gateway.url + resource, { method, headers, ...text })
  if (!response.ok) throw new Error(await response.text())
  return (await response.json()) as Record<string, string>
}

const { id = "" } = await call("POST", "/interns", { name: "latency", host: "daemon", provision: true })
const secret = { hosts: ["api.bound.example"], value: "value-of-the-latency-test" }
await call("PUT", `/vault/interns/${id}/secrets/token`, secret)
const { token = "" } = await call("POST", `/interns/${id}/daemon/token`)
const authority = newAuthority("latency")
const proxy = await startProxy({
  authority,
  secrets: () => [{ hosts: ["api.bound.example"] }],
  egress: gatewayEgress(() => new URL(`${gateway.url}/interns/${id}/daemon/egress`), token),
  onUnbound: () => {},
  gateway: new URL(gateway.url),
  allowedHosts: undefined,
  connect: () => open("127.0.0.1", Number(new URL(host.origin).port)),
})

/** Milliseconds of each request, in order of size. */
async function measure(name: string): Promise<number[]> {
  const { url } = proxy
  const credentials = Buffer.from(`${url.username}:${url.password}`).toString("base64")
  const requests = http.request({
    host: url.hostname,
    port: url.port,
    method: "CONNECT",
    path: `${name}:443`,
    headers: { "proxy-authorization": `Basic ${credentials}` },
  })
  requests.end()
  const socket = await new Promise<Socket>((resolve) => requests.on("connect", (_, opened) => resolve(opened)))
  const secure = tls.connect({ socket, servername: name, ca: [authority.certificate, host.ca] })
  await new Promise((resolve) => secure.once("secureConnect", resolve))
  const agent = new http.Agent({ keepAlive: true, maxSockets: 1 })
  agent.createConnection = () => secure
  const taken: number[] = []
  for (let sent = 0; sent < count + 5; sent++) {
    const startedAt = performance.now()
    await new Promise<void>((resolve, reject) => {
      const options = {
        agent,
        host: name,
        method: "POST",
        path: "/echo",
        headers: { host: name, "content-length": 1024 },
      }
      const request = http.request(options, (response) => response.resume().on("end", () => resolve()))
      request.on("error", reject).end("x".repeat(1024))
    })
    // The first requests warm up.
    if (sent >= 5) taken.push(performance.now() - startedAt)
  }
  secure.destroy()
  return taken.toSorted((a, b) => a - b)
}

const percentile = (values: number[], share: number) => (values[Math.floor(values.length * share)] ?? 0).toFixed(1)
for (const [content, name] of [
  ["tunnelled by the daemon", "free.example"],
  ["by the gateway's egress", "api.bound.example"],
] as const) {
  const taken = await measure(name)
  console.log(`${content}: median ${percentile(taken, 0.5)} ms, p95 ${percentile(taken, 0.95)} ms (${count} requests)`)
}

/** Milliseconds of requests to the gateway itself, on which the egress is built. */
async function measureGateway(url: string): Promise<number[]> {
  const taken: number[] = []
  for (let sent = 0; sent < count + 5; sent++) {
    const startedAt = performance.now()
    await (await fetch(url, { headers: { authorization: `Bearer ${token}` } })).arrayBuffer()
    if (sent >= 5) taken.push(performance.now() - startedAt)
  }
  return taken.toSorted((a, b) => a - b)
}

for (const [content, url] of [
  ["the gateway alone (GET /health)", new URL("/health", gateway.url).href],
  ["and its database (GET …/daemon/secrets)", `${gateway.url}/interns/${id}/daemon/secrets`],
] as const) {
  const taken = await measureGateway(url)
  console.log(`${content}: median ${percentile(taken, 0.5)} ms, p95 ${percentile(taken, 0.95)} ms (${count} requests)`)
}
await proxy.close()
await end(gateway)
await host.close()
removeFolder(folder)
