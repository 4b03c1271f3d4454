import { describe, expect, test } from "vitest"
import { toBase64Url } from "../../src/support/text/encoding.ts"
import { client, expectJson, newKey, newWorkspace, type Workspace } from "../support/world.ts"
import { expectRejection } from "./rejection.ts"

const NOBODY = "00000000-0000-4000-8000-000000000000"
const CHAT = { model: "sim/echo", messages: [{ role: "user", content: "Hi" }] }

/** Routes that only a management key may use. */
const MANAGEMENT = [
  ["GET", "/byok"],
  ["GET", "/guardrails"],
  ["GET", `/guardrails/${NOBODY}/assignments/keys`],
  ["GET", "/guardrails/assignments/members"],
  ["GET", `/observability/destinations/${NOBODY}`],
  ["GET", "/scim/groups"],
  ["GET", `/scim/sync-jobs/${NOBODY}`],
  ["POST", "/scim/group-mappings"],
  ["POST", "/presets/team/responses"],
  ["DELETE", "/workspaces/default/budgets/daily"],
] as const

describe.each(MANAGEMENT)("%s %s", (method, path) => {
  const body = method === "POST" ? { model: "sim/echo", input: "Hi" } : undefined

  test("returns 403 to other keys and names the keys that may", async () => {
    const { as } = await newWorkspace()
    const error = await expectRejection(403, as.call(method, path, body))
    expect(error.message).toContain("management key")
  })

  test("returns 401 without a key", async () => {
    await expectRejection(401, client().call(method, path, body))
  })
})

const PAGED = ["/byok", "/guardrails", "/guardrails/assignments/members", "/scim/groups", "/observability/destinations"]

test.each(PAGED)("GET %s accepts a page size of 1 to 100 and a skip count from 0", async (path) => {
  const { manage } = await newWorkspace()
  for (const query of ["limit=1", "limit=100", "offset=0", "offset=1000"]) {
    const list = await expectJson<{ data: unknown[]; total_count: number }>(200, manage.get(`${path}?${query}`))
    expect(list.total_count).toBeGreaterThanOrEqual(list.data.length)
  }
  for (const query of ["limit=0", "limit=101", "limit=x", "offset=-1", "offset=1.5"]) {
    await expectRejection(400, manage.get(`${path}?${query}`), query)
  }
})

type Request = (workspace: Workspace) => Promise<Response>
const chat =
  (model: string, headers?: Record<string, string>): Request =>
  ({ as }) =>
    as.chat(model, "Hi", {}, headers)

