import { type Json, listOf, objectsOf } from "../../support/text/json.ts"
import type { Api } from "../api.ts"
import { Failure } from "../failure.ts"
import { writePrice, writeProvider } from "./catalogue.ts"
import type { KeysOut } from "./keys-out.ts"
import type { Live } from "./live.ts"

import { writeProviderBudget } from "./provider-budgets.ts"
import { writePreset } from "./presets.ts"
import type { Change, Kind } from "./resource.ts"
import { toBody } from "./secrets.ts"

export type Outcome = { done: Change[]; failed: { change: Change; message: string } | null; pending: Change[] }

/** Applies changes in order and stops at the first that the gateway rejects. */
export async function applyChanges(
  api: Api,
  live: Live,
  changes: readonly Change[],
  keysOut: KeysOut | null,
): Promise<Outcome> {
  const writer = new Writer(api, live, keysOut)
  const done: Change[] = []
  for (const [index, change] of changes.entries()) {
    try {
      await writer.apply(change)
    } catch (error) {
      if (!(error instanceof Failure)) throw error
      return { done, failed: { change, message: error.message }, pending: changes.slice(index + 1) }
    }
    done.push(change)
  }
  return { done, failed: null, pending: [] }
}

/** A file may name models before their provider is configured. */
const MAY_NAME_LATER = { allow_unknown: true }

class Writer {
  readonly #api: Api
  readonly #live: Live
  readonly #keysOut: KeysOut | null
  /** Ids of guardrails that this run created. */
  readonly #created = new Map<string, string>()

  constructor(api: Api, live: Live, keysOut: KeysOut | null) {
    this.#api = api
    this.#live = live
    this.#keysOut = keysOut
  }

