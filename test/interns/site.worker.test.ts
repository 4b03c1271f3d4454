import { env, exports } from "cloudflare:workers"
import { abortAllDurableObjects, evictDurableObject, runInDurableObject } from "cloudflare:test"
import * as fc from "fast-check"
import { describe, expect, test } from "vitest"
import { InternClients } from "../../durable-objects/intern/clients/clients.ts"
import { RunStore } from "../../durable-objects/intern/run-store.ts"
import { SessionLog } from "../../durable-objects/intern/sessions/session-log.ts"
import { CLIENT_LIMITS, readClientFrame, RPC_ERRORS } from "../../src/interns/hosts/client-frames.ts"
import { CLIENT_HEADER } from "../../src/interns/hosts/rpc.ts"
import { regionOf } from "../../src/http/request/region.ts"
import { internDomain } from "../../src/interns/intern.ts"
import { RATE_LIMIT } from "../support/rate-limit.ts"
import { internObject } from "../support/intern-object.ts"
import { isSite } from "../../src/interns/site.ts"
import { grantOf } from "../../src/interns/access/tokens.ts"
import { AcpClient, requestSite, siteOf } from "../support/acp-client.ts"
import { newDaemonIntern, paramsOf, MockDaemon } from "../support/daemon.ts"
import { internChat, refused } from "../support/intern-chat.ts"
import { type TestClient, newWorkspace, operatorClient, expectJson, type Workspace } from "../support/world.ts"
import { eventually } from "../support/eventually.ts"

const becomes = (as: TestClient, id: string, status: string) =>
  eventually(async () => expect(await expectJson(200, as.get(`/interns/${id}`))).toMatchObject({ status }))

test("a hostname is recognized in any letter case and with trailing dots", () => {
  const scoped = { ...env, INTERN_DOMAIN: "interns.example.com", REGIONAL_HOSTS: '{"eu.example.com":"europe"}' }
  const spelling = (host: string) =>
    fc
      .tuple(
        fc.array(fc.boolean(), { minLength: host.length, maxLength: host.length }),
        fc.constantFrom("", ".", "..", "..."),
        fc.constantFrom("", ":8443"),
      )
      .map(([upper, dots, port]) => {
        const letters = Array.from(host, (char, at) => (upper[at] ? char.toUpperCase() : char))
        return { url: `https://${letters.join("")}${dots}${port}/acp` }
      })
  fc.assert(
    fc.property(spelling("ada-12345678.interns.example.com"), spelling("eu.example.com"), (intern, regional) => {
      expect(isSite(intern, scoped)).toBe(true)
      expect(regionOf(intern, scoped)).toBeNull()
      expect(regionOf(regional, scoped)).toBe("europe")
      expect(isSite(regional, scoped)).toBe(false)
    }),
  )
})

async function newIntern(model: string) {
  const workspace = await newWorkspace()
  const made = workspace.as.post("/interns", { name: "ada", model, provision: true })
  const { id } = await expectJson<{ id: string }>(201, made)
  await becomes(workspace.as, id, "running")
  return { workspace, id, object: internObject(id), site: await siteOf(workspace.as, id) }
}

/** A running intern with a simulated daemon. */
async function newConnectedIntern() {
  const workspace = await newWorkspace()
  const intern = await newDaemonIntern(workspace)
  const daemon = await new MockDaemon(intern).dial()
  await becomes(workspace.as, intern.id, "running")
  const site = await siteOf(workspace.as, intern.id)
  return { workspace, id: intern.id, daemon, site, object: internObject(intern.id) }
}

/** A client whose turn waits for the answer to `q1`. */
async function requestedMidway(site: Awaited<ReturnType<typeof siteOf>>, daemon: MockDaemon) {
  const client = await AcpClient.connect(site)
  const session = await client.newSession()
  client.prompt(session, "Long work")
  const prompt = await daemon.receives("session/prompt")
  daemon.requestPermission(session, "q1")
  await client.nextQuestion()
  return { client, session, prompt }
}

test.each(["interns.example.com", "Interns.Example.COM", "interns.example.com.", ".interns.example.com"])(
  "the domain %s is normalized",
  (INTERN_DOMAIN) => {
    const scoped = { ...env, INTERN_DOMAIN }
    expect(internDomain(scoped)).toBe("interns.example.com")
    expect(isSite(new Request("https://ada-12345678.interns.example.com/acp"), scoped)).toBe(true)
    expect(isSite(new Request("https://interns.example.com/"), scoped)).toBe(false)
  },
)

