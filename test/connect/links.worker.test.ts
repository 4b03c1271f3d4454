import { env, exports } from "cloudflare:workers"
import * as fc from "fast-check"
import { describe, expect, test } from "vitest"
import { hashKey } from "../../src/access/key.ts"
import { CLIENTS } from "../../src/connect/clients.ts"
import { pruneLinks } from "../../src/connect/store.ts"
import { runs } from "../support/runs.ts"
import { client, expectJson, newKey, newWorkspace, type TestClient, type Workspace } from "../support/world.ts"

type Made = { data: { id: string; client: string; key_hash: string; url: string; command: string; expires_at: string } }
type Redeemed = {
  data: { client: string; api_key: string; base_url: string; model: string; models: string[] }
}
const front = () => (exports as unknown as { default: Fetcher }).default
const ORIGIN = "http://gateway.test"

const create = (as: TestClient, key: string, more: Record<string, unknown> = {}) =>
  as.post("/connect-links", { client: "codex", key, ...more })
const redeem = (token: string) => client().post("/connect-links/redeem", { token })
const tokenOf = ({ data }: Made) => new URL(data.url).hash.slice(1)
const newToken = async (as: TestClient, key: string, more: Record<string, unknown> = {}) =>
  tokenOf(await expectJson<Made>(201, create(as, key, more)))
const expire = (token: string) =>
  env.DB.prepare("UPDATE connect_links SET expires_at = ? WHERE hash = ?")
    .bind(Date.now() - 1, hashKey(token))
    .run()
const postForm = (token: string, name = "codex") =>
  front().fetch(`${ORIGIN}/connect/${name}`, { method: "POST", body: new URLSearchParams({ token }) })

describe("a connect link", () => {
  test("returns the key once, with the client's settings", async () => {
    const workspace = await newWorkspace()
    const { key, hash } = await newKey(workspace)
    const made = await expectJson<Made>(201, create(workspace.manage, key, { model: "sim/echo" }))
    const token = tokenOf(made)
    expect(made.data).toMatchObject({
      client: "codex",
      model: "sim/echo",
      key_hash: hash,
      url: `${ORIGIN}/connect/codex#${token}`,
      command: `curl -fsS ${ORIGIN}/connect.js | GATEWAY_LINK='${ORIGIN}/connect/codex#${token}' node`,
    })
    const left = Date.parse(made.data.expires_at) - Date.now()
    expect(left).toBeGreaterThan(10 * 60_000)
    expect(left).toBeLessThanOrEqual(15 * 60_000)
    const { data } = await expectJson<Redeemed>(200, redeem(token))
    const known = { client: "codex", api_key: key, base_url: `${ORIGIN}/api/v1`, model: "sim/echo" }
    expect(data).toEqual({ ...known, models: expect.arrayContaining(["sim/echo"]) })
    expect((await client(data.api_key).get("/key")).status).toBe(200)
    const again = await expectJson<{ error: { message: string } }>(404, redeem(token))
    expect(again.error.message).toContain("Create a new one")
  })

  test("can be redeemed by only one of concurrent requests, as a form or as JSON", async () => {
    const workspace = await newWorkspace()
    const token = await newToken(workspace.as, workspace.key)
    const answers = await Promise.all([redeem(token), postForm(token), redeem(token), postForm(token)])
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 404, 404, 404])
    const texts = await Promise.all(answers.map((answer) => answer.text()))
    expect(texts.filter((text) => text.includes(workspace.key))).toHaveLength(1)
  })

  test("is not used up by opening it, and its page forbids framing and foreign scripts", async () => {
    const workspace = await newWorkspace()
    const token = await newToken(workspace.as, workspace.key)
    for (const name of CLIENTS) {
      const page = await front().fetch(`${ORIGIN}/connect/${name}`)
      expect(page.status).toBe(200)
      const policy = page.headers.get("content-security-policy") ?? ""
      const nonce = /script-src 'nonce-(\w{32})';/.exec(policy)?.[1]
      expect(policy).toContain("default-src 'none'; ")
      expect(policy).toContain("frame-ancestors 'none'")
      expect(page.headers.get("cache-control")).toBe("no-store")
      const text = await page.text()
      expect([...text.matchAll(/<(?:script|style)[^>]*>/g)].every(([tag]) => tag.includes(`nonce="${nonce}"`))).toBe(
        true,
      )
    }
    expect((await front().fetch(`${ORIGIN}/connect/codex`, { method: "HEAD" })).status).toBe(200)
    expect((await client().get("/connect-links/redeem")).status).toBe(405)
    expect((await redeem(token)).status).toBe(200)
    expect((await front().fetch(`${ORIGIN}/connect/nothing`)).status).toBe(404)
  })

  test("shows the settings on its page when its form is submitted", async () => {
    const workspace = await newWorkspace()
    const token = await newToken(workspace.as, workspace.key, { client: "claude", model: "sim/echo" })
    const page = await postForm(token, "claude")
    const text = await page.text()
    expect([page.status, page.headers.get("cache-control")]).toEqual([200, "no-store"])
    expect(text).toContain("~/.claude/settings.json")
    expect(text).toContain(`ANTHROPIC_AUTH_TOKEN&quot;: &quot;${workspace.key}`)
    expect((await postForm(token, "claude")).status).toBe(404)
    expect((await postForm("short", "claude")).status).toBe(400)
  })

  test("accepts only a model that the key may call", async () => {
    const { as, key } = await newWorkspace()
    const refused = await expectJson<{ error: { message: string } }>(400, create(as, key, { model: "sim/ecko" }))
    expect(refused.error.message).toContain("sim/echo")
  })

  test("is not used up by a failed redemption", async () => {
    const workspace = await newWorkspace()
    const { key, hash } = await newKey(workspace)
    const token = await newToken(workspace.manage, key)
    await workspace.manage.patch(`/keys/${hash}`, { disabled: true })
    await expectJson(410, redeem(token))
    await workspace.manage.patch(`/keys/${hash}`, { disabled: false })
    expect((await redeem(token)).status).toBe(200)
  })

  test("is rejected once it or its key has expired", async () => {
    const workspace = await newWorkspace()
    const { key, hash } = await newKey(workspace)
    const [first, second] = [await newToken(workspace.manage, key), await newToken(workspace.manage, key)]
    await expire(first)
    await expectJson(404, redeem(first))
    await env.DB.prepare("UPDATE api_keys SET expires_at = ? WHERE hash = ?")
      .bind(Date.now() - 1, hash)
      .run()
    await expectJson(410, redeem(second))
    await expectJson(404, create(workspace.manage, key))
  })

  test("expires with its key, and a key has at most 20 of them", async () => {
    const workspace = await newWorkspace()
    const ends = new Date(Date.now() + 60_000).toISOString()
    const { key } = await newKey(workspace, { expires_at: ends })
    const made = await expectJson<Made>(201, create(workspace.manage, key))
    expect(Date.parse(made.data.expires_at)).toBe(Date.parse(ends))
    for (let at = 1; at < 20; at++) await expectJson(201, create(workspace.manage, key))
    await expectJson(409, create(workspace.manage, key))
    await expectJson(200, redeem(tokenOf(made)))
    await expectJson(201, create(workspace.manage, key))
  })
})

