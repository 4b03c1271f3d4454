import { createExecutionContext } from "cloudflare:test"
import { env } from "cloudflare:workers"
import { eq } from "drizzle-orm"
import { describe, expect, test } from "vitest"
import { app } from "../../src/app/app.ts"
import { interns } from "../../src/interns/table.ts"
import { openDb } from "../../src/support/db.ts"
import { deleteVaultQueries } from "../../src/vault/store.ts"
import { newDaemonIntern, MockDaemon } from "../support/daemon.ts"
import { insertIntern } from "../support/interns.ts"
import {
  BOOTSTRAP,
  type TestClient,
  client,
  newKey,
  newWorkspace,
  expectJson,
  type Workspace,
} from "../support/world.ts"
import { eventually } from "../support/eventually.ts"

type Secret = { name: string; hosts: string[] | null; fingerprint: string | null; created_at: string }
type One = { data: Secret }
type Many = { data: Secret[]; has_more: boolean; total_count: number }
type Failure = { error: { code: number; message: string; metadata?: { reason?: string; retryable?: boolean } } }

const HOSTS = ["api.example.com"]
const put = async (as: TestClient, path: string, value = "value-of-the-secret", hosts: string[] = HOSTS) =>
  (await expectJson<One>(200, as.put(path, { hosts, value }))).data
const list = (as: TestClient, path = "/vault/secrets") => expectJson<Many>(200, as.get(path))
const ofIntern = (id: string, name = "") => `/vault/interns/${id}/secrets${name === "" ? "" : `/${name}`}`
const refused = async (status: number, answer: Promise<Response>) => (await expectJson<Failure>(status, answer)).error

const secretsIn = (vaultId: string) =>
  env.DB.prepare("SELECT * FROM vault_secrets WHERE vault_id = ? ORDER BY name").bind(vaultId).all()

