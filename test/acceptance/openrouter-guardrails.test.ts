import type { OpenRouter } from "@openrouter/sdk"
import type { EventStream } from "@openrouter/sdk/lib/event-streams"
import type { ChatStreamChunk } from "@openrouter/sdk/models"
import {
  BadRequestResponseError,
  ForbiddenResponseError,
  NotFoundResponseError,
  UnauthorizedResponseError,
} from "@openrouter/sdk/models/errors"
import { beforeAll, describe, expect, test } from "vitest"
import { newOrganization, openrouter, type Organization } from "./world.ts"

let organization: Organization
let manager: OpenRouter
let userId: string

beforeAll(async () => {
  organization = await newOrganization()
  manager = openrouter(organization.managementKey)
  for await (const { result } of await manager.organization.listMembers()) userId = result.data[0]?.id ?? ""
})

/** All pages of a list that the client iterates, in one array. */
async function allPages<T>(pages: Promise<AsyncIterable<{ result: { data: T[]; totalCount: number } }>>): Promise<T[]> {
  const all: T[] = []
  for await (const { result } of await pages) all.push(...result.data)
  return all
}

type Input = Parameters<OpenRouter["guardrails"]["create"]>[0]["createGuardrailRequest"]
async function newGuardrail(input: Partial<Input> = {}) {
  return (await manager.guardrails.create({ createGuardrailRequest: { name: "Rail", ...input } })).data
}
const newKey = () => manager.apiKeys.create({ requestBody: { name: "guarded" } })

