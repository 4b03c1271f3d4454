import { env, exports } from "cloudflare:workers"
import { expect } from "vitest"
import { newWorkspace, expectJson, type Workspace } from "../support/world.ts"

const front = () => (exports as unknown as { default: Fetcher }).default

export type Resource = { id: string; meta: { version: string; location: string }; [name: string]: unknown }
export type List = { totalResults: number; startIndex: number; itemsPerPage: number; Resources: Resource[] }

/** Sends requests as a directory: with its token, the SCIM media type and a path under /scim/v2. */
export function scimClient(token?: string) {
  return async (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) => {
    const response = await front().fetch(`http://gateway.test/scim/v2${path}`, {
      method,
      headers: {
        ...(token !== undefined && { authorization: `Bearer ${token}` }),
        ...(body !== undefined && { "content-type": "application/scim+json" }),
        ...headers,
      },
      ...(body !== undefined && { body: typeof body === "string" ? body : JSON.stringify(body) }),
    })
    if (response.status !== 204 && response.status !== 304) {
      const type = headers["accept"] === "application/json" ? "application/json" : "application/scim+json"
      expect(response.headers.get("content-type")).toBe(type)
    }
    return response
  }
}

export type Push = ReturnType<typeof scimClient>

export async function connect(workspace: Workspace, name = "Okta"): Promise<{ id: string; token: string; push: Push }> {
  type Made = { data: { id: string; token: string; base_url: string } }
  const { data } = await expectJson<Made>(201, workspace.manage.post("/scim/directories", { name }))
  expect(data.base_url).toBe("http://gateway.test/scim/v2")
  return { ...data, push: scimClient(data.token) }
}

export async function newDirectory(name?: string) {
  const workspace = await newWorkspace()
  return { workspace, ...(await connect(workspace, name)) }
}

let queued = 0

/** A sync job that waits for its first step, which the test runs. */
export async function queueSyncJob({ organizationId }: Workspace, phase: "pull" | "users"): Promise<string> {
  const id = crypto.randomUUID()
  await env.DB.prepare(
    `INSERT INTO scim_sync_jobs (id, organization_id, status, phase, position, created_at)
     VALUES (?, ?, 'queued', ?, '', ?)`,
  )
    .bind(id, organizationId, phase, ++queued)
    .run()
  return id
}

export const USER = "urn:ietf:params:scim:schemas:core:2.0:User"
export const GROUP = "urn:ietf:params:scim:schemas:core:2.0:Group"
export const ENTERPRISE = "urn:ietf:params:scim:schemas:extension:enterprise:2.0:User"

export const patch = (...operations: object[]) => ({
  schemas: ["urn:ietf:params:scim:api:messages:2.0:PatchOp"],
  Operations: operations,
})

export async function addUser(push: Push, name: string, more: Record<string, unknown> = {}): Promise<Resource> {
  return expectJson<Resource>(
    201,
    push("POST", "/Users", { schemas: [USER], userName: `${name}@example.com`, ...more }),
  )
}

export async function addGroup(push: Push, displayName: string, ...ids: string[]): Promise<Resource> {
  const members = ids.map((value) => ({ value }))
  return expectJson<Resource>(201, push("POST", "/Groups", { schemas: [GROUP], displayName, members }))
}