describe("the vault of a workspace", () => {
  test("stores a secret, returns all but its value, and deletes it", async () => {
    const { as } = await newWorkspace()
    const answer = await as.put("/vault/secrets/github_token", { hosts: ["API.GitHub.com."], value: "ghp_0123456789" })
    const text = await answer.clone().text()
    expect(text).not.toContain("ghp_0123456789")
    const { data: made } = await expectJson<One>(200, answer)
    expect(made).toEqual({
      name: "github_token",
      hosts: ["api.github.com"],
      fingerprint: expect.stringMatching(/^sha256:[0-9a-f]{64}$/),
      created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/),
    })
    expect(await list(as)).toEqual({ data: [made], has_more: false, total_count: 1 })
    const gone = await as.delete("/vault/secrets/github_token")
    expect([gone.status, await gone.text()]).toEqual([204, ""])
    await refused(404, as.delete("/vault/secrets/github_token"))
    expect((await list(as)).data).toEqual([])
  })

  test("replaces value and hosts of a secret by name, and keeps its created_at", async () => {
    const { as } = await newWorkspace()
    const first = await put(as, "/vault/secrets/token", "one")
    const second = await put(as, "/vault/secrets/token", "two", ["other.example.com", "api.example.com"])
    expect(second).toEqual({
      ...first,
      hosts: ["other.example.com", "api.example.com"],
      fingerprint: second.fingerprint,
    })
    expect(second.fingerprint).not.toBe(first.fingerprint)
    expect((await list(as)).total_count).toBe(1)
  })

  test("lists secrets by name and page", async () => {
    const { as } = await newWorkspace()
    for (const name of ["c", "a", "b2", "b"]) await put(as, `/vault/secrets/${name}`)
    const all = await list(as)
    expect(all.data.map(({ name }) => name)).toEqual(["a", "b", "b2", "c"])
    const first = await list(as, "/vault/secrets?limit=3")
    expect(first).toEqual({ data: all.data.slice(0, 3), has_more: true, total_count: 4 })
    const last = await list(as, "/vault/secrets?limit=3&offset=3")
    expect(last).toEqual({ data: all.data.slice(3), has_more: false, total_count: 4 })
    for (const query of ["limit=0", "limit=101", "offset=-1", "offset=10001"]) {
      await refused(400, as.get(`/vault/secrets?${query}`))
    }
  })

  test("is limited to the workspace of the key", async () => {
    const workspace = await newWorkspace()
    await put(workspace.as, "/vault/secrets/token")
    type Data = { data: { id: string } }
    const { data } = await expectJson<Data>(201, workspace.manage.post("/workspaces", { name: "Other", slug: "other" }))
    const { as } = await newKey(workspace, { workspace_id: data.id })
    expect((await list(as)).data).toEqual([])
    await refused(404, as.delete("/vault/secrets/token"))
    await put(as, "/vault/secrets/token", "another")
    const stranger = await newWorkspace()
    expect((await list(stranger.as)).data).toEqual([])
    await refused(404, stranger.as.delete("/vault/secrets/token"))
    expect((await list(workspace.manage)).total_count).toBe(1)
  })

  test("accepts values of up to 65,536 characters of any script", async () => {
    const { as } = await newWorkspace()
    for (const value of ["x".repeat(65_536), "漢".repeat(65_536), "\u0001".repeat(65_536)]) {
      await put(as, "/vault/secrets/long", value)
    }
    expect(
      (await refused(400, as.put("/vault/secrets/long", { hosts: HOSTS, value: "x".repeat(65_537) }))).message,
    ).toBe("value: must be at most 65536 characters.")
    await refused(413, as.put("/vault/secrets/long", { hosts: HOSTS, value: "x".repeat(1_048_576) }))
  })

  test.each([
    ["without a value", { hosts: HOSTS }, "value: must be a string."],
    ["with an empty value", { hosts: HOSTS, value: "" }, "value: must not be empty."],
    ["with a lone surrogate", { hosts: HOSTS, value: "a\ud800" }, "value: must be well-formed Unicode"],
    ["without hosts", { value: "v" }, "hosts: must be an array of 1 to 100 hostnames."],
    ["with an empty list of hosts", { hosts: [], value: "v" }, "hosts: must be an array of 1 to 100 hostnames."],
    ["with 101 hosts", { hosts: Array.from({ length: 101 }, (_, at) => `h${at}.example.com`), value: "v" }, "hosts:"],
    ["with a host that is not a string", { hosts: [1], value: "v" }, "hosts[0]: must be a hostname, a string."],
    ["with one invalid host", { hosts: ["a.example.com", "*.example.com"], value: "v" }, "hosts[1]: must be one exact"],
    ["with an unknown field", { hosts: HOSTS, value: "v", note: "x" }, "note"],
  ])("rejects a secret %s", async (_, input, content) => {
    const { as } = await newWorkspace()
    expect((await refused(400, as.put("/vault/secrets/token", input))).message).toContain(content)
  })

  test.each(["Token", "1token", "token_", "to__ken", "to-ken", "_token", "a".repeat(256), "to%20ken"])(
    "rejects the name %s with the rule for names",
    async (name) => {
      const { as } = await newWorkspace()
      const content = await refused(400, as.put(`/vault/secrets/${name}`, { hosts: HOSTS, value: "v" }))
      expect(content.message).toMatch(/^name: must be /)
      await refused(400, as.delete(`/vault/secrets/${name}`))
    },
  )

  test.each(["a", "a1", "a_1", "aws_secret_access_key", `a${"_b".repeat(127)}`])(
    "accepts the name %s",
    async (name) => {
      const { as } = await newWorkspace()
      await put(as, `/vault/secrets/${name}`)
    },
  )

  test("holds at most 1,000 secrets, also with concurrent writes", async () => {
    const { as, workspaceId, organizationId } = await newWorkspace()
    await put(as, "/vault/secrets/first")
    const names = JSON.stringify(Array.from({ length: 998 }, (_, at) => `s${at}`))
    await env.DB.prepare(
      `INSERT INTO vault_secrets SELECT vault_id, value, ?1, ?2, hosts, fingerprint, '', version, created_at, updated_at, created_by_key,
         creator_user_id
       FROM vault_secrets, json_each(?3) WHERE workspace_id = ?2`,
    )
      .bind(organizationId, workspaceId, names)
      .run()
    const answers = await Promise.all(
      ["one", "two", "three"].map((name) => as.put(`/vault/secrets/${name}`, { hosts: HOSTS, value: "v" })),
    )
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 400, 400])
    await put(as, "/vault/secrets/first", "replacing is not adding")
  })
})

