import { runDurableObjectAlarm } from "cloudflare:test"
import { env } from "cloudflare:workers"
import { beforeAll, describe, expect, test } from "vitest"
import {
  fillPath,
  isDaemons,
  isOperators,
  type Operation,
  operations,
  placesOf,
  requestOf,
} from "./isolation/operations.ts"
import { type Ids, newTenant, type Tenant } from "./isolation/tenant.ts"
import { eventually } from "../support/eventually.ts"
import type { TestClient } from "../support/world.ts"
import { watchPolicyWrites } from "../support/policy-writes.ts"

watchPolicyWrites()

/**
 * Every operation that takes the id of a record, sent with ids of another organization, workspace or intern: one at a
 * time, the others being the client's. A new route is covered as soon as it is in the document.
 */

let victim: Tenant
let attacker: Tenant
let before: string[]
beforeAll(async () => {
  victim = await newTenant()
  attacker = await newTenant()
  // Waits for the ledger to write the calls of the tenant and of its intern.
  await eventually(async () => {
    await victim.workspace.ledger.balance()
    expect(await victim.workspace.object.holds()).toEqual([])
  })
  await runDurableObjectAlarm(victim.workspace.object)
  before = await recordsOf(victim)
})

const EMPTY = new Proxy({} as Ids, { get: (_, name) => String(name) })
const withPlaces = operations
  .filter((operation) => !isOperators(operation))
  .map((operation) => ({ operation, places: placesOf(operation, EMPTY) }))
  .filter(({ places }) => places.length > 0)
const cases = withPlaces.flatMap(({ operation, places }) =>
  places.map((place) => [operation.name, place, operation] as const),
)

const FORM = new TextEncoder().encode(
  '--b\r\nContent-Disposition: form-data; name="file"; filename="a.txt"\r\n\r\nText\r\n--b--\r\n',
)

function send(as: TestClient, operation: Operation, ids: Ids): Promise<Response> {
  const { query = {}, body } = requestOf(operation, ids)
  const search = new URLSearchParams(query).toString()
  const path = fillPath(operation, ids) + (search && `?${search}`)
  if (operation.name === "POST /files") return as.callBytes("POST", path, FORM, "multipart/form-data; boundary=b")
  return as.call(operation.method, path, body)
}

/** The rows of an organization in D1, without those of its other workspace, whose keys attack, and of denials. */
async function recordsOf({ workspace, ids }: Tenant): Promise<string[]> {
  const { results } = await env.DB.prepare(
    "SELECT name FROM sqlite_master WHERE type = 'table' AND sql LIKE '%organization_id%'",
  ).all<{ name: string }>()
  const tables = await Promise.all(
    results.map(async ({ name }) => {
      const statement = env.DB.prepare(`SELECT * FROM "${name}" WHERE organization_id = ?`)
      const { results: rows } = await statement.bind(workspace.organizationId).all()
      const lines = rows
        .map((row) => JSON.stringify(row))
        .filter((line) => !line.includes(ids.team) && !line.includes('"action":"denied"'))
      return lines.toSorted().map((line) => `${name} ${line}`)
    }),
  )
  return tables.flat()
}

/** Names that a client chooses: the same name of another tenant is another record. */
const NAMES: ReadonlySet<string> = new Set([
  "preset",
  "mcpServer",
  "passthroughService",
  "secret",
  "internSecret",
  "session",
])

/** Removals of missing records. */
const WITHOUT_EFFECT = new Set([
  "POST /workspaces/{workspaceRef}/members/remove, user",
  "POST /guardrails/{id}/assignments/keys/remove, key",
  "POST /guardrails/{id}/assignments/members/remove, user",
])

type Attack = { operation: Operation; place?: string; as: TestClient; ids: Ids }

