import { createExecutionContext } from "cloudflare:test"
import { env } from "cloudflare:workers"
import { afterEach, describe, expect, test, vi } from "vitest"
import { app } from "../../src/app/app.ts"
import {
  decodeResponse,
  EGRESS_REQUEST_HEADER,
  EGRESS_RESPONSE_HEADER,
  encodeEnvelope,
  type RequestEnvelope,
} from "../../src/vault/egress-envelope.ts"
import { eventually } from "../support/eventually.ts"
import { insertIntern } from "../support/interns.ts"
import { client, newWorkspace, expectJson, type Workspace } from "../support/world.ts"

afterEach(() => vi.restoreAllMocks())

const VALUE = "canary-of-the-egress-route"
type Failure = { error: { message: string; metadata?: { reason?: string } } }

/** Fakes DNS and hosts on the internet; returns the requests to hosts. */
function internet(answer: (request: Request) => Response | Promise<Response>) {
  const seen: Request[] = []
  vi.spyOn(globalThis, "fetch").mockImplementation(async (input, init) => {
    const request = new Request(input, init)
    if (request.url.startsWith("https://cloudflare-dns.com/")) {
      const data = request.url.includes("inside") ? "10.0.0.1" : "93.184.216.34"
      return Response.json({ Status: 0, Answer: [{ type: 1, data }] })
    }
    seen.push(request.clone())
    return answer(request)
  })
  return seen
}

async function newSecret(workspace: Workspace, hosts = ["api.example.com"]) {
  const intern = await insertIntern(workspace)
  await expectJson(200, workspace.as.put(`/vault/interns/${intern.id}/secrets/token`, { hosts, value: VALUE }))
  const path = `/interns/${intern.id}/daemon/secrets`
  type Given = { data: { placeholder: string }[] }
  const { data } = await expectJson<Given>(200, client(intern.joinToken).get(path))
  return { intern, held: data[0]?.placeholder ?? "" }
}

function send(
  id: string,
  token: string | undefined,
  more: Partial<RequestEnvelope>,
  body?: BodyInit,
  host = "gateway.test",
) {
  const envelope = { method: "GET", url: "https://api.example.com/", headers: [], hasBody: body !== undefined, ...more }
  const request = new Request(`http://${host}/api/v1/interns/${id}/daemon/egress`, {
    method: "POST",
    headers: { ...(token && { authorization: `Bearer ${token}` }), [EGRESS_REQUEST_HEADER]: encodeEnvelope(envelope) },
    ...(body !== undefined && { body }),
  })
  return Promise.resolve(app.fetch(request, env, createExecutionContext()))
}

const refused = async (status: number, answer: Promise<Response>) => (await expectJson<Failure>(status, answer)).error