describe("fingerprints", () => {
  test("are equal only for equal values in one vault", async () => {
    const { as } = await newWorkspace()
    const [one, same, other] = [
      await put(as, "/vault/secrets/one", "the same"),
      await put(as, "/vault/secrets/same", "the same", ["elsewhere.example.com"]),
      await put(as, "/vault/secrets/other", "another"),
    ]
    expect(same.fingerprint).toBe(one.fingerprint)
    expect(other.fingerprint).not.toBe(one.fingerprint)
    expect((await put(as, "/vault/secrets/one", "the same")).fingerprint).toBe(one.fingerprint)
  })

  test("of one value differ between vaults, and differ from its plain SHA-256", async () => {
    const workspace = await newWorkspace()
    const [first, second] = [await insertIntern(workspace), await insertIntern(workspace)]
    const made = await Promise.all([
      put(workspace.as, "/vault/secrets/token", "the same"),
      put(workspace.as, ofIntern(first.id, "token"), "the same"),
      put(workspace.as, ofIntern(second.id, "token"), "the same"),
    ])
    const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode("the same"))
    const plain = Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, "0")).join("")
    expect(new Set([...made.map(({ fingerprint }) => fingerprint), `sha256:${plain}`]).size).toBe(4)
  })
})

describe("the vault of an intern", () => {
  test("is separate from the workspace's", async () => {
    const workspace = await newWorkspace()
    const intern = await insertIntern(workspace)
    await put(workspace.as, "/vault/secrets/shared")
    const made = await put(workspace.as, ofIntern(intern.id, "token"))
    expect((await list(workspace.as, ofIntern(intern.id))).data).toEqual([made])
    expect((await list(workspace.as)).data.map(({ name }) => name)).toEqual(["shared"])
    await refused(404, workspace.as.delete(ofIntern(intern.id, "shared")))
    expect((await workspace.as.delete(ofIntern(intern.id, "token"))).status).toBe(204)
    expect((await list(workspace.as, ofIntern(intern.id))).data).toEqual([])
  })

  test("returns 404 to keys of another workspace or organization", async () => {
    const [workspace, stranger] = [await newWorkspace(), await newWorkspace()]
    const intern = await insertIntern(workspace)
    await put(workspace.as, ofIntern(intern.id, "token"))
    type Data = { data: { id: string } }
    const { data } = await expectJson<Data>(201, workspace.manage.post("/workspaces", { name: "Other", slug: "other" }))
    const otherWorkspace = await newKey(workspace, { workspace_id: data.id })
    for (const as of [stranger.as, stranger.manage, otherWorkspace.as]) {
      await refused(404, as.get(ofIntern(intern.id)))
      await refused(404, as.put(ofIntern(intern.id, "token"), { hosts: HOSTS, value: "v" }))
      await refused(404, as.delete(ofIntern(intern.id, "token")))
      await refused(404, as.post(`${ofIntern(intern.id)}/copy`, { names: ["token"] }))
    }
    expect((await list(workspace.as, ofIntern(intern.id))).total_count).toBe(1)
    await refused(404, workspace.as.get(ofIntern("no-uuid")))
  })

  test("is accessible with the intern's key, which gets 404 for other vaults", async () => {
    const workspace = await newWorkspace()
    const [intern, other] = [await insertIntern(workspace), await insertIntern(workspace)]
    await put(workspace.as, "/vault/secrets/shared")
    const made = await put(intern.as, ofIntern(intern.id, "token"))
    expect((await list(intern.as, ofIntern(intern.id))).data).toEqual([made])
    expect((await intern.as.delete(ofIntern(intern.id, "token"))).status).toBe(204)
    await refused(404, intern.as.get("/vault/secrets"))
    await refused(404, intern.as.put("/vault/secrets/token", { hosts: HOSTS, value: "v" }))
    await refused(404, intern.as.delete("/vault/secrets/shared"))
    await refused(404, intern.as.get(ofIntern(other.id)))
    await refused(404, intern.as.put(ofIntern(other.id, "token"), { hosts: HOSTS, value: "v" }))
    // It would read the workspace's vault.
    await refused(404, intern.as.post(`${ofIntern(intern.id)}/copy`, { names: ["shared"] }))
    expect((await list(workspace.as, ofIntern(intern.id))).data).toEqual([])
  })

  test("is its own vault also while another one is attached", async () => {
    const workspace = await newWorkspace()
    const lender = await insertIntern(workspace)
    const borrower = await insertIntern(workspace, { attachedVaultId: lender.vaultId })
    await put(workspace.as, ofIntern(lender.id, "lent"))
    expect((await list(workspace.as, ofIntern(borrower.id))).data).toEqual([])
    await put(workspace.as, ofIntern(borrower.id, "own"))
    await refused(404, borrower.as.delete(ofIntern(borrower.id, "lent")))
    expect((await list(workspace.as, ofIntern(lender.id))).data.map(({ name }) => name)).toEqual(["lent"])
  })

  test("rejects writes after its intern is deleted, and leaves no rows", async () => {
    const workspace = await newWorkspace()
    const intern = await insertIntern(workspace)
    await put(workspace.as, ofIntern(intern.id, "token"))
    const db = openDb(env.DB)
    await db.batch([
      ...deleteVaultQueries(db, workspace, intern.vaultId),
      db.delete(interns).where(eq(interns.id, intern.id)),
    ])
    await refused(404, workspace.as.put(ofIntern(intern.id, "token"), { hosts: HOSTS, value: "v" }))
    expect((await secretsIn(intern.vaultId)).results).toEqual([])
    const keys = await env.DB.prepare("SELECT * FROM data_keys WHERE id = ?").bind(intern.vaultId).all()
    expect(keys.results).toEqual([])
  })
})

