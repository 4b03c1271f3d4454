import { isArray, type Json, listOf, objectsOf } from "../../support/text/json.ts"
import type { Api } from "../api.ts"
import { livePrices, liveProviders, rejectUnknownEndpoints } from "./catalogue.ts"
import { liveProviderBudgets } from "./provider-budgets.ts"
import { livePreset } from "./presets.ts"
import { type Kind, type LiveResource, normalizeFields } from "./resource.ts"
import { type Declaration, sectionOf } from "./schema.ts"
import { toConfiguredFields } from "./secrets.ts"

const PAGE = 100

/** The gateway's resources of the kinds that a file declares. */
export type Live = {
  resources: LiveResource[]
  /** Ids by slug. */
  workspaceIds: Map<string, string>
  keys: KeyNames
}

/**
 * Maps names of keys that a file can declare to hashes and back. Other keys, and keys with the same name, are
 * referenced by hash.
 */
export class KeyNames {
  readonly #hashes = new Map<string, string[]>()
  readonly #names = new Map<string, string>()

  add(workspace: string, name: string, hash: string): void {
    const id = `${workspace}/${name}`
    this.#hashes.set(id, [...(this.#hashes.get(id) ?? []), hash])
    this.#names.set(`${workspace}/${hash}`, name)
  }

  /** All hashes with this name. */
  hashesOf(workspace: string, name: string): readonly string[] {
    return this.#hashes.get(`${workspace}/${name}`) ?? []
  }

  nameOf(workspace: string, hash: string): string {
    const name = this.#names.get(`${workspace}/${hash}`)
    return name !== undefined && this.hashesOf(workspace, name).length === 1 ? name : hash
  }
}

export async function readLive(api: Api, { resources, sections }: Declaration): Promise<Live> {
  const workspaces = await listAll(api, "/workspaces?")
  const live: Live = { resources: [], workspaceIds: new Map(), keys: new KeyNames() }
  const declared = new Set(resources.map(({ workspace }) => workspace))
  live.resources.push(...(await catalogueOf(api, resources, sections)))
  if (sections.has(sectionOf({ workspace: "", kind: "provider_budget" }))) {
    live.resources.push(...(await liveProviderBudgets(api)))
  }
  const homes = await protectedWorkspaces(api)
  for (const fields of workspaces) {
    const [id, slug] = [String(fields["id"]), String(fields["slug"])]
    live.workspaceIds.set(slug, id)
    const isProtected = homes.has(id)
    live.resources.push({
      kind: "workspace",
      workspace: slug,
      name: slug,
      id,
      isProtected,
      fields: normalizeFields(fields),
    })
    if (declared.has(slug)) live.resources.push(...(await sectionsOf(api, live, { slug, fields }, sections)))
  }
  return live
}

async function catalogueOf(
  api: Api,
  declared: Declaration["resources"],
  sections: ReadonlySet<string>,
): Promise<LiveResource[]> {
  const has = (kind: Kind) => sections.has(sectionOf({ workspace: "", kind }))
  if (!has("price") && !has("provider")) return []
  const { rows, first } = await listPages(api, "/catalogue?", "operator")
  const stored = { rows, disabledProviders: listOf(first["disabled_providers"]).map(String) }
  rejectUnknownEndpoints(stored, declared)
  return [...(has("price") ? livePrices(stored) : []), ...(has("provider") ? liveProviders(stored, declared) : [])]
}

