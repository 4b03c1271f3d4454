import { expect, test } from "vitest"
import { eventually } from "../support/eventually.ts"
import { newModel } from "./gateway.ts"
import { call, usageOf, useSetup } from "./setup.ts"

const setup = useSetup({})

const CALLS = 5

test("calls succeed while the database is unavailable, and each is recorded once afterwards", async () => {
  const { gateway } = setup
  const organization = await gateway.newOrganization()
  const model = newModel()
  await gateway.execute("ALTER TABLE generations RENAME TO generations_away")
  const ids: string[] = []
  for (let at = 0; at < CALLS; at++) {
    const { client } = call(setup, organization, model, { pieces: ["All", " is", " well"], reportsUsage: true })
    await client.over
    const id = client.header("x-generation-id") ?? ""
    expect(await gateway.get(organization.apiKey, `/generation?id=${id}`)).toMatchObject({ id, ending: "complete" })
    ids.push(id)
  }
  await eventually(() => expect(gateway.logs.join("\n")).toContain("generations were not delivered to D1"))
  expect((await usageOf(setup, organization)).account).toBeGreaterThan(0)

  await gateway.execute("ALTER TABLE generations_away RENAME TO generations")
  const rows = await eventually(async () => {
    const found = await gateway.rows(organization.id)
    expect(found).toHaveLength(CALLS)
    return found
  })
  expect(rows.map(({ id }) => id).sort()).toEqual(ids.sort())
  const spent = rows.reduce((sum, row) => sum + row.cost_nano, 0)
  expect(await usageOf(setup, organization)).toEqual({ key: spent, account: spent })
})