describe("copying to an intern", () => {
  const copy = (workspace: Workspace, id: string, names: unknown) =>
    workspace.as.post(`${ofIntern(id)}/copy`, { names })

  test("copies value and hosts, and replaces a secret of the same name", async () => {
    const workspace = await newWorkspace()
    const intern = await insertIntern(workspace)
    const source = await put(workspace.as, "/vault/secrets/b", "copied", ["b.example.com"])
    await put(workspace.as, "/vault/secrets/a", "copied", ["a.example.com"])
    await put(workspace.as, ofIntern(intern.id, "b"), "before")
    const { data } = await expectJson<{ data: Secret[] }>(200, copy(workspace, intern.id, ["b", "a"]))
    expect(data.map(({ name, hosts }) => [name, hosts])).toEqual([
      ["b", ["b.example.com"]],
      ["a", ["a.example.com"]],
    ])
    expect(data[0]?.fingerprint).toBe(data[1]?.fingerprint)
    expect(data[0]?.fingerprint).not.toBe(source.fingerprint)
    expect((await list(workspace.as, ofIntern(intern.id))).total_count).toBe(2)
  })

  test("copies all or none: a missing name returns 404, a secret without hosts 409", async () => {
    const workspace = await newWorkspace()
    const intern = await insertIntern(workspace)
    for (const name of ["a", "b"]) await put(workspace.as, `/vault/secrets/${name}`)
    const missing = await refused(404, copy(workspace, intern.id, ["a", "nothing", "b"]))
    expect(missing.message).toContain("nothing")
    await env.DB.prepare(
      "UPDATE vault_secrets SET hosts = NULL, fingerprint = NULL WHERE workspace_id = ? AND name = 'b'",
    )
      .bind(workspace.workspaceId)
      .run()
    expect((await list(workspace.as)).data[1]).toMatchObject({ name: "b", hosts: null, fingerprint: null })
    expect((await refused(409, copy(workspace, intern.id, ["a", "b"]))).message).toContain("b has no hosts")
    expect((await secretsIn(intern.vaultId)).results).toEqual([])
    await put(workspace.as, "/vault/secrets/b")
    await expectJson(200, copy(workspace, intern.id, ["a", "b"]))
  })

  test.each([
    ["no names", []],
    ["a duplicate name", ["a", "a"]],
    ["101 names", Array.from({ length: 101 }, (_, at) => `n${at}`)],
    ["an invalid name", ["A"]],
    ["an unknown field", "a"],
  ])("rejects %s", async (_, names) => {
    const workspace = await newWorkspace()
    const intern = await insertIntern(workspace)
    expect((await refused(400, copy(workspace, intern.id, names))).message).toContain("names")
  })

  test("of a hundred secrets is one audit entry", async () => {
    const workspace = await newWorkspace()
    const intern = await insertIntern(workspace)
    const names = Array.from({ length: 100 }, (_, at) => `n${at}`)
    for (const name of names) await put(workspace.as, `/vault/secrets/${name}`)
    const { data } = await expectJson<{ data: Secret[] }>(200, copy(workspace, intern.id, names))
    expect(data.map(({ name }) => name)).toEqual(names)
    type Log = { data: { action: string; changes: { names?: string[] } }[] }
    const log = await expectJson<Log>(200, workspace.manage.get(`/audit?resource_id=${intern.vaultId}`))
    const copies = log.data.filter(({ action }) => action === "vault_secret.copy")
    expect(copies.map(({ changes }) => changes.names)).toEqual([names])
  })
})