async function refusal(status: number, answer: Promise<Response>) {
  const { error } = await expectJson<{ error: { message: string; metadata?: { reason?: string } } }>(status, answer)
  return { message: error.message, reason: error.metadata?.reason }
}

const attachments = async (workspace: Workspace) => {
  type Log = { data: { resource_id: string; key_label: string }[] }
  const { data } = await expectJson<Log>(200, workspace.manage.get("/audit?action=intern.daemon_attach"))
  return data
}

describe("the hostname of an intern", () => {
  test("returns its identity and ACP endpoint for its token", async () => {
    const { id, site } = await newIntern("sim/echo")
    const answer = await requestSite(site, "/")
    expect(answer.headers.get("cache-control")).toBe("no-store")
    expect(answer.headers.get("x-request-id")).toMatch(/^req-/)
    expect(await expectJson(200, answer)).toEqual({
      id,
      name: "ada",
      status: "running",
      protocol: "acp",
      protocol_version: 1,
      endpoint: `${site.origin.replace("http", "ws")}/acp`,
    })
    expect((await refusal(400, requestSite(site, "/acp"))).message).toContain("WebSocket")
  })

  test("returns the same 401 for an unknown hostname and for a wrong token", async () => {
    const { workspace, site } = await newIntern("sim/echo")
    const other = await newIntern("sim/echo")
    const nowhere = "http://nobody-00000000.interns.localhost"
    const answers = await Promise.all([
      refusal(401, requestSite({ ...site, origin: nowhere }, "/")),
      refusal(401, requestSite({ ...site, token: "intern-access-guess" }, "/")),
      refusal(401, requestSite({ ...site, token: other.site.token }, "/acp", { headers: { upgrade: "websocket" } })),
      refusal(401, requestSite({ ...site, token: workspace.key }, "/")),
      refusal(401, requestSite({ ...site, origin: site.origin.replace("//", "//x.") }, "/")),
    ])
    expect(new Set(answers.map(({ message }) => message)).size).toBe(1)
    expect((await refusal(401, requestSite(site, "/", { headers: { authorization: "" } }))).message).toContain("Bearer")
    expect((await requestSite({ ...site, origin: `${site.origin}.` }, "/")).status).toBe(200)
  })

  test("serves no other route of the gateway, and the gateway's hostname does not serve ACP", async () => {
    const { workspace, id, site } = await newIntern("sim/echo")
    const asOwner = { ...site, token: workspace.key }
    for (const path of [
      "/health",
      "/api/v1/models",
      "/api/v1/key",
      `/api/v1/interns/${id}`,
      "/auth",
      "/scim/v2/Users",
    ]) {
      expect((await requestSite(asOwner, path)).status, path).toBe(404)
    }
    expect((await requestSite(asOwner, "/api/v1/chat/completions", { method: "POST" })).status).toBe(404)
    for (const origin of ["http://gateway.test", "http://eu.localhost", "http://interns.localhost"]) {
      expect((await requestSite({ ...site, origin }, "/acp")).status, origin).toBe(404)
    }
  })

  test("returns 409 for a stopped intern and 404 for an organization without interns", async () => {
    const { workspace, id, site } = await newIntern("sim/echo")
    await expectJson(200, workspace.as.post(`/interns/${id}/suspend`, undefined))
    expect((await refusal(409, requestSite(site, "/"))).reason).toBe("intern_not_running")
    expect((await refusal(409, requestSite(site, "/acp", { headers: { upgrade: "websocket" } }))).reason).toBe(
      "intern_not_running",
    )
    await expectJson(
      200,
      operatorClient.patch(`/organizations/${workspace.organizationId}`, { interns_programme: false }),
    )
    expect((await refusal(404, requestSite(site, "/"))).reason).toBe("not_found")
  })

  test("returns 429 to an address that tries many tokens, but not for a valid token", async () => {
    const { site } = await newIntern("sim/echo")
    const headers = { "cf-connecting-ip": `203.0.113.7-${crypto.randomUUID()}` }
    const from = async (token: string, origin = site.origin) => {
      const answer = await requestSite({ origin, token }, "/", {
        headers: { ...headers, authorization: `Bearer ${token}` },
      })
      await answer.text()
      return answer.status
    }
    const statuses = new Set<number>()
    // Twice the limit: the minute may end in between and reset the count.
    for (let at = 0; at <= 20 * RATE_LIMIT && !statuses.has(429); at += 50) {
      const tries = Array.from({ length: 50 }, () => from(`intern-access-${crypto.randomUUID()}`))
      for (const status of await Promise.all(tries)) statuses.add(status)
    }
    expect([...statuses].toSorted()).toEqual([401, 429])
    expect(await from("intern-access-guess")).toBe(429)
    expect(await from(site.token, "http://nobody-00000000.interns.localhost")).toBe(429)
    expect(await from(site.token)).toBe(200)
  }, 30_000)

  test("records every ACP connection in the audit log", async () => {
    const { workspace, id, site } = await newIntern("sim/echo")
    await AcpClient.connect(site)
    await requestSite({ ...site, token: "wrong" }, "/acp", { headers: { upgrade: "websocket" } })
    const log = await attachments(workspace)
    expect(log).toEqual([expect.objectContaining({ resource_id: id, key_label: "client of ada" })])
    expect(JSON.stringify(log)).not.toContain(site.token)
  })

  test("takes the token from the subprotocols, and selects acp", async () => {
    const { site } = await newIntern("sim/echo")
    const front = (exports as unknown as { default: Fetcher }).default
    const connect = (token: string) =>
      front.fetch(`${site.origin}/acp`, {
        headers: { upgrade: "websocket", "sec-websocket-protocol": `acp, bearer.${token}` },
      })
    const client = AcpClient.over(await connect(site.token))
    expect(client.protocol).toBe("acp")
    expect(await client.get("initialize", { protocolVersion: 1 })).toMatchObject({ protocolVersion: 1 })
    expect((await connect("wrong")).status).toBe(401)
  })
})