describe("the secret of a connect link", () => {
  test("is sealed for that link, its token is not stored, and expired rows are deleted", async () => {
    const workspace = await newWorkspace()
    const { key, hash } = await newKey(workspace)
    const [first, second] = [await newToken(workspace.manage, key), await newToken(workspace.manage, key)]
    const rows = await env.DB.prepare("SELECT * FROM connect_links WHERE key_hash = ?").bind(hash).all()
    const stored = JSON.stringify(rows.results)
    for (const secret of [key, first, second]) expect(stored).not.toContain(secret)
    // The sealed value of the first link, in the row of the second one.
    await env.DB.prepare(
      "UPDATE connect_links SET sealed = (SELECT sealed FROM connect_links WHERE hash = ?) WHERE hash = ?",
    )
      .bind(hashKey(first), hashKey(second))
      .run()
    expect((await redeem(second)).status).toBe(500)
    await expire(first)
    await pruneLinks(env.DB, Date.now())
    const { results } = await env.DB.prepare("SELECT hash FROM connect_links WHERE key_hash = ?").bind(hash).all()
    expect(results).toEqual([{ hash: hashKey(second) }])
  })

  test("is not in the audit log, which has who created the link and who redeemed it", async () => {
    const workspace = await newWorkspace()
    const { key, hash } = await newKey(workspace)
    const made = await expectJson<Made>(201, create(workspace.manage, key))
    await expectJson(200, redeem(tokenOf(made)))
    const path = `/audit?resource_type=connect_link&resource_id=${made.data.id}`
    const { data } = await expectJson<{ data: Record<string, unknown>[] }>(200, workspace.manage.get(path))
    expect(data).toMatchObject([
      { action: "connect_link.redeem", key_hash: hash, changes: { client: "codex", key_hash: hash } },
      { action: "connect_link.create", key_hash: hashKey(workspace.managementKey), changes: { key_hash: hash } },
    ])
    for (const secret of [key, tokenOf(made)]) expect(JSON.stringify(data)).not.toContain(secret)
  })
})