const statuses: [promise: string, status: number, request: Request][] = [
  ["a body that is not JSON is malformed", 400, ({ as }) => as.call("POST", "/chat/completions", "{oops")],
  ["an unknown key is not authenticated", 401, () => client("sk-gw-v1-nobody").post("/chat/completions", CHAT)],
  [
    "a spent key limit is 402",
    402,
    async (workspace) => (await newKey(workspace, { limit: 0.000_000_001 })).as.post("/chat/completions", CHAT),
  ],
  ["an unknown model is not found", 404, chat("sim/nothing")],
  ["a body above the limit is too large", 413, ({ as }) => as.chat("sim/echo", "x".repeat(34_000_000))],
  [
    "a body without the JSON content type is rejected",
    415,
    ({ as }) => as.call("POST", "/chat/completions", JSON.stringify(CHAT), { "content-type": "text/plain" }),
  ],
  ["a provider's rate limit is 429", 429, chat("sim/status-429")],
  ["a failure of the provider is 502", 502, chat("sim/status-500")],
  ["an overloaded provider is 529", 529, chat("sim/status-529")],
  [
    "a session id in the header is limited like that in the body",
    400,
    chat("sim/echo", { "x-session-id": "s".repeat(257) }),
  ],
  ["the charge endpoint is gone", 410, () => client().post("/credits/vendor", { amount: 5 })],
  ["an uploaded file is not downloadable", 400, async ({ as }) => as.get(`/files/${await uploaded(as)}/content`)],
  ["an unknown file is not found", 404, ({ as }) => as.get("/files/file_nothing/content")],
  ["a file id outside its pattern is invalid", 400, ({ as }) => as.get("/files/a%20b/content")],
  ["a file id above 256 characters is invalid", 400, ({ as }) => as.get(`/files/${"a".repeat(257)}/content`)],
  ["an unknown budget interval is invalid", 400, ({ manage }) => manage.delete("/workspaces/default/budgets/yearly")],
  [
    "a budget of an unknown workspace is not found",
    404,
    ({ manage }) => manage.delete("/workspaces/nowhere-at-all/budgets/daily"),
  ],
  ["a mapping without its ids is invalid", 400, ({ manage }) => manage.post("/scim/group-mappings", {})],
  [
    "a mapping of an unknown group is not found",
    404,
    ({ manage, workspaceId }) =>
      manage.post("/scim/group-mappings", { scim_group_id: NOBODY, workspace_id: workspaceId }),
  ],
  ["an unknown sync job is not found", 404, ({ manage }) => manage.get(`/scim/sync-jobs/${NOBODY}`)],
  ["an unknown guardrail is not found", 404, ({ manage }) => manage.get(`/guardrails/${NOBODY}/assignments/keys`)],
  ["an unknown destination is not found", 404, ({ manage }) => manage.get(`/observability/destinations/${NOBODY}`)],
  ["a provider outside the enumeration is invalid", 400, ({ manage }) => manage.get("/byok?provider=nonesuch")],
  ["an unknown workspace is invalid for credentials", 400, ({ manage }) => manage.get("/byok?workspace_id=zz")],
  ["a preset's slug is URL-safe", 400, ({ manage }) => manage.post("/presets/a%20b/responses", { model: "sim/echo" })],
  ["an unknown authorization code is forbidden", 403, () => client().post("/auth/keys", { code: "nothing" })],
  ["an exchange without a code is invalid", 400, () => client().post("/auth/keys", {})],
  [
    "an unknown challenge method is invalid",
    400,
    () => client().post("/auth/keys", { code: "x", code_challenge_method: "S512" }),
  ],
  [
    "groups of an unknown directory are not found",
    404,
    ({ manage }) => manage.get(`/scim/groups?directory_id=${NOBODY}`),
  ],
  ["a page of embedding models outside its range is invalid", 400, ({ as }) => as.get("/embeddings/models?limit=0")],
  ["embedding models need a key", 401, () => client().get("/embeddings/models")],
  ["the dataset needs a key", 401, () => client().get("/datasets/session-cost")],
]

/** Operations whose documented errors have no 400. */
const WITH_ID = [
  ["GET", "/guardrails/no-uuid"],
  ["DELETE", "/guardrails/no-uuid"],
  ["GET", "/guardrails/no-uuid/assignments/keys"],
  ["GET", "/guardrails/no-uuid/assignments/members"],
  ["GET", "/byok/no-uuid"],
  ["DELETE", "/byok/no-uuid"],
  ["GET", "/scim/group-mappings/no-uuid"],
  ["GET", "/scim/sync-jobs/no-uuid"],
  ["GET", "/observability/destinations/no-uuid"],
  ["DELETE", "/observability/destinations/no-uuid"],
  ["GET", "/keys/no-hash"],
  ["DELETE", "/keys/no-hash"],
] as const

test.each(WITH_ID)("a malformed id names nothing: %s %s is 404", async (method, path) => {
  const { manage } = await newWorkspace()
  const { message } = await expectRejection(404, manage.call(method, path))
  expect(message).toMatch(/^(id|hash): must be /)
})

test.each([
  ["GET", ""],
  ["GET", "/daemon"],
  ["PATCH", ""],
  ["POST", "/chat/completions"],
] as const)("an intern with a malformed id is not found: %s /interns/no-uuid%s", async (method, path) => {
  const { as } = await newWorkspace()
  const body = { stream: true, messages: [{ role: "user", content: "Hi" }] }
  const sent = { GET: undefined, PATCH: "{}", POST: JSON.stringify(body) }[method]
  const { metadata } = await expectRejection(404, as.call(method, `/interns/no-uuid${path}`, sent))
  expect(metadata).toEqual({ reason: "not_found", retryable: false })
})

