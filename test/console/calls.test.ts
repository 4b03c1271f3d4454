import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { chat, closeBrowser, hasChromium, newOrganization, type Organization, origin, visiting } from "./browser.ts"

let organization: Organization
beforeAll(async () => {
  organization = await newOrganization()
  for (const model of ["sim/echo", "sim/status-503", "sim/reasoning", "sim/cut"])
    await chat(organization.apiKey, { model })
})
afterAll(closeBrowser)

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
      await call.getByRole("list", { name: "Attempts" }).getByText("Embedded 503").waitFor()
      await call.getByText("nothing charged").waitFor()
      expect(page.url()).toMatch(/\/calls\/gen-[^?]+\?status=failed/)
      await call.getByRole("link", { name: "Replay in the playground" }).click()
      await page.getByRole("region", { name: "Conversation with sim/status-503" }).waitFor()
    })
  })

  test("a value becomes a filter, with Alt an exclusion, and Back undoes nothing but the page", async () => {
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

  test("the rows are walked and opened from the keyboard", async () => {
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

  test("a call that ends elsewhere appears by itself, and is held while the list is paused", async () => {
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
