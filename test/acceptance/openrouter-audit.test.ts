import { beforeAll, expect, inject, test } from "vitest"
import { ForbiddenResponseError, NotFoundResponseError } from "@openrouter/sdk/models/errors"
import { newOrganization, openrouter, type Organization } from "./world.ts"

type Entry = { action: string; resource_id: string; user_agent: string | null; changes: Record<string, unknown> }

let organization: Organization

beforeAll(async () => {
  organization = await newOrganization()
})

async function audit(query: string): Promise<Entry[]> {
  const response = await fetch(`${inject("gateway").url}/audit?${query}`, {
    headers: { authorization: `Bearer ${organization.managementKey}` },
  })
  expect(response.status).toBe(200)
  return ((await response.json()) as { data: Entry[] }).data
}

test("the client's changes are in the audit log, in order and once", async () => {
  const manager = openrouter(organization.managementKey)
  const { data } = await manager.apiKeys.create({ requestBody: { name: "audited" } })
  await manager.apiKeys.update({ hash: data.hash, requestBody: { name: "renamed" } })
  await manager.apiKeys.delete({ hash: data.hash })
  await expect(manager.apiKeys.delete({ hash: data.hash })).rejects.toBeInstanceOf(NotFoundResponseError)
  await expect(openrouter(organization.apiKey).apiKeys.create({ requestBody: { name: "no" } })).rejects.toBeInstanceOf(
    ForbiddenResponseError,
  )

  const entries = await audit(`resource_id=${data.hash}`)
  expect(entries.map(({ action }) => action)).toEqual(["api_key.delete", "api_key.update", "api_key.create"])
  expect(entries[1]?.changes).toEqual({ name: "renamed" })
  expect(entries.every(({ user_agent: agent }) => agent?.includes("@openrouter/sdk"))).toBe(true)
})
