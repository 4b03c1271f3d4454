import { exports } from "cloudflare:workers"
import { afterEach, describe, expect, test } from "vitest"
import { type UpstreamRequest, chunk, good, mockProvider, sse } from "../support/mock-provider.ts"
import { newWorkspace, readStream, expectJson, type Workspace } from "../support/world.ts"
import { newReplicaModel } from "../support/replicas.ts"

type Failure = { error: { code: number; message: string; metadata?: Record<string, unknown> } }
type Routed = {
  service_metadata: {
    region: string
    strategy: string
    endpoints: { available: { provider: string; selected: boolean }[] }
  }
}

let stop = () => {}
afterEach(() => stop())

const front = () => (exports as unknown as { default: Fetcher }).default
const replicaOf = ({ url }: UpstreamRequest) => new URL(url).hostname.replace(".test", "")
const answer = (text: string) => Response.json({ choices: [{ message: { content: text }, finish_reason: "stop" }] })
const refusal = (status: number, message: string, headers: Record<string, string> = {}) =>
  Response.json({ error: { message } }, { status, headers })

/** The replica returns its name unless `refuse` returns an error. */
function refuseWith(refuse: (upstreamCalls: UpstreamRequest) => Response | undefined) {
  const provider = mockProvider((upstreamCalls) => refuse(upstreamCalls) ?? answer(replicaOf(upstreamCalls)))
  ;({ stop } = provider)
  return provider
}

describe("a rejection of the gateway's key fails over to another provider", () => {
  test.each([
    [400, "API key not valid. Please pass a valid API key."],
    [400, "Your credit balance is too low to access the API."],
    [400, "The model is not available for your account"],
    [401, "Incorrect API key provided"],
    [402, "Insufficient Balance"],
    [403, "Project does not have access to this model"],
    [404, "The model does not exist"],
    [422, "You exceeded your current quota"],
  ])("%i %s", async (status, message) => {
    const { as } = await newWorkspace()
    const { upstreamCalls } = refuseWith((one) =>
      replicaOf(one) === "replica-a" ? refusal(status, message) : undefined,
    )
    const returned = await expectJson<{ choices: { message: { content: string } }[] }>(
      200,
      as.chat(newReplicaModel(), "Hi", {
        provider: { order: ["replica-a", "replica-b"], only: ["replica-a", "replica-b"] },
      }),
    )
    expect(returned.choices[0]?.message.content).toBe("replica-b")
    expect(upstreamCalls.map(replicaOf)).toEqual(["replica-a", "replica-b"])
  })

  test("its message is not returned to the client", async () => {
    const { as } = await newWorkspace()
    refuseWith(() => refusal(400, "Invalid API key sk-live-0123456789abcdef"))
    const { error } = await expectJson<Failure>(
      502,
      as.chat(newReplicaModel(), "Hi", { provider: { only: ["replica-a"] } }),
    )
    expect(error.message).not.toContain("sk-live")
  })
})

describe("a rejection of the request", () => {
  test("is returned without failover", async () => {
    const { as } = await newWorkspace()
    const { upstreamCalls } = refuseWith(() => refusal(400, "messages[0].content: too strange"))
    const { error } = await expectJson<Failure>(400, as.chat(newReplicaModel(), "Hi", { models: [newReplicaModel()] }))
    expect(error.message).toContain("too strange")
    expect(upstreamCalls).toHaveLength(1)
  })

  test("because of the context length fails over to the next model", async () => {
    const { as } = await newWorkspace()
    const [short, long] = [newReplicaModel(), newReplicaModel()]
    const { upstreamCalls } = refuseWith((one) =>
      short.endsWith(`-${String(one.body["model"]).slice(1)}`)
        ? refusal(400, "This model's maximum context length is 8192 tokens")
        : undefined,
    )
    await expectJson(200, as.chat(short, "Hi", { models: [long] }))
    expect(upstreamCalls).toHaveLength(2)
  })
})

