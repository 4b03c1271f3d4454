import { createExecutionContext, waitOnExecutionContext } from "cloudflare:test"
import { env } from "cloudflare:workers"
import { afterEach, beforeEach, describe, expect, test } from "vitest"
import { handleRequest } from "../../src/app/hot-path.ts"
import { consumeQueue } from "../../src/app/queue.ts"
import { runSchedule } from "../../src/app/schedule.ts"
import type { Env } from "../../src/config/env.ts"
import { newKey, newWorkspace } from "../support/world.ts"

/** Like on Cloudflare: a name is another object in each jurisdiction; records every opened object. */
function withJurisdictions(binding: DurableObjectNamespace, opened: string[], where = "none"): DurableObjectNamespace {
  return new Proxy(binding, {
    get(target, name) {
      if (name === "jurisdiction") return (chosen: string) => withJurisdictions(binding, opened, chosen)
      if (name === "newUniqueId") return () => (opened.push(where), target.newUniqueId())
      if (name !== "idFromName") return Reflect.get(target, name).bind(target)
      return (of: string) => (opened.push(where), target.idFromName(where === "none" ? of : `${where}:${of}`))
    },
  })
}

const OBJECTS = ["LEDGER", "INTERN", "DELIVERY", "BATCH", "REALTIME"] as const

/** A new isolate of a deployment with this variable. */
function deployed(jurisdiction: string | undefined): { bound: Env; opened: string[] } {
  const opened: string[] = []
  const objects = Object.fromEntries(OBJECTS.map((name) => [name, withJurisdictions(env[name], opened)]))
  return { bound: { ...env, ...objects, ...(jurisdiction && { JURISDICTION: jurisdiction }) }, opened }
}

async function send(bound: Env, path: string, init: RequestInit = {}) {
  const context = createExecutionContext()
  const response = await handleRequest(new Request(`http://gateway.test${path}`, init), bound, context)
  const body = await response.json<Record<string, unknown>>().catch((): Record<string, unknown> => ({}))
  await waitOnExecutionContext(context)
  return { status: response.status, body, text: JSON.stringify(body) }
}

function post(bound: Env, path: string, key: string, body: object) {
  const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" }
  return send(bound, `/api/v1${path}`, { method: "POST", headers, body: JSON.stringify(body) })
}

const chat = { model: "sim/echo", messages: [{ role: "user", content: "Hello" }] }

async function record(jurisdiction: string | undefined): Promise<void> {
  await env.DB.prepare("DELETE FROM deployment WHERE name = 'jurisdiction'").run()
  if (jurisdiction === undefined) return
  await env.DB.prepare("INSERT INTO deployment (name, value) VALUES ('jurisdiction', ?)").bind(jurisdiction).run()
}

beforeEach(() => record(undefined))
afterEach(() => record(""))

test("the first organization records the jurisdiction, and all its objects are in it", async () => {
  const { bound, opened } = deployed("eu")
  const input = { name: "Europe", starting_balance_usd: 5 }
  const made = await post(bound, "/organizations", env.BOOTSTRAP_MANAGEMENT_KEY ?? "", input)
  expect(made.status).toBe(201)
  const { api_key: key = "" } = made.body["data"] as Record<string, string>
  const stored = await env.DB.prepare("SELECT * FROM deployment WHERE name = 'jurisdiction'").all()
  expect(stored.results).toEqual([{ name: "jurisdiction", value: "eu" }])
  expect((await post(bound, "/chat/completions", key, chat)).status).toBe(200)
  expect(opened.length).toBeGreaterThan(1)
  expect(new Set(opened)).toEqual(new Set(["eu"]))

  // The next organization leaves the record unchanged.
  expect((await post(bound, "/organizations", env.BOOTSTRAP_MANAGEMENT_KEY ?? "", input)).status).toBe(201)
  expect((await env.DB.prepare("SELECT name FROM deployment WHERE name = 'jurisdiction'").all()).results).toHaveLength(
    1,
  )
})

describe.each([
  ["", "eu", "is eu, but the data of this deployment was created without one"],
  ["eu", undefined, "is not set, but the data of this deployment is in eu"],
  ["eu", "us", "is us, but the data of this deployment is in eu"],
])("data recorded as %j with JURISDICTION %j", (recorded, configured, message) => {
  test("returns 503 and opens no object for any call, route, job or message", async () => {
    const workspace = await newWorkspace()
    // New keys, which this isolate has not cached.
    const [{ key }, manager] = [await newKey(workspace), await newKey(workspace, { kind: "management" })]
    await record(recorded)
    const { bound, opened } = deployed(configured)
    for (const answer of [
      await post(bound, "/chat/completions", key, chat),
      await send(bound, "/api/v1/credits", { headers: { authorization: `Bearer ${manager.key}` } }),
      await send(bound, `/api/v1/interns/${crypto.randomUUID()}/daemon/attach`, { headers: { upgrade: "websocket" } }),
      await send({ ...bound, METRICS_TOKEN: "metrics-token-of-a-test" }, "/metrics", {
        headers: { authorization: "Bearer metrics-token-of-a-test" },
      }),
      await send(bound, "/scim/v2/Users"),
    ]) {
      expect([answer.status, answer.text]).toEqual([503, expect.stringContaining(message)])
    }
    await expect(runSchedule("0 4 * * *", bound, Date.now())).rejects.toThrow(message)
    const batch = { queue: "gateway-broadcast", messages: [] } as unknown as Parameters<typeof consumeQueue>[0]
    await expect(consumeQueue(batch, bound)).rejects.toThrow(message)
    expect(opened).toEqual([])
  })

  test("is reported by /ready", async () => {
    await record(recorded)
    const { status, body } = await send(deployed(configured).bound, "/ready")
    expect([status, body["status"]]).toEqual([503, "unconfigured"])
    expect(body["fault"]).toContain(message)
  })
})

test("data without a jurisdiction is served by a deployment without one", async () => {
  const workspace = await newWorkspace()
  await record("")
  const { bound, opened } = deployed(undefined)
  const { key } = await newKey(workspace)
  expect((await post(bound, "/chat/completions", key, chat)).status).toBe(200)
  expect(new Set(opened)).toEqual(new Set(["none"]))
})

test("JURISDICTION is rejected if the runtime has no jurisdictions", async () => {
  const { status, body } = await send({ ...env, JURISDICTION: "eu" }, "/health")
  expect([status, body["fault"]]).toEqual([503, expect.stringContaining("JURISDICTION: must not be set here")])
})
