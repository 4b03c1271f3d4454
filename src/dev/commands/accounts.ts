import { type Command, input as withGiven, number, table, print, text, toNumber } from "./command.ts"

type Key = {
  hash: string
  name: string
  label: string
  kind: string
  disabled: boolean
  limit: number | null
  usage: number
  expires_at: string | null
}

const PAGE = 100

export const keysList: Command = {
  name: "keys list",
  summary: "Lists the keys of a workspace, newest first.\nNeeds GATEWAY_MANAGEMENT_KEY, as all commands on keys do.",
  takes: [],
  options: {
    workspace: { type: "string", description: "id of a workspace (default: the default workspace)" },
    all: { type: "boolean", description: "also list disabled keys" },
  },
  async run(input) {
    const workspace = text(input, "workspace")
    const query = new URLSearchParams({
      limit: String(PAGE),
      include_disabled: String(input.values["all"] === true),
      ...(workspace !== undefined && { workspace_id: workspace }),
    })
    const keys: Key[] = []
    for (;;) {
      query.set("offset", String(keys.length))
      const page = await input.api.as<{ data: Key[]; total_count: number }>("manager", "GET", `/keys?${query}`)
      keys.push(...page.data)
      if (page.data.length === 0 || keys.length >= page.total_count) break
    }
    const rows = keys.map((key) => [
      key.name,
      key.label,
      key.disabled ? "disabled" : key.kind,
      key.usage,
      key.limit,
      key.expires_at,
      key.hash,
    ])
    print(input, keys, table(["NAME", "KEY", "KIND", "USED USD", "LIMIT USD", "EXPIRES", "HASH"], rows))
  },
}

export const keysCreate: Command = {
  name: "keys create",
  summary: "Creates a key, which is printed once.",
  takes: ["NAME"],
  options: {
    limit: { type: "string", description: "spend limit in USD" },
    reset: { type: "string", description: "daily, weekly or monthly: when the limit resets (default: never)" },
    rpm: { type: "string", description: "maximum requests per minute" },
    tpm: { type: "string", description: "maximum tokens per minute, prompt and completion" },
    concurrent: { type: "string", description: "maximum concurrent requests" },
    kind: { type: "string", description: "normal, management, provisioning or free_tier (default: normal)" },
    expires: { type: "string", description: "an instant such as 2027-01-01T00:00:00Z" },
    workspace: { type: "string", description: "id of a workspace (default: the default workspace)" },
  },
  async run(input) {
    const body = withGiven({
      name: input.positionals[0],
      limit: number(input, "limit"),
      limit_reset: text(input, "reset"),
      requests_per_minute: number(input, "rpm"),
      tokens_per_minute: number(input, "tpm"),
      concurrent_requests: number(input, "concurrent"),
      kind: text(input, "kind"),
      expires_at: text(input, "expires"),
      workspace_id: text(input, "workspace"),
    })
    const created = await input.api.as<{ key: string; data: Key }>("manager", "POST", "/keys", body)
    print(input, created, `${created.key}\n\nThe key is not shown again. Its hash is ${created.data.hash}`)
  },
}

export const keysRevoke: Command = {
  name: "keys revoke",
  summary: "Deletes a key permanently. In other isolates it may work for 5 more seconds.",
  takes: ["HASH"],
  options: {},
  async run(input) {
    const hash = encodeURIComponent(input.positionals[0] ?? "")
    const response = await input.api.as("manager", "DELETE", `/keys/${hash}`)
    print(input, response, "The key is revoked.")
  },
}

export const creditsAdd: Command = {
  name: "credits add",
  summary:
    "Credits an organization. With the same id, a repeated command has no effect.\nNeeds BOOTSTRAP_MANAGEMENT_KEY.",
  takes: ["USD"],
  options: {
    id: { type: "string", description: "an id for this credit, such as invoice-17 (default: a new one)" },
    organization: { type: "string", description: "the id of an organization (default: the first one)" },
  },
  async run(input) {
    const body = withGiven({
      amount_usd: toNumber(input.positionals[0] ?? "", "USD"),
      id: text(input, "id") ?? `command-${crypto.randomUUID()}`,
      organization_id: text(input, "organization"),
    })
    type Credits = { data: { total_credits: number; total_usage: number } }
    const response = await input.api.as<Credits>("operator", "POST", "/credits", body)
    const { total_credits: credited, total_usage: used } = response.data
    print(input, response, `Credited ${credited} USD in total, of which ${used} USD are used.`)
  },
}
