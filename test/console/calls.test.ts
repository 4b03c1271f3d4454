import { beforeAll, describe, expect, test } from "vitest"
import { newKey } from "../acceptance/world.ts"
import { api, chat, hasChromium, newOrganization, type Organization, origin, visiting } from "./browser.ts"

let organization: Organization
beforeAll(async () => {
  organization = await newOrganization()
  for (const model of ["sim/echo", "sim/status-503", "sim/reasoning", "sim/cut"])
    await chat(organization.apiKey, { model })
})

/** Waits until that many calls are in the list: then totals have them too. */
async function recorded({ managementKey }: Organization, calls: number): Promise<void> {
  const headers = { authorization: `Bearer ${managementKey}` }
  await expect
    .poll(async () => {
      const response = await fetch(`${api}/calls`, { headers })
      return ((await response.json()) as { data: unknown[] }).data.length
    })
    .toBe(calls)
}

/** A key of a member of the organization. */
async function keyOfAda(one: Organization): Promise<string> {
  const response = await fetch(`${api}/organization/members`, {
    method: "POST",
    headers: { authorization: `Bearer ${one.managementKey}`, "content-type": "application/json" },
    body: JSON.stringify({ email: "ada@example.com", first_name: "Ada", last_name: "Byron" }),
  })
  const { data } = (await response.json()) as { data: { id: string } }
  return newKey(one, { creator_user_id: data.id })
}

