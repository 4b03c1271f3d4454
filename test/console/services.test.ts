import { beforeAll, describe, expect, test } from "vitest"
import { hasChromium, newOrganization, type Organization, origin, visiting } from "./browser.ts"

let organization: Organization
beforeAll(async () => {
  organization = await newOrganization()
})

describe.runIf(hasChromium)("passthrough services", () => {
  test("are added with rules and secrets, changed, turned off and deleted", async () => {
    await visiting(organization.managementKey, async (page) => {
      await page.goto(`${origin}/passthrough-services`)
      await page.getByText("No passthrough services in this workspace").waitFor()
      await page.getByRole("button", { name: "Add a service" }).click()
      const dialog = page.getByRole("dialog")
      await dialog.getByLabel("Base URL").fill("https://api.example.com")
      await dialog.getByLabel("Slug").fill("search")
      await dialog.getByLabel("Headers").fill("Authorization: Bearer token-of-the-service-0123456789")
      await dialog.getByLabel("Forwarded requests").fill("search without a slash")
      await dialog.getByText("is not a rule").waitFor()
      expect(await dialog.getByRole("button", { name: "Add the service" }).isDisabled()).toBe(true)
      await dialog.getByLabel("Forwarded requests").fill("GET /v1/search* 0.005\n/v1/free")
      await dialog.getByRole("button", { name: "Add the service" }).click()
      await page.getByText("search is added.").waitFor()
      await page.getByText("2 rules, $0 to $0.005").waitFor()
      expect(await page.getByText("token-of-the-service").count()).toBe(0)

      await page.getByRole("button", { name: "Edit search" }).click()
      expect(await dialog.getByLabel("Forwarded requests").inputValue()).toBe("GET /v1/search* 0.005\n/v1/free")
      await dialog.getByLabel("Base URL").fill("https://other.example.com")
      await dialog.getByRole("button", { name: "Save" }).click()
      await dialog.getByText(/has another host/).waitFor()
      await dialog.getByLabel("Base URL").fill("https://api.example.com")
      await dialog.getByLabel("Forwarded requests").fill("GET /v1/search* 0.004")
      await dialog.getByRole("button", { name: "Save" }).click()
      await page.getByText("/v1/search*, $0.004").waitFor()

      await page.getByRole("button", { name: "Turn off search" }).click()
      await page.getByText("search is off: clients get 404.").waitFor()
      await page.getByRole("button", { name: "Delete search" }).click()
      await dialog.getByLabel(/Type search/).fill("search")
      await dialog.getByRole("button", { name: "Delete the service" }).click()
      await page.getByText("No passthrough services in this workspace").waitFor()
    })
  })
})
