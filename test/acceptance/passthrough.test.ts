import { once } from "node:events"
import http from "node:http"
import type { AddressInfo } from "node:net"
import Replicate from "replicate"
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest"
import { eventually } from "../support/eventually.ts"
import { gatewayUrl, newKey, newOrganization, type Organization, request, usageOf } from "./world.ts"

/** The client of a media vendor, pointed at a service of the gateway with a gateway key in place of the vendor's. */

const SECRET = "r8_secret-of-the-vendor-0123456789"
const MODEL = "team/painter"
type Prediction = { id: string; input: unknown; polls: number }
type Seen = { method: string; path: string; authorization: string; headers: string; body: string }

let seen: Seen[] = []
/** The status of the next requests, if not the vendor's usual one. */
let failure: { status: number; text: string } | undefined
const predictions = new Map<string, Prediction>()

const vendor = http.createServer((request, response) => {
  const chunks: Buffer[] = []
  request.on("data", (chunk: Buffer) => chunks.push(chunk))
  request.on("end", () => {
    const { method = "", url: path = "", headers, rawHeaders } = request
    const body = Buffer.concat(chunks).toString()
    seen.push({ method, path, authorization: headers.authorization ?? "", headers: rawHeaders.join("\n"), body })
    const [status, answer] = failure ? [failure.status, { detail: failure.text }] : answerTo(method, path, body)
    response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(answer))
  })
})

function answerTo(method: string, path: string, body: string): [number, unknown] {
  if (method === "POST" && path === `/v1/models/${MODEL}/predictions`) {
    const { input } = JSON.parse(body) as { input: unknown }
    const made = { id: `p${predictions.size + 1}`, input, polls: 0 }
    predictions.set(made.id, made)
    return [201, viewOf(made, "starting")]
  }
  const known = predictions.get(/^\/v1\/predictions\/(\w+)$/.exec(path)?.[1] ?? "")
  if (method !== "GET" || !known) return [404, { detail: "Not found" }]
  known.polls += 1
  return [200, viewOf(known, known.polls < 2 ? "processing" : "succeeded")]
}

const viewOf = ({ id, input }: Prediction, status: string) => ({
  id,
  input,
  status,
  model: MODEL,
  version: "hidden",
  output: status === "succeeded" ? "a picture of the sea" : null,
  urls: { get: `https://vendor.example/v1/predictions/${id}` },
  error: null,
  logs: "",
})

let organization: Organization
beforeAll(async () => {
  vendor.listen(0, "127.0.0.1")
  await once(vendor, "listening")
  organization = await newOrganization()
  await manage("POST", "/passthrough-services", {
    slug: "replicate",
    name: "Replicate",
    base_url: `http://127.0.0.1:${(vendor.address() as AddressInfo).port}`,
    headers: { Authorization: `Bearer ${SECRET}` },
    rules: [
      { methods: ["POST"], path: "/v1/models/*/predictions", price_usd: 0.025 },
      { methods: ["GET"], path: "/v1/predictions/*" },
    ],
  })
})
afterAll(() => vendor.close())
beforeEach(() => {
  seen = []
  failure = undefined
})

const manage = <T>(method: string, resource: string, body?: object) =>
  request<T>(organization.managementKey, method, resource, { ...(body && { body }) })

const replicate = (auth: string) => new Replicate({ auth, baseUrl: `${gatewayUrl}/passthrough/replicate/v1` })
const paint = (key: string, prompt = "the sea") =>
  replicate(key).run(MODEL, { input: { prompt }, wait: { mode: "poll", interval: 5 } })
const spentBy = (apiKey: string) => usageOf({ ...organization, apiKey })

/** What the client throws for a response that is not a success: its status and the gateway's error. */
async function refusalOf(work: Promise<unknown>) {
  const thrown = (await work.then(
    () => expect.fail("The request succeeded."),
    (error: unknown) => error,
  )) as { response: Response; message: string }
  const reason = /"reason":"(\w+)"/.exec(thrown.message)?.[1]
  return { status: thrown.response.status, reason, message: thrown.message }
}

