import * as z from "zod"
import { parse, YAMLParseError } from "yaml"
import { NewChannel } from "../../alerts/schemas.ts"
import { BudgetChange } from "../../budgets/schemas.ts"
import { NewByok } from "../../byok/schemas.ts"
import { NewGuardrail } from "../../guardrails/schemas.ts"
import { explain } from "../../http/schema.ts"
import { NewApiKey } from "../../keys/schemas.ts"
import { NewMcpServer } from "../../mcp-servers/schemas.ts"
import { NewService } from "../../passthrough/schemas.ts"
import { PresetPath } from "../../presets/schemas.ts"
import { NewDestination } from "../../observability/schemas.ts"
import { AliasInput, AliasPath, checkLengths } from "../../workspaces/alias-schemas.ts"
import { NewWorkspace, WorkspaceChange } from "../../workspaces/schemas.ts"
import { Failure } from "../failure.ts"
import type { Json } from "../../support/text/json.ts"
import { Prices, pricesOf, Providers, providersOf } from "./catalogue.ts"
import { ProviderBudgets, providerBudgetsOf } from "./provider-budgets.ts"
import { Preset, presetsOf } from "./presets.ts"
import { alertChannelsOf, byokOf, destinationsOf, mcpServersOf, passthroughServicesOf } from "./sealed.ts"
import type { Environment } from "./secrets.ts"
import { normalizeFields, type Kind, type Resource } from "./resource.ts"

/** An empty value in YAML is null: a section without entries, an entry without fields. */
const orEmpty = <T extends z.ZodType>(schema: T) => z.preprocess((value) => value ?? {}, schema)
const section = <K extends z.core.$ZodRecordKey, V extends z.ZodType>(name: K, value: V) =>
  orEmpty(z.record(name, value, { error: "must be an object of names" })).optional()

const keyName = NewApiKey.shape.name
const keyNames = z.array(keyName, { error: "must be an array of key names" })

const Budget = BudgetChange.pick({ limit_usd: true })
const Budgets = z.strictObject({
  lifetime: Budget.optional(),
  monthly: Budget.optional(),
  weekly: Budget.optional(),
  daily: Budget.optional(),
})
const Arm = AliasInput.shape.arms.element
  .omit({ key_hashes: true })
  .extend({ keys: keyNames.min(1, "must not be empty").optional() })
const Alias = AliasInput.omit({ arms: true, allow_unknown: true }).extend({
  arms: z
    .array(Arm, { error: "must be an array of arms" })
    .min(1, "must have at least one arm")
    .superRefine(checkLengths),
})
const Guardrail = NewGuardrail.omit({ name: true, workspace_id: true, enforce_zdr: true, allow_unknown: true }).extend({
  keys: keyNames.optional(),
})
/** Management keys cannot be declared: a file cannot lock its operator out. */
const KEY_KINDS = ["normal", "provisioning", "free_tier"] as const
const Key = NewApiKey.omit({
  name: true,
  workspace_id: true,
  external: true,
  creator_user_id: true,
  allow_unknown: true,
}).extend({
  kind: z.enum(KEY_KINDS, { error: `accepts ${KEY_KINDS.join(", ")}` }).optional(),
  disabled: z.boolean({ error: "must be true or false" }).optional(),
})

const Destination = NewDestination.omit({ name: true, workspace_id: true, api_key_hashes: true })
const AlertChannel = NewChannel.omit({ name: true, workspace_id: true })
const Byok = NewByok.omit({ name: true, workspace_id: true, allowed_api_key_hashes: true, allow_unknown: true })
const PassthroughService = NewService.omit({ slug: true, workspace_id: true, allowed_api_key_hashes: true })
const McpServer = NewMcpServer.omit({ slug: true, workspace_id: true })