async function sectionsOf(
  api: Api,
  live: Live,
  { slug, fields }: { slug: string; fields: Json },
  sections: ReadonlySet<string>,
): Promise<LiveResource[]> {
  const has = (kind: Kind) => sections.has(sectionOf({ workspace: slug, kind }))
  const id = String(fields["id"])
  const found: LiveResource[] = []
  if (has("budget")) {
    const { data } = await api.as<{ data: Json[] }>("manager", "GET", `/workspaces/${slug}/budgets`)
    found.push(...data.map((one) => toLive("budget", slug, { ...one, name: one["reset_interval"] ?? "lifetime" })))
  }
  if (has("key") || has("guardrail") || has("alias")) {
    const keys = await listAll(api, `/keys?include_disabled=true&workspace_id=${id}&`)
    const declarable = keys.filter(isDeclarable)
    for (const { name, hash } of declarable) live.keys.add(slug, String(name), String(hash))
    if (has("key")) found.push(...declarable.map((key) => toLive("key", slug, key)))
  }
  if (has("guardrail")) {
    for (const guardrail of await listAll(api, `/guardrails?workspace_id=${id}&`)) {
      const resource = toLive("guardrail", slug, guardrail)
      const isProtected = resource.id === fields["default_guardrail_id"]
      const assigned = await listAll(api, `/guardrails/${resource.id}/assignments/keys?`)
      const names = assigned.map((one) => live.keys.nameOf(slug, String(one["key_hash"]))).toSorted()
      found.push(
        { ...resource, isProtected },
        { ...resource, kind: "guardrail_keys", isProtected, fields: { keys: names } },
      )
    }
  }
  if (has("preset")) {
    for (const { slug: name, status } of await listAll(api, `/presets?workspace_id=${id}&`)) {
      if (status === "archived") continue
      const path = `/presets/${encodeURIComponent(String(name))}?workspace_id=${id}`
      const { data } = await api.as<{ data: Json }>("manager", "GET", path)
      found.push({ ...toLive("preset", slug, livePreset(data)), name: String(name) })
    }
  }
  if (has("alias")) {
    const { data } = await api.as<{ data: Json[] }>("manager", "GET", `/workspaces/${slug}/aliases`)
    for (const alias of data) {
      const arms = objectsOf(alias["arms"]).map((arm) => toNamedArm(arm, (hash) => live.keys.nameOf(slug, hash)))
      found.push(toLive("alias", slug, { ...alias, arms }))
    }
  }
  if (has("destination")) {
    const destinations = await listAll(api, `/observability/destinations?workspace_id=${id}&`)
    found.push(...destinations.map((one) => toLive("destination", slug, toConfiguredFields(one))))
  }
  if (has("mcp_server")) {
    const servers = await listAll(api, `/mcp-servers?workspace_id=${id}&`)
    found.push(...servers.map((one) => ({ ...toLive("mcp_server", slug, one), name: String(one["slug"]) })))
  }
  if (has("byok")) {
    const credentials = await listAll(api, `/byok?workspace_id=${id}&`)
    found.push(...credentials.filter((one) => one["name"] !== null).map((one) => toLive("byok", slug, one)))
  }
  if (has("passthrough_service")) {
    const services = await listAll(api, `/passthrough-services?workspace_id=${id}&`)
    const named = services.map((one) => ({ ...toLive("passthrough_service", slug, one), name: String(one["slug"]) }))
    found.push(...named)
  }
  if (has("alert_channel")) {
    const channels = await listAll(api, "/alerts/channels?")
    const inWorkspace = channels.filter((one) => one["workspace_id"] === id)
    found.push(...inWorkspace.map((one) => toLive("alert_channel", slug, toConfiguredFields(one))))
  }
  return found
}

function toNamedArm({ key_hashes: hashes, ...arm }: Json, nameOf: (hash: string) => string): Json {
  return isArray(hashes) ? { ...arm, keys: hashes.map((hash) => nameOf(String(hash))) } : arm
}

/** Management keys and keys of apps, interns and workloads are not part of a file. */
function isDeclarable(key: Json): boolean {
  return key["source"] === "created" && key["kind"] !== "management"
}

function toLive(kind: Kind, workspace: string, fields: Json): LiveResource {
  const name = String(fields["name"])
  const id = String(kind === "key" ? fields["hash"] : fields["id"])
  return { kind, workspace, name, id, isProtected: false, fields: normalizeFields(fields) }
}

/** The workspace of the management key, and the default one, whose keys are listed if no workspace is named. */
async function protectedWorkspaces(api: Api): Promise<Set<string>> {
  const { data: ownKey } = await api.as<{ data: Json }>("manager", "GET", "/key")
  const keyList = await api
    .as<{ data: Json[] }>("manager", "GET", "/keys?limit=1&include_disabled=true")
    .catch(() => ({ data: [] }))
  return new Set([ownKey["workspace_id"], ...keyList.data.map((key) => key["workspace_id"])].map(String))
}

/** All pages of a list; `path` ends where the query continues. */
async function listAll(api: Api, path: string): Promise<Json[]> {
  return (await listPages(api, path)).rows
}

async function listPages(
  api: Api,
  path: string,
  role: "manager" | "operator" = "manager",
): Promise<{ rows: Json[]; first: Json }> {
  const rows: Json[] = []
  let first: Json | undefined
  for (;;) {
    const query = `${path}limit=${PAGE}&offset=${rows.length}`
    const page = await api.as<Json & { data: Json[]; total_count: number }>(role, "GET", query)
    first ??= page
    rows.push(...page.data)
    if (page.data.length === 0 || rows.length >= page.total_count) return { rows, first }
  }
}
