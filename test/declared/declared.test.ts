import * as fc from "fast-check"
import { describe, expect, test } from "vitest"
import { inOrder, isDrift, planChanges } from "../../src/dev/declared/plan.ts"
import {
  canonicalJson,
  type Change,
  fingerprintOf,
  type LiveResource,
  normalizeFields,
  type Resource,
} from "../../src/dev/declared/resource.ts"
import { readDeclaration } from "../../src/dev/declared/schema.ts"
import type { Json } from "../../src/support/text/json.ts"
import { runs } from "../support/runs.ts"

const FILE = "gateway.yaml"
const declare = (workspaces: string) => readDeclaration(`version: 1\nworkspaces:\n${workspaces}`, FILE)

function live(resource: Partial<Resource>, more: Partial<LiveResource> = {}): LiveResource {
  const base = { kind: "workspace" as const, workspace: "search", name: "search", fields: {} }
  return { ...base, ...resource, id: "id-1", isProtected: false, ...more }
}

const recordOf = (fields: Json, names: string[]) => ({ fields: names, sha256: fingerprintOf(fields, names) })
const plan = (text: string, found: LiveResource[], more: Partial<Parameters<typeof planChanges>[0]> = {}) =>
  planChanges({ declaration: declare(text), live: found, recorded: null, prune: false, ...more })

describe("a plan", () => {
  test("has only declared fields that differ, with old and new value", () => {
    const found = live({ fields: { name: "Search", requests_per_minute: 5, description: "By hand" } })
    const { changes } = plan("  search: { name: Search, requests_per_minute: 6, tokens_per_minute: null }\n", [found])
    expect(changes).toMatchObject([
      {
        action: "update",
        address: "workspaces.search",
        fields: [{ field: "requests_per_minute", from: 5, to: 6 }],
        drift: false,
      },
    ])
  })

  test("creates missing resources, without fields that are null", () => {
    const { changes } = plan("  search: { keys: { ci: { limit: 5, limit_reset: null } } }\n", [live({})])
    expect(changes).toMatchObject([{ action: "create", fields: [{ field: "limit", from: null, to: 5 }] }])
  })

  test("lists undeclared resources, and removes unprotected ones of declared kinds with prune", () => {
    const found = [
      live({}),
      live({ kind: "key", name: "old" }),
      live({ kind: "alias", name: "undeclared" }),
      live({ workspace: "default", name: "default" }, { isProtected: true }),
    ]
    expect(plan("  search: { keys: {} }\n", found).extra).toEqual(["workspaces.search.keys.old"])
    const { changes, extra } = plan("  search: { keys: {} }\n", found, { prune: true })
    expect(changes).toMatchObject([{ action: "remove", address: "workspaces.search.keys.old" }])
    expect(extra).toEqual([])
  })

  test("rejects names shared by two keys, and changes of immutable fields", () => {
    const twice = [
      live({}),
      live({ kind: "key", name: "ci" }),
      live({ kind: "key", name: "ci", fields: { kind: "normal" } }),
    ]
    expect(() => plan("  search: { keys: { ci: } }\n", twice)).toThrow("more than one with this name")
    expect(() =>
      plan(
        "  search: { keys: { ci: { kind: provisioning } } }\n",
        [twice[0], twice[2]].filter((one) => !!one),
      ),
    ).toThrow("workspaces.search.keys.ci: kind of an existing key cannot change")
  })
})

test("fields are equal whatever defaults the gateway fills in", () => {
  const declared = normalizeFields({
    expires_at: "2030-01-01T01:00:00+01:00",
    content_filters: [{ action: "block", pattern: "x" }],
    content_filter_builtins: [{ slug: "regex-prompt-injection", action: "flag" }],
  })
  const answered = normalizeFields({
    expires_at: "2030-01-01T00:00:00.000Z",
    content_filters: [{ pattern: "x", action: "block", label: null }],
    content_filter_builtins: [
      { slug: "regex-prompt-injection", action: "flag", label: "INJECTION", scan_scope: "all_messages" },
    ],
  })
  expect(canonicalJson(declared)).toBe(canonicalJson(answered))
})