describe.runIf(hasChromium)("calls", () => {
  test("a failed call is found, explained and replayed", async () => {
    await visiting(organization.managementKey, async (page) => {
      await page.goto(`${origin}/calls`)
      const table = page.getByRole("table", { name: "Calls" })
      await expect.poll(() => table.getByRole("row").count()).toBe(5)
      await page.getByRole("button", { name: "Failed" }).click()
      await expect.poll(() => table.getByRole("row").count()).toBe(3)
      expect(page.url()).toContain("status=failed")
      await table
        .getByRole("row", { name: /sim\/status-503/ })
        .getByRole("link")
        .click()
      const call = page.getByRole("complementary", { name: "Call" })
      await call.getByRole("list", { name: "Path of the call" }).getByText("Embedded 503").waitFor()
      await call.getByText("nothing charged").waitFor()
      expect(page.url()).toMatch(/\/calls\/gen-[^?]+\?status=failed/)
      await call.getByRole("link", { name: "Replay in the playground" }).click()
      await page.getByRole("region", { name: "Conversation with sim/status-503" }).waitFor()
      await expect.poll(() => new URL(page.url()).search).toBe("")
    })
  })

  test("a link with an unknown order offers to clear it", async () => {
    await visiting(organization.managementKey, async (page) => {
      await page.goto(`${origin}/calls?sort=foo&model=sim/echo`)
      await page.getByRole("alert").getByText("sort: accepts").waitFor()
      await page.getByRole("button", { name: "Clear filters and order" }).click()
      const table = page.getByRole("table", { name: "Calls" })
      await expect.poll(() => table.getByRole("row").count()).toBe(5)
      expect(new URL(page.url()).search).toBe("")
    })
  })

  test("amounts are read to the last digit without a mouse, and stay exact after a reload", async () => {
    await visiting(organization.managementKey, async (page) => {
      await page.goto(`${origin}/calls?model=sim/echo`)
      const row = page.getByRole("table", { name: "Calls" }).getByRole("row", { name: /sim\/echo/ })
      await row.waitFor()
      await page.keyboard.press("$")
      await expect.poll(() => page.evaluate(() => document.documentElement.dataset["amounts"])).toBe("exact")
      await page.reload()
      await row.waitFor()
      await page.keyboard.press("Control+k")
      await page.getByRole("combobox").fill("Round amounts")
      await page.keyboard.press("Enter")
      await expect.poll(() => page.evaluate(() => document.documentElement.dataset["amounts"])).toBeUndefined()
    })
  })

  test("a filter set while calls are read shows its calls, whichever response arrives last", async () => {
    await visiting(organization.managementKey, async (page) => {
      const all = Promise.withResolvers<void>()
      await page.route(/\/api\/v1\/calls\?/, async (route) => {
        if (!route.request().url().includes("status=failed")) await all.promise
        await route.continue()
      })
      await page.goto(`${origin}/calls`)
      await page.getByRole("button", { name: "Failed" }).click()
      const table = page.getByRole("table", { name: "Calls" })
      await expect.poll(() => table.getByRole("row").count()).toBe(3)
      const late = page.waitForResponse((response) => !response.url().includes("status=failed"))
      all.resolve()
      await (await late).finished()
      await page.getByRole("button", { name: "Failed" }).waitFor()
      expect(await table.getByRole("row").count()).toBe(3)
    })
  })

  test("a click on a value filters, Alt-click excludes, and Back leaves the page", async () => {
    await visiting(organization.managementKey, async (page) => {
      await page.goto(`${origin}/calls`)
      const table = page.getByRole("table", { name: "Calls" })
      await table.getByRole("button", { name: "sim/echo" }).click()
      await expect.poll(() => table.getByRole("row").count()).toBe(2)
      await page.getByRole("button", { name: /model is sim\/echo/ }).click()
      await expect.poll(() => table.getByRole("row").count()).toBe(5)
      await table.getByRole("button", { name: "sim/echo" }).click({ modifiers: ["Alt"] })
      await expect.poll(() => table.getByRole("row").count()).toBe(4)
      expect(decodeURIComponent(page.url())).toContain("model=!sim/echo")
    })
  })

  test("the figures of a workspace and of a member link to their calls", async () => {
    const one = await newOrganization()
    await chat(one.apiKey, { model: "sim/echo" })
    await chat(await keyOfAda(one), { model: "sim/echo" })
    await recorded(one, 2)
    await visiting(one.managementKey, async (page) => {
      await page.goto(`${origin}/?by=workspace_id&range=24h`)
      const totals = page.getByRole("table", { name: "Spend by workspace" })
      await totals
        .getByRole("row", { name: /Default/ })
        .getByRole("link", { name: "2", exact: true })
        .click()
      await page.getByRole("button", { name: "workspace is Default" }).waitFor()
      const table = page.getByRole("table", { name: "Calls" })
      await expect.poll(() => table.getByRole("row").count()).toBe(3)
      await page.goto(`${origin}/?by=user_id&range=24h`)
      const people = page.getByRole("table", { name: "Spend by member" })
      await people
        .getByRole("row", { name: /Ada Byron/ })
        .getByRole("link", { name: "1", exact: true })
        .click()
      await page.getByRole("button", { name: "member is Ada Byron" }).waitFor()
      expect(page.url()).toContain("creator_user_id=")
      await expect.poll(() => table.getByRole("row").count()).toBe(2)
    })
  })

  test("a model shows the success of its calls, in the list and for each endpoint", async () => {
    const one = await newOrganization()
    for (const model of ["sim/echo", "sim/echo", "sim/status-503"]) await chat(one.apiKey, { model })
    await recorded(one, 3)
    await visiting(one.managementKey, async (page) => {
      await page.goto(`${origin}/models?q=sim/`)
      const table = page.getByRole("table", { name: "Models" })
      await table.getByRole("row", { name: /^sim\/echo Simulated: Echo .*100 % \d+ ms/ }).waitFor()
      await table.getByRole("row", { name: /^sim\/status-503 .*0 %/ }).waitFor()
      await page.goto(`${origin}/models/sim/echo`)
      await page
        .getByRole("table", { name: "Endpoints" })
        .getByRole("row", { name: /Embedded 100 % \d+ ms/ })
        .waitFor()
    })
  })

  test("rows are selected and opened from the keyboard", async () => {
    await visiting(organization.managementKey, async (page) => {
      await page.goto(`${origin}/calls`)
      await page.getByRole("row", { name: /sim\/cut/ }).waitFor()
      await page.keyboard.press("j")
      await page.keyboard.press("j")
      await page.keyboard.press("k")
      await page.keyboard.press("Enter")
      await page.getByRole("complementary", { name: "Call" }).getByText("502").first().waitFor()
      await page.getByRole("link", { name: "Call below" }).click()
      await page.getByRole("complementary", { name: "Call" }).getByText("sim/reasoning").first().waitFor()
      await page.keyboard.press("Escape")
      await expect.poll(() => page.getByRole("complementary", { name: "Call" }).count()).toBe(0)
    })
  })

  test("a call that ends elsewhere appears automatically, and is held back while the list is paused", async () => {
    const other = await newOrganization()
    await visiting(other.managementKey, async (page) => {
      await page.goto(`${origin}/calls`)
      await page.getByRole("button", { name: "Live" }).waitFor()
      await chat(other.apiKey, { model: "sim/echo" })
      await page.getByRole("row", { name: /sim\/echo/ }).waitFor()
      await page.getByRole("button", { name: "Live" }).click()
      await chat(other.apiKey, { model: "sim/reasoning" })
      await page.getByRole("button", { name: "1 new call" }).click()
      await page.getByRole("row", { name: /sim\/reasoning/ }).waitFor()
    })
  })
})
