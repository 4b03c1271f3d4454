import { isArray, type Json } from "../../support/text/json.ts"
import { Failure } from "../failure.ts"
import {
  addressOf,
  canonicalJson,
  type Change,
  type FieldChange,
  fingerprintOf,
  type Kind,
  KINDS,
  type LiveResource,
  type Resource,
} from "./resource.ts"
import { type Declaration, sectionOf } from "./schema.ts"
import type { Recorded } from "./state.ts"

export type Plan = {
  changes: readonly Change[]
  /** Addresses of resources that only the gateway has and that `--prune` would remove. */
  extra: readonly string[]
}

type Input = {
  declaration: Declaration
  live: readonly LiveResource[]
  /** By address. Null without a state file: then nothing is drift. */
  recorded: Readonly<Record<string, Recorded>> | null
  prune: boolean
}

/** The changes that make the gateway match the file, in the order to apply them. */
export function planChanges({ declaration, live, recorded, prune }: Input): Plan {
  const { resources } = declaration
  const found = liveByAddress(live, resources)
  const changes = resources.flatMap((resource) => {
    const address = addressOf(resource)
    const liveResource = found.get(address)
    const fields = differences(resource.fields, liveResource?.fields ?? {}, liveResource === undefined)
    if (liveResource && fields.length === 0) return []
    rejectFixedFields(resource.kind, address, liveResource ? fields : [])
    const drift = isDrift(recorded?.[address], liveResource)
    const { kind, workspace, name, fields: declared, secrets = {}, request } = resource
    const action = liveResource || kind === "guardrail_keys" ? ("update" as const) : ("create" as const)
    const id = liveResource?.id ?? null
    return [{ action, kind, workspace, name, address, id, fields, declared, secrets, request, drift }]
  })
  const extra = live.filter((resource) => isExtra(resource, declaration))
  const removals = prune ? extra.map(toRemoval) : []
  return {
    changes: inOrder([...changes, ...removals]),
    extra: prune ? [] : extra.map(addressOf),
  }
}

/** Declared fields with another value in the gateway. */
function differences(declared: Json, liveFields: Json, isNew: boolean): FieldChange[] {
  return Object.entries(declared)
    .filter(([field, to]) => (isNew ? to !== null : canonicalJson(to) !== canonicalJson(liveFields[field] ?? null)))
    .map(([field, to]) => ({ field, from: isNew ? null : (liveFields[field] ?? null), to }))
}

/** For resources that differ from the file: whether they also differ from the result of the last apply. */
export function isDrift(recorded: Recorded | undefined, liveResource: Pick<Resource, "fields"> | undefined): boolean {
  if (!recorded) return false
  return !liveResource || fingerprintOf(liveResource.fields, recorded.fields) !== recorded.sha256
}

function isExtra(resource: LiveResource, { resources, sections }: Declaration): boolean {
  if (resource.isProtected || resource.kind === "guardrail_keys") return false
  const isDeclared = resource.kind === "workspace" || sections.has(sectionOf(resource))
  const same = ({ kind, workspace, name }: Resource) =>
    kind === resource.kind && workspace === resource.workspace && name === resource.name
  return isDeclared && !resources.some(same)
}

function toRemoval(resource: LiveResource): Change {
  const { kind, workspace, name, id } = resource
  return {
    action: "remove",
    kind,
    workspace,
    name,
    address: addressOf(resource),
    id,
    fields: [],
    declared: {},
    secrets: {},
    drift: false,
  }
}

/** Fields that the API sets only at creation. */
const FIXED: Partial<Record<Kind, readonly string[]>> = {
  byok: ["provider"],
  key: ["kind", "expires_at"],
  destination: ["type"],
  alert_channel: ["type"],
}

function rejectFixedFields(kind: Kind, address: string, fields: readonly FieldChange[]): void {
  const fixed = fields.find(({ field }) => FIXED[kind]?.includes(field))
  if (!fixed) return
  throw new Failure(
    `${address}: ${fixed.field} of an existing ${kind} cannot change. Declare one with a new name, and remove this one.`,
  )
}

function liveByAddress(live: readonly LiveResource[], declared: readonly Resource[]): Map<string, LiveResource> {
  const addresses = new Set(declared.map(addressOf))
  const found = new Map<string, LiveResource>()
  for (const resource of live) {
    const address = addressOf(resource)
    if (found.has(address) && addresses.has(address)) {
      throw new Failure(`${address}: the gateway has more than one with this name. Rename or delete the others first.`)
    }
    found.set(address, resource)
  }
  return found
}

/**
 * Creations and updates by kind, then removals in the reverse order. Budgets must strictly decrease from lifetime to
 * daily after every step, so increases come first, longest window first, then decreases, shortest first. No budget
 * counts as infinite.
 */
export function inOrder(changes: readonly Change[]): Change[] {
  return changes.toSorted((a, b) => {
    const [left, right] = [orderOf(a), orderOf(b)]
    const at = left.findIndex((value, index) => value !== right[index])
    return at === -1 ? 0 : (left[at] ?? 0) - (right[at] ?? 0)
  })
}

const INTERVALS = ["lifetime", "monthly", "weekly", "daily"]

function orderOf(change: Change): number[] {
  const kind = KINDS.indexOf(change.kind)
  if (change.kind === "budget" || change.kind === "provider_budget") {
    const length = INTERVALS.indexOf(change.name.slice(change.name.indexOf(" ") + 1))
    return [kind, ...(isRaised(change) ? [0, length] : [1, -length])]
  }
  if (change.action === "remove") return [2 * KINDS.length - kind]
  return [kind, addsKeys(change) ? 0 : 1]
}

function isRaised({ action, fields }: Change): boolean {
  if (action !== "update") return action === "remove"
  const limit = fields.find(({ field }) => field === "limit_usd")
  return Number(limit?.to) > Number(limit?.from)
}

/** A key that moves to another guardrail is added there before it is removed from the old one. */
function addsKeys({ fields }: Change): boolean {
  return fields.some(({ from, to }) => isArray(to) && to.some((key) => !isArray(from) || !from.includes(key)))
}
