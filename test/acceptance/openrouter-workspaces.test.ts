import type { OpenRouter } from "@openrouter/sdk"
import {
  BadRequestResponseError,
  ForbiddenResponseError,
  NotFoundResponseError,
  UnauthorizedResponseError,
} from "@openrouter/sdk/models/errors"
import { beforeAll, describe, expect, inject, test } from "vitest"
import { newKey, newOrganization, openrouter, type Organization } from "./world.ts"

let organization: Organization
let manager: OpenRouter
let userId: string

beforeAll(async () => {
  organization = await newOrganization()
  manager = openrouter(organization.managementKey)
  const response = await fetch(`${inject("gateway").url}/organization/members`, {
    method: "POST",
    headers: { authorization: `Bearer ${organization.managementKey}`, "content-type": "application/json" },
    body: JSON.stringify({ email: "ada@example.com", first_name: "Ada" }),
  })
  expect(response.status).toBe(201)
  userId = ((await response.json()) as { data: { id: string } }).data.id
})

/** All pages of a list that the client iterates, in one array. */
async function allPages<T>(pages: Promise<AsyncIterable<{ result: { data: T[]; totalCount: number } }>>): Promise<T[]> {
  const all: T[] = []
  for await (const { result } of await pages) all.push(...result.data)
  return all
}

let slugs = 0
async function newTeam(input: { disabledServerTools?: ("openrouter:web_search" | "openrouter:datetime")[] } = {}) {
  const body = { name: "Team", slug: `team-${slugs++}`, ...input }
  return (await manager.workspaces.create({ createWorkspaceRequest: body })).data
}