describe("drift", () => {
  const recorded = recordOf({ a: 1, b: null }, ["a", "b"])

  test.each([
    ["as recorded", { a: 1, c: 7 }, false],
    ["another value of a recorded field", { a: 2 }, true],
    ["removed", undefined, true],
  ])("%s", (_, fields, expected) => {
    expect(isDrift(recorded, fields && { fields })).toBe(expected)
  })

  test("is never found without a record", () => {
    expect(isDrift(undefined, { fields: { a: 2 } })).toBe(false)
  })

  test("is ignored if the gateway has the declared value", () => {
    const found = live({ fields: { requests_per_minute: 6 } })
    const records = { "workspaces.search": recordOf({ requests_per_minute: 5 }, ["requests_per_minute"]) }
    expect(plan("  search: { requests_per_minute: 6 }\n", [found], { recorded: records }).changes).toEqual([])
    expect(plan("  search: { requests_per_minute: 5 }\n", [found], { recorded: records }).changes).toMatchObject([
      { drift: true },
    ])
  })
})

const INTERVALS = ["lifetime", "monthly", "weekly", "daily"]

test("budgets strictly decrease from lifetime to daily after every step, if they do before and after all", () => {
  const budgets = fc
    .tuple(fc.uniqueArray(fc.integer({ min: 1, max: 9 }), { minLength: 4, maxLength: 4 }), fc.subarray(INTERVALS))
    .map(([limits, present]) => {
      const falling = limits.toSorted((a, b) => b - a)
      return new Map(
        INTERVALS.map((name, at) => [name, falling[at] ?? 0] as const).filter(([name]) => present.includes(name)),
      )
    })
  fc.assert(
    fc.property(budgets, budgets, (before, after) => {
      const changes = INTERVALS.flatMap((name) => budgetChange(name, before.get(name), after.get(name)))
      const current = new Map(before)
      for (const { action, name, fields } of inOrder(changes)) {
        if (action === "remove") current.delete(name)
        else current.set(name, Number(fields[0]?.to))
        const limits = INTERVALS.flatMap((interval) => current.get(interval) ?? [])
        expect(limits).toEqual([...new Set(limits)].toSorted((a, b) => b - a))
      }
      expect([...current].toSorted()).toEqual([...after].toSorted())
    }),
    { numRuns: runs(4) },
  )
})

function budgetChange(name: string, from: number | undefined, to: number | undefined): Change[] {
  if (from === to) return []
  const action = from === undefined ? "create" : to === undefined ? "remove" : "update"
  const fields = [{ field: "limit_usd", from, to }]
  const base = { kind: "budget" as const, workspace: "search", id: null, declared: {}, secrets: {}, drift: false }
  return [{ ...base, action, name, address: name, fields }]
}

test("a key gets its new guardrail before it loses the old one, and aliases are removed before their keys", () => {
  const base = { workspace: "search", id: null, declared: {}, secrets: {}, drift: false, fields: [] }
  const keys = (name: string, from: string[], to: string[]) => ({
    ...base,
    kind: "guardrail_keys" as const,
    action: "update" as const,
    name,
    address: name,
    fields: [{ field: "keys", from, to }],
  })
  const remove = (kind: "key" | "alias" | "workspace") => ({
    ...base,
    kind,
    action: "remove" as const,
    name: kind,
    address: kind,
  })
  const changes = [
    remove("workspace"),
    remove("key"),
    remove("alias"),
    keys("old", ["ci"], []),
    keys("new", [], ["ci"]),
  ]
  expect(inOrder(changes).map(({ name }) => name)).toEqual(["new", "old", "alias", "key", "workspace"])
})

