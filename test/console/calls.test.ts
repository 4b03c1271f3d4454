import { afterAll, beforeAll, describe, expect, test } from "vitest"
import {
  api,
  chat,
  closeBrowser,
  hasChromium,
  newOrganization,
  type Organization,
  origin,
  visiting,
} from "./browser.ts"

let organization: Organization
beforeAll(async () => {
  organization = await newOrganization()
  for (const model of ["sim/echo", "sim/status-503", "sim/reasoning", "sim/cut"])
    await chat(organization.apiKey, { model })
})
afterAll(closeBrowser)

async function callsOf({ apiKey }: Organization): Promise<object[]> {
  const response = await fetch(`${api}/calls`, { headers: { authorization: `Bearer ${apiKey}` } })
  const { data } = (await response.json()) as { data: object[] }
  return data
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

  test("10,000 calls with long names and right-to-left text scroll with only the rows in view in the document", async () => {
    await visiting(organization.managementKey, async (page) => {
      const [first] = await callsOf(organization)
      const name = "an-author-with-a-very-long-name/a-model-with-an-even-longer-name-that-no-column-holds"
      const data = Array.from({ length: 10_000 }, (_, index) => ({
        ...first,
        id: `gen-${index}`,
        model: index % 2 === 0 ? name : "מודל/בעברית",
        app: "تطبيق طويل الاسم جدا",
      }))
      await page.route(/\/api\/v1\/calls\?/, (route) =>
        route.fulfill({ json: { data, has_more: false, next_cursor: null, truncated: false } }),
      )
      await page.goto(`${origin}/calls`)
      await page.getByText("10,000 calls, all of the range.").waitFor({ state: "attached" })
      const rows = page.getByRole("table", { name: "Calls" }).getByRole("row")
      expect(await rows.count()).toBeLessThan(100)
      await page.locator(".scroller").evaluate((element) => element.scrollTo(0, element.scrollHeight))
      await page.locator('[aria-rowindex="10001"]').waitFor()
      expect(await rows.count()).toBeLessThan(100)
      expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBeLessThanOrEqual(0)
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