describe("the @openrouter/sdk client", () => {
  test("creates, reads, lists, changes and deletes guardrails with every field", async () => {
    const input = {
      description: "All of it",
      allowedModels: ["sim/echo"],
      ignoredModels: ["sim/json"],
      allowedProviders: ["openai"],
      ignoredProviders: ["azure"],
      allowedDataRegions: ["europe" as const],
      enforceZdrAnthropic: true,
      enablePaidModelTraining: false,
      limitUsd: 50,
      resetInterval: "monthly" as const,
      includeByokInBudgets: true,
      contentFilters: [{ action: "block" as const, pattern: "\\bproject-\\d+", label: "[PROJECT]" }],
      contentFilterBuiltins: [
        { action: "redact" as const, slug: "email" as const },
        { action: "flag" as const, slug: "regex-prompt-injection" as const, scanScope: "user_only" as const },
      ],
    }
    const made = await newGuardrail(input)
    expect(made).toMatchObject({ name: "Rail", ...input, updatedAt: made.createdAt, ignoredProviders: ["azure"] })
    expect((await manager.guardrails.get({ id: made.id })).data).toEqual(made)
    const request = { id: made.id, updateGuardrailRequest: { name: "New", contentFilters: null, limitUsd: 60 } }
    const { data } = await manager.guardrails.update(request)
    expect(data).toMatchObject({ name: "New", contentFilters: null, limitUsd: 60, resetInterval: "monthly" })
    for (let more = 0; more < 3; more++) await newGuardrail()
    expect((await allPages(manager.guardrails.list({ limit: 2 }))).length).toBeGreaterThanOrEqual(4)
    expect(await manager.guardrails.delete({ id: made.id })).toEqual({ deleted: true })
    await expect(manager.guardrails.get({ id: made.id })).rejects.toBeInstanceOf(NotFoundResponseError)
  })

  test("creates the default guardrail of a workspace by changing it", async () => {
    const team = await manager.workspaces.create({ createWorkspaceRequest: { name: "Team", slug: "guarded-team" } })
    const id = team.data.defaultGuardrailId
    const { data } = await manager.guardrails.update({ id, updateGuardrailRequest: { enforceZdr: true } })
    expect(data).toMatchObject({ id, workspaceId: team.data.id, enforceZdr: true, enforceZdrOther: true })
    expect(await allPages(manager.guardrails.list({ workspaceId: team.data.id }))).toEqual([data])
  })

  test("assigns keys and members, lists them and removes them", async () => {
    const { id } = await newGuardrail()
    const { data: key } = await newKey()
    const keys = { keyHashes: [key.hash] }
    expect(await manager.guardrails.bulkAssignKeys({ id, bulkAssignKeysRequest: keys })).toEqual({ assignedCount: 1 })
    const byKey = await allPages(manager.guardrails.listGuardrailKeyAssignments({ id, limit: 1 }))
    expect(byKey).toMatchObject([{ guardrailId: id, keyHash: key.hash, keyName: "guarded", keyLabel: key.label }])
    expect(await allPages(manager.guardrails.listKeyAssignments({ limit: 1 }))).toEqual(byKey)
    const taken = await manager.guardrails.bulkUnassignKeys({ id, bulkUnassignKeysRequest: keys })
    expect(taken).toEqual({ unassignedCount: 1 })

    const people = { memberUserIds: [userId] }
    const given = await manager.guardrails.bulkAssignMembers({ id, bulkAssignMembersRequest: people })
    expect(given).toEqual({ assignedCount: 1 })
    const byMember = await allPages(manager.guardrails.listGuardrailMemberAssignments({ id, limit: 1 }))
    expect(byMember).toMatchObject([{ guardrailId: id, userId, organizationId: organization.id }])
    expect(await allPages(manager.guardrails.listMemberAssignments({ limit: 1 }))).toEqual(byMember)
    const left = await manager.guardrails.bulkUnassignMembers({ id, bulkUnassignMembersRequest: people })
    expect(left).toEqual({ unassignedCount: 1 })
  })

  test("gets 400 for invalid guardrails", async () => {
    const refused: Partial<Input>[] = [
      { limitUsd: 5 },
      { allowedDataRegions: [] },
      { contentFilters: [{ action: "block", pattern: "(?=a)" }] },
      { contentFilters: [{ action: "block", pattern: "(a+)+$" }] },
    ]
    for (const one of refused) await expect(newGuardrail(one)).rejects.toBeInstanceOf(BadRequestResponseError)
  })

  test("gets 403 for blocked calls, 200 for redacted ones, and the pipeline stage", async () => {
    const { data: row, key } = await newKey()
    const { id } = await newGuardrail({
      ignoredModels: ["sim/json"],
      contentFilterBuiltins: [
        { action: "redact", slug: "email" },
        { action: "block", slug: "ssn" },
      ],
    })
    await manager.guardrails.bulkAssignKeys({ id, bulkAssignKeysRequest: { keyHashes: [row.hash] } })
    const client = openrouter(key)
    const complete = (model: string, content: string) =>
      client.chat.send({
        xOpenRouterMetadata: "enabled",
        chatRequest: { model, messages: [{ role: "user" as const, content }], stream: false as const },
      })
    await expect(complete("sim/json", "Hi")).rejects.toBeInstanceOf(ForbiddenResponseError)
    const blocked = await complete("sim/echo", "It is 536-90-4399").catch((error: unknown) => error)
    expect(blocked).toBeInstanceOf(ForbiddenResponseError)
    expect((blocked as ForbiddenResponseError).error).toMatchObject({ code: 403, metadata: { patterns: ["ssn"] } })
    const answer = await complete("sim/echo", "Mail lovelace@example.com, please")
    expect(JSON.stringify(answer)).not.toContain("lovelace")
    expect("openrouterMetadata" in answer && answer.openrouterMetadata?.pipeline).toMatchObject([
      {
        type: "guardrail",
        guardrailId: id,
        guardrailScope: "key",
        data: { action: "redact", detected: true, patterns: ["email"] },
      },
    ])
    const stream = await client.chat.send({
      chatRequest: {
        model: "sim/echo",
        messages: [{ role: "user", content: "Say: nothing to hide here" }],
        stream: true as const,
      },
    })
    let text = ""
    for await (const chunk of stream as EventStream<ChatStreamChunk>) text += chunk.choices[0]?.delta.content ?? ""
    expect(text).toContain("nothing to hide here")
  })

  const operations: [string, (client: OpenRouter, id: string) => Promise<unknown>][] = [
    ["list", (client) => client.guardrails.list()],
    ["create", (client) => client.guardrails.create({ createGuardrailRequest: { name: "x" } })],
    ["get", (client, id) => client.guardrails.get({ id })],
    ["update", (client, id) => client.guardrails.update({ id, updateGuardrailRequest: { name: "x" } })],
    ["delete", (client, id) => client.guardrails.delete({ id })],
    ["listGuardrailKeyAssignments", (client, id) => client.guardrails.listGuardrailKeyAssignments({ id })],
    ["listGuardrailMemberAssignments", (client, id) => client.guardrails.listGuardrailMemberAssignments({ id })],
    ["listKeyAssignments", (client) => client.guardrails.listKeyAssignments()],
    ["listMemberAssignments", (client) => client.guardrails.listMemberAssignments()],
    [
      "bulkAssignKeys",
      (client, id) => client.guardrails.bulkAssignKeys({ id, bulkAssignKeysRequest: { keyHashes: ["0".repeat(64)] } }),
    ],
    [
      "bulkUnassignKeys",
      (client, id) =>
        client.guardrails.bulkUnassignKeys({ id, bulkUnassignKeysRequest: { keyHashes: ["0".repeat(64)] } }),
    ],
    [
      "bulkAssignMembers",
      (client, id) => client.guardrails.bulkAssignMembers({ id, bulkAssignMembersRequest: { memberUserIds: ["u"] } }),
    ],
    [
      "bulkUnassignMembers",
      (client, id) =>
        client.guardrails.bulkUnassignMembers({ id, bulkUnassignMembersRequest: { memberUserIds: ["u"] } }),
    ],
  ]
  test.each(operations)("%s is rejected: 401, 403, 404", async (name, call) => {
    const none = "01a1fea8-2c68-7203-9ae9-7a20136d02a7"
    await expect(call(openrouter("sk-none"), none)).rejects.toBeInstanceOf(UnauthorizedResponseError)
    await expect(call(openrouter(organization.apiKey), none)).rejects.toMatchObject({ statusCode: 403 })
    if (["list", "create", "listKeyAssignments", "listMemberAssignments"].includes(name)) return
    await expect(call(manager, none)).rejects.toBeInstanceOf(NotFoundResponseError)
  })
})