describe("daemon egress", () => {
  test("replaces placeholders in requests, streams both bodies and hides values in responses", async () => {
    const { intern, held } = await newSecret(await newWorkspace())
    const seen = internet(async (request) => {
      const echo = { text: await request.text(), sent: request.headers.get("authorization"), base64: btoa(VALUE) }
      return Response.json(echo, { status: 201, headers: { "x-sent": VALUE } })
    })
    const headers: [string, string][] = [
      ["Authorization", `Bearer ${held}`],
      ["Content-Type", "text/plain"],
    ]
    const answer = await send(intern.id, intern.joinToken, { method: "PUT", headers }, `a body with ${held}`)
    const text = await answer.text()
    expect(answer.status, text).toBe(200)
    expect(seen[0]?.headers.get("authorization")).toBe(`Bearer ${VALUE}`)
    expect(JSON.parse(text)).toMatchObject({ text: `a body with ${held}`, sent: `Bearer ${held}` })
    const envelope = decodeResponse(answer.headers.get(EGRESS_RESPONSE_HEADER) ?? "")
    expect(envelope?.status).toBe(201)
    expect(envelope?.headers).toContainEqual(["x-sent", held])
    for (const position of [text, JSON.stringify([...answer.headers]), JSON.stringify(envelope)]) {
      expect(position).not.toContain(VALUE)
      expect(position).not.toContain(btoa(VALUE).slice(0, -4))
    }
  })

  test("accepts only the join token of this intern", async () => {
    const workspace = await newWorkspace()
    const seen = internet(() => new Response("no"))
    const [{ intern }, { intern: other }] = [await newSecret(workspace), await newSecret(workspace)]
    for (const token of [workspace.key, workspace.managementKey, intern.key, other.joinToken, "wrong", undefined]) {
      await refused(401, send(intern.id, token, {}))
    }
    const { metadata } = await refused(403, send(intern.id, intern.joinToken, {}, undefined, "eu.localhost"))
    expect(metadata?.reason).toBe("regional_hostname")
    await env.DB.prepare("UPDATE interns SET status = 'stopped' WHERE id = ?").bind(intern.id).run()
    expect((await refused(409, send(intern.id, intern.joinToken, {}))).metadata?.reason).toBe("intern_not_running")
    expect(seen).toEqual([])
  })

  test.each([
    ["another host", "https://evil.example/", "host_not_bound"],
    ["another port", "https://api.example.com:8443/", "host_not_bound"],
    ["plain http", "http://api.example.com/", "host_not_bound"],
    ["an invalid URL", "nothing", "host_not_bound"],
    ["a user", "https://user@api.example.com/", "egress_refused"],
    ["a public name with a private address", "https://inside.example.com/", "egress_refused"],
  ])("does not connect to %s", async (_, url, reason) => {
    const { intern, held } = await newSecret(await newWorkspace(), ["api.example.com", "inside.example.com"])
    const seen = internet(() => new Response("no"))
    const headers: [string, string][] = [["authorization", `Bearer ${held}`]]
    const { metadata } = await refused(403, send(intern.id, intern.joinToken, { url, headers }))
    expect(metadata?.reason).toBe(reason)
    expect(seen).toEqual([])
  })

  test("rejects an invalid envelope, and reports a failed host without its text", async () => {
    const { intern } = await newSecret(await newWorkspace())
    internet(() => Promise.reject(new Error(`${VALUE} was refused`)))
    const url = `/interns/${intern.id}/daemon/egress`
    await refused(400, client(intern.joinToken).post(url, {}))
    const broken = { [EGRESS_REQUEST_HEADER]: "e30" }
    await refused(400, client(intern.joinToken).call("POST", url, undefined, broken))
    expect((await refused(502, send(intern.id, intern.joinToken, {}))).message).toBe("The connection failed.")
  })

  test("uses a changed value with the next request, and rejects the placeholder of a deleted one", async () => {
    const workspace = await newWorkspace()
    const { intern, held } = await newSecret(workspace)
    const seen = internet(() => new Response("fine"))
    const headers: [string, string][] = [["authorization", `Bearer ${held}`]]
    const path = `/vault/interns/${intern.id}/secrets/token`
    await send(intern.id, intern.joinToken, { headers })
    await expectJson(200, workspace.as.put(path, { hosts: ["api.example.com"], value: "another-value" }))
    await send(intern.id, intern.joinToken, { headers })
    await workspace.as.delete(path)
    await refused(403, send(intern.id, intern.joinToken, { headers }))
    const sent = seen.map((request) => request.headers.get("authorization"))
    expect(sent).toEqual([`Bearer ${VALUE}`, "Bearer another-value"])
  })

  test("drops Range with a secret and rejects TRACE, so that values cannot be read in pieces", async () => {
    const { intern, held } = await newSecret(await newWorkspace())
    const seen = internet(() => new Response("fine"))
    const range: [string, string] = ["Range", "bytes=0-0"]
    await send(intern.id, intern.joinToken, { headers: [["x-key", held], range, ["Accept-Charset", "utf-7"]] })
    await send(intern.id, intern.joinToken, { headers: [range] })
    expect(seen.map(({ headers }) => [headers.get("range"), headers.get("accept-charset")])).toEqual([
      [null, null],
      ["bytes=0-0", null],
    ])
    for (const method of ["TRACE", "trace", "CONNECT"]) {
      await refused(403, send(intern.id, intern.joinToken, { method, headers: [["x-key", held]] }))
    }
    expect(seen).toHaveLength(2)
  })

  test("rejects response headers that are too large for an envelope", async () => {
    const { intern } = await newSecret(await newWorkspace())
    internet(() => new Response("fine", { headers: { "x-large": "x".repeat(60_000) } }))
    expect((await refused(502, send(intern.id, intern.joinToken, {}))).message).toMatch(/too large/)
  })

  test("writes secret and host to the audit log once a minute", async () => {
    const workspace = await newWorkspace()
    const { intern, held } = await newSecret(workspace)
    internet(() => new Response("fine"))
    const headers: [string, string][] = [["x-key", held]]
    vi.spyOn(Date, "now").mockReturnValue(Math.floor(Date.now() / 60_000) * 60_000 + 1_000)
    for (let count = 0; count < 3; count++) await (await send(intern.id, intern.joinToken, { headers })).text()
    vi.restoreAllMocks()
    type Log = { data: { key_label: string; changes: unknown }[] }
    await eventually(async () => {
      const log = await expectJson<Log>(200, workspace.manage.get("/audit?action=vault_secret.release"))
      expect(log.data).toMatchObject([
        { key_label: `daemon of ${intern.row.name}`, changes: { name: "token", host: "api.example.com" } },
      ])
      expect(JSON.stringify(log)).not.toContain(VALUE)
    })
  })
})

describe("EGRESS_TEST_HOSTS", () => {
  const answer = (more: Record<string, string>) =>
    app.fetch(new Request("http://gateway.test/api/v1/models"), { ...env, ...more }, createExecutionContext())

  test.each([
    ["outside development", { STAGE: "production", EGRESS_TEST_HOSTS: '{"api.example.com":"https://localhost:1"}' }],
    ["over plain http", { EGRESS_TEST_HOSTS: '{"api.example.com":"http://localhost:1"}' }],
    ["as invalid JSON", { EGRESS_TEST_HOSTS: "api.example.com" }],
  ])("makes the gateway return 503 if set %s", async (_, more) => {
    expect((await answer(more)).status).toBe(503)
  })
})