describe("retry hints", () => {
  test.each([
    ["Retry-After in seconds", () => refusal(429, "slow down", { "retry-after": "7" }), "7"],
    ["retry-after-ms", () => refusal(429, "slow down", { "retry-after-ms": "1500" }), "2"],
    ["retry_after in the body", () => Response.json({ error: { message: "m", retry_after: 9 } }, { status: 429 }), "9"],
    [
      "Google's RetryInfo",
      () =>
        Response.json(
          [
            {
              error: {
                message: "m",
                details: [{ "@type": "type.googleapis.com/google.rpc.RetryInfo", retryDelay: "13s" }],
              },
            },
          ],
          { status: 429 },
        ),
      "13",
    ],
    [
      "resets_in_seconds",
      () => Response.json({ error: { message: "m", resets_in_seconds: 44 } }, { status: 429 }),
      "44",
    ],
    [
      "retry_after below metadata",
      () => Response.json({ error: { message: "m", metadata: { retry_after: 9 } } }, { status: 429 }),
      "9",
    ],
    [
      "retry_after of an error in a 200",
      () => Response.json({ error: { message: "m", code: 429, retry_after: 11 } }),
      "11",
    ],
  ])("%s is relayed", async (_, response, expected) => {
    const { as } = await newWorkspace()
    refuseWith(response)
    const returned = await as.chat(newReplicaModel(), "Hi", { provider: { only: ["replica-a"] } })
    expect(returned.status).toBe(429)
    expect(returned.headers.get("retry-after")).toBe(expected)
  })

  test("in the first event of a stream is relayed", async () => {
    const { as } = await newWorkspace()
    const error = { message: "m", code: 429, metadata: { retry_after_seconds: 12 } }
    refuseWith(() => sse([`data: ${JSON.stringify({ error })}\n\n`]))
    const returned = await as.chat(newReplicaModel(), "Hi", { stream: true, provider: { only: ["replica-a"] } })
    expect(returned.status).toBe(429)
    expect(returned.headers.get("retry-after")).toBe("12")
  })

  test("of several providers are reduced to the shortest", async () => {
    const { as } = await newWorkspace()
    const hints: Record<string, string> = { "replica-a": "30", "replica-b": "5", "replica-c": "60" }
    refuseWith((one) => refusal(429, "slow down", { "retry-after": hints[replicaOf(one)] ?? "" }))
    const returned = await as.chat(newReplicaModel(), "Hi")
    expect(returned.headers.get("retry-after")).toBe("5")
  })
})

describe("reasoning with a provider's signature", () => {
  const signed = (details: unknown[]) => [chunk({ reasoning: "hm", reasoning_details: details }), ...good("so")]

  test("keeps the conversation with that provider", async () => {
    const { as } = await newWorkspace()
    const { upstreamCalls } = mockEndpoints((one) =>
      sse(signed([{ type: "reasoning.text", text: "hm", signature: `sig-${replicaOf(one)}-1` }])),
    )
    const model = newReplicaModel()
    await readStream(as.chat(model, "Hi", { stream: true }))
    const first = replicaOf(upstreamCalls[0] as UpstreamRequest)
    for (let turn = 0; turn < 12; turn++) {
      const messages = [
        { role: "user", content: "Hi" },
        {
          role: "assistant",
          content: "so",
          reasoning_details: [{ type: "reasoning.text", signature: `sig-${first}-1` }],
        },
        { role: "user", content: `turn ${turn}` },
      ]
      await readStream(as.post("/chat/completions", { model, messages, stream: true }))
    }
    expect(new Set(upstreamCalls.map(replicaOf))).toEqual(new Set([first]))
  })

  test("requested in the first turn keeps the conversation with one provider", async () => {
    const { as } = await newWorkspace()
    const { upstreamCalls } = refuseWith(() => undefined)
    const model = newReplicaModel()
    for (let turn = 0; turn < 12; turn++) await as.chat(model, "Why?", { reasoning: { effort: "low" } })
    expect(new Set(upstreamCalls.map(replicaOf)).size).toBe(1)
  })

  function mockEndpoints(answerWith: (upstreamCalls: UpstreamRequest) => Response) {
    const provider = mockProvider(answerWith)
    ;({ stop } = provider)
    return provider
  }
})