describe("vault access", () => {
  test("returns 404 in an organization without interns", async () => {
    const workspace = await newWorkspace()
    await env.DB.prepare("UPDATE organizations SET interns_programme = 0 WHERE id = ?")
      .bind(workspace.organizationId)
      .run()
    for (const path of ["/vault/secrets", ofIntern(crypto.randomUUID())]) await refused(404, workspace.as.get(path))
    await refused(404, workspace.as.put("/vault/secrets/token", { hosts: HOSTS, value: "v" }))
    await refused(404, workspace.as.delete("/vault/secrets/token"))
  })

  test("returns 503 for writes while they are disabled, and reads still work", async () => {
    const workspace = await newWorkspace()
    const intern = await insertIntern(workspace)
    await put(workspace.as, "/vault/secrets/token")
    await env.DB.prepare("UPDATE organizations SET vault_writes = 0 WHERE id = ?").bind(workspace.organizationId).run()
    const fresh = await newKey(workspace)
    for (const answer of [
      fresh.as.put("/vault/secrets/token", { hosts: HOSTS, value: "v" }),
      fresh.as.delete("/vault/secrets/token"),
      intern.as.put(ofIntern(intern.id, "token"), { hosts: HOSTS, value: "v" }),
      fresh.as.delete(ofIntern(intern.id, "token")),
      fresh.as.post(`${ofIntern(intern.id)}/copy`, { names: ["token"] }),
    ]) {
      const { metadata } = await refused(503, answer)
      expect(metadata).toEqual({ reason: "vault_writes_disabled", retryable: false })
    }
    expect((await list(fresh.as)).total_count).toBe(1)
    expect((await list(intern.as, ofIntern(intern.id))).data).toEqual([])
    await refused(404, fresh.as.delete(ofIntern(crypto.randomUUID(), "token")))
  })

  test("returns 403 on a regional hostname", async () => {
    const { key } = await newWorkspace()
    const request = new Request("http://eu.localhost/api/v1/vault/secrets", {
      headers: { authorization: `Bearer ${key}` },
    })
    const { metadata } = await refused(403, Promise.resolve(app.fetch(request, env, createExecutionContext())))
    expect(metadata?.reason).toBe("regional_hostname")
  })
})