describe("a file", () => {
  test.each([
    ["version: 2\nworkspaces: {}\n", "version: must be 1"],
    [
      "version: 1\nworkspace: {}\n",
      "file: has no workspace. It accepts version, prices, providers, provider_budgets, workspaces.",
    ],
    ["version: 1\nworkspaces: []\n", "workspaces: must be an object of workspaces by slug"],
    [
      "version: 1\nworkspaces: { a: { aliases: { b: { arms: [{ model: x/y, key_hashes: [] }] } } } }\n",
      "workspaces.a.aliases.b.arms[0]: has no key_hashes. It accepts model, weight, regions, min_prompt_tokens, max_prompt_tokens, keys.",
    ],
    [
      "version: 1\nworkspaces: { a: { presets: { b: { chat: {}, messages: {} } } } }\n",
      "workspaces.a.presets.b: must have one of chat, responses or messages",
    ],
    [
      "version: 1\nworkspaces: { a: { presets: { b: { chat: { model: '@preset/c' } } } } }\n",
      "workspaces.a.presets.b: model: must be a model; a preset cannot name another preset.",
    ],
    ["version: 1\nworkspaces: {}\nproviders: { openai: { stopped: true } }\n", "providers.openai: has no stopped."],
    [
      "version: 1\nworkspaces: {}\nprices: { a/b: { c: { prompt: 1, completion: '0' } } }\n",
      "prices.a/b.c.prompt: must be a decimal string of USD",
    ],
    ["version: 1\nversion: 1\n", "Map keys must be unique at line 2"],
  ])("%j", (text, message) => {
    expect(() => readDeclaration(text, FILE)).toThrow(message)
  })

  test.each([
    ["url: https://hooks.example.com, headers: { x-token: abc }", "d.config.headers.x-token: must refer to"],
    ["url: https://hooks.example.com, signingSecret: whsec_abc", "d.config.signingSecret: must refer to"],
    ["url: https://hooks.example.com, headers: { x-token: '${MISSING}' }", "d.config.headers.x-token: set MISSING"],
    ["url: https://hooks.example.com, headers: { x-token: '${BAD}' }", "d.config.headers.x-token: must be printable"],
    ["address: x", "d.config.url: must be"],
  ])("with a destination with %s is rejected, without quoting the secret", (config, message) => {
    const text = `version: 1\nworkspaces: { a: { destinations: { d: { type: webhook, config: { ${config} } } } } }\n`
    const read = () => readDeclaration(text, FILE, { BAD: "se\u0001cret" })
    expect(read).toThrow(message)
    expect(read).not.toThrow('cret"')
  })

  test("has its destination secrets excluded from comparison, output and records", () => {
    const text =
      "version: 1\nworkspaces: { a: { destinations: { d: { type: webhook, config: { url: https://h.example.com, headers: { authorization: 'Bearer ${TOKEN}' } } } } } }\n"
    const { resources } = readDeclaration(text, FILE, { TOKEN: "0123456789abcdefghij" })
    const destination = resources.find(({ kind }) => kind === "destination")
    expect(destination?.fields).toEqual({
      type: "webhook",
      "config.url": "https://h.example.com",
      "config.headers": { authorization: "Bear...ghij" },
    })
    expect(destination?.secrets).toEqual({ "config.headers": { authorization: "Bearer 0123456789abcdefghij" } })
  })

  test("has the credentials in URLs compared by their mask, and applied in full", () => {
    const url = "https://h.example.com/in?token=0123456789abcdefghij"
    const masked = "https://h.example.com/in?token=0123...ghij"
    const text = `version: 1
workspaces:
  a:
    destinations: { d: { type: webhook, config: { url: '${url}' } } }
    alert_channels: { c: { type: webhook, config: { url: '${url}' } } }
    mcp_servers: { m: { name: M, url: '${url}' } }
`
    const { resources } = readDeclaration(text, FILE)
    const urls = resources.flatMap(({ fields, secrets = {} }) =>
      ["url", "config.url"].flatMap((name) => (name in fields ? [[fields[name], secrets[name]]] : [])),
    )
    expect(urls).toEqual([
      [masked, url],
      [masked, url],
      [masked, url],
    ])
  })

  test("has each error reported with its path", () => {
    const text = "version: 1\nworkspaces: { a: { keys: { x: { limit: -1 }, y: { limit: many } } } }\n"
    expect(() => readDeclaration(text, FILE)).toThrow(/a\.keys\.x\.limit: .*\n.*a\.keys\.y\.limit: /)
  })
})
