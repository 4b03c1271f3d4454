import { createHash } from "node:crypto"
import { existsSync, readFileSync, writeFileSync } from "node:fs"
import path from "node:path"
import { describeDiscovery } from "../commands/models.ts"
import { readEnvFile } from "../start/dev-vars.ts"
import { root } from "../options.ts"

/** Initial balance of a new development organization, in USD. */
const STARTING_BALANCE = 100

export type Keys = { management: string; normal: string }

type Request = { baseUrl: string; key: string; method: string; resource: string; body?: string }
type ApiResponse<T> = { status: number; data: T; key: string | undefined }

/** Calls the public API. Throws for failures other than 401. */
async function call<T>({ baseUrl, key, method, resource, body }: Request): Promise<ApiResponse<T>> {
  const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" }
  const response = await fetch(`${baseUrl}${resource}`, { method, headers, ...(body !== undefined && { body }) })
  const document = (await response.json()) as { data: T; key?: string; error?: { message: string } }
  if (response.status === 503) throw new Error(document.error?.message)
  if (response.status >= 400 && response.status !== 401) {
    throw new Error(`${method} ${resource} returned ${response.status}: ${document.error?.message ?? ""}`)
  }
  return { status: response.status, data: document.data, key: document.key }
}

/** Uploads the shipped catalogue if it is missing or outdated. Changes by an operator are kept. */
export async function ensureCatalogue(baseUrl: string, bootstrapKey: string, stateDir: string): Promise<void> {
  const seed = readFileSync(path.join(root, "src/models/seed.json"), "utf8")
  const marker = path.join(stateDir, "seeded")
  const digest = createHash("sha256").update(seed).digest("hex")
  if (existsSync(marker) && readFileSync(marker, "utf8") === digest) return
  await call({ baseUrl, key: bootstrapKey, method: "PUT", resource: "/catalogue", body: seed })
  writeFileSync(marker, digest)
}

/** The keys of the last start if they still work, otherwise new ones. Creates the organization if there is none. */
export async function ensureKeys(baseUrl: string, bootstrapKey: string, envFile: string): Promise<Keys> {
  const { GATEWAY_MANAGEMENT_KEY: management = "", GATEWAY_API_KEY: normal = "" } = readEnvFile(envFile)
  if ((await works(baseUrl, management)) && (await works(baseUrl, normal))) return { management, normal }

  const operator = { baseUrl, key: bootstrapKey }
  const operatorKey = await call<{ organization_id: string | null }>({ ...operator, method: "GET", resource: "/key" })
  if (operatorKey.status === 401)
    throw new Error("The gateway rejects the BOOTSTRAP_MANAGEMENT_KEY of .dev.vars. Write it without quotes or spaces.")
  if (operatorKey.data.organization_id === null) {
    const body = JSON.stringify({ name: "Development", starting_balance_usd: STARTING_BALANCE })
    const created = await call<{ management_key: string; api_key: string }>({
      ...operator,
      method: "POST",
      resource: "/organizations",
      body,
    })
    return { management: created.data.management_key, normal: created.data.api_key }
  }
  return {
    management: await mint(operator, { name: "Management key", kind: "management" }),
    normal: await mint(operator, { name: "Development key" }),
  }
}

async function works(baseUrl: string, key: string): Promise<boolean> {
  return key !== "" && (await call({ baseUrl, key, method: "GET", resource: "/key" })).status === 200
}

async function mint(operator: { baseUrl: string; key: string }, body: object): Promise<string> {
  const { key } = await call({ ...operator, method: "POST", resource: "/keys", body: JSON.stringify(body) })
  if (key === undefined) throw new Error("The gateway created a key without returning it.")
  return key
}

/** The models of every provider with a key, one line each. */
export async function discoverModels(baseUrl: string, bootstrapKey: string): Promise<string[]> {
  type Found = Parameters<typeof describeDiscovery>[0]
  const request = { baseUrl, key: bootstrapKey, method: "POST", resource: "/catalogue/discover", body: "{}" }
  const { data } = await call<Found[]>(request)
  return data.map(describeDiscovery)
}