describe("vault records", () => {
  test("have each write in the audit log, with its hosts and without its value", async () => {
    const workspace = await newWorkspace()
    await put(workspace.as, "/vault/secrets/token", "canary-of-the-audit")
    await workspace.as.delete("/vault/secrets/token")
    await refused(404, workspace.as.delete("/vault/secrets/token"))
    type Log = { data: { action: string; resource_id: string; changed_fields: string[]; changes: unknown }[] }
    const log = await expectJson<Log>(200, workspace.manage.get("/audit?resource_type=vault_secret"))
    expect(log.data.map(({ action }) => action)).toEqual(["vault_secret.delete", "vault_secret.set"])
    expect(log.data[1]).toMatchObject({ changed_fields: ["hosts", "value"], changes: { hosts: HOSTS } })
    expect(log.data[1]?.resource_id).toMatch(/\/token$/)
    expect(JSON.stringify(log)).not.toContain("canary-of-the-audit")
  })

  test("have one data key per vault, also with concurrent first writes", async () => {
    const workspace = await newWorkspace()
    const intern = await insertIntern(workspace)
    await Promise.all([
      ...Array.from({ length: 4 }, (_, at) => put(workspace.as, `/vault/secrets/s${at}`)),
      ...Array.from({ length: 4 }, (_, at) => put(workspace.as, ofIntern(intern.id, `s${at}`))),
    ])
    const { results } = await env.DB.prepare("SELECT id FROM data_keys WHERE workspace_id = ?")
      .bind(workspace.workspaceId)
      .all<{ id: string }>()
    expect(results).toHaveLength(2)
    expect(results.map(({ id }) => id)).toContain(intern.vaultId)
  })

  test("are deleted with their workspace, including the interns' vaults", async () => {
    const workspace = await newWorkspace()
    type Data = { data: { id: string } }
    const { data } = await expectJson<Data>(201, workspace.manage.post("/workspaces", { name: "Team", slug: "team" }))
    const { as, hash } = await newKey(workspace, { workspace_id: data.id })
    const intern = await insertIntern({ ...workspace, workspaceId: data.id })
    await put(as, "/vault/secrets/token")
    await put(as, ofIntern(intern.id, "token"))
    await expectJson(200, workspace.manage.delete(`/keys/${hash}`))
    await expectJson(200, workspace.manage.delete(`/workspaces/${data.id}`))
    for (const table of ["vault_secrets", "data_keys"]) {
      const left = await env.DB.prepare(`SELECT * FROM ${table} WHERE workspace_id = ?`).bind(data.id).all()
      expect(left.results).toEqual([])
    }
  })

  test("keep sealed values and fingerprints when the master key is rotated", async () => {
    const workspace = await newWorkspace()
    const intern = await insertIntern(workspace)
    const made = await put(workspace.as, ofIntern(intern.id, "token"), "sealed under two masters")
    const before = (await secretsIn(intern.vaultId)).results
    const scoped = env.MASTER_KEY ?? ""
    const other = btoa(String.fromCharCode(...new Uint8Array(32).fill(11)))
    const turned = (current: string, previous: string, request: Request) =>
      app.fetch(request, { ...env, MASTER_KEY: current, MASTER_KEY_PREVIOUS: previous }, createExecutionContext())
    const headers = { authorization: `Bearer ${BOOTSTRAP}`, "content-type": "application/json" }
    const rotate = async (current: string, previous: string) => {
      const request = new Request("http://gateway.test/api/v1/secrets/rotate", { method: "POST", headers, body: "{}" })
      const answer = await turned(current, previous, request)
      return (await expectJson<{ data: { remaining: number } }>(200, answer)).data.remaining
    }
    while ((await rotate(other, scoped)) > 0);
    const daemon = new Request(`http://gateway.test/api/v1/interns/${intern.id}/daemon/secrets`, {
      headers: { authorization: `Bearer ${intern.joinToken}` },
    })
    const given = await expectJson<{ data: { name: string }[] }>(200, turned(other, "", daemon))
    expect(given.data.map(({ name }) => name)).toEqual(["token"])
    while ((await rotate(scoped, other)) > 0);
    expect((await secretsIn(intern.vaultId)).results).toEqual(before)
    const again = await put(workspace.as, ofIntern(intern.id, "token"), "sealed under two masters")
    expect(again.fingerprint).toBe(made.fingerprint)
  })
})

