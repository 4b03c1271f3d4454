import { createExecutionContext } from "cloudflare:test"
import { env } from "cloudflare:workers"
import { afterEach, describe, expect, test, vi } from "vitest"
import { app } from "../../src/app/app.ts"
import { keyAad } from "../../src/byok/credential.ts"
import { openDataKey } from "../../src/secrets/data-key.ts"
import { masterIdOf, type MasterKeys, masterKeysOf } from "../../src/secrets/master-key.ts"
import { openText } from "../../src/secrets/seal.ts"
import { BOOTSTRAP, expectJson, newWorkspace, type Workspace } from "../support/world.ts"

afterEach(() => vi.restoreAllMocks())

const CURRENT = env.MASTER_KEY ?? ""
const NEXT = btoa(String.fromCharCode(...new Uint8Array(32).fill(11)))

const CREDENTIAL = "sk-own-before-the-rotation-0123456789"

type Rotation = { data: { rewrapped: number; remaining: number; unreadable: number } }

function requestRotation(current: string, previous: string, limit: number, db: D1Database = env.DB) {
  const request = new Request("http://gateway.test/api/v1/secrets/rotate", {
    method: "POST",
    headers: { authorization: `Bearer ${BOOTSTRAP}`, "content-type": "application/json" },
    body: JSON.stringify({ limit }),
  })
  const bindings = { ...env, DB: db, MASTER_KEY: current, MASTER_KEY_PREVIOUS: previous }
  return app.fetch(request, bindings, createExecutionContext())
}

async function rotate(current: string, previous: string, limit = 100) {
  return (await expectJson<Rotation>(200, requestRotation(current, previous, limit))).data
}

/** The database, in which the batch of the rotation fails before or after the commit. */
function crashing(when: "before" | "after"): D1Database {
  const isRotation = (statements: D1PreparedStatement[]) => statements.length > 1
  return new Proxy(env.DB, {
    get(db, name) {
      if (name !== "batch") {
        const value: unknown = Reflect.get(db, name)
        return typeof value === "function" ? value.bind(db) : value
      }
      return async (statements: D1PreparedStatement[]) => {
        if (!isRotation(statements)) return db.batch(statements)
        if (when === "after") await db.batch(statements)
        throw new Error("D1_ERROR: Network connection lost.")
      }
    },
  })
}

async function newCredential(): Promise<{ workspace: Workspace; id: string }> {
  const workspace = await newWorkspace()
  type Made = { data: { id: string } }
  const { data } = await expectJson<Made>(201, workspace.manage.post("/byok", { provider: "openai", key: CREDENTIAL }))
  return { workspace, id: data.id }
}

/** The stored credential, opened with these master keys. */
async function opened(id: string, masters: MasterKeys): Promise<string | undefined> {
  type Row = Record<"workspace_id" | "provider" | "version" | "sealed" | "master_id" | "wrapped", string>
  const row = await env.DB.prepare(
    `SELECT b.workspace_id, b.provider, b.version, b.sealed, d.wrapped, d.master_id
     FROM byok_credentials b JOIN data_keys d ON d.id = b.workspace_id WHERE b.id = ?`,
  )
    .bind(id)
    .first<Row>()
  if (!row) throw new Error("The credential is gone.")
  const { workspace_id: workspaceId, master_id: masterId, wrapped, provider, version } = row
  const key = await openDataKey({ id: workspaceId, workspaceId, masterId, wrapped }, masters)
  return key && openText(key, keyAad({ id, workspaceId, provider, version }), row.sealed)
}

test("with another master key, secrets are not stored, and a 503 names the variable to set", async () => {
  const { workspace } = await newCredential()
  await expectJson(200, workspace.as.put("/vault/secrets/token", { hosts: ["a.example.com"], value: "v" }))
  const send = (method: string, path: string, key: string, body: object) => {
    const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" }
    const request = new Request(`http://gateway.test/api/v1${path}`, { method, headers, body: JSON.stringify(body) })
    return app.fetch(request, { ...env, MASTER_KEY: NEXT }, createExecutionContext())
  }
  const byok = { provider: "openai", key: CREDENTIAL }
  const secret = { hosts: ["a.example.com"], value: "w" }
  for (const response of [
    send("POST", "/byok", workspace.managementKey, byok),
    send("PUT", "/vault/secrets/token", workspace.key, secret),
  ]) {
    const { error } = await expectJson<{ error: { message: string } }>(503, response)
    expect(error.message).toContain("MASTER_KEY_PREVIOUS")
  }
  expect(await expectJson(200, workspace.manage.get("/byok"))).toMatchObject({ total_count: 1 })
})

const back = async () => {
  while ((await rotate(CURRENT, NEXT)).remaining > 0);
}