/** Rejected, without revealing whether the record exists. A filter that matches nothing may return an empty list. */
async function expectNothing({ operation, place = "", as, ids }: Attack): Promise<void> {
  const response = await send(as, operation, ids)
  const text = (await response.text()) + JSON.stringify([...response.headers])
  expect(text).not.toContain(victim.canary)
  const others = Object.entries(victim.ids).filter(([kind, id]) => !NAMES.has(kind) && ids[kind as keyof Ids] !== id)
  for (const [, id] of others) expect(text).not.toContain(id)
  if (NAMES.has(place) || WITHOUT_EFFECT.has(`${operation.name}, ${place}`)) return
  const isFilter = operation.method === "GET" && !operation.path.includes("{") && response.status === 200
  if (isFilter) expect(text).not.toMatch(/^\{"data":\[\{.*"(total_count|has_more)":(?!0|false)/)
  else expect([400, 401, 403, 404], text).toContain(response.status)
}

describe("the table of requests", () => {
  test.each(operations.filter(({ idNames }) => idNames.length > 0).map((one) => [one.name, one] as const))(
    "%s: includes every id of its parameters and its body",
    (_, operation) => {
      if (isOperators(operation)) return
      const { query = {}, body } = requestOf(operation, EMPTY)
      const fields = [...JSON.stringify(body ?? {}).matchAll(/"(\w+)":/g)].map(([, name = ""]) => name)
      const written = new Set([...Object.keys(query), ...fields])
      expect(operation.idNames.filter((name) => !written.has(name))).toEqual([])
    },
  )
})

describe("an id of another organization", () => {
  test.each(cases)(
    "%s, %s: is rejected for the management key and the normal key of the attacker",
    async (_, place, operation) => {
      const ids = { ...attacker.ids, [place]: victim.ids[place] }
      for (const as of [attacker.workspace.manage, attacker.workspace.as]) {
        await expectNothing({ operation, place, as, ids })
      }
    },
  )
})

describe("ids of another workspace or intern of the organization", () => {
  const isNamed = (places: readonly string[]) => (places.every((place) => NAMES.has(place)) ? "preset" : "")

  test.each(withPlaces.map(({ operation, places }) => [operation.name, operation, places] as const))(
    "%s: is rejected for a normal key of another workspace",
    async (_, operation, places) => {
      await expectNothing({ operation, place: isNamed(places), as: victim.keys.otherWorkspace, ids: victim.ids })
    },
  )

  const ofInterns = withPlaces.filter(({ places }) => places.includes("intern"))
  test.each(ofInterns.map(({ operation }) => [operation.name, operation] as const))(
    "%s: is rejected for the key and the join token of another intern",
    async (_, operation) => {
      for (const as of [victim.keys.otherIntern, victim.keys.joinToken]) {
        await expectNothing({ operation, as, ids: victim.ids })
      }
    },
  )
})

describe("ids of the same workspace", () => {
  /** Presets are made to be used, and the file is the client's. */
  const ofWorkspace = /^(POST \/files|GET \/presets.*)$/
  const isMade = ({ operation, places }: (typeof withPlaces)[number]) =>
    !ofWorkspace.test(operation.name) && !places.every((place) => place === "preset")

  test.each(withPlaces.filter(isMade).map(({ operation }) => [operation.name, operation] as const))(
    "%s: is rejected for the key of an app, of the free tier and of an intern",
    async (_, operation) => {
      for (const as of [victim.keys.app, victim.keys.free, victim.keys.otherIntern])
        await expectNothing({ operation, as, ids: victim.ids })
    },
  )
})

describe("the attacked tenant", () => {
  test("is unchanged", async () => {
    expect(before.length).toBeGreaterThan(30)
    expect(await recordsOf(victim)).toEqual(before)
    const { workspace, ids, canary } = victim
    const transcript = await workspace.as.get(`/interns/${ids.intern}/sessions/${ids.session}`)
    expect(await transcript.text()).toContain(canary)
    expect(await (await workspace.as.get(`/interns/${ids.intern}/files/content?path=mine.txt`)).text()).toBe(canary)
  })
})

describe("the same request with the client's ids", () => {
  /** Each needs the result of the ones before it. */
  const ORDER = ["POST", "PUT", "PATCH", "GET", "DELETE"]
  const LAST = [
    /suspend$/,
    /DELETE \/interns\/\{internId\}\/sessions\/\{sessionId\}$/,
    /DELETE \/scim\/directories/,
    /DELETE \/interns\/\{internId\}$/,
    /DELETE \/workspaces\/\{\w+\}$/,
  ]
  const rank = ({ name, method }: Operation) => {
    const last = LAST.findIndex((pattern) => pattern.test(name))
    return last === -1 ? ORDER.indexOf(method) : ORDER.length + last
  }
  const ordered = withPlaces
    .map(({ operation }) => operation)
    .filter((operation) => !isDaemons(operation))
    .toSorted((one, other) => rank(one) - rank(other))

  /** Responses to the owner that are neither success nor a rejection of the id. */
  const CONFLICTS: Record<string, RegExp> = {
    "POST /interns/{internId}/daemon/token": /runs inside the gateway/,
    // Depends on whether its turn has ended.
    "POST /interns/{internId}/sessions/{sessionId}/cancel": /cancelling|No turn is in progress/,
    "POST /interns/{internId}/questions/{questionId}": /resumed|The run that asked has ended/,
    "DELETE /interns/{internId}/sessions/{sessionId}": /"deleted":true|A turn is in progress/,
    "POST /batches/{batch_id}/cancel": /completed/,
    "POST /messages/batches/{message_batch_id}/cancel": /completed/,
    // The management key may call none of its tools, and deletes it.
    "POST /mcp/{server}": /may call no tool of the MCP server/,
    "DELETE /mcp/{server}": /There is no MCP server/,
    // Its host does not exist; later only another key may call it, and at the end it is deleted.
    ...Object.fromEntries(
      ["GET", "POST", "PUT", "PATCH", "DELETE"].map((method) => [
        `${method} /passthrough/{service}/{path}`,
        /cannot be reached|may not call the service|There is no passthrough service/,
      ]),
    ),
    "DELETE /workspaces/{workspaceRef}": /has active API keys/,
  }

  test.each(ordered.map((operation) => [operation.name, operation] as const))("%s works", async (name, operation) => {
    const response = await send(attacker.workspace.manage, operation, attacker.ids)
    const text = await response.text()
    expect(text).not.toContain(victim.canary)
    if (CONFLICTS[name]) expect(text).toMatch(CONFLICTS[name])
    else expect(response.status, text).toBeLessThan(300)
  })
})
