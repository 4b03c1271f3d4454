import * as fc from "fast-check"
import { afterEach, describe, expect, test, vi } from "vitest"
import { expectCounterUntilWindowsEnd, expectLimitForEach } from "../support/subject-limits.ts"
import { expectJson, newKey, newWorkspace, type TestClient, type Workspace } from "../support/world.ts"

type Failure = { error: { message: string; metadata?: Record<string, unknown> } }
type Limits = { data: { kind: string; spent: number; left: number; limit: number }[] }

afterEach(() => {
  vi.useRealTimers()
})

const BUDGET = { limit_usd: 0.0014, reset_interval: "daily", per_end_user: true }
const PROMPT = "x".repeat(400)

async function guarded(workspace: Workspace, rules: Record<string, unknown>, hashes: readonly string[]) {
  const { data } = await expectJson<{ data: { id: string; per_end_user: boolean | null } }>(
    201,
    workspace.manage.post("/guardrails", { name: "Each", ...rules }),
  )
  await expectJson(200, workspace.manage.post(`/guardrails/${data.id}/assignments/keys`, { key_hashes: hashes }))
  return data
}

const call = (as: TestClient, user?: string, prompt = PROMPT) =>
  as.chat("sim/echo", prompt, user === undefined ? {} : { user })

async function exhaust(as: TestClient, user: string): Promise<void> {
  await expectJson(200, call(as, user))
  await expectJson(200, call(as, user))
}

async function spentBy(as: TestClient, user: string): Promise<number> {
  const { data } = await expectJson<Limits>(200, as.get(`/key/limits?user=${encodeURIComponent(user)}`))
  return data.find(({ kind }) => kind === "guardrail")?.spent ?? -1
}

describe("a guardrail with per_end_user", () => {
  test("has a budget for each end user, which all assigned keys share", async () => {
    const workspace = await newWorkspace()
    const [one, other] = [await newKey(workspace), await newKey(workspace)]
    expect(await guarded(workspace, BUDGET, [one.hash, other.hash])).toMatchObject({ per_end_user: true })
    await expectJson(200, call(one.as, "ann"))
    await expectJson(200, call(other.as, "ann"))
    const { error } = await expectJson<Failure>(403, call(other.as, "ann"))
    expect(error.message).toContain('for this end user under the daily budget of the guardrail "Each"')
    expect(error.metadata).toEqual({ reason: "guardrail_budget", patterns: ["limit_usd"] })
    await expectJson(200, call(one.as, "bob"))
  })

  test("counts requests without an end user together", async () => {
    const workspace = await newWorkspace()
    const { as, hash } = await newKey(workspace)
    await guarded(workspace, BUDGET, [hash])
    await expectJson(200, call(as))
    await expectJson(200, call(as, ""))
    const { error } = await expectJson<Failure>(403, call(as))
    expect(error.message).toContain("for requests without `user` under the daily budget")
    await expectJson(200, call(as, "ann"))
  })

  test.each([
    ["chat with safety_identifier", "/chat/completions", { safety_identifier: "ann", messages: [] }],
    ["Responses", "/responses", { user: "ann", input: PROMPT }],
    ["Messages", "/messages", { metadata: { user_id: "ann" }, max_tokens: 100, messages: [] }],
    ["text completions", "/completions", { user: "ann", prompt: PROMPT }],
  ])("reads the end user of %s", async (_, path, body) => {
    const workspace = await newWorkspace()
    const { as, hash } = await newKey(workspace)
    await guarded(workspace, BUDGET, [hash])
    await exhaust(as, "ann")
    const messages = "messages" in body ? { messages: [{ role: "user", content: PROMPT }] } : {}
    const { error } = await expectJson<Failure>(403, as.post(path, { model: "sim/echo", ...body, ...messages }))
    expect(error.message).toContain("for this end user")
  })

  test("reads the end user of embeddings", async () => {
    const workspace = await newWorkspace()
    const { as, hash } = await newKey(workspace)
    await guarded(workspace, { requests_per_minute: 1, per_end_user: true }, [hash])
    const embed = (user: string) => as.post("/embeddings", { model: "sim/embed", input: "Hi", user })
    await expectJson(200, embed("ann"))
    await expectJson(429, embed("ann"))
    await expectJson(200, embed("bob"))
  })

  test("counts a key of an external user as that user, whatever its requests name", async () => {
    const workspace = await newWorkspace()
    const { as, hash } = await newKey(workspace, { external: { user: "ann" } })
    await guarded(workspace, BUDGET, [hash])
    await exhaust(as, "bob")
    const { error } = await expectJson<Failure>(403, call(as, "carol"))
    expect(error.message).toContain("for this end user")
    expect(await spentBy(as, "carol")).toBe(await spentBy(as, "ann"))
  })

  test("limits requests per minute exactly for concurrent calls of each end user", async () => {
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() - (Date.now() % 60_000) + 15_000 })
    const workspace = await newWorkspace()
    const { as, hash } = await newKey(workspace)
    await guarded(workspace, { requests_per_minute: 3, per_end_user: true }, [hash])
    const users = ["ann", "bob", "carol"]
    const answers = await Promise.all(
      users.flatMap((user) => Array.from({ length: 8 }, async () => ({ user, answer: await call(as, user, "Hi") }))),
    )
    const served = answers.filter(({ answer }) => answer.status === 200)
    expect(users.map((user) => served.filter((one) => one.user === user).length)).toEqual([3, 3, 3])
    const refused = answers.find(({ user, answer }) => user === "ann" && answer.status === 429)
    const { error } = await expectJson<Failure>(429, refused?.answer ?? new Response())
    expect(error.message).toContain('Under the guardrail "Each", this end user may start 3 requests per minute')
    for (const { answer } of answers) if (!answer.bodyUsed) await answer.text()
  })

  test("counts paid server tools for the end user", async () => {
    const workspace = await newWorkspace()
    const { as, hash } = await newKey(workspace)
    await guarded(workspace, BUDGET, [hash])
    await exhaust(as, "ann")
    const plugins = [{ id: "web" }]
    const answer = as.chat("sim/echo", PROMPT, { user: "ann", plugins })
    const { error } = await expectJson<Failure>(403, answer)
    expect(error.message).toContain("for this end user")
  })

  test("never lets an end user spend more than the limit, and counts exactly what each one's calls cost", async () => {
    await expectLimitForEach(fc.constantFrom("ann", "bob", "a:key:b", "Zoë 🙂"), BUDGET.limit_usd, async () => {
      const workspace = await newWorkspace()
      const { as, hash } = await newKey(workspace)
      await guarded(workspace, BUDGET, [hash])
      return { call: (user, prompt) => call(as, user, prompt), spentBy: (user) => spentBy(as, user) }
    })
  })

  test("keeps a counter of an end user until its windows end, without drift or alerts", async () => {
    const workspace = await newWorkspace()
    const { as, hash } = await newKey(workspace)
    await guarded(workspace, BUDGET, [hash])
    await exhaust(as, "ann")
    await expectJson(403, call(as, "ann"))
    await expectCounterUntilWindowsEnd(workspace, "end_user")
  })
})