const Workspace = WorkspaceChange.omit({ slug: true, allow_unknown: true }).extend({
  budgets: orEmpty(Budgets).optional(),
  presets: section(PresetPath.shape.slug, Preset),
  aliases: section(AliasPath.shape.name, Alias),
  guardrails: section(NewGuardrail.shape.name, orEmpty(Guardrail)),
  keys: section(keyName, orEmpty(Key)),
  destinations: section(NewDestination.shape.name, Destination),
  byok: section(z.string().min(1).max(128), Byok),
  passthrough_services: section(NewService.shape.slug, PassthroughService),
  mcp_servers: section(NewMcpServer.shape.slug, McpServer),
  alert_channels: section(NewChannel.shape.name, AlertChannel),
})
type Workspace = z.infer<typeof Workspace>

const DeclaredFile = z.strictObject({
  version: z.literal(1, { error: "must be 1, the version of this format" }),
  prices: orEmpty(Prices).optional(),
  providers: orEmpty(Providers).optional(),
  provider_budgets: orEmpty(ProviderBudgets).optional(),
  workspaces: orEmpty(
    z.record(NewWorkspace.shape.slug, orEmpty(Workspace), { error: "must be an object of workspaces by slug" }),
  ),
})

export type Declaration = {
  resources: readonly Resource[]
  /** Completely declared sections such as `search/keys`: resources that only the gateway has are extra there. */
  sections: ReadonlySet<string>
}

/** Parses and validates the text of a file. Throws a message with every invalid path and its accepted values. */
export function readDeclaration(text: string, file: string, env = process.env): Declaration {
  const parsed = DeclaredFile.safeParse(parseYaml(text, file))
  if (!parsed.success) {
    throw new Failure(parsed.error.issues.map((issue) => `${file}: ${explainIssue(issue)}`).join("\n"))
  }
  const { prices, providers, provider_budgets: providerBudgets } = parsed.data
  const workspaces = Object.entries(parsed.data.workspaces)
  rejectSharedKeys(workspaces, file)
  return {
    resources: [
      ...pricesOf(prices ?? {}),
      ...providersOf(providers ?? {}),
      ...providerBudgetsOf(providerBudgets ?? {}),
      ...workspaces.flatMap(([slug, workspace]) => [
        ...resourcesOf(slug, workspace),
        ...presetsOf(slug, workspace.presets ?? {}),
        ...sealedResourcesOf(slug, workspace, env),
      ]),
    ],
    sections: new Set([
      ...declaredOf("", [
        ["price", prices],
        ["provider", providers],
        ["provider_budget", providerBudgets],
      ]),
      ...workspaces.flatMap(([slug, workspace]) => sectionsOf(slug, workspace)),
    ]),
  }
}

export function sectionOf({ workspace, kind }: Pick<Resource, "workspace" | "kind">): string {
  return `${workspace}/${kind}`
}

const declaredOf = (workspace: string, declared: readonly [Kind, unknown][]) =>
  declared.filter(([, value]) => value !== undefined).map(([kind]) => sectionOf({ workspace, kind }))

function sectionsOf(slug: string, workspace: Workspace): string[] {
  return declaredOf(slug, [
    ["budget", workspace.budgets],
    ["alias", workspace.aliases],
    ["guardrail", workspace.guardrails],
    ["key", workspace.keys],
    ["destination", workspace.destinations],
    ["byok", workspace.byok],
    ["mcp_server", workspace.mcp_servers],
    ["passthrough_service", workspace.passthrough_services],
    ["alert_channel", workspace.alert_channels],
    ["preset", workspace.presets],
  ])
}

/** Sections whose entries contain secrets. */
const SEALED = ["byok", "destinations", "mcp_servers", "passthrough_services", "alert_channels"]

