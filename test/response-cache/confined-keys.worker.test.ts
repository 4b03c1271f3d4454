import { env } from "cloudflare:workers"
import { describe, expect, test } from "vitest"
import { openInternKey } from "../../src/interns/access/intern-key.ts"
import { eventually } from "../support/eventually.ts"
import { client, expectJson, newKey, newWorkspace, type TestClient, type Workspace } from "../support/world.ts"

async function appKey({ as }: Workspace): Promise<TestClient> {
  const callback = { callback_url: "https://app.example/back" }
  const { data } = await expectJson<{ data: { id: string } }>(200, as.post("/auth/keys/code", callback))
  return client((await expectJson<{ key: string }>(200, client().post("/auth/keys", { code: data.id }))).key)
}

async function keyOfIntern(workspace: Workspace): Promise<TestClient> {
  const { id } = await expectJson<{ id: string }>(201, workspace.manage.post("/interns", { name: "ada" }))
  return client((await openInternKey(env, workspace, id)).key)
}

/** Keys that do not see what others of their workspace made, and keys that do. */
const kinds = {
  "an app": appKey,
  "another app": appKey,
  "a user of the free tier": async (workspace) => (await newKey(workspace, { kind: "free_tier" })).as,
  "a partner's user": async (workspace) => (await newKey(workspace, { external: { user: "ann" } })).as,
  "an intern": keyOfIntern,
  "a normal key": async (workspace) => (await newKey(workspace)).as,
} satisfies Record<string, (workspace: Workspace) => Promise<TestClient>>
type Kind = keyof typeof kinds
const names = Object.keys(kinds) as Kind[]
const pairs = names.flatMap((reader) =>
  names.filter((name) => name !== reader).map((writer) => [writer, reader] as const),
)

const send = async (as: TestClient) => {
  const response = await as.chat("sim/echo:free", "The same words.", {}, { "x-response-cache": "on" })
  const { id } = await expectJson<{ id: string }>(200, response)
  return { id, cache: response.headers.get("x-response-cache") }
}

describe("a cached response", () => {
  test.each(pairs)("of %s is not served to %s", async (writer, reader) => {
    const workspace = await newWorkspace()
    const [theirs, mine] = [await kinds[writer](workspace), await kinds[reader](workspace)]
    const stored = async (many: number) => {
      const { objects } = await env.FILES.list({ prefix: `response-cache/${workspace.organizationId}/` })
      expect(objects.length).toBe(many)
    }
    const first = await send(theirs)
    await eventually(() => stored(1))
    const second = await send(mine)
    expect([first.cache, second.cache]).toEqual(["miss", "miss"])
    expect(second.id).not.toBe(first.id)
    await eventually(() => stored(2))
    expect(await send(theirs)).toEqual({ id: first.id, cache: "hit" })
    expect(await send(mine)).toEqual({ id: second.id, cache: "hit" })
  })
})
