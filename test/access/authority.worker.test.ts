import { env } from "cloudflare:workers"
import { beforeAll, describe, expect, test } from "vitest"
import { insertQuestion } from "../../src/interns/questions-store.ts"
import { EGRESS_REQUEST_HEADER, encodeEnvelope } from "../../src/vault/egress-envelope.ts"
import { type Intern, insertIntern } from "../support/interns.ts"
import {
  type TestClient,
  client,
  newKey,
  newMember,
  newWorkspace,
  expectJson,
  type Workspace,
} from "../support/world.ts"

/**
 * Every kind of key against every route that creates, reveals, releases or approves something. `maker`, a key of Ada,
 * created the intern and the secret of the workspace; `sameUser` is another key of hers, all others are Bob's.
 */
const KINDS = [
  "management",
  "maker",
  "sameUser",
  "normal",
  "capped",
  "spent",
  "free",
  "app",
  "appOfMaker",
  "partnerUser",
  "intern",
  "provisioning",
  "limitedProvisioning",
  "disabled",
  "expired",
  "otherWorkspace",
  "otherOrganization",
  "otherManagement",
] as const
type Kind = (typeof KINDS)[number]

const AWAY = ["otherWorkspace", "otherOrganization", "otherManagement"] as const
const MINTERS = ["management", "provisioning", "limitedProvisioning", "otherManagement"] as const
const OWNERS = ["management", "maker", "sameUser"] as const
/** Keys that see only the interns that they created. */
const CONFINED = ["free", "app", "appOfMaker", "partnerUser"] as const
const OF_WORKSPACE = KINDS.filter((kind) => !["disabled", "expired", ...AWAY].includes(kind))
const IN_WORKSPACE = OF_WORKSPACE.filter((kind) => !CONFINED.some((one) => one === kind))

type Setup = {
  workspace: Workspace
  clients: Record<Kind, TestClient>
  intern: Intern
  /** A key that a management key disabled, and one with a limit of 0.5 USD. */
  disabledHash: string
  limitedHash: string
}
let deps: Setup
let count = 0
const name = () => `n${count++}`

beforeAll(async () => {
  const [workspace, other] = [await newWorkspace(), await newWorkspace()]
  const [ada, bob] = [await newMember(workspace, "ada"), await newMember(workspace, "bob")]
  const make = (user: string, more: Record<string, unknown> = {}) =>
    newKey(workspace, { creator_user_id: user, ...more })
  const approve = async (as: TestClient) => {
    const requests = { callback_url: "https://app.example/back" }
    const { data } = await expectJson<{ data: { id: string } }>(200, as.post("/auth/keys/code", requests))
    return client((await expectJson<{ key: string }>(200, client().post("/auth/keys", { code: data.id }))).key)
  }
  const [maker, normal, expired, disabled, limited] = [
    await make(ada),
    await make(bob),
    await make(bob),
    await make(bob),
    await make(bob, { limit: 0.5, requests_per_minute: 100 }),
  ]
  await env.DB.prepare("UPDATE api_keys SET expires_at = ? WHERE hash = ?")
    .bind(Date.now() - 1, expired.hash)
    .run()
  await expectJson(200, workspace.manage.patch(`/keys/${disabled.hash}`, { disabled: true }))
  const intern = await insertIntern(workspace, {
    createdByKey: maker.hash,
    creatorUserId: ada,
    hostname: `${crypto.randomUUID()}.interns.localhost`,
    accessNonce: "nonce",
  })
  await expectJson(
    200,
    maker.as.put("/vault/secrets/shared", { hosts: ["api.example.com"], value: "stored by the maker" }),
  )
  type Team = { data: { id: string } }
  const team = await expectJson<Team>(201, workspace.manage.post("/workspaces", { name: "Team", slug: "team" }))
  const clients: Record<Kind, TestClient> = {
    management: workspace.manage,
    maker: maker.as,
    sameUser: (await make(ada)).as,
    normal: normal.as,
    capped: (await make(bob, { limit: 1 })).as,
    spent: (await make(bob, { limit: 0 })).as,
    free: (await make(bob, { kind: "free_tier" })).as,
    app: await approve(normal.as),
    appOfMaker: await approve(maker.as),
    partnerUser: (await make(bob, { external: { user: "ann" } })).as,
    intern: intern.as,
    provisioning: (await make(bob, { kind: "provisioning" })).as,
    limitedProvisioning: (await make(bob, { kind: "provisioning", limit: 1 })).as,
    disabled: disabled.as,
    expired: expired.as,
    otherWorkspace: (await make(bob, { workspace_id: team.data.id })).as,
    otherOrganization: other.as,
    otherManagement: other.manage,
  }
  deps = { workspace, clients, intern, disabledHash: disabled.hash, limitedHash: limited.hash }
})

