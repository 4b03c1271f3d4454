import { expect, inject, test } from "vitest"
import { NotFoundResponseError } from "@openrouter/sdk/models/errors"
import { eventually } from "../support/eventually.ts"
import { newOrganization, openrouter } from "./world.ts"

async function post(url: string, key: string, body: object): Promise<{ status: number; body: unknown }> {
  const response = await fetch(url, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify(body),
  })
  return { status: response.status, body: await response.json() }
}

async function firstPage<T>(pages: AsyncIterable<T>): Promise<T | undefined> {
  for await (const page of pages) return page
  return undefined
}

test("the client reads groups, mappings and sync jobs of a directory", async () => {
  const { managementKey } = await newOrganization()
  const manager = openrouter(managementKey)
  const { url } = inject("gateway")
  type Directory = { data: { base_url: string; token: string } }
  const directory = await post(`${url}/scim/directories`, managementKey, { name: "Okta" })
  const { base_url: base, token } = (directory.body as Directory).data
  const user = await post(`${base}/Users`, token, { userName: "ada@example.com" })
  const members = [{ value: (user.body as { id: string }).id }]
  await post(`${base}/Groups`, token, { displayName: "Engineers", externalId: "e-1", members })

  const groups = await firstPage(await manager.scim.listGroups({}))
  const group = groups?.result.data[0]
  expect(group).toMatchObject({ displayName: "Engineers", externalId: "e-1" })
  const { data: workspace } = await manager.workspaces.create({
    createWorkspaceRequest: { name: "Engineering", slug: "engineering" },
  })
  const input = { scim_group_id: group?.id, workspace_id: workspace.id }
  // The client reads only 201, which a deployment returns with the CLIENT_DIALECT for it.
  const made = await post(`${url}/scim/group-mappings`, managementKey, input)
  expect(made.status).toBe(200)
  const { id } = (made.body as { data: { id: string } }).data

  const { data: mapping } = await manager.scim.read({ id })
  expect(mapping).toMatchObject({ scimGroupId: group?.id, workspaceId: workspace.id, role: "member" })
  const raised = await manager.scim.update({ id, updateScimGroupMappingRequest: { role: "admin" } })
  expect(raised.data.role).toBe("admin")
  const mappings = await firstPage(await manager.scim.listMappings({}))
  expect(mappings?.result).toMatchObject({ totalCount: 1, data: [{ id, role: "admin" }] })

  const { result } = await manager.scim.createSyncJob()
  await eventually(async () => {
    const { data: job } = await manager.scim.getSyncJob({ id: result.data.id })
    expect(job).toMatchObject({ status: "succeeded", syncedGroups: 1, deletedGroups: 0, errorMessage: null })
  })
  expect(await manager.scim.delete({ id, keepMembers: false })).toEqual({ deleted: true })
  await expect(manager.scim.read({ id })).rejects.toBeInstanceOf(NotFoundResponseError)
})