describe("replicate, through a service of the gateway", () => {
  test("runs a model to its output with the vendor's secret, and is charged the price of the rule", async () => {
    const key = await newKey(organization, {})
    expect(await paint(key)).toBe("a picture of the sea")
    expect(seen.map(({ method }) => method)).toEqual(["POST", "GET", "GET"])
    expect(seen.every(({ authorization }) => authorization === `Bearer ${SECRET}`)).toBe(true)
    expect(seen.map(({ headers }) => headers).join("\n")).not.toContain(key)
    expect(await spentBy(key)).toBe(0.025)
    await eventually(async () => {
      const { data } = await manage<{ data: { cost: number }[] }>("GET", "/calls?model=passthrough/replicate")
      expect(data.map(({ cost }) => cost).toSorted()).toEqual([0, 0, 0.025])
    })
  })

  test("gets 403 for a path that no rule forwards, and nothing reaches the vendor", async () => {
    const key = await newKey(organization, {})
    const refusal = await refusalOf(replicate(key).deployments.list())
    expect(refusal).toMatchObject({ status: 403, reason: "passthrough_path_denied" })
    expect(refusal.message).toContain("/v1/models/*/predictions")
    expect(seen).toEqual([])
  })

  test("gets 402 once the limit of its key would be passed, for no more than the limit", async () => {
    const key = await newKey(organization, { limit: 0.06 })
    await paint(key)
    await paint(key)
    expect(await refusalOf(paint(key))).toMatchObject({ status: 402 })
    expect(seen.filter(({ method }) => method === "POST")).toHaveLength(2)
    expect(await spentBy(key)).toBe(0.05)
  })

  test("gets 403 for a prompt that a guardrail of its key blocks, and nothing reaches the vendor", async () => {
    const key = await newKey(organization, {})
    const filters = [{ action: "block", pattern: "project-\\w+" }]
    const { data } = await manage<{ data: { id: string } }>("POST", "/guardrails", {
      name: "Code names",
      content_filters: filters,
    })
    const { data: own } = await manage<{ data: { hash: string }[] }>("GET", `/keys?q=${key.slice(-3)}`)
    const hashes = own.map(({ hash }) => hash)
    await manage("POST", `/guardrails/${data.id}/assignments/keys`, { key_hashes: hashes })
    expect(await refusalOf(paint(key, "the logo of project-neptune"))).toMatchObject({ status: 403 })
    expect(seen).toEqual([])
    expect(await spentBy(key)).toBe(0)
  })

  test.each([
    { says: "a rejected input", status: 422, expected: 422 },
    { says: "a failure of the vendor", status: 500, expected: 500 },
    { says: "a rejected secret of the service", status: 401, expected: 502 },
    { says: "a secret without the right", status: 403, expected: 502 },
  ])("gets $expected for $says, is charged nothing, and never sees the secret", async ({ status, expected }) => {
    const key = await newKey(organization, {})
    failure = { status, text: `Failed with ${SECRET}` }
    const refusal = await refusalOf(paint(key))
    expect(refusal.status).toBe(expected)
    expect(refusal.message).not.toContain(SECRET)
    expect(await spentBy(key)).toBe(0)
  })

  test("gets 502 where the vendor does not listen, and is charged nothing", async () => {
    const key = await newKey(organization, {})
    await manage("POST", "/passthrough-services", {
      slug: "away",
      name: "Away",
      base_url: "http://127.0.0.1:9",
      rules: [{ path: "/v1/*", price_usd: 1 }],
    })
    const away = new Replicate({ auth: key, baseUrl: `${gatewayUrl}/passthrough/away/v1` })
    const refusal = await refusalOf(away.run(MODEL, { input: {}, wait: { mode: "poll" } }))
    expect(refusal).toMatchObject({ status: 502 })
    expect(await spentBy(key)).toBe(0)
  })

  test("gets 401 with a key that does not exist, and 404 from the key of another organization", async () => {
    expect(await refusalOf(paint("sk-gw-v1-unknown"))).toMatchObject({ status: 401 })
    const stranger = await newOrganization()
    expect(await refusalOf(paint(stranger.apiKey))).toMatchObject({ status: 404 })
    expect(seen).toEqual([])
  })

  test("of ten at once under a limit that covers four, exactly four are painted and charged", async () => {
    const key = await newKey(organization, { limit: 0.1 })
    const results = await Promise.allSettled(Array.from({ length: 10 }, () => paint(key)))
    expect(results.filter(({ status }) => status === "fulfilled")).toHaveLength(4)
    expect(seen.filter(({ method }) => method === "POST")).toHaveLength(4)
    expect(await spentBy(key)).toBe(0.1)
  })
})