describe("an ACP client", () => {
  test("opens a session with the embedded agent, answers its question and receives the output", async () => {
    const { site } = await newIntern("sim/tool-call")
    const client = await AcpClient.connect(site)
    expect(await client.get("initialize", { protocolVersion: 2, clientCapabilities: {} })).toEqual({
      protocolVersion: 1,
      agentCapabilities: { loadSession: true, sessionCapabilities: { list: {} } },
      agentInfo: { name: "intern", title: "ada", version: "1" },
      authMethods: [],
    })
    const session = await client.newSession()
    const prompt = client.prompt(session, "echo hello | tr a-z A-Z")
    const question = await client.nextQuestion()
    expect(question.params).toMatchObject({ sessionId: session, toolCall: { name: "shell" } })
    client.choose(question, "once")
    expect((await client.answerTo(prompt)).result).toMatchObject({ stopReason: "end_turn", usage: {} })
    expect(client.textOf(session)).toContain("HELLO")
    expect(client.textOf(session).length).toBeGreaterThan(0)
  })

  test("cancels a turn", async () => {
    const { site } = await newIntern("sim/tool-call")
    const client = await AcpClient.connect(site)
    const session = await client.newSession()
    const prompt = client.prompt(session, "echo one")
    await client.nextQuestion()
    client.send({ method: "session/cancel", params: { sessionId: session } })
    expect((await client.answerTo(prompt)).result).toEqual({
      stopReason: "cancelled",
      usage: expect.anything(),
      _meta: expect.anything(),
    })
    const next = client.prompt(session, "echo two")
    client.choose(await client.nextQuestion(undefined, 1), "once")
    expect((await client.answerTo(next)).result).toMatchObject({ stopReason: "end_turn" })
  })

  test("loads a session in another connection, and receives its transcript", async () => {
    const { site } = await newIntern("sim/echo")
    const first = await AcpClient.connect(site)
    const session = await first.newSession()
    await first.answerTo(first.prompt(session, "Remember me"))
    first.close()
    const second = await AcpClient.connect(site)
    await second.get("session/load", { sessionId: session, cwd: "/", mcpServers: [] })
    expect(second.textOf(session, "user_message_chunk")).toBe("Remember me")
    expect(second.textOf(session)).toBe("Remember me")
    expect((await second.request("session/load", { sessionId: "unknown" })).error?.code).toBe(RPC_ERRORS.noSession)
  })

  test("answers a question after the object was evicted", async () => {
    const { site, object } = await newIntern("sim/tool-call")
    const client = await AcpClient.connect(site)
    const session = await client.newSession()
    const prompt = client.prompt(session, "echo still here")
    const question = await client.nextQuestion()
    await evictDurableObject(object)
    client.choose(question, "once")
    expect((await client.answerTo(prompt)).result).toMatchObject({ stopReason: "end_turn" })
    expect(client.textOf(session)).toContain("still here")
  })

  test("gets an error for an unsupported method and for invalid JSON-RPC, and stays connected", async () => {
    const { site } = await newIntern("sim/echo")
    const client = await AcpClient.connect(site)
    for (const method of [
      "fs/read_text_file",
      "session/set_mode",
      "_intern/destroy",
      "_intern/steer",
      "authenticate",
    ]) {
      expect((await client.request(method, { sessionId: "s" })).error?.code, method).toBe(RPC_ERRORS.unknownMethod)
    }
    expect((await client.request("session/prompt", { prompt: [] })).error?.code).toBe(RPC_ERRORS.params)
    client.sendRaw("{")
    client.sendRaw("[]")
    client.sendRaw('{"jsonrpc":"2.0","id":{},"method":"initialize"}')
    client.send({ method: "session/cancel", params: { sessionId: "nobody's" } })
    client.send({ id: 4, result: {} })
    expect(await client.get("initialize", { protocolVersion: 1 })).toMatchObject({ protocolVersion: 1 })
    const codes = client.received.filter(({ id }) => (id as unknown) === null).map(({ error }) => error?.code)
    expect(codes).toEqual([RPC_ERRORS.parse, RPC_ERRORS.invalid, RPC_ERRORS.invalid])
  })

  test("that sends a frame that is too large or binary is disconnected", async () => {
    const { site } = await newIntern("sim/echo")
    for (const [frame, code] of [
      ["x".repeat(CLIENT_LIMITS.frameBytes + 1), 1009],
      [new ArrayBuffer(4), 1003],
    ] as const) {
      const client = await AcpClient.connect(site)
      client.sendRaw(frame)
      expect(await client.closed()).toBe(code)
    }
  })

  test("gets 503 when eight clients are connected", async () => {
    const { site } = await newIntern("sim/echo")
    const clients: AcpClient[] = []
    while (clients.length < CLIENT_LIMITS.clients) clients.push(await AcpClient.connect(site))
    const ninth = () => requestSite(site, "/acp", { headers: { upgrade: "websocket" } })
    expect((await refusal(503, ninth())).reason).toBe("busy")
    clients[0]?.close()
    await eventually(async () => expect((await ninth()).status).toBe(101))
  })

  test("is disconnected by a provision, suspend or delete, and its token becomes invalid", async () => {
    const { workspace, id, site } = await newIntern("sim/echo")
    const first = await AcpClient.connect(site)
    await expectJson(202, workspace.as.post(`/interns/${id}/provision`, undefined))
    expect(await first.closed()).toBe(4003)
    await becomes(workspace.as, id, "running")
    await refusal(401, requestSite(site, "/acp", { headers: { upgrade: "websocket" } }))
    const second = await AcpClient.connect(await siteOf(workspace.as, id))
    await expectJson(200, workspace.as.post(`/interns/${id}/suspend`, undefined))
    expect(await second.closed()).toBe(4003)
    await expectJson(202, workspace.as.post(`/interns/${id}/provision`, undefined))
    await becomes(workspace.as, id, "running")
    const third = await AcpClient.connect(await siteOf(workspace.as, id))
    await expectJson(202, workspace.as.delete(`/interns/${id}`))
    expect(await third.closed()).toBe(4003)
  })

  test("admitted before a new provision, or during a stop, is not connected", async () => {
    const { workspace, object } = await newIntern("sim/echo")
    const late = await object.fetch("http://intern/client", {
      headers: { upgrade: "websocket", [CLIENT_HEADER]: grantOf("of a former provision") },
    })
    expect(late.webSocket).toBeNull()
    expect(await late.json()).toMatchObject({ code: "conflict", metadata: { reason: "intern_not_running" } })
    const elsewhere = env.INTERN.get(env.INTERN.idFromName(workspace.workspaceId))
    await runInDurableObject(elsewhere, async (_, state) => {
      const nowhere = { host: () => expect.fail(), now: Date.now, turns: () => expect.fail() }
      const log = new SessionLog(state.storage.sql, Date.now)
      const clients = new InternClients(state, new RunStore(state.storage.sql), log, nowhere)
      const check = async () => {
        await Promise.resolve()
        clients.closeAll()
        return "ada"
      }
      await expect(clients.attach(check)).rejects.toThrow("just stopped")
      expect(state.getWebSockets()).toEqual([])
    })
  })

  test("sends any frame, and it is parsed or rejected without an exception", () => {
    const json = fc.record(
      {
        jsonrpc: fc.constantFrom("2.0", "1.0"),
        id: fc.oneof(fc.jsonValue(), fc.constant("read-7")),
        method: fc.jsonValue(),
        params: fc.jsonValue(),
        result: fc.jsonValue(),
        error: fc.jsonValue(),
      },
      { requiredKeys: [] },
    )
    const texts = fc.oneof(
      fc.string(),
      fc.json(),
      json.map((value) => JSON.stringify(value)),
    )
    fc.assert(
      fc.property(texts, (text) => {
        const frame = readClientFrame(text)
        if (frame.is === "request" || frame.is === "answer") expect(["string", "number"]).toContain(typeof frame.id)
        if (frame.is === "request" || frame.is === "notice") expect(Array.isArray(frame.params)).toBe(false)
        expect(() => JSON.stringify(frame)).not.toThrow()
      }),
    )
  })

  test("has the same turn limit as other clients", async () => {
    const { site } = await newIntern("sim/echo")
    const client = await AcpClient.connect(site)
    const answers = await Promise.all(Array.from({ length: 61 }, () => client.request("session/new", {})))
    const busy = answers.filter(({ error }) => error !== undefined)
    expect(busy).toHaveLength(1)
    expect(busy[0]?.error).toMatchObject({ code: RPC_ERRORS.busy, data: { reason: "rate_limited" } })
  })
})

