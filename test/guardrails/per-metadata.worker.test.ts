import * as fc from "fast-check"
import { afterEach, describe, expect, test, vi } from "vitest"
import { expectCounterUntilWindowsEnd, expectLimitForEach } from "../support/subject-limits.ts"
import { expectJson, newKey, newWorkspace, type TestClient, type Workspace } from "../support/world.ts"

type Failure = { error: { message: string; metadata?: Record<string, unknown> } }
type Limits = { data: { kind: string; subject: string | null; spent: number }[] }

afterEach(() => {
  vi.useRealTimers()
})

const BUDGET = { limit_usd: 0.0014, reset_interval: "daily", per_metadata: "team" }
const PROMPT = "x".repeat(400)

async function guarded(workspace: Workspace, rules: Record<string, unknown>, hashes: readonly string[]) {
  type Created = { data: { id: string; per_metadata: string | null } }
  const { data } = await expectJson<Created>(201, workspace.manage.post("/guardrails", { name: "Teams", ...rules }))
  await expectJson(200, workspace.manage.post(`/guardrails/${data.id}/assignments/keys`, { key_hashes: hashes }))
  return data
}

async function guardedKey(rules: Record<string, unknown>) {
  const workspace = await newWorkspace()
  const { as, hash } = await newKey(workspace)
  return { workspace, as, guardrail: await guarded(workspace, rules, [hash]) }
}

const call = (as: TestClient, metadata?: Record<string, string>, prompt = PROMPT) =>
  as.chat("sim/echo", prompt, metadata === undefined ? {} : { metadata })

async function exhaust(as: TestClient, team: string): Promise<void> {
  await expectJson(200, call(as, { team }))
  await expectJson(200, call(as, { team }))
}

async function spentBy(as: TestClient, team: string): Promise<number> {
  const { data } = await expectJson<Limits>(200, as.get(`/key/limits?metadata_value=${encodeURIComponent(team)}`))
  return data.find(({ subject }) => subject === "metadata")?.spent ?? -1
}

describe("a guardrail with per_metadata", () => {
  test("has a budget for each value of the field, which all assigned keys share", async () => {
    const workspace = await newWorkspace()
    const [one, other] = [await newKey(workspace), await newKey(workspace)]
    expect(await guarded(workspace, BUDGET, [one.hash, other.hash])).toMatchObject({ per_metadata: "team" })
    await expectJson(200, call(one.as, { team: "red" }))
    await expectJson(200, call(other.as, { team: "red", run: "7" }))
    const { error } = await expectJson<Failure>(403, call(other.as, { team: "red" }))
    expect(error.message).toContain('for this value of `metadata.team` under the daily budget of the guardrail "Teams"')
    expect(error.message).not.toContain("red")
    expect(error.metadata).toEqual({ reason: "guardrail_budget", patterns: ["limit_usd"] })
    await expectJson(200, call(one.as, { team: "blue" }))
  })

  test("counts requests without the field together", async () => {
    const { as } = await guardedKey(BUDGET)
    await expectJson(200, call(as))
    await expectJson(200, call(as, { run: "7" }))
    const { error } = await expectJson<Failure>(403, call(as, { team: "" }))
    expect(error.message).toContain("for requests without `metadata.team` under the daily budget")
    await expectJson(200, call(as, { team: "red" }))
  })

  test.each(["__proto__", "constructor", "toString"])("reads no inherited field: %s", async (field) => {
    const { as } = await guardedKey({ ...BUDGET, per_metadata: field })
    await expectJson(200, call(as))
    await expectJson(200, call(as))
    const { error } = await expectJson<Failure>(403, call(as, { team: "red" }))
    expect(error.message).toContain(`requests without \`metadata.${field}\``)
  })

  test.each([
    ["Responses", "/responses", { input: PROMPT }],
    ["Messages", "/messages", { max_tokens: 100, messages: [{ role: "user", content: PROMPT }] }],
    ["chat that streams", "/chat/completions", { stream: true, messages: [{ role: "user", content: PROMPT }] }],
    [
      "chat with a server tool",
      "/chat/completions",
      { plugins: [{ id: "web" }], messages: [{ role: "user", content: PROMPT }] },
    ],
  ])("reads the metadata of %s", async (_, path, body) => {
    const { as } = await guardedKey(BUDGET)
    await exhaust(as, "red")
    const metadata = { team: "red" }
    const { error } = await expectJson<Failure>(403, as.post(path, { model: "sim/echo", metadata, ...body }))
    expect(error.message).toContain("for this value of `metadata.team`")
  })

  test("limits requests per minute for each value", async () => {
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() - (Date.now() % 60_000) + 15_000 })
    const { as } = await guardedKey({ requests_per_minute: 1, per_metadata: "team" })
    await expectJson(200, call(as, { team: "red" }, "Hi"))
    const { error } = await expectJson<Failure>(429, call(as, { team: "red" }, "Hi"))
    expect(error.message).toContain('Under the guardrail "Teams", this value of `metadata.team` may start 1 request')
    await expectJson(200, call(as, { team: "blue" }, "Hi"))
  })

  test("counts beside another guardrail that counts end users", async () => {
    const { workspace, as } = await guardedKey(BUDGET)
    const users = { ...BUDGET, limit_usd: 1, per_metadata: null, per_end_user: true }
    const { data } = await expectJson<{ data: { default_guardrail_id: string } }>(
      200,
      workspace.manage.get(`/workspaces/${workspace.workspaceId}`),
    )
    await expectJson(200, workspace.manage.patch(`/guardrails/${data.default_guardrail_id}`, users))
    const both = { user: "ann", metadata: { team: "red" } }
    const { usage } = await expectJson<{ usage: { cost: number } }>(200, as.chat("sim/echo", PROMPT, both))
    const limits = await expectJson<Limits>(200, as.get("/key/limits?user=ann&metadata_value=red"))
    const spent = Object.fromEntries(limits.data.map((limit) => [limit.subject, limit.spent]))
    expect(spent["end_user"]).toBeCloseTo(usage.cost, 9)
    expect(spent["metadata"]).toBeCloseTo(usage.cost, 9)
  })

  test("cannot count end users as well", async () => {
    const { workspace, guardrail } = await guardedKey(BUDGET)
    const answers = [
      workspace.manage.post("/guardrails", { name: "Two", ...BUDGET, per_end_user: true }),
      workspace.manage.patch(`/guardrails/${guardrail.id}`, { per_end_user: true }),
    ]
    for (const answer of answers) {
      const { error } = await expectJson<Failure>(400, answer)
      expect(error.message).toBe("per_metadata: must be null if per_end_user is true.")
    }
    const change = { per_end_user: true, per_metadata: null }
    await expectJson(200, workspace.manage.patch(`/guardrails/${guardrail.id}`, change))
  })

  test("never lets a value spend more than the limit, and counts exactly what its calls cost", async () => {
    await expectLimitForEach(fc.constantFrom("red", "a:key:b", ":metadata:", "Zoë 🙂"), BUDGET.limit_usd, async () => {
      const { as } = await guardedKey(BUDGET)
      return { call: (team, prompt) => call(as, { team }, prompt), spentBy: (team) => spentBy(as, team) }
    })
  })

  test("keeps a counter of a value until its windows end, without drift or alerts", async () => {
    const { workspace, as } = await guardedKey(BUDGET)
    await exhaust(as, "red")
    await expectJson(403, call(as, { team: "red" }))
    await expectCounterUntilWindowsEnd(workspace, "metadata")
  })
})
