import { describe, expect, test } from "vitest"
import { invalidateOrganization } from "../../src/access/key-cache.ts"
import { client, newKey, newWorkspace, expectJson, type Workspace } from "../support/world.ts"
import { watchPolicyWrites } from "../support/policy-writes.ts"

watchPolicyWrites()

type Guardrail = { id: string; workspace_id: string; name: string } & Record<string, unknown>
type One = { data: Guardrail }
type Many<T = Guardrail> = { data: T[]; total_count: number }
type Failure = { error: { message: string; metadata?: Record<string, unknown> } }
type Entry = { action: string; resource_id: string; changed_fields: string[]; changes: Record<string, unknown> }

const create = async (workspace: Workspace, input: Record<string, unknown> = {}) =>
  (await expectJson<One>(201, workspace.manage.post("/guardrails", { name: "Rail", ...input }))).data
const change = (workspace: Workspace, id: string, input: Record<string, unknown>) =>
  workspace.manage.patch(`/guardrails/${id}`, input)
const actions = async (workspace: Workspace, resourceId: string) =>
  (await expectJson<Many<Entry>>(200, workspace.manage.get(`/audit?resource_id=${resourceId}`))).data

describe("guardrails", () => {
  test("can be created, read, listed, changed and deleted, with audit entries", async () => {
    const workspace = await newWorkspace()
    const made = await create(workspace, { description: "For CI", allowed_models: ["sim/*"] })
    expect(made).toMatchObject({
      workspace_id: workspace.workspaceId,
      name: "Rail",
      description: "For CI",
      limit_usd: null,
      reset_interval: null,
      include_byok_in_budgets: false,
      allowed_models: ["sim/*"],
      ignored_models: null,
      content_filters: null,
      enforce_zdr: false,
      updated_at: made.created_at,
    })
    expect((await expectJson<One>(200, workspace.manage.get(`/guardrails/${made.id}`))).data).toEqual(made)
    const second = await create(workspace)
    const listed = await expectJson<Many>(200, workspace.manage.get("/guardrails?limit=1"))
    expect(listed).toMatchObject({ data: [{ id: second.id }], total_count: 2 })
    const next = await expectJson<Many>(200, workspace.manage.get("/guardrails?limit=1&offset=1"))
    expect(next.data).toEqual([made])

    const changed = await expectJson<One>(
      200,
      change(workspace, made.id, { name: "New", allowed_models: ["sim/echo", "sim/json"] }),
    )
    expect(changed.data).toMatchObject({ name: "New", description: "For CI", allowed_models: ["sim/echo", "sim/json"] })
    const lifted = await expectJson<One>(200, change(workspace, made.id, { allowed_models: null, description: null }))
    expect(lifted.data).toMatchObject({ description: null, allowed_models: null, updated_at: expect.any(String) })

    expect(await expectJson(200, workspace.manage.delete(`/guardrails/${made.id}`))).toEqual({ deleted: true })
    await expectJson(404, workspace.manage.get(`/guardrails/${made.id}`))
    await expectJson(404, workspace.manage.delete(`/guardrails/${made.id}`))
    const entries = await actions(workspace, made.id)
    expect(entries.map(({ action }) => action)).toEqual([
      "guardrail.delete",
      "guardrail.update",
      "guardrail.update",
      "guardrail.create",
    ])
    expect(entries[3]?.changes).toEqual({ name: "Rail", description: "For CI", allowed_models: ["sim/*"] })
  })

  test("keep filters and detector labels, and log no pattern", async () => {
    const workspace = await newWorkspace()
    const made = await create(workspace, {
      content_filters: [{ action: "block", pattern: "project-\\d+" }],
      content_filter_builtins: [
        { action: "redact", slug: "email", label: "mine" },
        { action: "flag", slug: "regex-prompt-injection", scan_scope: "user_only" },
      ],
    })
    expect(made["content_filters"]).toEqual([{ action: "block", label: null, pattern: "project-\\d+" }])
    expect(made["content_filter_builtins"]).toEqual([
      { action: "redact", slug: "email", label: "[EMAIL]" },
      { action: "flag", slug: "regex-prompt-injection", label: "[PROMPT_INJECTION]", scan_scope: "user_only" },
    ])
    const [entry] = await actions(workspace, made.id)
    expect(entry?.changed_fields).toContain("content_filters")
    expect(JSON.stringify(entry?.changes)).not.toContain("project-")
  })

  test("need a limit and an interval together, across updates too", async () => {
    const workspace = await newWorkspace()
    const refuse = async (answer: Promise<Response>, field: string) =>
      expect((await expectJson<Failure>(400, answer)).error.message).toContain(field)
    await refuse(workspace.manage.post("/guardrails", { name: "x", limit_usd: 5 }), "reset_interval")
    await refuse(workspace.manage.post("/guardrails", { name: "x", reset_interval: "daily" }), "limit_usd")
    const { id } = await create(workspace)
    await refuse(change(workspace, id, { limit_usd: 5 }), "reset_interval")
    const { data } = await expectJson<One>(200, change(workspace, id, { limit_usd: 5, reset_interval: "weekly" }))
    expect(data).toMatchObject({ limit_usd: 5, reset_interval: "weekly" })
    await expectJson(200, change(workspace, id, { limit_usd: 7 }))
    await refuse(change(workspace, id, { limit_usd: null }), "limit_usd")
    await expectJson(200, change(workspace, id, { limit_usd: null, reset_interval: null }))
  })

  test("apply enforce_zdr to the model families without a value", async () => {
    const workspace = await newWorkspace()
    const made = await create(workspace, { enforce_zdr: true, enforce_zdr_google: false })
    expect(made).toMatchObject({
      enforce_zdr: true,
      enforce_zdr_anthropic: true,
      enforce_zdr_google: false,
      enforce_zdr_other: true,
    })
    const { data } = await expectJson<One>(200, change(workspace, made.id, { enforce_zdr_openai: false }))
    expect(data).toMatchObject({ enforce_zdr_anthropic: true, enforce_zdr_openai: false })
  })

  test.each([
    ["allowed_data_regions", []],
    ["allowed_data_regions", ["mars"]],
    ["name", ""],
    ["limit_usd", -1],
    ["reset_interval", "lifetime"],
    ["allowed_models", "sim/echo"],
    ["content_filters", [{ action: "erase", pattern: "x" }]],
    ["content_filter_builtins", [{ action: "block", slug: "shoe-size" }]],
    [
      "content_filter_builtins",
      [
        { action: "block", slug: "email" },
        { action: "flag", slug: "email" },
      ],
    ],
    ["surprise", 1],
  ])("reject invalid values: %s %j", async (field, value) => {
    const workspace = await newWorkspace()
    const { error } = await expectJson<Failure>(
      400,
      workspace.manage.post("/guardrails", { name: "x", [field]: value }),
    )
    expect(error.message).toContain(field)
  })

  test.each([
    ["look-ahead", "(?=a)b"],
    ["look-behind", "(?<=a)b"],
    ["a back-reference", "(a)\\1"],
    ["a repetition of a repetition", "(a+)+$"],
    ["a repetition of a repetition, deeper", "(?:x(?:a*)y|b)*"],
    ["an open bracket", "[a"],
    ["a million steps", "((a{100}){100}){100}"],
    ["too many characters", "a".repeat(100_001)],
    ["more states than the limit", ".{0,1000}.{0,1000}x"],
  ])("reject a pattern with %s", async (_, pattern) => {
    const workspace = await newWorkspace()
    const filter = { action: "block", pattern }
    const { error } = await expectJson<Failure>(
      400,
      workspace.manage.post("/guardrails", { name: "x", content_filters: [filter] }),
    )
    expect(error.metadata).toEqual({ reason: "invalid_regex_pattern" })
    expect(error.message).toContain("content_filters[0].pattern")
    const { id } = await create(workspace)
    await expectJson(400, change(workspace, id, { content_filters: [filter] }))
  })

  test("reject patterns that are too complex together", async () => {
    const workspace = await newWorkspace()
    const filters = Array.from({ length: 10 }, (_, at) => ({
      action: "flag",
      pattern: `(?i)(ignore${at}|disregard|forget).{0,50}(instructions|rules|prompts)`,
    }))
    await create(workspace, { content_filters: filters.slice(0, 2) })
    const body = { name: "x", content_filters: filters }
    const { error } = await expectJson<Failure>(400, workspace.manage.post("/guardrails", body))
    expect(error.message).toMatch(/^content_filters\[\d\]\.pattern: is too complex together/)
  })

  test.each(["a+b+", "[(a+]+", "(?:a{1,64})+", "\\Q(a+)+\\E", "(?i)secret", "a".repeat(500), "\\(a+\\)+"])(
    "accept the pattern %.20s",
    async (pattern) => {
      await create(await newWorkspace(), { content_filters: [{ action: "flag", pattern }] })
    },
  )

  test("need a management key, and those of another organization are not found", async () => {
    const [mine, theirs] = [await newWorkspace(), await newWorkspace()]
    const { id } = await create(mine)
    await expectJson(401, client().get("/guardrails"))
    await expectJson(403, mine.as.get("/guardrails"))
    await expectJson(404, theirs.manage.get(`/guardrails/${id}`))
    await expectJson(404, change(theirs, id, { name: "x" }))
    await expectJson(404, theirs.manage.delete(`/guardrails/${id}`))
    await expectJson(404, theirs.manage.get(`/guardrails/${id}/assignments/keys`))
    await expectJson(404, theirs.manage.post("/guardrails/test", { guardrail_id: id, text: "x" }))
    await expectJson(404, theirs.manage.get(`/guardrails?workspace_id=${mine.workspaceId}`))
    await expectJson(404, theirs.manage.post("/guardrails", { name: "x", workspace_id: mine.workspaceId }))
    await expectJson(404, mine.manage.get("/guardrails/none"))
    expect((await expectJson<Many>(200, theirs.manage.get("/guardrails"))).total_count).toBe(0)
  })

  test("of a workspace by default are created once, by the first change, and deleted with it", async () => {
    const workspace = await newWorkspace()
    const made = await expectJson<{ data: { id: string; default_guardrail_id: string } }>(
      201,
      workspace.manage.post("/workspaces", { name: "Team", slug: "team" }),
    )
    const { id: team, default_guardrail_id: id } = made.data
    await expectJson(404, workspace.manage.get(`/guardrails/${id}`))
    const { data } = await expectJson<One>(200, change(workspace, id, { ignored_models: ["sim/echo"] }))
    expect(data).toMatchObject({ id, workspace_id: team, ignored_models: ["sim/echo"], updated_at: data.created_at })
    await expectJson(200, change(workspace, id, { name: "Everyone" }))
    const listed = await expectJson<Many>(200, workspace.manage.get(`/guardrails?workspace_id=${team}`))
    expect(listed).toMatchObject({ data: [{ id, name: "Everyone" }], total_count: 1 })
    expect((await actions(workspace, id)).map(({ action }) => action)).toEqual(["guardrail.update", "guardrail.create"])
    await expectJson(404, change(await newWorkspace(), id, { name: "x" }))
    await expectJson(200, workspace.manage.delete(`/workspaces/${team}`))
    await expectJson(404, workspace.manage.get(`/guardrails/${id}`))
  })
})

