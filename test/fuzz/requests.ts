import type { Operation, Schema } from "./document.ts"
import type { Random } from "./random.ts"
import { brokenJson, mutate, ODD_TEXT, oddValue, Sampler } from "./values.ts"

export type FuzzRequest = {
  operation: Operation
  method: string
  path: string
  headers: Record<string, string>
  body: Buffer | undefined
}

/** Material for requests. */
export type Material = {
  random: Random
  /** Ids in earlier responses. */
  ids: readonly string[]
  /** By kind, several of some. */
  keys: readonly string[]
  resolve: (schema: Schema) => Schema
}

const CONTENT_TYPES = [
  "application/json",
  "application/json; charset=utf-16",
  "APPLICATION/JSON",
  "application/problem+json",
  "text/plain",
  "text/json",
  "application/x-www-form-urlencoded",
  "multipart/form-data",
  "multipart/form-data; boundary=",
  "multipart/form-data; boundary=b",
  "application/xml",
  "",
]

export function newRequest(operation: Operation, material: Material): FuzzRequest {
  const { random } = material
  const { headers, body } = bodyOf(operation, material)
  const isOtherMethod = random.chance(0.02)
  return {
    operation,
    method: isOtherMethod ? random.pick(["PUT", "DELETE", "PATCH", "POST", "OPTIONS", "HEAD"]) : operation.method,
    path: pathOf(operation, material) + queryOf(operation, material),
    headers: { ...headers, ...credentialOf(material), ...oddHeaders(random) },
    body,
  }
}

function pathOf({ path, parameters }: Operation, material: Material): string {
  const { random, ids, resolve } = material
  return path.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    if (random.chance(0.1))
      return random.pick([
        ...ODD_TEXT.filter((text) => text.length < 2_000).map(encodeSafely),
        "%",
        "%zz",
        "%c0%af",
        "%2e%2e",
      ])
    if (name === "author") return random.pick(["scripted", "none"])
    if (name === "interval") return random.pick(["daily", "weekly", "monthly", "lifetime", "hourly"])
    const schema = parameters.find((parameter) => parameter.name === name)?.schema ?? {}
    return encodeSafely(String(new Sampler(random, ids, resolve).sample(schema, `${name}_id`)))
  })
}

/** A lone surrogate cannot be encoded in a URL. */
function encodeSafely(text: string): string {
  return encodeURIComponent(text.toWellFormed())
}

function queryOf({ parameters }: Operation, { random, ids, resolve }: Material): string {
  const sampler = new Sampler(random, ids, resolve)
  const pairs: string[] = []
  for (const { name, in: place, required, schema } of parameters) {
    if (place !== "query" || !(required || random.chance(0.3))) continue
    const isOdd = random.chance(0.2)
    const value = isOdd ? random.pick(ODD_TEXT) : String(sampler.sample(schema, name))
    pairs.push(`${encodeSafely(name)}=${encodeSafely(value.slice(0, 4_000))}`)
    if (random.chance(0.05)) pairs.push(`${encodeSafely(name)}=2`)
  }
  if (random.chance(0.03)) {
    pairs.push(random.pick(["%", "%ff=%fe", "a=%00", "__proto__[x]=1", "=", "&&&", "limit[]=1", "+"]))
  }
  return pairs.length === 0 ? "" : `?${pairs.join("&")}`
}

type Body = { headers: Record<string, string>; body: Buffer | undefined }

function bodyOf(operation: Operation, material: Material): Body {
  const { random, ids, resolve } = material
  const [type, content] = Object.entries(operation.body).at(0) ?? []
  if (type === undefined && !random.chance(0.05)) return { headers: {}, body: undefined }
  const sampler = new Sampler(random, ids, resolve)
  const isExample = content?.example !== undefined && random.chance(0.6)
  const value = isExample ? exampleOf(content.example, random) : sampler.sample(content?.schema)
  if (type?.startsWith("multipart/") && random.chance(0.7)) return formOf(value, random)
  const kind = random.next()
  const shown = kind < 0.4 ? value : mutate(kind < 0.75 ? value : mutate(value, random), random)
  const form = type === "application/x-www-form-urlencoded" && random.chance(0.7)
  const text = form ? toForm(shown) : kind < 0.9 ? safeJson(shown) : brokenJson(shown, random)
  const declared = random.chance(0.05) ? random.pick(CONTENT_TYPES) : (type ?? "application/json")
  const bytes = Buffer.from(text)
  if (random.chance(0.01)) bytes.fill(0xff, 0, Math.min(bytes.length, 8))
  return { headers: { "content-type": declared }, body: bytes }
}