type Row = {
  does: string
  send: (as: TestClient, deps: Setup) => Promise<Response> | Response
  /** The status for permitted keys, and which those are. */
  ok: [status: number, kinds: readonly Kind[]]
  /** The status for keys to which the record is invisible. */
  absent?: [status: number, kinds: readonly Kind[]]
  /** The status for all other keys. */
  refused: number
}

const key = () => ({ name: name(), limit: 0.5 })
const fresh = async ({ workspace }: Setup, more: Record<string, unknown> = {}) => (await newKey(workspace, more)).hash

const ROWS: Row[] = [
  { does: "mints a normal key", send: (as) => as.post("/keys", key()), ok: [201, MINTERS], refused: 403 },
  {
    does: "mints a normal key above its own limit",
    send: (as) => as.post("/keys", { ...key(), limit: 5 }),
    ok: [201, ["management", "provisioning", "otherManagement"]],
    refused: 403,
  },
  {
    does: "mints a normal key without a limit",
    send: (as) => as.post("/keys", { name: name() }),
    ok: [201, ["management", "provisioning", "otherManagement"]],
    refused: 403,
  },
  ...["management", "provisioning"].map((kind) => ({
    does: `mints a ${kind} key`,
    send: (as: TestClient) => as.post("/keys", { ...key(), kind }),
    ok: [201, ["management", "otherManagement"]] as Row["ok"],
    refused: 403,
  })),
  {
    does: "mints a key in the name of a member",
    send: (as) => as.post("/keys", { ...key(), creator_user_id: "ada" }),
    ok: [201, ["management", "provisioning", "limitedProvisioning"]],
    absent: [400, ["otherManagement"]],
    refused: 403,
  },
  {
    does: "enables a key that a management key disabled",
    send: async (as, { disabledHash, workspace }) => {
      const answer = await as.patch(`/keys/${disabledHash}`, { disabled: false })
      if (answer.ok) await workspace.manage.patch(`/keys/${disabledHash}`, { disabled: true })
      return answer
    },
    ok: [200, ["management"]],
    absent: [404, ["otherManagement"]],
    refused: 403,
  },
  {
    does: "raises the limit of a key that it did not create",
    send: async (as, { limitedHash, workspace }) => {
      const answer = await as.patch(`/keys/${limitedHash}`, { limit: 0.9 })
      if (answer.ok) await workspace.manage.patch(`/keys/${limitedHash}`, { limit: 0.5 })
      return answer
    },
    ok: [200, ["management", "provisioning"]],
    absent: [404, ["otherManagement"]],
    refused: 403,
  },
  {
    does: "raises the rate limit of a key that it did not create",
    send: async (as, { limitedHash, workspace }) => {
      const answer = await as.patch(`/keys/${limitedHash}`, { requests_per_minute: null })
      if (answer.ok) await workspace.manage.patch(`/keys/${limitedHash}`, { requests_per_minute: 100 })
      return answer
    },
    ok: [200, ["management", "provisioning"]],
    absent: [404, ["otherManagement"]],
    refused: 403,
  },
  {
    does: "lowers the rate limit of a key that it did not create",
    send: async (as, { limitedHash, workspace }) => {
      const answer = await as.patch(`/keys/${limitedHash}`, { requests_per_minute: 50 })
      if (answer.ok) await workspace.manage.patch(`/keys/${limitedHash}`, { requests_per_minute: 100 })
      return answer
    },
    ok: [200, ["management", "provisioning", "limitedProvisioning"]],
    absent: [404, ["otherManagement"]],
    refused: 403,
  },
  {
    does: "deletes a normal key",
    send: async (as, its) => as.delete(`/keys/${await fresh(its)}`),
    ok: [200, ["management", "provisioning", "limitedProvisioning"]],
    absent: [404, ["otherManagement"]],
    refused: 403,
  },
  {
    does: "deletes a management key",
    send: async (as, its) => as.delete(`/keys/${await fresh(its, { kind: "management" })}`),
    ok: [200, ["management"]],
    absent: [404, ["otherManagement"]],
    refused: 403,
  },
  {
    does: "gives tools of MCP servers to a key",
    send: (as) => as.post("/keys", { ...key(), mcp_tools: ["search/*"] }),
    ok: [201, ["management", "otherManagement"]],
    refused: 403,
  },
  { does: "lists keys", send: (as) => as.get("/keys"), ok: [200, MINTERS], refused: 403 },
  {
    does: "approves an app",
    send: (as) => as.post("/auth/keys/code", { callback_url: "https://app.example/back" }),
    ok: [200, KINDS.filter((kind) => !["free", "app", "appOfMaker", "intern", "disabled", "expired"].includes(kind))],
    refused: 403,
  },
  {
    does: "creates an intern",
    send: (as) => as.post("/interns", { name: name() }),
    ok: [201, [...OF_WORKSPACE.filter((kind) => kind !== "intern"), ...AWAY]],
    absent: [404, ["intern"]],
    refused: 403,
  },
  {
    does: "creates an intern that borrows the vault of another one",
    send: (as, { intern }) => as.post("/interns", { name: name(), vault_id: intern.vaultId }),
    ok: [201, OWNERS],
    absent: [404, ["intern", ...CONFINED, ...AWAY]],
    refused: 403,
  },
  {
    does: "clones an intern",
    send: (as, { intern }) => as.post("/interns", { name: name(), clone_of: intern.id }),
    ok: [201, OWNERS],
    absent: [404, ["intern", ...CONFINED, ...AWAY]],
    refused: 403,
  },
  {
    does: "creates a join token",
    send: (as, { intern }) => as.post(`/interns/${intern.id}/daemon/token`, { replace: true }),
    ok: [201, OWNERS],
    absent: [404, ["intern", ...CONFINED, ...AWAY]],
    refused: 403,
  },
  {
    does: "reads the access token of a running intern",
    send: (as, { intern }) => as.get(`/interns/${intern.id}/daemon`),
    ok: [200, IN_WORKSPACE],
    absent: [404, [...CONFINED, ...AWAY]],
    refused: 403,
  },
  {
    does: "reads secrets as a daemon",
    send: (as, { intern }) => as.get(`/interns/${intern.id}/daemon/secrets`),
    ok: [200, []],
    refused: 401,
  },
  {
    does: "reads the files of an agent as a daemon",
    send: (as, { intern }) => as.get(`/interns/${intern.id}/daemon/files`),
    ok: [200, []],
    refused: 401,
  },
  {
    does: "sends a request with secrets as a daemon",
    send: (as, { intern }) => {
      const envelope = { method: "GET", url: "https://api.example.com/", headers: [], hasBody: false }
      const header = { [EGRESS_REQUEST_HEADER]: encodeEnvelope(envelope) }
      return as.call("POST", `/interns/${intern.id}/daemon/egress`, undefined, header)
    },
    ok: [200, []],
    refused: 401,
  },
  {
    does: "copies a secret that the creator stored to its intern",
    send: (as, { intern }) => as.post(`/vault/interns/${intern.id}/secrets/copy`, { names: ["shared"] }),
    ok: [200, OWNERS],
    absent: [404, ["intern", ...CONFINED, ...AWAY]],
    refused: 403,
  },
  {
    does: "lists the secrets of an intern, without values",
    send: (as, { intern }) => as.get(`/vault/interns/${intern.id}/secrets`),
    ok: [200, IN_WORKSPACE],
    absent: [404, [...CONFINED, ...AWAY]],
    refused: 403,
  },
  {
    does: "lists the secrets of the workspace, without values",
    send: (as) => as.get("/vault/secrets"),
    ok: [200, [...IN_WORKSPACE.filter((kind) => kind !== "intern"), ...AWAY]],
    absent: [404, ["intern", ...CONFINED]],
    refused: 403,
  },
  {
    does: "changes an intern",
    send: (as, { intern }) => as.patch(`/interns/${intern.id}`, { description: "changed" }),
    ok: [200, IN_WORKSPACE.filter((kind) => kind !== "intern")],
    absent: [404, [...CONFINED, ...AWAY]],
    refused: 403,
  },
  ...[
    "/byok",
    "/mcp-servers",
    "/passthrough-services",
    "/audit",
    "/guardrails",
    "/observability/destinations",
    "/scim/groups",
    "/credits",
    "/activity",
  ].map((path) => ({
    does: `reads ${path}`,
    send: (as: TestClient) => as.get(path),
    ok: [200, ["management", "otherManagement"]] as Row["ok"],
    refused: 403,
  })),
  {
    does: "connects a directory and receives its token",
    send: (as) => as.post("/scim/directories", { name: name() }),
    ok: [201, ["management", "otherManagement"]],
    refused: 403,
  },
  {
    does: "exports calls",
    send: (as) => as.post("/exports", { from: "2026-01-01T00:00:00Z", to: "2026-01-02T00:00:00Z" }),
    ok: [201, ["management", "otherManagement"]],
    refused: 403,
  },
  {
    does: "creates an organization",
    send: (as) => as.post("/organizations", { name: name() }),
    ok: [201, []],
    refused: 403,
  },
  {
    does: "credits an organization",
    send: (as) => as.post("/credits", { id: name(), amount_usd: 1 }),
    ok: [200, []],
    refused: 403,
  },
]