function resourcesOf(workspace: string, declared: Workspace): Resource[] {
  const { budgets = {}, aliases = {}, guardrails = {}, keys = {}, presets: _, ...others } = declared
  const settings = Object.fromEntries(Object.entries(others).filter(([name]) => !SEALED.includes(name)))
  const resourcesIn = (kind: Kind, entries: Record<string, Json | undefined>) =>
    Object.entries(entries).flatMap(([name, fields]): Resource[] =>
      fields ? [{ kind, workspace, name, fields: normalizeFields(fields) }] : [],
    )
  const rules = Object.entries(guardrails).map(([name, rule]) => [name, { ...rule, keys: undefined }] as const)
  const assigned = Object.entries(guardrails).flatMap(([name, rule]) =>
    rule.keys ? [[name, { keys: [...new Set(rule.keys)].toSorted() }] as const] : [],
  )
  return [
    ...resourcesIn("workspace", { [workspace]: settings }),
    ...resourcesIn("budget", budgets),
    ...resourcesIn("guardrail", Object.fromEntries(rules)),
    ...resourcesIn("key", keys),
    ...resourcesIn("guardrail_keys", Object.fromEntries(assigned)),
    ...resourcesIn("alias", aliases),
  ]
}

function sealedResourcesOf(slug: string, workspace: Workspace, env: Environment): Resource[] {
  const { destinations = {}, mcp_servers: mcpServers = {}, alert_channels: channels = {} } = workspace
  const { byok = {}, passthrough_services: services = {} } = workspace
  return [
    ...byokOf([slug, byok], env),
    ...mcpServersOf([slug, mcpServers], env),
    ...passthroughServicesOf([slug, services], env),
    ...destinationsOf([slug, destinations], env),
    ...alertChannelsOf([slug, channels], env),
  ]
}

/** A key has at most one guardrail: two would take it from each other at every apply. */
function rejectSharedKeys(workspaces: readonly [string, Workspace][], file: string): void {
  for (const [slug, { guardrails = {} }] of workspaces) {
    const owners = new Map<string, string>()
    for (const [name, { keys = [] }] of Object.entries(guardrails)) {
      for (const key of keys) {
        const other = owners.get(key)
        if (other !== undefined && other !== name) {
          const rule = `the key ${key} is also in ${other}. A key has at most one guardrail.`
          throw new Failure(`${file}: workspaces.${slug}.guardrails.${name}.keys: ${rule}`)
        }
        owners.set(key, name)
      }
    }
  }
}

function parseYaml(text: string, file: string): unknown {
  try {
    const value: unknown = parse(text)
    return value
  } catch (error) {
    if (error instanceof YAMLParseError) throw new Failure(`${file}: ${error.message.trimEnd()}`)
    throw error
  }
}

function explainIssue(issue: z.core.$ZodIssue): string {
  if (issue.code === "invalid_key") {
    const message = `this name ${issue.issues[0]?.message ?? issue.message}`
    return explain({ issues: [{ ...issue, message }] })
  }
  if (issue.code !== "unrecognized_keys") return explain({ issues: [issue] })
  const accepted = acceptedNamesAt(DeclaredFile, issue.path)
  const message = `has no ${issue.keys.join(", ")}. It accepts ${accepted.join(", ")}.`
  return explain({ issues: [{ ...issue, path: issue.path.length > 0 ? issue.path : ["file"], message }] })
}

/** The names that the object at a path of the schema accepts. */
function acceptedNamesAt(schema: z.core.$ZodType, path: readonly PropertyKey[]): string[] {
  const { def } = (schema as z.core.$ZodTypes)._zod
  if (def.type === "optional" || def.type === "nullable" || def.type === "default")
    return acceptedNamesAt(def.innerType, path)
  if (def.type === "pipe") return acceptedNamesAt(def.out, path)
  const [first, ...rest] = path
  if (def.type === "record") return acceptedNamesAt(def.valueType, rest)
  if (def.type === "array") return acceptedNamesAt(def.element, rest)
  if (def.type !== "object") return []
  if (first === undefined) return Object.keys(def.shape)
  const next = def.shape[String(first)]
  return next ? acceptedNamesAt(next, rest) : []
}
