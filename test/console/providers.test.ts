import { beforeAll, describe, expect, test } from "vitest"
import { hasChromium, newOrganization, type Organization, origin, visiting } from "./browser.ts"

let organization: Organization
beforeAll(async () => {
  organization = await newOrganization()
})

describe.runIf(hasChromium)("budgets of a provider", () => {
  test("are set on its page, shown with the amount spent, changed and removed", async () => {
    await visiting(organization.managementKey, async (page) => {
      await page.goto(`${origin}/providers/embedded`)
      const monthly = page.getByRole("list", { name: "Budgets" }).getByRole("listitem").filter({ hasText: "monthly" })
      await monthly.getByText("no budget").waitFor()
      await monthly.getByRole("button", { name: "Change the monthly budget" }).click()
      await monthly.getByLabel("USD").fill("100")
      await monthly.getByLabel("Count calls with your own provider keys (BYOK)").check()
      await monthly.getByRole("button", { name: "Set" }).click()
      await monthly.getByText("$100").waitFor()
      await monthly.getByText(/\$0 spent, BYOK included/).waitFor()
      await monthly.getByRole("button", { name: "Change the monthly budget" }).click()
      expect(await monthly.getByLabel("Count calls with your own provider keys (BYOK)").isChecked()).toBe(true)
      await monthly.getByLabel("USD").fill("")
      await monthly.getByRole("button", { name: "Set" }).click()
      await monthly.getByText("no budget").waitFor()
    })
  })

  test("are hidden from a normal key", async () => {
    await visiting(organization.apiKey, async (page) => {
      await page.goto(`${origin}/providers/embedded`)
      await page.getByText("Gateway's key").waitFor()
      expect(await page.getByRole("heading", { name: "Budgets" }).count()).toBe(0)
    })
  })
})
