import { once } from "node:events"
import http from "node:http"
import type { AddressInfo } from "node:net"

/** The parts of Cloudflare's API that a deploy uses, for an account that begins empty. */
export type Account = {
  url: string
  /** Requests that changed something, in order: `POST /queues gateway-broadcast`. */
  written: string[]
  /** Names and values of the secrets of the Worker. */
  secrets: Map<string, string>
  /** Migrations that the database records. */
  migrations: string[]
  close: () => void
}

type Metadata = { bindings: { name: string; type: string; text?: string }[] }
type Answer = { status?: number; code?: number; result: unknown }

const missing = (code: number): Answer => ({ status: 404, code, result: null })

export async function startAccount(): Promise<Account> {
  const written: string[] = []
  const secrets = new Map<string, string>()
  const names = new Set<string>()
  const migrations: string[] = []
  let isDeployed = false

  const queues = (name: string | null): Answer => {
    const known = [...names].filter((one) => one.startsWith("queue ") && (name === null || one === `queue ${name}`))
    return {
      result: known.map((one) => ({ queue_id: one.slice(6), queue_name: one.slice(6), consumers: [], producers: [] })),
    }
  }
  const query = (sql: string): Answer => {
    const name = /VALUES \('([^']+\.sql)'\)|values \('([^']+\.sql)'\)/.exec(sql)
    if (name) migrations.push(name[1] ?? name[2] ?? "")
    const rows = /FROM d1_migrations/i.test(sql) ? migrations.map((one, id) => ({ id, name: one })) : []
    return { result: [{ results: rows, success: true, meta: {} }] }
  }
  const upload = (body: string): Answer => {
    const metadata = /name="metadata"\r\n(?:[^\r\n]+\r\n)*\r\n([^\r]+)\r\n/.exec(body)?.[1] ?? "{}"
    for (const { name, type, text } of (JSON.parse(metadata) as Metadata).bindings) {
      if (type === "secret_text") secrets.set(name, text ?? "")
    }
    isDeployed = true
    return { result: { id: "gateway", startup_time_ms: 10, deployment_id: "deployment" } }
  }

  /** By method and path below the account; the first match responds. */
  const routes: readonly [RegExp, (path: URL, body: string) => Answer][] = [
    [/^GET \/queues$/, ({ searchParams }) => queues(searchParams.get("name"))],
    [/^POST \/queues$/, (_, body) => (names.add(`queue ${JSON.parse(body).queue_name}`), { result: {} })],
    [/^GET \/queues\/[^/]+\/consumers$/, () => ({ result: [] })],
    [
      /^GET \/d1\/database\/[^/]+$/,
      () => (names.has("database") ? { result: { uuid: "d1", name: "gateway" } } : missing(7404)),
    ],
    [/^GET \/d1\/database$/, () => ({ result: names.has("database") ? [{ uuid: "d1", name: "gateway" }] : [] })],
    [/^POST \/d1\/database$/, () => (names.add("database"), { result: { uuid: "d1", name: "gateway" } })],
    [/^POST \/d1\/database\/d1\/query$/, (_, body) => query(JSON.parse(body).sql)],
    [
      /^GET \/storage\/kv\/namespaces$/,
      () => ({ result: names.has("namespace") ? [{ id: "kv", title: "gateway-catalog" }] : [] }),
    ],
    [/^POST \/storage\/kv\/namespaces$/, () => (names.add("namespace"), { result: { id: "kv" } })],
    [
      /^GET \/r2\/buckets\/[^/]+$/,
      () => (names.has("bucket") ? { result: { name: "gateway-files" } } : missing(10006)),
    ],
    [/^GET \/r2\/buckets$/, () => ({ result: { buckets: names.has("bucket") ? [{ name: "gateway-files" }] : [] } })],
    [/^POST \/r2\/buckets$/, () => (names.add("bucket"), { result: {} })],
    [/^POST .*\/assets-upload-session$/, () => ({ result: { jwt: "token", buckets: [] } })],
    [
      /^GET \/workers\/scripts\/gateway\/secrets$/,
      () =>
        isDeployed ? { result: [...secrets.keys()].map((name) => ({ name, type: "secret_text" })) } : missing(10007),
    ],
    [/^PUT \/workers\/scripts\/gateway$/, (_, body) => upload(body)],
    [/^GET \/workers\/(?:services|scripts)\/gateway.*$/, () => missing(10090)],
    [
      /^GET \/workers\/workers\/gateway$/,
      () => ({ result: { id: "gateway", subdomain: { enabled: true, previews_enabled: false } } }),
    ],
    [/\/subdomain$/, () => ({ result: { subdomain: "example", enabled: true, previews_enabled: false } })],
  ]

  const server = http.createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on("data", (chunk: Buffer) => chunks.push(chunk))
    request.on("end", () => {
      const body = Buffer.concat(chunks).toString("latin1")
      const path = new URL((request.url ?? "").replace("/accounts/account", ""), "http://account")
      const name = `${request.method} ${path.pathname}`
      const route = routes.find(([pattern]) => pattern.test(name))
      const { status = 200, code, result } = route?.[1](path, body) ?? { result: {} }
      if (request.method !== "GET") written.push(name)
      const errors = code === undefined ? [] : [{ code, message: "not found" }]
      response.writeHead(status, { "content-type": "application/json" })
      response.end(JSON.stringify({ success: status < 400, errors, messages: [], result, result_info: {} }))
    })
  })
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  const { port } = server.address() as AddressInfo
  return { url: `http://127.0.0.1:${port}`, written, secrets, migrations, close: () => void server.close() }
}
