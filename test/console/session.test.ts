import type { Locator, Page } from "playwright-core"
import { beforeAll, describe, expect, test } from "vitest"
import { hasChromium, newOrganization, type Organization, origin, visiting } from "./browser.ts"

let organization: Organization
let other: Organization
beforeAll(async () => {
  organization = await newOrganization()
  other = await newOrganization()
})

async function signInAgain(page: Page, key: string) {
  const dialog = page.getByRole("dialog", { name: "Sign in again" })
  await dialog.getByLabel("API key").fill(key)
  await dialog.getByRole("button", { name: "Sign in" }).click()
  await expect.poll(() => dialog.count()).toBe(0)
}

/** Without the pointer: another request of the page may have shown the sign-in already, which covers the page. */
const clickCovered = (covered: Locator) => covered.dispatchEvent("click")
const submit = (form: Locator) => clickCovered(form.getByRole("button", { name: "Create the key" }))

describe.runIf(hasChromium)("a session that ends", () => {
  test("keeps what was entered for the same user, and nothing for another one", async () => {
    await visiting(organization.managementKey, async (page, { context }) => {
      await page.goto(`${origin}/keys?new=1`)
      const form = page.getByRole("dialog", { name: "Create a key" })
      await form.getByLabel("Name").fill("Written before the end")
      await context.clearCookies()
      await submit(form)
      await page.getByText("Your session has ended").waitFor()
      const hasFocus = () => page.evaluate(() => document.activeElement?.closest("dialog")?.ariaLabel)
      await expect.poll(hasFocus).toBe("Sign in again")
      for (let time = 0; time < 2; time++) {
        await page.keyboard.press("Escape")
        await expect.poll(hasFocus).toBe("Sign in again")
      }
      await signInAgain(page, organization.managementKey)
      expect(await form.getByLabel("Name").inputValue()).toBe("Written before the end")
      await form.getByRole("button", { name: "Create the key" }).click()
      await page.getByRole("button", { name: "I have copied it" }).click()
      await page.getByRole("link", { name: "Written before the end" }).waitFor()

      await page.getByRole("button", { name: "Create a key" }).click()
      await form.getByLabel("Name").fill("Of the first user")
      await page.route("**/api/v1/keys", (route) => route.fulfill({ status: 401, json: {} }))
      await submit(form)
      await page.getByText("Your session has ended").waitFor()
      await page.unroute("**/api/v1/keys")
      await signInAgain(page, other.managementKey)
      await expect.poll(() => form.getByLabel("Name").inputValue()).toBe("")
      await form.getByRole("button", { name: "Cancel" }).click()
      await page.getByRole("link", { name: "First key" }).waitFor()
      expect(await page.getByRole("link", { name: "Written before the end" }).count()).toBe(0)
    })
  })

  test("a late response to a request of the former session does not end the next one", async () => {
    await visiting(organization.managementKey, async (page, { context }) => {
      await page.goto(`${origin}/keys`)
      await page.getByRole("link", { name: "First key" }).waitFor()
      const late = Promise.withResolvers<void>()
      await page.route(/\/api\/v1\/presets/, async (route) => {
        await late.promise
        await route.fulfill({ status: 401, json: { error: { message: "Sign in." } } })
      })
      const side = page.getByRole("navigation", { name: "Console", exact: true })
      const requested = page.waitForRequest(/\/api\/v1\/presets/)
      await side.getByRole("link", { name: "Presets" }).click()
      await requested
      await context.clearCookies()
      await clickCovered(side.getByRole("link", { name: "Team" }))
      await page.getByText("Your session has ended").waitFor()
      await signInAgain(page, organization.managementKey)
      const response = page.waitForResponse(/\/api\/v1\/presets/)
      late.resolve()
      await (await response).finished()
      await page.getByRole("table", { name: "Members" }).waitFor()
      expect(await page.getByText("Your session has ended").count()).toBe(0)
    })
  })

  test("a sign-in and a sign-out in one tab apply to the others", async () => {
    await visiting(organization.managementKey, async (page, { context }) => {
      await page.goto(`${origin}/team`)
      await page.getByRole("table", { name: "Members" }).waitFor()
      const second = await context.newPage()
      await second.goto(origin)
      await second.getByRole("heading", { name: "Overview" }).waitFor()
      const members = page.getByRole("table", { name: "Members" })
      const before = await members.textContent()
      await second.getByRole("button", { name: "Management key" }).click()
      await second.getByRole("button", { name: "Sign out" }).click()
      await page.getByRole("heading", { name: "Sign in" }).waitFor()
      await second.getByLabel("API key").fill(other.managementKey)
      await second.getByRole("button", { name: "Sign in" }).click()
      await members.waitFor()
      expect(await members.textContent()).not.toBe(before)
    })
  })

  test("a sign-out without a connection says that the user is still signed in", async () => {
    await visiting(organization.managementKey, async (page) => {
      await page.goto(origin)
      await page.route("**/console/session", (route) => route.abort())
      await page.getByRole("button", { name: "Management key" }).click()
      await page.getByRole("button", { name: "Sign out" }).click()
      await page.getByText("You are still signed in.").waitFor()
    })
  })

  test("a workspace that was chosen in another organization is forgotten", async () => {
    await visiting(organization.managementKey, async (page) => {
      await page.addInitScript(() => localStorage.setItem("console.workspace", "00000000-0000-4000-8000-000000000000"))
      await page.goto(`${origin}/keys`)
      await page.getByRole("link", { name: "First key" }).waitFor()
    })
  })
})