describe("assignments", () => {
  type Assignment = { guardrail_id: string; key_hash: string; user_id: string } & Record<string, unknown>
  const keysOf = async (workspace: Workspace, id: string) =>
    (await expectJson<Many<Assignment>>(200, workspace.manage.get(`/guardrails/${id}/assignments/keys`))).data

  test("a key has at most one guardrail, the one assigned last", async () => {
    const workspace = await newWorkspace()
    const [first, second] = [await create(workspace), await create(workspace)]
    const key = await newKey(workspace, { name: "ci" })
    const assign = (id: string) =>
      expectJson(200, workspace.manage.post(`/guardrails/${id}/assignments/keys`, { key_hashes: [key.hash] }))
    expect(await assign(first.id)).toEqual({ assigned_count: 1 })
    const [assigned] = await keysOf(workspace, first.id)
    expect(assigned).toMatchObject({
      guardrail_id: first.id,
      key_hash: key.hash,
      key_name: "ci",
      key_label: expect.stringContaining("..."),
      assigned_by: expect.any(String),
    })
    await assign(first.id)
    expect(await keysOf(workspace, first.id)).toEqual([assigned])
    expect(await assign(second.id)).toEqual({ assigned_count: 1 })
    expect(await keysOf(workspace, first.id)).toEqual([])
    const all = await expectJson<Many<Assignment>>(200, workspace.manage.get("/guardrails/assignments/keys"))
    expect(all).toMatchObject({ data: [{ guardrail_id: second.id, key_hash: key.hash }], total_count: 1 })

    const remove = { key_hashes: [key.hash] }
    const path = `/guardrails/${second.id}/assignments/keys/remove`
    expect(await expectJson(200, workspace.manage.post(path, remove))).toEqual({ unassigned_count: 1 })
    expect(await expectJson(200, workspace.manage.post(path, remove))).toEqual({ unassigned_count: 0 })
    const entries = await actions(workspace, second.id)
    // A change without effect is not logged.
    expect(entries.map(({ action }) => action)).toEqual([
      "guardrail_key.unassign",
      "guardrail_key.assign",
      "guardrail.create",
    ])
    expect(entries[0]?.changes).toEqual(remove)
  })

  test("of a member stay when the member leaves, since their keys keep working", async () => {
    const workspace = await newWorkspace()
    const { id } = await create(workspace, { content_filter_builtins: [{ slug: "email", action: "block" }] })
    const person = { user_id: "ada", email: "ada@example.com" }
    await expectJson(201, workspace.manage.post("/organization/members", person))
    const path = `/guardrails/${id}/assignments/members`
    const ids = { member_user_ids: ["ada", "ada"] }
    expect(await expectJson(200, workspace.manage.post(path, ids))).toEqual({ assigned_count: 1 })
    const one = { guardrail_id: id, user_id: "ada", organization_id: workspace.organizationId }
    for (const list of [path, "/guardrails/assignments/members"]) {
      expect(await expectJson(200, workspace.manage.get(list))).toMatchObject({ data: [one], total_count: 1 })
    }
    expect(await expectJson(200, workspace.manage.post(`${path}/remove`, ids))).toEqual({ unassigned_count: 1 })
    await expectJson(200, workspace.manage.post(path, ids))
    const { as } = await newKey(workspace, { creator_user_id: "ada" })
    await expectJson(403, as.chat("sim/echo", "Write to ada@example.com"))
    await expectJson(200, workspace.manage.delete("/organization/members/ada"))
    expect(await expectJson(200, workspace.manage.get(path))).toMatchObject({ data: [one], total_count: 1 })
    invalidateOrganization(workspace.organizationId)
    await expectJson(403, as.chat("sim/echo", "Write to ada@example.com"))
    await expectJson(404, workspace.manage.post(path, ids))
    expect(await expectJson(200, workspace.manage.post(`${path}/remove`, ids))).toEqual({ unassigned_count: 1 })
  })

  test("of unknown members and of keys of others or of other workspaces are rejected", async () => {
    const [mine, theirs] = [await newWorkspace(), await newWorkspace()]
    const { id } = await create(mine)
    const [scoped, foreign] = [await newKey(mine), await newKey(theirs)]
    const made = await expectJson<{ data: { id: string } }>(
      201,
      mine.manage.post("/workspaces", { name: "Team", slug: "team" }),
    )
    const elsewhere = await newKey(mine, { workspace_id: made.data.id })
    const assign = (hash: string) =>
      mine.manage.post(`/guardrails/${id}/assignments/keys`, { key_hashes: [scoped.hash, hash] })
    await expectJson(404, assign(foreign.hash))
    await expectJson(400, assign(elsewhere.hash))
    await expectJson(400, assign("nothing"))
    await expectJson(404, mine.manage.post(`/guardrails/${id}/assignments/members`, { member_user_ids: ["nobody"] }))
    await expectJson(400, mine.manage.post(`/guardrails/${id}/assignments/keys`, { key_hashes: [] }))
    expect(await keysOf(mine, id)).toEqual([])
  })

  test("end with the key or the guardrail", async () => {
    const workspace = await newWorkspace()
    const { id } = await create(workspace)
    const keys = [await newKey(workspace), await newKey(workspace)]
    const hashes = keys.map(({ hash }) => hash)
    await expectJson(200, workspace.manage.post(`/guardrails/${id}/assignments/keys`, { key_hashes: hashes }))
    await expectJson(200, workspace.manage.delete(`/keys/${hashes[0]}`))
    expect((await keysOf(workspace, id)).map(({ key_hash: hash }) => hash)).toEqual([hashes[1]])
    await expectJson(200, workspace.manage.delete(`/guardrails/${id}`))
    expect(await expectJson(200, workspace.manage.get("/guardrails/assignments/keys"))).toEqual({
      data: [],
      total_count: 0,
    })
  })
})

