import { existsSync, mkdtempSync, readFileSync, statSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import path from "node:path"
import { beforeEach, describe, expect, inject, onTestFinished, test } from "vitest"
import { root } from "../../src/dev/options.ts"
import { quickGatewayCommand } from "./command.ts"
import { gatewayUrl, newOrganization, openai, type Organization } from "./world.ts"
import { removeFolder } from "../support/remove-folder.ts"

let organization: Organization
let folder: string
let file: string
let more: Record<string, string>

beforeEach(async () => {
  organization = await newOrganization()
  folder = mkdtempSync(path.join(tmpdir(), "gateway-declared-"))
  more = {}
  file = path.join(folder, "gateway.yaml")
  onTestFinished(() => removeFolder(folder))
})

const gateway = (...args: readonly string[]) =>
  quickGatewayCommand(args, { GATEWAY_MANAGEMENT_KEY: organization.managementKey, ...more })

async function succeed(...args: readonly string[]): Promise<string> {
  const { code, out, errors } = await gateway(...args)
  expect(code, errors + out).toBe(0)
  return out
}

async function api<T>(method: string, resource: string, body?: object): Promise<T> {
  const response = await fetch(`${gatewayUrl}${resource}`, {
    method,
    headers: { authorization: `Bearer ${organization.managementKey}`, "content-type": "application/json" },
    ...(body && { body: JSON.stringify(body) }),
  })
  const text = await response.text()
  expect(response.status, text).toBeLessThan(300)
  return JSON.parse(text) as T
}

function write(workspaces: string): void {
  writeFileSync(file, `version: 1\nworkspaces:\n${workspaces}`)
}

function secretsIn(name: string): { workspace: string; name: string; hash: string; key: string }[] {
  const lines = readFileSync(path.join(folder, name), "utf8").trimEnd().split("\n")
  return lines.map((line) => JSON.parse(line) as { workspace: string; name: string; hash: string; key: string })
}

const keysOut = (name = "keys.jsonl") => ["--keys-out", path.join(folder, name)]

test("the example of the documentation is applied, and a second apply changes nothing", async () => {
  const text = readFileSync(path.join(root, "docs/declared-configuration.md"), "utf8")
  writeFileSync(file, /```yaml\n(.*?)```/s.exec(text)?.[1] ?? "")
  const unset = await gateway("plan", file)
  expect([unset.code, unset.errors]).toEqual([1, expect.stringContaining("set DOCUMENTS_TOKEN in the environment")])
  more = {
    HOOK_TOKEN: "0123456789abcdefghij",
    DOCUMENTS_TOKEN: "9876543210abcdefghij",
    SLACK_URL: "https://hooks.slack.com/services/T0/B0/key-of-the-hook",
  }
  const planned = await gateway("plan", file)
  expect(planned.code, planned.errors).toBe(2)
  expect(planned.out).toContain("+ workspaces.search.keys.backend\n    limit: 50\n")
  expect(planned.out).toContain("drift is not checked")
  expect(planned.out).toContain("13 to create, 1 to change, 0 to remove.")

  expect(await succeed("apply", file, ...keysOut())).toContain("Applied 14 changes.")
  expect(await succeed("plan", file)).toBe("No changes.\n")
  expect(await succeed("apply", file)).toBe("No changes.\n")

  more["HOOK_TOKEN"] = "0123456789abcdefgXYZ"
  expect(await succeed("apply", file)).toContain(
    'config.headers: {"authorization":"Bear...ghij"} → {"authorization":"Bear...gXYZ"}',
  )
  expect(await succeed("plan", file)).toBe("No changes.\n")

  const { data: workspace } = await api<{ data: Record<string, unknown> }>("GET", "/workspaces/search")
  expect(workspace).toMatchObject({ requests_per_minute: 600, response_cache_seconds: 300 })
  const secrets = secretsIn("keys.jsonl")
  expect(secrets.map(({ workspace: slug, name }) => `${slug}/${name}`)).toEqual([
    "search/backend",
    "search/nightly-evaluation",
  ])
  expect(statSync(path.join(folder, "keys.jsonl")).mode & 0o777).toBe(0o600)
  const [{ key, hash } = { key: "", hash: "" }] = secrets
  const { choices } = await openai(key).chat.completions.create({
    model: "team/fast",
    messages: [{ role: "user", content: "Mail to jo@example.com" }],
  })
  expect(choices[0]?.message.content).toContain("Mail to")
  expect(choices[0]?.message.content).not.toContain("jo@example.com")
  const state = readFileSync(`${file}.state.json`, "utf8")
  for (const secret of [key, organization.managementKey, "0123456789", "9876543210", "key-of-the-hook"])
    expect(state + planned.out).not.toContain(secret)
  const audit = await api<{ data: { action: string; resource_id: string }[] }>("GET", "/audit?limit=100")
  expect(audit.data).toContainEqual(expect.objectContaining({ action: "api_key.create", resource_id: hash }))
})

test("MCP servers and alert channels are changed, checked for drift, and removed", async () => {
  more = { TOKEN: "0123456789abcdefghij", SLACK_URL: "https://hooks.slack.com/services/T0/B0/one" }
  const declare = (price: number, kinds: string) =>
    write(
      `  search:\n    mcp_servers:\n      documents: { name: Documents, url: "https://mcp.example.com/mcp", price_per_call_usd: ${price}, headers: { authorization: "Bearer \${TOKEN}" } }\n` +
        `    alert_channels:\n      team: { type: slack, kinds: ${kinds}, config: { url: "\${SLACK_URL}" } }\n`,
    )
  declare(0.002, "[limit_threshold]")
  await succeed("apply", file)
  declare(0.003, "null")
  const planned = await gateway("plan", file)
  expect(planned.out).toContain("~ workspaces.search.mcp_servers.documents\n    price_per_call_usd: 0.002 → 0.003\n")
  expect(planned.out).toContain('~ workspaces.search.alert_channels.team\n    kinds: ["limit_threshold"] → null\n')
  await succeed("apply", file)
  expect(await succeed("plan", file)).toBe("No changes.\n")
  const { data: workspace } = await api<{ data: { id: string } }>("GET", "/workspaces/search")
  const list = async () =>
    (await api<{ data: { slug: string; headers: object }[] }>("GET", `/mcp-servers?workspace_id=${workspace.id}`)).data
  expect(await list()).toMatchObject([
    { slug: "documents", price_per_call_usd: 0.003, headers: { authorization: "Bear...ghij" } },
  ])
  write("  search: { mcp_servers: {}, alert_channels: {} }\n")
  await succeed("apply", file, "--prune")
  expect(await list()).toEqual([])
  const channels = await api<{ data: { workspace_id: string }[] }>("GET", "/alerts/channels")
  expect(channels.data.filter((one) => one.workspace_id === workspace.id)).toEqual([])
})

test("BYOK credentials and passthrough services are created, moved to another host, and removed", async () => {
  more = { OPENAI: "sk-one-0123456789abcdefghij", TOKEN: "0123456789abcdefghij" }
  const declare = (host: string, order: number) =>
    write(
      `  search:\n    byok:\n      team: { provider: openai, key: "\${OPENAI}", sort_order: ${order} }\n` +
        `    passthrough_services:\n      web: { name: Web, base_url: "https://${host}/", rules: [{ path: "/v1/*", price_usd: 0.005 }], headers: { x-token: "\${TOKEN}" } }\n`,
    )
  declare("api.example.com", 3)
  await succeed("apply", file)
  expect(await succeed("plan", file)).toBe("No changes.\n")
  declare("other.example.com", 4)
  const planned = await gateway("plan", file)
  expect(planned.out).toContain('base_url: "https://api.example.com" → "https://other.example.com"')
  await succeed("apply", file)
  more["OPENAI"] = "sk-two-9876543210zyxwvutsrq"
  expect(await succeed("apply", file)).toContain('label: "sk-...ghij" → "sk-...tsrq"')
  expect(await succeed("plan", file)).toBe("No changes.\n")
  const { data: workspace } = await api<{ data: { id: string } }>("GET", "/workspaces/search")
  const query = `?workspace_id=${workspace.id}`
  const byok = () => api<{ data: object[] }>("GET", `/byok${query}`)
  const services = () => api<{ data: object[] }>("GET", `/passthrough-services${query}`)
  expect((await byok()).data).toMatchObject([{ name: "team", provider: "openai", sort_order: 4, label: "sk-...tsrq" }])
  expect((await services()).data).toMatchObject([{ slug: "web", headers: { "x-token": "0123...ghij" } }])
  const state = readFileSync(`${file}.state.json`, "utf8")
  for (const secret of Object.values(more)) expect(state + planned.out).not.toContain(secret)
  write("  search: { byok: {}, passthrough_services: {} }\n")
  await succeed("apply", file, "--prune")
  for (const list of [byok, services]) expect((await list()).data).toEqual([])
})

test("presets get a version when their request changes, and are archived with --prune", async () => {
  const declare = (description: string, temperature: number) =>
    write(
      `  search:\n    presets:\n      concise:\n        description: ${description}\n` +
        `        messages: { model: sim/echo, system: Answer in one sentence., temperature: ${temperature} }\n` +
        "      short: { chat: { model: sim/echo, max_completion_tokens: 50, stop: [x] } }\n",
    )
  declare("One", 0.2)
  await succeed("apply", file)
  expect(await succeed("plan", file)).toBe("No changes.\n")
  declare("Two", 0.2)
  expect(await succeed("apply", file)).toContain('description: "One" → "Two"')
  declare("Two", 0.3)
  expect(await succeed("apply", file)).toContain('"temperature":0.2} → {"model":"sim/echo","temperature":0.3}')
  expect(await succeed("plan", file)).toBe("No changes.\n")
  const { data: workspace } = await api<{ data: { id: string } }>("GET", "/workspaces/search")
  const query = `?workspace_id=${workspace.id}`
  const versions = await api<{ data: object[] }>("GET", `/presets/concise/versions${query}`)
  expect(versions.data).toMatchObject([{ version: 1 }, { version: 2, system_prompt: "Answer in one sentence." }])
  const short = await api<{ data: object }>("GET", `/presets/short${query}`)
  expect(short.data).toMatchObject({ designated_version: { config: { max_tokens: 50, stop: ["x"] } } })

  write("  search: { presets: {} }\n")
  await succeed("apply", file, "--prune")
  const archived = await api<{ data: object }>("GET", `/presets/concise${query}`)
  expect(archived.data).toMatchObject({ status: "archived" })
  declare("Two", 0.3)
  await succeed("apply", file, "--force")
  const again = await api<{ data: object }>("GET", `/presets/concise${query}`)
  expect(again.data).toMatchObject({ status: "active" })
})

test("prices and disabled providers need the bootstrap key, and are reset with --prune", async () => {
  const declare = (completion: string) =>
    writeFileSync(
      file,
      `version: 1\nprices:\n  cohere/command-a:\n    cohere: { prompt: "0.000001", completion: "${completion}" }\nproviders:\n  cohere: { disabled: true }\nworkspaces: {}\n`,
    )
  declare("0.000002")
  expect((await gateway("plan", file)).errors).toContain("Set BOOTSTRAP_MANAGEMENT_KEY")
  more["BOOTSTRAP_MANAGEMENT_KEY"] = inject("gateway").bootstrapKey
  expect(await succeed("apply", file)).toContain("providers.cohere\n    disabled: false → true")
  declare("0.000003")
  expect(await succeed("apply", file)).toContain("~ prices.cohere/command-a.cohere\n")
  expect(await succeed("plan", file)).toBe("No changes.\n")
  writeFileSync(
    file,
    "version: 1\nprices: { cohere/unknown: { cohere: { prompt: '0', completion: '0' } } }\nworkspaces:\n",
  )
  expect((await gateway("plan", file)).errors).toContain(
    "prices.cohere/unknown.cohere: the catalogue has no such endpoint",
  )
  writeFileSync(file, "version: 1\nprices:\nproviders:\nworkspaces:\n")
  const pruned = await succeed("apply", file, "--prune", "--force")
  expect(pruned).toContain("- prices.cohere/command-a.cohere\n")
  expect(pruned).toContain("- providers.cohere\n")
})

describe("a manual change", () => {
  test("is drift: apply refuses to change it, and --force does", async () => {
    write("  search: { requests_per_minute: 60, description: One }\n")
    await succeed("apply", file)
    await api("PATCH", "/workspaces/search", { requests_per_minute: 70 })
    const planned = await gateway("plan", file)
    expect(planned.code).toBe(2)
    expect(planned.out).toContain(
      "~ workspaces.search  (drift: changed since the last apply)\n    requests_per_minute: 70 → 60\n",
    )
    const refused = await gateway("apply", file)
    expect([refused.code, refused.errors]).toEqual([1, expect.stringContaining("Nothing was changed")])
    const rate = async () => (await api<{ data: { requests_per_minute: number } }>("GET", "/workspaces/search")).data
    expect(await rate()).toMatchObject({ requests_per_minute: 70 })
    await succeed("apply", file, "--force")
    expect(await rate()).toMatchObject({ requests_per_minute: 60 })
    expect(await succeed("plan", file)).toBe("No changes.\n")
  })

  test("is not drift if the file does not declare the field, or declares the same value", async () => {
    write("  search: { requests_per_minute: 60 }\n")
    await succeed("apply", file)
    await api("PATCH", "/workspaces/search", { description: "By hand", requests_per_minute: 90 })
    write("  search: { requests_per_minute: 90 }\n")
    expect(await succeed("apply", file)).toBe("No changes.\n")
    write("  search: { requests_per_minute: 100 }\n")
    const { data } = JSON.parse(`{"data":${await succeed("apply", file, "--json")}}`) as {
      data: { changes: object[]; applied: string[] }
    }
    expect(data.changes).toMatchObject([{ action: "update", drift: false }])
    expect(data.applied).toEqual(["workspaces.search"])
  })
})

test("--prune removes resources that the file lacks, of the kinds that it declares", async () => {
  write(
    "  search:\n    budgets: { daily: { limit_usd: 1 }, monthly: { limit_usd: 9 } }\n    keys: { ci: , old: }\n    guardrails: { strict: { keys: [ci] }, lax: { keys: [old] } }\n    aliases: { fast: { arms: [{ model: sim/echo }] } }\n  gone: {}\n",
  )
  await succeed("apply", file, ...keysOut())
  write(
    "  search:\n    budgets: { daily: { limit_usd: 10 } }\n    keys: { ci: }\n    guardrails: { strict: { keys: [] } }\n",
  )
  const kept = await gateway("plan", file)
  expect(kept.code, kept.errors).toBe(2)
  expect(kept.out).toContain("Not in the file, kept (--prune removes them):")
  const pruned = await succeed("apply", file, "--prune")
  for (const address of ["budgets.monthly", "keys.old", "guardrails.lax"]) {
    expect(pruned).toContain(`- workspaces.search.${address}\n`)
  }
  expect(pruned).toContain("- workspaces.gone\n")
  expect(pruned).not.toContain("aliases")
  const { data: aliases } = await api<{ data: object[] }>("GET", "/workspaces/search/aliases")
  expect(aliases).toHaveLength(1)
  const { data: workspaces } = await api<{ data: { slug: string }[] }>("GET", "/workspaces")
  expect(workspaces.map(({ slug }) => slug)).toHaveLength(2)
  expect(await succeed("plan", file, "--prune")).toBe("No changes.\n")
})

test("provider budgets are declared for the organization, changed, and pruned", async () => {
  const declare = (budgets: string) => {
    writeFileSync(file, `version: 1\nprovider_budgets:\n  embedded: ${budgets}\nworkspaces: {}\n`)
  }
  declare("{ monthly: { limit_usd: 100 }, daily: { limit_usd: 10, include_byok: true } }")
  expect(await succeed("apply", file)).toContain("+ provider_budgets.embedded.daily\n")
  expect(await succeed("plan", file)).toBe("No changes.\n")
  // Both rise, the longest first.
  declare("{ monthly: { limit_usd: 300 }, daily: { limit_usd: 200 } }")
  expect(await succeed("apply", file)).toContain("Applied 2 changes.")
  declare("{ monthly: { limit_usd: 300 } }")
  expect(await succeed("apply", file, "--prune")).toContain("- provider_budgets.embedded.daily\n")
  const { data } = await api<{ data: object[] }>("GET", "/provider-budgets")
  expect(data).toMatchObject([{ provider: "embedded", limit_usd: 300, reset_interval: "monthly", include_byok: false }])
  declare("{ hourly: { limit_usd: 1 } }")
  const refused = await gateway("plan", file)
  expect(refused.errors).toContain("provider_budgets.embedded: has no hourly. It accepts lifetime, monthly")
})

describe("secrets of new keys", () => {
  test("need --keys-out before anything is changed", async () => {
    write("  search:\n    keys: { ci: }\n")
    const refused = await gateway("apply", file)
    expect([refused.code, refused.errors]).toEqual([1, expect.stringContaining("--keys-out FILE")])
    const { total_count: count } = await api<{ total_count: number }>("GET", "/workspaces")
    expect(count).toBe(1)
  })

  test("never overwrite a file, and create none if no key is new", async () => {
    writeFileSync(path.join(folder, "keys.jsonl"), "mine")
    write("  search:\n    keys: { ci: { disabled: true } }\n")
    const refused = await gateway("apply", file, ...keysOut())
    expect([refused.code, refused.errors]).toEqual([1, expect.stringContaining("exists already")])
    expect(readFileSync(path.join(folder, "keys.jsonl"), "utf8")).toBe("mine")
    await succeed("apply", file, ...keysOut("new.jsonl"))
    await succeed("apply", file, ...keysOut("none.jsonl"))
    expect(existsSync(path.join(folder, "none.jsonl"))).toBe(false)
  })
})

test("a failure in the middle reports what was applied, and the next apply continues", async () => {
  const budgets = (daily: number) =>
    `  search:\n    budgets: { daily: { limit_usd: ${daily} }, weekly: { limit_usd: 5 } }\n    keys: { ci: }\n`
  write(budgets(7))
  const failed = await gateway("apply", file, ...keysOut())
  expect(failed.code).toBe(1)
  expect(failed.out).toContain(
    "Failed: workspaces.search.budgets.weekly: limit_usd: must be more than the daily budget",
  )
  expect(failed.out).toContain("Applied:\n  + workspaces.search\n  + workspaces.search.budgets.daily\n")
  expect(failed.out).toContain("Not applied:\n  + workspaces.search.keys.ci\n")
  expect(existsSync(path.join(folder, "keys.jsonl"))).toBe(false)
  write(budgets(4))
  expect(await succeed("apply", file, ...keysOut())).toContain("Applied 3 changes.")
  expect(await succeed("plan", file)).toBe("No changes.\n")
})

test.each([
  ["  Search: {}\n", "workspaces.Search: this name must be lowercase letters and digits"],
  ["  search: { rpm: 5 }\n", "workspaces.search: has no rpm. It accepts name, description, default_text_model"],
  ["  search: { requests_per_minute: fast }\n", "workspaces.search.requests_per_minute: must be a whole number"],
  ["  search: { keys: { ci: { limit: many } } }\n", "workspaces.search.keys.ci.limit: must be a number of USD"],
  ["  search: { budgets: { hourly: { limit_usd: 1 } } }\n", "It accepts lifetime, monthly, weekly, daily"],
  ["  search: { keys: { ci: { kind: management } } }\n", "accepts normal, provisioning, free_tier"],
  ["  search: { guardrails: { a: { keys: [ci] } }, keys: {} }\n", "a.keys: ci must be a name that the file declares"],
  ["  search: { guardrails: { a: { keys: [ci] }, b: { keys: [ci] } } }\n", "A key has at most one guardrail"],
  ["  search: {\n", "gateway.yaml: Flow map"],
])("%j is rejected with what is accepted", async (text, message) => {
  write(text)
  const { code, errors } = await gateway("plan", file)
  expect([code, errors]).toEqual([1, expect.stringContaining(message)])
})

test("missing files and wrong arguments exit with 1, not 2", async () => {
  const missing = await gateway("plan", "/nowhere.yaml")
  expect([missing.code, missing.errors]).toEqual([1, "/nowhere.yaml cannot be read.\n"])
  const wrong = await gateway("plan")
  expect([wrong.code, wrong.errors]).toEqual([1, expect.stringContaining("plan takes FILE")])
})