describe("a rotation of the master key that crashes", () => {
  test.each(["before", "after"] as const)("%s the commit leaves every value readable, and is resumed", async (when) => {
    const made = await Promise.all(Array.from({ length: 6 }, newCredential))
    const readable = async (masters: MasterKeys) => {
      for (const { id } of made) expect(await opened(id, masters)).toBe(CREDENTIAL)
    }
    try {
      await readable({ current: CURRENT, previous: undefined })
      vi.spyOn(console, "error").mockImplementation(() => undefined)
      let rewrapped = 0
      for (;;) {
        // Each page is lost once and repeated, like by an operator who sees the error.
        await expectJson(503, requestRotation(NEXT, CURRENT, 2, crashing(when)))
        await readable({ current: NEXT, previous: CURRENT })
        const { remaining, rewrapped: count } = await rotate(NEXT, CURRENT, 2)
        rewrapped += count
        await readable({ current: NEXT, previous: CURRENT })
        if (remaining === 0) break
      }
      expect(rewrapped).toBeGreaterThan(0)
      // The previous key could be deleted now.
      await readable({ current: NEXT, previous: undefined })
    } finally {
      vi.restoreAllMocks()
      await back()
    }
    await readable(masterKeysOf(env))
  })

  test("a data key that the previous master key cannot open is counted as unreadable, and the others are wrapped", async () => {
    const made = await Promise.all(Array.from({ length: 5 }, newCredential))
    const ids = made.map(({ workspace }) => workspace.workspaceId).toSorted()
    // In the order of wrapping.
    const [first, second] = ids
    const read = "SELECT wrapped FROM data_keys WHERE id = ?"
    const wrappedOf = (workspaceId: string | undefined) =>
      env.DB.prepare(read).bind(workspaceId).first<string>("wrapped")
    const write = (workspaceId: string | undefined, wrapped: string | null) =>
      env.DB.prepare("UPDATE data_keys SET wrapped = ?2 WHERE id = ?1").bind(workspaceId, wrapped).run()
    const [wrapped, another] = [await wrappedOf(first), await wrappedOf(second)]
    await write(first, another)
    const before = (await rotate(CURRENT, "")).unreadable
    try {
      let last = await rotate(NEXT, CURRENT, 1)
      while (last.remaining > 0) {
        const { remaining } = last
        last = await rotate(NEXT, CURRENT, 1)
        expect(last.remaining).toBeLessThan(remaining)
      }
      expect(last.unreadable).toBe(before + 1)
      for (const { id, workspace } of made) {
        const isBroken = workspace.workspaceId === first
        expect(await opened(id, { current: NEXT, previous: undefined })).toBe(isBroken ? undefined : CREDENTIAL)
      }
    } finally {
      await write(first, wrapped)
      await back()
    }
    for (const { id } of made) expect(await opened(id, masterKeysOf(env))).toBe(CREDENTIAL)
  })

  test("concurrent rotations wrap each data key once", async () => {
    const { id } = await newCredential()
    try {
      const results = await Promise.all([rotate(NEXT, CURRENT), rotate(NEXT, CURRENT), rotate(NEXT, CURRENT)])
      while ((await rotate(NEXT, CURRENT)).remaining > 0);
      expect(results.every(({ unreadable }) => unreadable === results[0]?.unreadable)).toBe(true)
      expect(await opened(id, { current: NEXT, previous: undefined })).toBe(CREDENTIAL)
      const left = await env.DB.prepare("SELECT count(*) AS n FROM data_keys WHERE master_id = ?")
        .bind(await masterIdOf(CURRENT))
        .first("n")
      expect(left).toBe(0)
    } finally {
      await back()
    }
  })
})

describe("a moved sealed row", () => {
  test("to another organization's credential cannot be opened", async () => {
    const [mine, theirs] = [await newCredential(), await newCredential()]
    // An attacker with write access to the database: the ciphertext, and then its data key as well.
    await env.DB.prepare(
      "UPDATE byok_credentials SET sealed = (SELECT sealed FROM byok_credentials WHERE id = ?1) WHERE id = ?2",
    )
      .bind(mine.id, theirs.id)
      .run()
    expect(await opened(theirs.id, masterKeysOf(env))).toBeUndefined()
    await env.DB.prepare(`UPDATE data_keys SET wrapped = (SELECT wrapped FROM data_keys WHERE id = ?1) WHERE id = ?2`)
      .bind(mine.workspace.workspaceId, theirs.workspace.workspaceId)
      .run()
    expect(await opened(theirs.id, masterKeysOf(env))).toBeUndefined()
    expect(await opened(mine.id, masterKeysOf(env))).toBe(CREDENTIAL)
  })
})