describe("the secrets of a daemon", () => {
  type Given = { data: { name: string; hosts: string[]; placeholder: string }[] }
  const path = (id: string) => `/interns/${id}/daemon/secrets`

  test("have names, hosts and placeholders, never a value", async () => {
    const workspace = await newWorkspace()
    const intern = await insertIntern(workspace)
    await put(workspace.as, ofIntern(intern.id, "token"), "the value", ["a.example.com", "b.example.com"])
    const answer = await client(intern.joinToken).get(path(intern.id))
    expect(answer.headers.get("cache-control")).toBe("no-store")
    expect(await expectJson<Given>(200, answer)).toEqual({
      status: "running",
      data: [
        {
          name: "token",
          hosts: ["a.example.com", "b.example.com"],
          placeholder: expect.stringMatching(/^vault-token-[0-9a-f]{16}$/),
        },
      ],
    })
  })

  test("return 401 to any API key, to another intern's token and without a token", async () => {
    const workspace = await newWorkspace()
    const [intern, other] = [await insertIntern(workspace), await insertIntern(workspace)]
    for (const key of [workspace.key, workspace.managementKey, intern.key, other.joinToken, "wrong", undefined]) {
      const { message } = await refused(401, client(key).get(path(intern.id)))
      expect(message).toMatch(/join token/)
    }
    await refused(401, client(intern.joinToken).get(path(crypto.randomUUID())))
    const header = { "x-api-key": intern.joinToken }
    await refused(401, client().get(path(intern.id), header))
    const revoked = await insertIntern(workspace, { joinTokenHash: null })
    await refused(401, client(revoked.joinToken).get(path(revoked.id)))
  })

  test("return 409 while the intern does not run, and 401 in an organization without interns", async () => {
    const workspace = await newWorkspace()
    for (const status of ["stopped", "failed", "queued", "destroying"] as const) {
      const intern = await insertIntern(workspace, { status })
      const { metadata } = await refused(409, client(intern.joinToken).get(path(intern.id)))
      expect(metadata?.reason).toBe("intern_not_running")
    }
    const starting = await insertIntern(workspace, { status: "provisioning" })
    expect(await expectJson(200, client(starting.joinToken).get(path(starting.id)))).toEqual({
      status: "provisioning",
      data: [],
    })
    await env.DB.prepare("UPDATE organizations SET interns_programme = 0 WHERE id = ?")
      .bind(workspace.organizationId)
      .run()
    await refused(401, client(starting.joinToken).get(path(starting.id)))
  })

  test("are the intern's secrets and those of the attached vault with other names", async () => {
    const workspace = await newWorkspace()
    const lender = await insertIntern(workspace)
    const borrower = await insertIntern(workspace, { attachedVaultId: lender.vaultId })
    await put(workspace.as, ofIntern(lender.id, "both"), "lent both")
    await put(workspace.as, ofIntern(lender.id, "lent"), "lent")
    await put(workspace.as, ofIntern(borrower.id, "both"), "own both", ["own.example.com"])
    const given = await expectJson<Given>(200, client(borrower.joinToken).get(path(borrower.id)))
    expect(given.data.map(({ name, hosts }) => [name, hosts])).toEqual([
      ["both", ["own.example.com"]],
      ["lent", HOSTS],
    ])
    const alone = await expectJson<Given>(200, client(lender.joinToken).get(path(lender.id)))
    expect(alone.data.map(({ hosts }) => hosts)).toEqual([HOSTS, HOSTS])
    // The placeholder of a secret is the same for every intern, and differs between vaults.
    expect(given.data[1]?.placeholder).toBe(alone.data[1]?.placeholder)
    expect(given.data[0]?.placeholder).not.toBe(alone.data[0]?.placeholder)
  })

  test("exclude an attached vault of another workspace", async () => {
    const [workspace, stranger] = [await newWorkspace(), await newWorkspace()]
    const foreign = await insertIntern(stranger)
    await put(stranger.as, ofIntern(foreign.id, "token"), "foreign")
    const borrower = await insertIntern(workspace, { attachedVaultId: foreign.vaultId })
    expect(await expectJson<Given>(200, client(borrower.joinToken).get(path(borrower.id)))).toMatchObject({ data: [] })
  })

  test("have placeholders that do not change with the value", async () => {
    const workspace = await newWorkspace()
    const intern = await insertIntern(workspace)
    const read = () => expectJson<Given>(200, client(intern.joinToken).get(path(intern.id)))
    await put(workspace.as, ofIntern(intern.id, "token"), "one")
    const first = await read()
    await put(workspace.as, ofIntern(intern.id, "token"), "two")
    const second = await read()
    expect(second.data[0]?.placeholder).toBe(first.data[0]?.placeholder)
  })

  test("exclude a secret without hosts and one with a tampered row", async () => {
    const workspace = await newWorkspace()
    const intern = await insertIntern(workspace)
    for (const name of ["a", "b", "c"]) await put(workspace.as, ofIntern(intern.id, name), `value of ${name}`)
    await env.DB.prepare("UPDATE vault_secrets SET hosts = NULL WHERE vault_id = ? AND name = 'a'")
      .bind(intern.vaultId)
      .run()
    // A row that was copied over another does not open: its name is part of the seal.
    await env.DB.prepare(
      `UPDATE vault_secrets SET (sealed, version) = (SELECT sealed, version FROM vault_secrets WHERE vault_id = ?1 AND name = 'c')
       WHERE vault_id = ?1 AND name = 'b'`,
    )
      .bind(intern.vaultId)
      .run()
    const given = await expectJson<Given>(200, client(intern.joinToken).get(path(intern.id)))
    expect(given.data.map(({ name }) => name)).toEqual(["c"])
  })
})