describe.each(ROWS)("a key that $does", ({ send, ok, absent, refused }) => {
  test.each(KINDS)("%s", async (kind) => {
    const answer = await send(deps.clients[kind], deps)
    const text = await answer.text()
    const expected =
      kind === "disabled" || kind === "expired"
        ? 401
        : ok[1].includes(kind)
          ? ok[0]
          : absent?.[1].includes(kind)
            ? absent[0]
            : refused
    expect(answer.status, text).toBe(expected)
    expect(text).not.toContain("stored by the maker")
  })
})

test.each(CONFINED)("a key %s sees only the interns that it created", async (kind) => {
  const { clients, intern, workspace } = deps
  const as = clients[kind]
  const created = { name: name(), description: "made twice" }
  // Equal requests of other keys have an intern of their own.
  const other = await expectJson<{ id: string }>(201, workspace.as.post("/interns", created))
  const { id } = await expectJson<{ id: string }>(201, as.post("/interns", { ...created, name: name() }))
  const body = { name: name(), description: "made twice" }
  const first = await expectJson<{ id: string }>(201, workspace.as.post("/interns", body))
  const repeated = await as.post("/interns", body)
  expect(await repeated.text()).not.toContain(first.id)

  const { data } = await expectJson<{ data: { id: string }[] }>(200, as.get("/interns"))
  const ids = data.map((one) => one.id)
  expect(ids).toContain(id)
  for (const hidden of [intern.id, other.id, first.id]) {
    expect(ids).not.toContain(hidden)
    const chat = { stream: true, messages: [{ role: "user", content: "Hi" }] }
    const secret = { hosts: ["api.example.com"], value: "a value" }
    for (const answer of [
      as.get(`/interns/${hidden}`),
      as.post(`/interns/${hidden}/chat/completions`, chat),
      as.put(`/vault/interns/${hidden}/secrets/token`, secret),
      as.post(`/interns/${hidden}/provision`, {}),
      as.call("DELETE", `/interns/${hidden}`, {}),
    ])
      expect((await answer).status).toBe(404)
  }
  await expectJson(200, as.put(`/vault/interns/${id}/secrets/token`, { hosts: ["api.example.com"], value: "a value" }))
  await expectJson(404, as.put("/vault/secrets/shared", { hosts: ["attacker.example"], value: "replaced" }))
  await expectJson(404, as.delete("/vault/secrets/shared"))

  const question = { organizationId: workspace.organizationId, workspaceId: workspace.workspaceId, session: "s" }
  const asked = { ...question, question: "{}", createdAt: Date.now(), deadline: Date.now() + 60_000 }
  for (const internId of [id, intern.id]) await insertQuestion(env.DB, { ...asked, id: crypto.randomUUID(), internId })
  const open = await expectJson<{ data: { intern: { id: string } }[] }>(200, as.get("/questions"))
  expect(open.data.map((one) => one.intern.id)).toEqual([id])
})
