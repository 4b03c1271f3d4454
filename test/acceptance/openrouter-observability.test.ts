import type { ObservabilityDestination } from "@openrouter/sdk/models"
import * as errors from "@openrouter/sdk/models/errors"
import { beforeAll, expect, test } from "vitest"
import { CONFIGS } from "../observability/configs.ts"
import { newOrganization, openrouter, type Organization } from "./world.ts"

let organization: Organization

beforeAll(async () => {
  organization = await newOrganization()
})

const NOWHERE = "01900000-0000-7000-8000-000000000000"
/** The client marks values that it does not know. */
function withoutUnknown(destination: ObservabilityDestination) {
  if ("isUnknown" in destination) throw new Error(`The client does not know ${JSON.stringify(destination)}.`)
  return destination
}

const LANGFUSE = { type: "langfuse" as const, name: "Ours", config: CONFIGS["langfuse"]?.config ?? {} }

test.each(Object.entries(CONFIGS))(
  "a destination of type %s is created, read, changed and deleted",
  async (type, kind) => {
    const { observability } = openrouter(organization.managementKey)
    const created = await observability.create({
      createObservabilityDestinationRequest: { type: type as "langfuse", name: type, config: kind.config },
    })
    const made = withoutUnknown(created.data)
    expect(made).toMatchObject({
      type,
      name: type,
      enabled: true,
      privacyMode: false,
      broadcastGenerationCost: false,
      regions: ["global"],
      samplingRate: 1,
      apiKeyHashes: null,
      filterRules: null,
    })
    const text = JSON.stringify(made)
    for (const name of kind.secrets) expect(text).not.toContain(kind.config[name])
    expect((await observability.get({ id: made.id })).data).toEqual(made)
    const { data: changed } = await observability.update({
      id: made.id,
      updateObservabilityDestinationRequest: {
        enabled: false,
        regions: ["eu"],
        samplingRate: 0.25,
        config: { headers: { "x-team": "ours" } },
        filterRules: { groups: [{ rules: [{ field: "model", operator: "contains", value: "acme" }] }] },
      },
    })
    expect(changed).toMatchObject({
      type,
      enabled: false,
      regions: ["europe"],
      samplingRate: 0.25,
      config: { headers: { "x-team": "..." } },
      filterRules: {
        enabled: true,
        groups: [{ logic: "and", rules: [{ field: "model", operator: "contains", value: "acme" }] }],
      },
    })
    withoutUnknown(changed)
    expect(await observability.delete({ id: made.id })).toEqual({ deleted: true })
  },
)

test("destinations are listed by page", async () => {
  const own = await newOrganization()
  const { observability } = openrouter(own.managementKey)
  for (let at = 0; at < 3; at++) await observability.create({ createObservabilityDestinationRequest: LANGFUSE })
  const listed = []
  for await (const page of await observability.list({ limit: 2 })) listed.push(...page.result.data.map(withoutUnknown))
  expect(listed.length).toBe(3)
  expect(new Set(listed.map(({ id }) => id)).size).toBe(3)
})

test("each failure is the client's error class for its status", async () => {
  const manager = openrouter(organization.managementKey).observability
  const [unauthorized, principal] = [
    openrouter("sk-wrong").observability,
    openrouter(organization.apiKey).observability,
  ]
  const refused = async (pending: Promise<unknown>, kind: new (...args: never[]) => Error) =>
    expect(pending).rejects.toBeInstanceOf(kind)
  const create = (by: typeof manager, more: object = {}) =>
    by.create({ createObservabilityDestinationRequest: { ...LANGFUSE, ...more } })

  await refused(create(manager, { samplingRate: 7 }), errors.BadRequestResponseError)
  await refused(create(manager, { config: {} }), errors.BadRequestResponseError)
  await refused(create(unauthorized), errors.UnauthorizedResponseError)
  await refused(create(principal), errors.ForbiddenResponseError)
  for (let at = 0; at < 5; at++) await create(manager)
  await refused(create(manager), errors.ConflictResponseError)
  await refused(manager.list({ workspaceId: "no-uuid" }), errors.BadRequestResponseError)
  await refused(unauthorized.list(), errors.UnauthorizedResponseError)
  const change = { id: NOWHERE, updateObservabilityDestinationRequest: { name: "x" } }
  for (const [client, kind] of [
    [manager, errors.NotFoundResponseError],
    [unauthorized, errors.UnauthorizedResponseError],
  ] as const) {
    await refused(client.get({ id: NOWHERE }), kind)
    await refused(client.delete({ id: NOWHERE }), kind)
    await refused(client.update(change), kind)
  }
  await refused(principal.update(change), errors.ForbiddenResponseError)
})