test("a vault write is reported to the daemons that use the vault, including an attached one", async () => {
  const workspace = await newWorkspace()
  const owner = await newDaemonIntern(workspace)
  const { vault_id } = await expectJson<{ vault_id: string }>(200, workspace.as.get(`/interns/${owner.id}`))
  const daemons = [owner, await newDaemonIntern(workspace, { vault_id }), await newDaemonIntern(workspace)]
  const [scoped, borrowing, other] = await Promise.all(daemons.map((intern) => new MockDaemon(intern).dial()))
  for (const { id } of daemons) {
    await eventually(async () =>
      expect(await expectJson(200, workspace.as.get(`/interns/${id}`))).toMatchObject({ status: "running" }),
    )
  }
  const resultsOf = (daemon?: MockDaemon) =>
    daemon?.received.filter(({ method }) => method === "_intern/vault_changed").length
  await put(workspace.as, "/vault/secrets/token")
  await put(workspace.as, ofIntern(owner.id, "a"))
  await expectJson(200, workspace.as.post(`${ofIntern(owner.id)}/copy`, { names: ["token"] }))
  await workspace.as.delete(ofIntern(owner.id, "a"))
  await refused(404, workspace.as.delete(ofIntern(owner.id, "a")))
  await eventually(() => expect([scoped, borrowing].map(resultsOf)).toEqual([3, 3]))
  expect(resultsOf(other)).toBe(0)
})