describe("the @openrouter/sdk client", () => {
  test("creates, reads, lists, changes and deletes workspaces", async () => {
    const made = await newTeam({ disabledServerTools: ["openrouter:web_search"] })
    expect(made).toMatchObject({ name: "Team", disabledServerTools: ["openrouter:web_search"], updatedAt: null })
    for (const id of [made.id, made.slug]) expect((await manager.workspaces.get({ id })).data).toEqual(made)
    const update = { name: "Renamed", defaultProviderSort: "price", ioLoggingApiKeyIds: null }
    const { data } = await manager.workspaces.update({ id: made.id, updateWorkspaceRequest: update })
    expect(data).toMatchObject({ name: "Renamed", defaultProviderSort: "price" })
    for (let more = 0; more < 3; more++) await newTeam()
    expect((await allPages(manager.workspaces.list({ limit: 2 }))).length).toBeGreaterThanOrEqual(5)
    expect(await manager.workspaces.delete({ id: made.id })).toEqual({ deleted: true })
    await expect(manager.workspaces.get({ id: made.id })).rejects.toBeInstanceOf(NotFoundResponseError)
  })

  test("sets and deletes the budgets of a workspace", async () => {
    const { id } = await newTeam()
    const budget = { workspaceRef: id, interval: "daily" as const }
    await manager.workspaces.setBudget({ ...budget, upsertWorkspaceBudgetRequest: { limitUsd: 2 } })
    expect((await manager.workspaces.getBudget(budget)).data.limitUsd).toBe(2)
    expect(await manager.workspaces.deleteBudget(budget)).toEqual({ deleted: true })
  })

  test("adds, lists and removes members", async () => {
    const { id } = await newTeam()
    const request = { userIds: [userId] }
    const added = await manager.workspaces.bulkAddMembers({ id, bulkAddWorkspaceMembersRequest: request })
    expect(added).toMatchObject({ addedCount: 1, data: [{ userId, role: "member" }] })
    expect(await allPages(manager.workspaces.listMembers({ id, limit: 1 }))).toEqual(added.data)
    expect(await allPages(manager.workspaces.listMembers({ id: "default", limit: 1 }))).toHaveLength(2)
    const removed = await manager.workspaces.bulkRemoveMembers({ id, bulkRemoveWorkspaceMembersRequest: request })
    expect(removed).toEqual({ removedCount: 1 })
    const people = await allPages(manager.organization.listMembers({ limit: 1 }))
    expect(people.map(({ role }) => role)).toEqual(["org:member", "org:admin"])
    expect(people[0]).toMatchObject({ id: userId, email: "ada@example.com", firstName: "Ada", lastName: null })
  })

  test("gets 400 for invalid workspaces", async () => {
    const { id, slug } = await newTeam()
    const again = manager.workspaces.create({ createWorkspaceRequest: { name: "x", slug } })
    await expect(again).rejects.toBeInstanceOf(BadRequestResponseError)
    const shouted = manager.workspaces.update({ id, updateWorkspaceRequest: { slug: "NO" } })
    await expect(shouted).rejects.toBeInstanceOf(BadRequestResponseError)
    await expect(manager.workspaces.delete({ id: "default" })).rejects.toBeInstanceOf(BadRequestResponseError)
    await newKey(organization, { workspace_id: id })
    await expect(manager.workspaces.delete({ id })).rejects.toBeInstanceOf(BadRequestResponseError)
    const unknownMember = { bulkAddWorkspaceMembersRequest: { userIds: ["nobody"] } }
    await expect(manager.workspaces.bulkAddMembers({ id, ...unknownMember })).rejects.toBeInstanceOf(
      BadRequestResponseError,
    )
    const fromDefault = { id: "default", bulkRemoveWorkspaceMembersRequest: { userIds: [userId] } }
    await expect(manager.workspaces.bulkRemoveMembers(fromDefault)).rejects.toBeInstanceOf(BadRequestResponseError)
  })

  const operations: [string, (client: OpenRouter, id: string) => Promise<unknown>][] = [
    ["list", (client) => client.workspaces.list()],
    ["create", (client) => client.workspaces.create({ createWorkspaceRequest: { name: "x", slug: "x" } })],
    ["get", (client, id) => client.workspaces.get({ id })],
    ["update", (client, id) => client.workspaces.update({ id, updateWorkspaceRequest: { name: "x" } })],
    ["delete", (client, id) => client.workspaces.delete({ id })],
    ["listMembers", (client, id) => client.workspaces.listMembers({ id })],
    [
      "bulkAddMembers",
      (client, id) => client.workspaces.bulkAddMembers({ id, bulkAddWorkspaceMembersRequest: { userIds: ["u"] } }),
    ],
    [
      "bulkRemoveMembers",
      (client, id) =>
        client.workspaces.bulkRemoveMembers({ id, bulkRemoveWorkspaceMembersRequest: { userIds: ["u"] } }),
    ],
    ["organization.listMembers", (client) => client.organization.listMembers()],
  ]
  test.each(operations)("%s is rejected: 401, 403, 404", async (name, call) => {
    await expect(call(openrouter("sk-none"), "default")).rejects.toBeInstanceOf(UnauthorizedResponseError)
    const forbidden = call(openrouter(organization.apiKey), "default")
    // Where the client has no class for a 403, it throws a general error.
    await expect(forbidden).rejects.toMatchObject({ statusCode: 403 })
    if (["create", "update", "delete", "bulkAddMembers", "bulkRemoveMembers"].includes(name)) {
      await expect(call(openrouter(organization.apiKey), "default")).rejects.toBeInstanceOf(ForbiddenResponseError)
    }
    if (!["list", "create", "organization.listMembers"].includes(name)) {
      await expect(call(manager, "nothing")).rejects.toBeInstanceOf(NotFoundResponseError)
    }
  })

  test("gets 403 for a call with a disabled server tool, and the default model for a call without a model", async () => {
    const { id } = await newTeam({ disabledServerTools: ["openrouter:datetime"] })
    const client = openrouter(await newKey(organization, { workspace_id: id }))
    const messages = [{ role: "user" as const, content: "Hi" }]
    const request = { model: "sim/echo", messages, tools: [{ type: "openrouter:datetime" as const }], stream: false }
    await expect(client.chat.send({ chatRequest: request })).rejects.toBeInstanceOf(ForbiddenResponseError)
    await manager.workspaces.update({ id, updateWorkspaceRequest: { defaultTextModel: "sim/echo" } })
    const answer = await openrouter(await newKey(organization, { workspace_id: id })).chat.send({
      chatRequest: { messages, stream: false },
    })
    expect(answer).toMatchObject({ choices: [{ finishReason: "stop" }] })
  })

  test("deletes the default workspace on confirmation", async () => {
    const other = await newOrganization()
    const client = openrouter(other.managementKey)
    expect(await client.workspaces.delete({ id: "default", confirmDefaultWorkspaceDeletion: true })).toEqual({
      deleted: true,
    })
    await expect(client.apiKeys.list()).rejects.toBeInstanceOf(BadRequestResponseError)
    await expect(client.apiKeys.create({ requestBody: { name: "k" } })).rejects.toBeInstanceOf(BadRequestResponseError)
  })
})