  async apply(change: Change): Promise<void> {
    const write: Record<Kind, (change: Change) => Promise<unknown>> = {
      price: (one) => writePrice(this.#api, one),
      provider: (one) => writeProvider(this.#api, one),
      provider_budget: (one) => writeProviderBudget(this.#api, one),
      preset: (one) => writePreset(this.#api, one, `?workspace_id=${this.#workspaceId(one.workspace)}`),
      workspace: (one) => this.#workspace(one),
      budget: (one) => this.#put(one, `/workspaces/${one.workspace}/budgets/${one.name}`, one.declared),
      guardrail: (one) => this.#guardrail(one),
      key: (one) => this.#key(one),
      guardrail_keys: (one) => this.#guardrailKeys(one),
      alias: (one) =>
        this.#put(one, `/workspaces/${one.workspace}/aliases/${encodeURIComponent(one.name)}`, this.#aliasOf(one)),
      destination: (one) => this.#destination(one),
      byok: (one) => this.#byok(one),
      mcp_server: (one) => this.#bySlug(one, "/mcp-servers"),
      passthrough_service: (one) => this.#bySlug(one, "/passthrough-services"),
      alert_channel: (one) => this.#alertChannel(one),
    }
    await write[change.kind](change)
  }

  #send<T>(method: string, resource: string, body?: Json): Promise<T> {
    return this.#api.as<T>("manager", method, resource, body)
  }

  #put({ action }: Change, resource: string, body: Json): Promise<unknown> {
    return action === "remove" ? this.#send("DELETE", resource) : this.#send("PUT", resource, body)
  }

  async #workspace({ action, name, declared, fields }: Change): Promise<void> {
    if (action === "remove") await this.#send("DELETE", `/workspaces/${name}`)
    else if (action === "update")
      await this.#send("PATCH", `/workspaces/${name}`, { ...toNewValues(fields), ...MAY_NAME_LATER })
    else {
      const body = { name, ...declared, slug: name, ...MAY_NAME_LATER }
      const { data } = await this.#send<{ data: Json }>("POST", "/workspaces", body)
      this.#live.workspaceIds.set(name, String(data["id"]))
    }
  }

  async #guardrail(change: Change): Promise<void> {
    const { action, id, workspace, name, declared, fields } = change
    if (action === "remove") await this.#send("DELETE", `/guardrails/${id}`)
    else if (action === "update")
      await this.#send("PATCH", `/guardrails/${id}`, { ...toNewValues(fields), ...MAY_NAME_LATER })
    else {
      const body = { ...declared, name, workspace_id: this.#workspaceId(workspace), ...MAY_NAME_LATER }
      const { data } = await this.#send<{ data: Json }>("POST", "/guardrails", body)
      this.#created.set(`${workspace}/${name}`, String(data["id"]))
    }
  }

  async #key(change: Change): Promise<void> {
    const { action, id, workspace, name, declared, fields } = change
    if (action === "remove") return void (await this.#send("DELETE", `/keys/${id}`))
    if (action === "update")
      return void (await this.#send("PATCH", `/keys/${id}`, { ...toNewValues(fields), ...MAY_NAME_LATER }))
    if (!this.#keysOut) throw new Failure("A new key needs --keys-out.")
    const { disabled, ...rest } = declared
    const body = { ...rest, name, workspace_id: this.#workspaceId(workspace), ...MAY_NAME_LATER }
    const created = await this.#send<{ data: Json; key: string }>("POST", "/keys", body)
    const hash = String(created.data["hash"])
    try {
      this.#keysOut.add({ workspace, name, hash, key: created.key })
    } catch {
      // A key whose secret could not be saved is useless.
      await this.#send("DELETE", `/keys/${hash}`)
      throw new Failure("The file of --keys-out cannot be written. The new key was deleted.")
    }
    this.#live.keys.add(workspace, name, hash)
    if (disabled === true) await this.#send("PATCH", `/keys/${hash}`, { disabled })
  }

  async #guardrailKeys({ workspace, name, id, fields }: Change): Promise<void> {
    const guardrail = id ?? this.#created.get(`${workspace}/${name}`)
    const [from, to] = [listOf(fields[0]?.from), listOf(fields[0]?.to)]
    const path = `/guardrails/${guardrail}/assignments/keys`
    const added = to.filter((key) => !from.includes(key)).map((key) => this.#hashOf(workspace, String(key)))
    const removed = from.filter((key) => !to.includes(key)).map((key) => this.#hashOf(workspace, String(key)))
    if (added.length > 0) await this.#send("POST", path, { key_hashes: added })
    if (removed.length > 0) await this.#send("POST", `${path}/remove`, { key_hashes: removed })
  }

  async #destination(change: Change): Promise<void> {
    const { action, id, workspace, name, declared, secrets } = change
    const resource = "/observability/destinations"
    if (action === "remove") await this.#send("DELETE", `${resource}/${id}`)
    else if (action === "update") await this.#send("PATCH", `${resource}/${id}`, toRequestBody(change))
    else {
      const body = { ...toBody(declared, secrets), name, workspace_id: this.#workspaceId(workspace) }
      await this.#send("POST", resource, body)
    }
  }

  async #byok({ action, id, workspace, name, declared, fields, secrets }: Change): Promise<void> {
    const bodyOf = ({ label, ...rest }: Json) => (label === undefined ? rest : { ...rest, key: secrets["label"] })
    if (action === "remove") await this.#send("DELETE", `/byok/${id}`)
    else if (action === "update")
      await this.#send("PATCH", `/byok/${id}`, { ...bodyOf(toNewValues(fields)), ...MAY_NAME_LATER })
    else {
      const body = { ...bodyOf(declared), name, workspace_id: this.#workspaceId(workspace), ...MAY_NAME_LATER }
      await this.#send("POST", "/byok", body)
    }
  }

  async #bySlug(change: Change, path: string): Promise<void> {
    const { action, workspace, name, declared, secrets } = change
    const workspaceId = this.#workspaceId(workspace)
    const resource = `${path}/${name}?workspace_id=${workspaceId}`
    if (action === "remove") await this.#send("DELETE", resource)
    else if (action === "update") await this.#send("PATCH", resource, toRequestBody(change))
    else await this.#send("POST", path, { ...toBody(declared, secrets), slug: name, workspace_id: workspaceId })
  }

  async #alertChannel({ action, id, workspace, name, declared, fields, secrets }: Change): Promise<void> {
    const resource = "/alerts/channels"
    if (action === "remove") await this.#send("DELETE", `${resource}/${id}`)
    else if (action === "update") {
      // The configuration is replaced completely.
      const { config } = toBody(declared, secrets)
      const body = toBody(toNewValues(fields), secrets)
      await this.#send("PATCH", `${resource}/${id}`, { ...body, ...(body["config"] !== undefined && { config }) })
    } else {
      const body = { ...toBody(declared, secrets), name, workspace_id: this.#workspaceId(workspace) }
      await this.#send("POST", resource, body)
    }
  }

  #aliasOf({ declared, workspace }: Change): Json {
    const arms = objectsOf(declared["arms"]).map(({ keys, ...arm }) => ({
      ...arm,
      ...(keys !== undefined && { key_hashes: listOf(keys).map((key) => this.#hashOf(workspace, String(key))) }),
    }))
    return { ...declared, arms, ...MAY_NAME_LATER }
  }

  #workspaceId(slug: string): string | undefined {
    return this.#live.workspaceIds.get(slug)
  }

  /** Keys without a unique name are referenced by hash. */
  #hashOf(workspace: string, name: string): string {
    const hashes = this.#live.keys.hashesOf(workspace, name)
    const [hash] = hashes
    if (hash !== undefined && hashes.length === 1) return hash
    if (hashes.length === 0 && /^[0-9a-f]{64}$/.test(name)) return name
    const found = hashes.length === 0 ? "no key" : `${hashes.length} keys`
    throw new Failure(`The workspace ${workspace} has ${found} with the name ${name}.`)
  }
}

/** Includes the secrets, which a URL with another host needs again. */
function toRequestBody({ fields, declared, secrets }: Change): Json {
  const declaredSecrets = Object.entries(declared).filter(([field]) => field in secrets)
  return toBody({ ...Object.fromEntries(declaredSecrets), ...toNewValues(fields) }, secrets)
}

function toNewValues(fields: Change["fields"]): Json {
  return Object.fromEntries(fields.map(({ field, to }) => [field, to]))
}