describe("the key of a connect link", () => {
  test("is the calling key, or one that a provisioning key may create, and never a management key", async () => {
    const workspace = await newWorkspace()
    const normal = await newKey(workspace)
    const provisioning = await newKey(workspace, { kind: "provisioning" })
    const management = await newKey(workspace, { kind: "management" })
    await expectJson(201, create(normal.as, normal.key))
    await expectJson(201, create(provisioning.as, normal.key))
    await expectJson(403, create(normal.as, workspace.key))
    for (const { key, as } of [provisioning, management]) {
      await expectJson(403, create(as, key))
      await expectJson(403, create(workspace.manage, key))
      await expectJson(403, create(normal.as, key))
    }
    await expectJson(401, create(client(), normal.key))
  })

  test("cannot belong to another organization or an app, and must work", async () => {
    const [workspace, other] = [await newWorkspace(), await newWorkspace()]
    await expectJson(404, create(workspace.manage, other.key))
    await expectJson(404, create(workspace.manage, "sk-gw-v1-nobody"))
    const authorization = { callback_url: "https://app.example/back" }
    const code = await expectJson<{ data: { id: string } }>(200, workspace.as.post("/auth/keys/code", authorization))
    const app = await expectJson<{ key: string }>(200, client().post("/auth/keys", { code: code.data.id }))
    await expectJson(403, create(client(app.key), app.key))
    const { key, hash } = await newKey(workspace)
    await workspace.manage.delete(`/keys/${hash}`)
    await expectJson(404, create(workspace.manage, key))
  })
})

type Step =
  | { do: "create"; key: number; by: "manager" | "itself" | "neighbour" }
  | { do: "redeem"; link: number; times: number }
  | { do: "expire"; link: number }
  | { do: "disable" | "enable" | "delete"; key: number }
  | { do: "prune" }
const key = fc.nat({ max: 1 })
const link = fc.nat({ max: 5 })
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({ do: fc.constant("create"), key, by: fc.constantFrom("manager", "itself", "neighbour") }),
  },
  { weight: 5, arbitrary: fc.record({ do: fc.constant("redeem"), link, times: fc.integer({ min: 1, max: 3 }) }) },
  fc.record({ do: fc.constant("expire"), link }),
  fc.record({ do: fc.constantFrom("disable", "enable", "delete"), key }),
  fc.record({ do: fc.constant("prune") }),
)

type ModelKey = { key: string; hash: string; as: TestClient; state: "works" | "disabled" | "deleted" }
type ModelLink = { token: string; key: ModelKey; isOpen: boolean }

/** Expected status of a link; of several requests, one gets the key. */
function expectedOf({ isOpen, key }: ModelLink, times: number): number[] {
  if (!isOpen) return Array.from({ length: times }, () => 404)
  if (key.state !== "works") return Array.from({ length: times }, () => 410)
  return [200, ...Array.from({ length: times - 1 }, () => 404)]
}

async function take(workspace: Workspace, keys: readonly ModelKey[], links: ModelLink[], step: Step): Promise<void> {
  if (step.do === "prune") return pruneLinks(env.DB, Date.now())
  if ("link" in step) {
    const link = links[step.link % links.length]
    if (!link) return
    if (step.do === "expire") {
      await expire(link.token)
      link.isOpen = false
      return
    }
    const answers = await Promise.all(Array.from({ length: step.times }, () => redeem(link.token)))
    expect(answers.map(({ status }) => status).toSorted()).toEqual(expectedOf(link, step.times))
    const texts = await Promise.all(answers.map((answer) => answer.text()))
    expect(texts.filter((text) => text.includes(link.key.key))).toHaveLength(answers.filter(({ ok }) => ok).length)
    if (link.key.state === "works") link.isOpen = false
    return
  }
  const [one, other] = step.key === 0 ? keys : [keys[1], keys[0]]
  if (!one || !other) return
  if (step.do === "create") {
    const as = { manager: workspace.manage, itself: one.as, neighbour: other.as }[step.by]
    const response = await create(as, one.key)
    const caller = { manager: "works", itself: one.state, neighbour: other.state }[step.by]
    const status = caller !== "works" ? 401 : one.state !== "works" ? 404 : step.by === "neighbour" ? 403 : 201
    const body = await expectJson<Made>(status, response)
    if (status === 201) links.push({ token: tokenOf(body), key: one, isOpen: true })
    return
  }
  if (one.state === "deleted") return
  if (step.do === "delete") await expectJson(200, workspace.manage.delete(`/keys/${one.hash}`))
  else await expectJson(200, workspace.manage.patch(`/keys/${one.hash}`, { disabled: step.do === "disable" }))
  one.state = ({ delete: "deleted", disable: "disabled", enable: "works" } as const)[step.do]
}

test("a link works once, before it expires, for a working key, for any changes of links and keys", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 4, maxLength: 24, size: "max" }), async (steps) => {
      const workspace = await newWorkspace()
      const make = async (): Promise<ModelKey> => ({ ...(await newKey(workspace)), state: "works" })
      const [keys, links]: [ModelKey[], ModelLink[]] = [[await make(), await make()], []]
      for (const one of steps) await take(workspace, keys, links, one)
    }),
    { numRuns: runs(0.3) },
  )
})
