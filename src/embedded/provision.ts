import type { Env } from "../config/env.ts"
import seed from "../models/seed.json"

/**
 * Written into `.dev.vars` by the build step of `wrangler dev`, which stores the same keys for clients in `.dev.env`.
 */
type DevelopmentEnv = Env & { DEVELOPMENT_API_KEY?: string; DEVELOPMENT_MANAGEMENT_KEY?: string }

type Send = (request: Request) => Response | Promise<Response>
type Call = { method: string; resource: string; key: string; body?: unknown }

/** Used fields of the responses. */
type Data = { organization_id?: string | null; management_key?: string }

/** Initial balance of the development organization, in USD. */
const STARTING_BALANCE = 100

let provisioned: Promise<void> | undefined

/**
 * Once per isolate: creates the catalogue, an organization and the two keys of `.dev.vars`, unless those keys already
 * work.
 */
export function ensureDevelopment(env: DevelopmentEnv, send: Send): Promise<void> {
  provisioned ??= provision(env, send).catch((error: unknown) => {
    provisioned = undefined
    throw error
  })
  return provisioned
}

async function provision(env: DevelopmentEnv, send: Send): Promise<void> {
  const { DEVELOPMENT_API_KEY: apiKey, DEVELOPMENT_MANAGEMENT_KEY: managementKey, BOOTSTRAP_MANAGEMENT_KEY } = env
  const bootstrapKey = BOOTSTRAP_MANAGEMENT_KEY ?? ""
  if (apiKey === undefined || managementKey === undefined) return
  const currentKey = await call(send, { method: "GET", resource: "/key", key: apiKey })
  if (currentKey.status !== 401) return
  await call(send, { method: "PUT", resource: "/catalogue", key: bootstrapKey, body: seed })
  const operatorKey = await call(send, {
    method: "GET",
    resource: "/key",
    key: bootstrapKey,
  })
  let operator: string | undefined = bootstrapKey
  if (operatorKey.data.organization_id === null) {
    const body = { name: "Development", starting_balance_usd: STARTING_BALANCE }
    const created = await call(send, {
      method: "POST",
      resource: "/organizations",
      key: bootstrapKey,
      body,
    })
    operator = created.data.management_key
  }
  const keys = [
    { name: "Management key", kind: "management", external: { user: "development", api_key: managementKey } },
    { name: "Development key", external: { user: "development", api_key: apiKey } },
  ]
  for (const body of keys) await call(send, { method: "POST", resource: "/keys", key: operator ?? "", body })
}

async function call(send: Send, { method, resource, key, body }: Call): Promise<{ status: number; data: Data }> {
  const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" }
  const init = { method, headers, ...(body !== undefined && { body: JSON.stringify(body) }) }
  const response = await send(new Request(`http://127.0.0.1/api/v1${resource}`, init))
  const document: { data: Data; error?: { message: string } } = await response.json()
  if (response.status >= 400 && response.status !== 401) {
    throw new Error(`${method} ${resource} returned ${response.status}: ${document.error?.message ?? ""}`)
  }
  return { status: response.status, data: document.data }
}