test("only an id is not found: other parts of a path and ids in a body or query are invalid", async () => {
  const { as, manage } = await newWorkspace()
  await expectRejection(400, manage.get("/guardrails/no-uuid/assignments/keys?limit=0"))
  await expectRejection(400, manage.get("/guardrails?workspace_id=no-uuid"))
  await expectRejection(400, manage.post("/keys", { name: "x", workspace_id: "no-uuid" }))
  await expectRejection(400, as.put("/vault/interns/no-uuid/secrets/NO", { hosts: ["a.example"], value: "v" }))
})

test.each(statuses)("%s: %i", async (_, status, request) => {
  const error = await expectRejection(status, request(await newWorkspace()))
  expect(error.message.length).toBeGreaterThan(10)
})

async function uploaded(as: Workspace["as"]): Promise<string> {
  const form = new FormData()
  form.append("file", new Blob(["hello"], { type: "text/plain" }), "note.txt")
  const request = new Request("http://x.test", { method: "POST", body: form })
  const bytes = new Uint8Array(await request.arrayBuffer())
  const { id } = await expectJson<{ id: string }>(
    200,
    as.callBytes("POST", "/files", bytes, request.headers.get("content-type") ?? ""),
  )
  return id
}

describe("the session-cost dataset", () => {
  test("accepts a page size of 1 to 500, a skip count to 5000, and four turn ranges", async () => {
    const { as } = await newWorkspace()
    const ranges = ["1-turn", "2-9-turns", "10-49-turns", "50-plus-turns"].map((range) => `turn_range=${range}`)
    for (const query of [
      "limit=1",
      "limit=500",
      "offset=0",
      "offset=5000",
      "app_slug=x",
      "model=sim/echo",
      ...ranges,
    ]) {
      await expectJson(200, as.get(`/datasets/session-cost?${query}`))
    }
    for (const query of ["limit=0", "limit=501", "offset=-1", "offset=5001", "turn_range=3-turns"]) {
      await expectRejection(400, as.get(`/datasets/session-cost?${query}`), query)
    }
  })
})

test.each(["daily", "weekly", "monthly", "lifetime"])("a missing %s budget is deleted with 200", async (interval) => {
  const { manage, workspaceId } = await newWorkspace()
  expect(await expectJson(200, manage.delete(`/workspaces/${workspaceId}/budgets/${interval}`))).toEqual({
    deleted: true,
  })
  expect(await expectJson(200, manage.delete(`/workspaces/default/budgets/${interval}`))).toEqual({ deleted: true })
})

test("a rate limit of the provider keeps its retry hint and its code; a success has no rate-limit headers", async () => {
  const { as } = await newWorkspace()
  const refused = await as.chat("sim/status-429", "Hi")
  expect(refused.headers.get("retry-after")).toMatch(/^\d+$/)
  const { error } = await expectJson<{ error: { metadata: { provider_code: string } } }>(429, refused)
  expect(error.metadata.provider_code).toEqual(expect.any(String))
  const passed = await as.chat("sim/echo", "Hi")
  expect([...passed.headers.keys()].filter((name) => name.startsWith("x-ratelimit"))).toEqual([])
})

test("an authorization code is exchanged once, for a key and a user id, with each challenge method", async () => {
  const { as } = await newWorkspace()
  const verifier = "v".repeat(64)
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(verifier)))
  const S256 = toBase64Url(digest)
  const methods = [
    {
      authorization: { code_challenge: S256, code_challenge_method: "S256" },
      exchanged: { code_verifier: verifier, code_challenge_method: "S256" },
    },
    {
      authorization: { code_challenge: verifier, code_challenge_method: "plain" },
      exchanged: { code_verifier: verifier, code_challenge_method: "plain" },
    },
    { authorization: {}, exchanged: { code_challenge_method: null } },
  ]
  for (const { authorization, exchanged } of methods) {
    const made = await as.post("/auth/keys/code", { callback_url: "https://app.example/cb", ...authorization })
    const { data } = await made.json<{ data: { id: string } }>()
    const exchange = () => client().post("/auth/keys", { code: data.id, ...exchanged })
    const { key, user_id: userId } = await expectJson<{ key: string; user_id: string }>(200, exchange())
    expect(userId).toEqual(expect.any(String))
    await expectJson(200, client(key).get("/key"))
    await expectRejection(403, exchange())
  }
})