/** The example of the document, with a model that this gateway has, streamed or not. */
function exampleOf(example: unknown, random: Random): unknown {
  if (example === null || typeof example !== "object" || !("model" in example)) return example
  const isStreamed = random.chance(0.5) && ("messages" in example || "input" in example)
  return { ...example, model: `scripted/model-${random.int(200)}`, ...(isStreamed && { stream: true }) }
}

const safeJson = (value: unknown) => JSON.stringify(value) ?? ""

function toForm(value: unknown): string {
  const fields = value !== null && typeof value === "object" ? Object.entries(value) : []
  return new URLSearchParams(
    fields.map(([name, field]) => [name.toWellFormed(), String(field).toWellFormed()]),
  ).toString()
}

function formOf(value: unknown, random: Random) {
  const boundary = random.chance(0.1) ? "b" : `b${random.hex(8)}`
  const fields = Object.entries(value !== null && typeof value === "object" ? value : {})
  const parts = [...fields, ["file", random.pick(ODD_TEXT)] as const].map(([name, field]) => {
    const file =
      name === "file"
        ? `; filename="${random.pick(["a.txt", "a.pdf", "../a", "", "a\u0000.png", "x".repeat(300)])}"`
        : ""
    const text = typeof field === "string" ? field : safeJson(field)
    return `--${boundary}\r\nContent-Disposition: form-data; name="${name}"${file}\r\n\r\n${text}\r\n`
  })
  const multipart = `${parts.join("")}--${boundary}--\r\n`
  const text = random.chance(0.7)
    ? multipart
    : random.pick([
        multipart.slice(0, random.int(multipart.length)),
        multipart.replaceAll("\r\n", "\n"),
        multipart.replace("form-data", "attachment"),
        multipart.replace("name=", "nom="),
        `--${boundary}--`,
        `${parts.join("").repeat(200)}--${boundary}--\r\n`,
      ])
  const declared = random.chance(0.9) ? `multipart/form-data; boundary=${boundary}` : random.pick(CONTENT_TYPES)
  return { headers: { "content-type": declared }, body: Buffer.from(text) }
}

function credentialOf({ random, keys }: Material): Record<string, string> {
  const kind = random.next()
  if (kind < 0.9) return { authorization: `Bearer ${random.pick(keys)}` }
  if (kind < 0.93) return { "x-api-key": random.pick(keys) }
  if (kind < 0.96) return {}
  return {
    authorization: random.pick([
      "Bearer",
      "Bearer ",
      "Basic eDp5",
      `Bearer ${random.hex(64)}`,
      "bearer\tx",
      "Bearer \u00e9",
    ]),
  }
}

function oddHeaders(random: Random): Record<string, string> {
  if (!random.chance(0.15)) return {}
  const value = random.pick(["", "x", "a, b", "=", "\u00e9", "1".repeat(6_000), "{}", "bytes=0-", "gzip", "-1"])
  const name = random.pick([
    "accept",
    "accept-encoding",
    "content-encoding",
    "cookie",
    "forwarded",
    "idempotency-key",
    "if-match",
    "if-none-match",
    "last-event-id",
    "origin",
    "prefer",
    "range",
    "traceparent",
    "user-agent",
    "x-forwarded-for",
    "x-forwarded-proto",
    "x-http-method-override",
    "x-service-metadata",
    "x-service-timing",
    "x-session-id",
    "x-request-id",
    "anthropic-version",
    "openai-organization",
  ])
  return {
    [name]: value,
    ...(random.chance(0.1) && {
      "x-large": String(oddValue(random))
        .slice(0, 8_000)
        .replaceAll(/[^\x20-\x7e]/g, "?"),
    }),
  }
}

/** The request as a command that repeats it. */
export function toCurl(
  { method, path, headers, body }: FuzzRequest,
  url: string,
  keyNames: ReadonlyMap<string, string>,
) {
  const quote = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`
  const hide = (text: string) =>
    text.replace(/(?<=^Bearer ).+/, (key) => (keyNames.has(key) ? `$${keyNames.get(key)}` : key))
  const shown = Object.entries(headers).map(([name, value]) => {
    const named = hide(value)
    return `-H ${named === value ? quote(`${name}: ${value}`) : `"${name}: ${named}"`}`
  })
  const data = body === undefined ? [] : [`--data-binary "$(echo ${body.toString("base64")} | base64 -d)"`]
  return ["curl -i --path-as-is", `-X ${method}`, ...shown, ...data, quote(url + path)].join(" ")
}