describe("POST /guardrails/test", () => {
  test("applies the filters of a guardrail and of the body without spending", async () => {
    const workspace = await newWorkspace()
    const { id } = await create(workspace, { content_filter_builtins: [{ action: "redact", slug: "email" }] })
    const body = {
      guardrail_id: id,
      text: "Mail ada@example.com about project-7",
      content_filters: [{ action: "flag", pattern: "project-\\d+", label: "Project" }],
    }
    expect(await expectJson(200, workspace.manage.post("/guardrails/test", body))).toEqual({
      data: {
        action: "redact",
        detected: true,
        engines: ["pii", "regex"],
        patterns: ["email", "Project"],
        matches: [
          { pattern: "email", engine: "pii", action: "redact", start: 5, end: 20 },
          { pattern: "Project", engine: "regex", action: "flag", start: 27, end: 36 },
        ],
        text: "Mail [EMAIL] about project-7",
        checks: [],
      },
    })
    const { data } = await expectJson<{ data: unknown }>(
      200,
      workspace.manage.post("/guardrails/test", { text: "nothing", content_filters: null }),
    )
    expect(data).toMatchObject({ action: "none", detected: false, matches: [], text: "nothing" })
    await expectJson(403, workspace.as.post("/guardrails/test", { text: "x" }))
  })
})