describe("on a regional hostname", () => {
  const send = (workspace: Workspace, host: string, body: object) =>
    front().fetch(`http://${host}/api/v1/chat/completions`, {
      method: "POST",
      headers: {
        authorization: `Bearer ${workspace.key}`,
        "content-type": "application/json",
        "x-service-metadata": "enabled",
      },
      body: JSON.stringify({ messages: [{ role: "user", content: "Hi" }], ...body }),
    })

  test("only endpoints of the region are called", async () => {
    const workspace = await newWorkspace()
    const { upstreamCalls } = refuseWith(() => undefined)
    const model = newReplicaModel()
    for (let turn = 0; turn < 8; turn++) {
      const returned = await expectJson<Routed>(200, send(workspace, "eu.localhost", { model }))
      expect(returned.service_metadata.region).toBe("europe")
      expect(returned.service_metadata.endpoints.available.map(({ provider }) => provider)).toEqual(["replica-b"])
    }
    expect(new Set(upstreamCalls.map(replicaOf))).toEqual(new Set(["replica-b"]))
  })

  test("a model without an endpoint there returns 404 with the region", async () => {
    const { error } = await expectJson<Failure>(
      404,
      send(await newWorkspace(), "us.localhost", { model: newReplicaModel() }),
    )
    expect(error.message).toContain("not in the region us (replica-")
  })

  test("the embedded models are available, because they run in the gateway", async () => {
    await expectJson(200, send(await newWorkspace(), "us.localhost", { model: "sim/echo" }))
  })

  test.each(["/interns", "/interns/x/daemon", "/interns/x/chat", "/vault/interns/x/secrets/y", "/vault"])(
    "%s returns 403 without a key",
    async (path) => {
      const { error } = await expectJson<Failure>(403, front().fetch(`http://EU.localhost:8787/api/v1${path}`))
      expect(error.metadata).toEqual({ reason: "regional_hostname", retryable: false })
    },
  )

  test.each(["eu.localhost.evil.test", "xeu.localhost", "localhost", "a.eu.localhost"])(
    "%s is not a regional hostname",
    async (host) => {
      const returned = await front().fetch(`http://${host}/api/v1/interns`)
      expect(returned.status).not.toBe(403)
    },
  )
})

describe("sorting by measured statistics", () => {
  /** Far enough from the other provider's latency for a busy machine. */
  const SLOW_MS = 1_200

  test("uses latency and throughput of earlier calls", async () => {
    const { as } = await newWorkspace()
    const wait = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))
    const provider = mockProvider(async (one) => {
      await wait(replicaOf(one) === "replica-a" ? SLOW_MS : 5)
      return sse(good("a b c"))
    })
    ;({ stop } = provider)
    const only = ["replica-a", "replica-b"]
    const model = newReplicaModel()
    for (const slug of only) await readStream(as.chat(model, "Hi", { stream: true, provider: { only: [slug] } }))
    provider.upstreamCalls.length = 0
    await readStream(as.chat(model, "Hi", { stream: true, provider: { only, sort: "latency" } }))
    await readStream(
      as.chat(model, "Hi", { stream: true, provider: { only, sort: "price", preferred_max_latency: SLOW_MS / 2_000 } }),
    )
    expect(provider.upstreamCalls.map(replicaOf)).toEqual(["replica-b", "replica-b"])
  })
})

describe("the turns of a conversation", () => {
  const opening = (text: string) => [
    { role: "system", content: "Be brief." },
    { role: "user", content: text },
  ]
  const turn = async ({ as }: Workspace, model: string, more: Record<string, unknown>) => {
    const { choices } = await expectJson<{ choices: { message: { content: string } }[] }>(
      200,
      as.post("/chat/completions", { model, ...more }),
    )
    return choices[0]?.message.content
  }

  test("go to one provider for its prompt cache, and conversations are spread", async () => {
    refuseWith(() => undefined)
    const [workspace, model] = [await newWorkspace(), newReplicaModel()]
    const first = await turn(workspace, model, { messages: opening("One") })
    const later = [...opening("One"), { role: "assistant", content: "1" }, { role: "user", content: "Go on" }]
    for (let at = 0; at < 5; at++) expect(await turn(workspace, model, { messages: later })).toBe(first)
    const others = Array.from({ length: 30 }, (_, at) => turn(workspace, model, { messages: opening(`Other ${at}`) }))
    expect(new Set(await Promise.all(others)).size).toBeGreaterThan(1)
  })

  test("are identified by prompt_cache_key for any first message", async () => {
    refuseWith(() => undefined)
    const [workspace, model] = [await newWorkspace(), newReplicaModel()]
    const turns = Array.from({ length: 10 }, (_, at) =>
      turn(workspace, model, { messages: opening(`Turn ${at}`), prompt_cache_key: "one" }),
    )
    expect(new Set(await Promise.all(turns)).size).toBe(1)
  })
})