describe("an ACP client of a daemon", () => {
  test("uses its agent with the daemon's folder and MCP servers", async () => {
    const { daemon, site } = await newConnectedIntern()
    const client = await AcpClient.connect(site)
    const session = await client.get<{ sessionId: string }>("session/new", { cwd: "/etc", mcpServers: [{ name: "x" }] })
    expect((await daemon.receives("session/new")).params).toEqual({})
    const prompt = client.prompt(session.sessionId, "Hello")
    const received = await daemon.receives("session/prompt")
    expect(paramsOf(received)).toEqual({ sessionId: session.sessionId, prompt: [{ type: "text", text: "Hello" }] })
    daemon.text(session.sessionId, "Hello ")
    daemon.text(session.sessionId, "yourself")
    daemon.requestPermission(session.sessionId, "q1")
    client.choose(await client.nextQuestion(), "allow_once-0")
    expect(await daemon.answerTo("q1")).toEqual({ outcome: { outcome: "selected", optionId: "allow_once-0" } })
    daemon.end(received, "end_turn", { inputTokens: 3 })
    expect((await client.answerTo(prompt)).result).toEqual({ stopReason: "end_turn", usage: { inputTokens: 3 } })
    expect(client.textOf(session.sessionId)).toBe("Hello yourself")
  })

  test("answers a question once, even after an eviction, and another client cannot answer it", async () => {
    const { daemon, site, object } = await newConnectedIntern()
    const [client, other] = [await AcpClient.connect(site), await AcpClient.connect(site)]
    const session = await client.newSession()
    client.prompt(session, "Hello")
    await daemon.receives("session/prompt")
    daemon.requestPermission(session, "q1")
    const question = await client.nextQuestion()
    other.choose(question, "stolen")
    await other.request("initialize")
    await evictDurableObject(object)
    client.choose(question, "mine")
    client.choose(question, "again")
    expect(await daemon.answerTo("q1")).toEqual({ outcome: { outcome: "selected", optionId: "mine" } })
    await client.request("initialize")
    await daemon.settled()
    expect(daemon.answersTo("q1")).toHaveLength(1)
  })

  test("gets forms if it supports them; otherwise they are cancelled on its behalf", async () => {
    const { daemon, site } = await newConnectedIntern()
    const client = await AcpClient.connect(site)
    const session = await client.newSession()
    const elicit = (id: string) =>
      daemon.send({ id, method: "elicitation/create", params: { sessionId: session, message: "Name?", mode: "form" } })
    elicit("e1")
    expect(await daemon.answerTo("e1")).toEqual({ action: "cancel" })
    await client.get("initialize", { protocolVersion: 1, clientCapabilities: { elicitation: { form: {} } } })
    elicit("e2")
    const { id } = await client.nextQuestion("elicitation/create")
    client.send({ id, result: { action: "accept", content: { name: "Ada" } } })
    expect(await daemon.answerTo("e2")).toEqual({ action: "accept", content: { name: "Ada" } })
    daemon.send({ id: "f1", method: "fs/read_text_file", params: { sessionId: session, path: "/" } })
    await eventually(() => expect(daemon.answersTo("f1")[0]?.error?.code).toBe(-32_601))
  })

  test("receives only its own sessions, and cannot use another client's session", async () => {
    const { daemon, site } = await newConnectedIntern()
    const [one, two] = [await AcpClient.connect(site), await AcpClient.connect(site)]
    const [first, second] = [await one.newSession(), await two.newSession()]
    const prompts = [one.prompt(first, "One"), two.prompt(second, "Two")]
    const received = [await daemon.receives("session/prompt", 0), await daemon.receives("session/prompt", 1)]
    daemon.text(first, "for one")
    daemon.text(second, "for two")
    daemon.requestPermission(second, "q2")
    await two.nextQuestion()
    expect((await one.request("session/prompt", { sessionId: second, prompt: [] })).error?.code).toBe(
      RPC_ERRORS.noSession,
    )
    expect((await one.request("session/load", { sessionId: second })).error?.code).toBe(RPC_ERRORS.busy)
    one.send({ method: "session/cancel", params: { sessionId: second } })
    for (const message of received) daemon.end(message)
    await Promise.all([one.answerTo(prompts[0]), two.answerTo(prompts[1])])
    expect(JSON.stringify(one.received)).not.toContain("for two")
    expect(JSON.stringify(two.received)).not.toContain("for one")
    expect(daemon.received.some(({ method }) => method === "session/cancel")).toBe(false)
    // A question left open during the turn is cancelled at its end.
    expect(await daemon.answerTo("q2")).toEqual({ outcome: { outcome: "cancelled" } })
  })

  test("takes over an idle session when it loads it", async () => {
    const { daemon, site } = await newConnectedIntern()
    const [one, two] = [await AcpClient.connect(site), await AcpClient.connect(site)]
    const session = await one.newSession()
    await two.get("session/load", { sessionId: session })
    daemon.text(session, "for whom?")
    await two.until(() => two.textOf(session) || undefined)
    expect(two.textOf(session)).toBe("for whom?")
    expect(one.textOf(session)).toBe("")
    expect((await one.request("session/prompt", { sessionId: session, prompt: [] })).error?.code).toBe(
      RPC_ERRORS.noSession,
    )
  })

  test("that disconnects cancels its turns and questions", async () => {
    const { daemon, site, object } = await newConnectedIntern()
    const { client, session, prompt } = await requestedMidway(site, daemon)
    client.close()
    expect((await daemon.receives("session/cancel")).params).toEqual({ sessionId: session })
    expect(await daemon.answerTo("q1")).toEqual({ outcome: { outcome: "cancelled" } })
    const next = await AcpClient.connect(site)
    expect((await next.request("session/load", { sessionId: session })).error?.code).toBe(RPC_ERRORS.busy)
    daemon.end(prompt, "cancelled")
    await daemon.settled()
    await evictDurableObject(object)
    await next.get("session/load", { sessionId: session })
    expect(daemon.received.filter(({ method }) => method === "session/cancel")).toHaveLength(1)
  })

  test("disconnected by a crash has its turns and questions cancelled", async () => {
    const { daemon, site } = await newConnectedIntern()
    const { session, prompt } = await requestedMidway(site, daemon)
    await abortAllDurableObjects()
    await daemon.dial()
    expect((await daemon.receives("session/cancel")).params).toEqual({ sessionId: session })
    expect(await daemon.answerTo("q1")).toEqual({ outcome: { outcome: "cancelled" } })
    daemon.end(prompt, "cancelled")
    await daemon.settled()
    const next = await AcpClient.connect(site)
    await next.get("session/load", { sessionId: session })
    const again = next.prompt(session, "More")
    daemon.end(await daemon.receives("session/prompt", 1))
    expect((await next.answerTo(again)).result).toEqual({ stopReason: "end_turn" })
  })

  test("and a chat exclude each other while a turn runs in a session", async () => {
    const { workspace, id, daemon, site } = await newConnectedIntern()
    const chat = internChat(workspace.key, id)
    const client = await AcpClient.connect(site)
    const reading = await chat.send("Hello", { session_id: "s" })
    const first = await daemon.receives("session/prompt")
    const { sessionId } = paramsOf(first)
    expect((await client.request("session/load", { sessionId })).error).toMatchObject({
      code: RPC_ERRORS.busy,
      data: { reason: "busy" },
    })
    daemon.text(sessionId, "to the chat")
    daemon.end(first)
    expect((await reading.all()).text).toBe("to the chat")
    await client.get("session/load", { sessionId })
    const replayed = client.received.length
    const prompt = client.prompt(sessionId, "Mine")
    const second = await daemon.receives("session/prompt", 1)
    expect(await refused(chat.send("Hello", { session_id: "s" }))).toMatchObject({ status: 409, reason: "busy" })
    daemon.text(sessionId, "to the client")
    daemon.end(second)
    await client.answerTo(prompt)
    expect(client.textOf(sessionId)).toBe("to the chatto the client")
    const again = await chat.send("Again", { session_id: "s" })
    const third = await daemon.receives("session/prompt", 2)
    client.send({ method: "session/cancel", params: { sessionId } })
    daemon.text(sessionId, "to the chat again")
    const update = { sessionUpdate: "tool_call", toolCallId: "t", title: "shell" }
    daemon.send({ method: "session/update", params: { sessionId, update } })
    await again.until("again")
    expect((await client.request("session/prompt", { sessionId, prompt: [] })).error?.code).toBe(RPC_ERRORS.busy)
    daemon.end(third)
    await again.all()
    expect(JSON.stringify(client.received.slice(replayed))).not.toMatch(/to the chat|tool_call/)
    expect(daemon.received.some(({ method }) => method === "session/cancel")).toBe(false)
  })

  test("gets an error when the daemon is away, and when it restarts without the session", async () => {
    const { daemon, site } = await newConnectedIntern()
    const client = await AcpClient.connect(site)
    const session = await client.newSession()
    const prompt = client.prompt(session, "Hello")
    await daemon.receives("session/prompt")
    daemon.cut()
    const away = await eventually(async () => {
      const { error } = await client.request("session/new", {})
      expect(error).toMatchObject({ code: RPC_ERRORS.away, data: { reason: "intern_unreachable", retryable: true } })
      return error
    })
    expect(away?.message).toContain("daemon")
    daemon.restart()
    await daemon.dial()
    expect((await client.answerTo(prompt)).error).toMatchObject({ code: RPC_ERRORS.away })
    expect((await client.request("session/prompt", { sessionId: session, prompt: [] })).error?.code).toBe(
      RPC_ERRORS.noSession,
    )
    await client.get("session/load", { sessionId: session })
    client.prompt(session, "Hello again")
    await daemon.receives("session/prompt", 1)
  })

  test("continues after its daemon reconnects", async () => {
    const { daemon, site } = await newConnectedIntern()
    const client = await AcpClient.connect(site)
    const session = await client.newSession()
    const prompt = client.prompt(session, "Hello")
    const received = await daemon.receives("session/prompt")
    daemon.cut()
    daemon.text(session, "said meanwhile")
    daemon.end(received)
    await daemon.dial()
    expect((await client.answerTo(prompt)).result).toEqual({ stopReason: "end_turn" })
    expect(client.textOf(session)).toBe("said meanwhile")
  })

  test("that does not read is disconnected, and one that reads is not", async () => {
    const { daemon, site } = await newConnectedIntern()
    const [slow, quick] = [await AcpClient.connect(site, { answersReads: false }), await AcpClient.connect(site)]
    const [first, second] = [await slow.newSession(), await quick.newSession()]
    const prompt = quick.prompt(second, "Tell me")
    const received = await daemon.receives("session/prompt")
    const piece = "x".repeat(1_000_000)
    for (let sent = 0; sent <= CLIENT_LIMITS.unreadBytes * 1.2; sent += piece.length) {
      daemon.text(second, piece)
      daemon.text(first, piece)
      await daemon.settled()
    }
    expect(await slow.closed()).toBe(1013)
    daemon.end(received)
    await quick.answerTo(prompt)
    expect(quick.closedWith).toBeUndefined()
    expect(quick.textOf(second).length).toBeGreaterThan(CLIENT_LIMITS.unreadBytes)
  })
})
