import * as errors from "@openrouter/sdk/models/errors"
import { beforeAll, expect, test } from "vitest"
import { newOrganization, openrouter, type Organization } from "./world.ts"

let organization: Organization

beforeAll(async () => {
  organization = await newOrganization()
})

const KEY = "sk-acceptance-0123456789abcdef"
const NOWHERE = "01900000-0000-7000-8000-000000000000"

test("the client creates, reads, lists, changes and deletes credentials", async () => {
  const { byok } = openrouter(organization.managementKey)
  const { data: made } = await byok.create({
    createBYOKKeyRequest: { provider: "openai", key: KEY, name: "Ours", isFallback: true, allowedModels: ["openai/*"] },
  })
  expect(made).toMatchObject({ provider: "openai", name: "Ours", isFallback: true, declaredZdr: null, sortOrder: 0 })
  expect(JSON.stringify(made)).not.toContain(KEY)
  expect((await byok.get({ id: made.id })).data).toEqual(made)

  const pages = await byok.list({ provider: "openai" })
  const listed = []
  for await (const page of pages) listed.push(...page.result.data)
  expect(listed).toEqual([made])

  const changed = await byok.update({
    id: made.id,
    updateBYOKKeyRequest: { disabled: true, allowedModels: null, key: `${KEY}-2` },
  })
  expect(changed.data).toEqual({ ...made, disabled: true, allowedModels: null, label: "sk-...ef-2" })
  expect(await byok.delete({ id: made.id })).toEqual({ deleted: true })
})

test("each failure is the client's error class for its status", async () => {
  const manager = openrouter(organization.managementKey).byok
  const [unauthorized, principal] = [openrouter("sk-wrong").byok, openrouter(organization.apiKey).byok]
  const good = { provider: "openai" as const, key: KEY }
  const refused = async (pending: Promise<unknown>, kind: new (...args: never[]) => Error) =>
    expect(pending).rejects.toBeInstanceOf(kind)

  await refused(manager.create({ createBYOKKeyRequest: { ...good, key: "" } }), errors.BadRequestResponseError)
  await refused(unauthorized.create({ createBYOKKeyRequest: good }), errors.UnauthorizedResponseError)
  await refused(principal.create({ createBYOKKeyRequest: good }), errors.ForbiddenResponseError)
  await refused(manager.list({ workspaceId: "no-uuid" }), errors.BadRequestResponseError)
  await refused(unauthorized.list(), errors.UnauthorizedResponseError)
  for (const [client, kind] of [
    [manager, errors.NotFoundResponseError],
    [unauthorized, errors.UnauthorizedResponseError],
  ] as const) {
    await refused(client.get({ id: NOWHERE }), kind)
    await refused(client.delete({ id: NOWHERE }), kind)
    await refused(client.update({ id: NOWHERE, updateBYOKKeyRequest: { name: "x" } }), kind)
  }
  await refused(principal.update({ id: NOWHERE, updateBYOKKeyRequest: { name: "x" } }), errors.ForbiddenResponseError)
})

test("a call with a BYOK credential reports isByok and costs nothing", async () => {
  const own = await newOrganization()
  await openrouter(own.managementKey).byok.create({
    createBYOKKeyRequest: { provider: "embedded" as never, key: KEY, isByokOnly: true },
  })
  const completion = await openrouter(own.apiKey).chat.send({
    chatRequest: { model: "sim/echo", messages: [{ role: "user", content: "Hello" }] },
  })
  if (!("usage" in completion)) throw new Error("A whole answer was asked for.")
  expect(completion.usage).toMatchObject({ isByok: true, cost: 0 })
  const { data } = await openrouter(own.apiKey).apiKeys.getCurrentKeyMetadata()
  expect(data.usage).toBe(0)
})
