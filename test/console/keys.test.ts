import { beforeAll, describe, expect, test } from "vitest"
import { chat, hasChromium, newOrganization, type Organization, origin, visiting } from "./browser.ts"

let organization: Organization
beforeAll(async () => {
  organization = await newOrganization()
})

describe.runIf(hasChromium)("keys", () => {
  test("a key is created, reaches its limit, and works again when the limit is raised", async () => {
    await visiting(organization.managementKey, async (page) => {
      await page.goto(`${origin}/keys`)
      await page.getByRole("button", { name: "Create a key" }).first().click()
      await page.getByLabel("Name").fill("ci")
      await page.getByLabel("Limit, USD").fill("0.000001")
      await page.getByLabel("Limit resets").selectOption("daily")
      await page.getByRole("button", { name: "Create the key" }).click()
      const secret = (await page.getByRole("region", { name: "The new key" }).textContent()) ?? ""
      expect(secret).toMatch(/^sk-gw-/)
      await page.getByRole("button", { name: "I have copied it" }).click()
      expect((await chat(secret, { model: "sim/echo" })).status).toBe(402)

      await page.getByRole("link", { name: "ci", exact: true }).click()
      const ladder = page.getByRole("list", { name: "Limits" })
      await expect.poll(() => ladder.textContent()).toMatch(/key limit · daily.*reached first/)

      await page.getByText("Estimate the hold of a call").click()
      await page.getByTitle("Model of the call").click()
      await page.getByRole("combobox", { name: "Search models" }).fill("sim/echo")
      await page.keyboard.press("Enter")
      await page.getByLabel("Prompt").fill("Hello")
      await page.getByLabel("Max tokens").fill("100")
      await page.getByRole("button", { name: "Estimate" }).click()
      await page.getByText("refused: the key's limit (daily) has $0.000001 left").waitFor()
      await page.getByRole("button", { name: "Edit", exact: true }).click()
      await page.getByLabel("Limit, USD").fill("1")
      await page.getByRole("button", { name: "Save" }).click()
      await page.getByText("The key “ci” is saved").waitFor()
      await expect.poll(() => ladder.textContent()).toMatch(/\$1\.00 left/)
      await page.getByText("fits under every limit").waitFor()
      await expect.poll(async () => (await chat(secret, { model: "sim/echo" })).status).toBe(200)
    })
  })

  test("a key is renamed where its name is read, and the name can be restored", async () => {
    const one = await newOrganization()
    await visiting(one.managementKey, async (page) => {
      await page.goto(`${origin}/keys`)
      await page.getByRole("table", { name: "Keys" }).getByRole("link").first().click()
      const heading = page.getByRole("heading", { level: 1 })
      await page.getByRole("button", { name: "Change the name" }).click()
      const field = page.getByRole("textbox", { name: "name", exact: true })
      const before = await field.inputValue()
      await field.fill("renamed")
      await field.press("Escape")
      await page.getByRole("button", { name: "Change the name" }).click()
      expect(await field.inputValue()).toBe(before)
      await field.fill("renamed")
      await field.press("Enter")
      await expect.poll(() => heading.textContent()).toContain("renamed")
      await page.getByRole("button", { name: "Undo" }).click()
      await expect.poll(() => heading.textContent()).toContain(before)
    })
  })

  test("a new key is handed to an agent by a connect link, which is shown once", async () => {
    await visiting(organization.managementKey, async (page) => {
      await page.goto(`${origin}/keys?new=1`)
      await page.getByLabel("Name").fill("laptop")
      await page.getByRole("button", { name: "Create the key" }).click()
      const secret = (await page.getByRole("region", { name: "The new key" }).textContent()) ?? ""
      await page.getByLabel("Agent", { exact: true }).selectOption("claude")
      await page.getByTitle("Model of the agent").click()
      await page.getByRole("combobox", { name: "Search models" }).fill("sim/echo")
      await page.keyboard.press("Enter")
      await page.getByRole("button", { name: "Create a link" }).click()
      const link = (await page.getByRole("region", { name: "Link" }).textContent()) ?? ""
      expect(link).toMatch(new RegExp(`^${origin}/connect/claude#[\\w-]{43}$`))
      const line = `curl -fsS ${origin}/connect.js | GATEWAY_LINK='${link}' node`
      expect(await page.getByRole("region", { name: "Command" }).textContent()).toBe(line)
      await page.getByText(/It works once, until \d\d:\d\d/).waitFor()

      await page.goto(link)
      await expect.poll(() => page.getByRole("region", { name: "Command" }).textContent()).toBe(line)
      await page.getByRole("button", { name: "Show the settings" }).click()
      const settings = page.getByRole("region", { name: "~/.claude/settings.json" })
      const { env } = JSON.parse((await settings.textContent()) ?? "") as { env: Record<string, string> }
      expect(env).toMatchObject({ ANTHROPIC_AUTH_TOKEN: secret, ANTHROPIC_MODEL: "sim/echo" })
      expect(env["ANTHROPIC_BASE_URL"]).toBe(`${origin}/api`)

      await page.goto("about:blank")
      await page.goto(link)
      await page.getByRole("button", { name: "Show the settings" }).click()
      await page.getByText("This link was used, has expired or does not exist.").waitFor()
      await page.goto(`${origin}/connect/claude`)
      await page.getByText("The address is not complete").waitFor()
      expect(await page.getByRole("button").count()).toBe(0)
    })
  })

  test("a user with the secret of a key connects an agent with it", async () => {
    await visiting(organization.apiKey, async (page) => {
      await page.goto(`${origin}/keys`)
      await page.getByRole("button", { name: "Connect an agent" }).click()
      const secret = page.getByLabel("Secret of the key")
      const create = page.getByRole("button", { name: "Create a link" })
      await secret.fill("sk-gw-v1-another")
      await page.getByText(/is not the secret of sk-gw-v1-/).waitFor()
      expect(await create.isDisabled()).toBe(true)
      await secret.fill(organization.apiKey)
      await create.click()
      await page.getByRole("region", { name: "Command" }).waitFor()
      await page.getByLabel("Agent", { exact: true }).selectOption("qwen")
      expect(await page.getByRole("region", { name: "Command" }).count()).toBe(0)
    })
  })

  test("a deletion names its consequences and asks for the key's name", async () => {
    await visiting(organization.managementKey, async (page) => {
      await page.goto(`${origin}/keys?new=1`)
      await page.getByLabel("Name").fill("short-lived")
      await page.getByRole("button", { name: "Create the key" }).click()
      await page.getByRole("button", { name: "I have copied it" }).click()
      await page.getByRole("link", { name: "short-lived" }).click()
      await page.getByRole("button", { name: "Delete" }).click()
      const dialog = page.getByRole("dialog")
      expect(await dialog.getByRole("button", { name: "Delete the key" }).isDisabled()).toBe(true)
      await dialog.getByLabel(/Type short-lived/).fill("short-lived")
      await dialog.getByRole("button", { name: "Delete the key" }).click()
      await page.getByText("The key “short-lived” is deleted.").waitFor()
      await expect.poll(() => page.getByRole("link", { name: "short-lived" }).count()).toBe(0)
    })
  })

  test("a BYOK credential is added, tested and deleted", async () => {
    await visiting(organization.managementKey, async (page) => {
      await page.goto(`${origin}/providers?new=1`)
      await page.getByLabel("Provider", { exact: true }).selectOption("embedded")
      await page.getByLabel("Key of Embedded", { exact: true }).fill("sk-provider-0123456789abcdef")
      await page.getByRole("button", { name: "Save and test" }).click()
      await page.getByRole("button", { name: "Test call" }).click()
      await page.getByText(/answered in/).waitFor()
      await page.getByRole("link", { name: "Open the provider" }).click()
      await page.getByText("sk-...cdef").first().waitFor()
      expect(await page.content()).not.toContain("sk-provider-0123456789abcdef")
      await page.getByRole("button", { name: "Delete" }).click()
      await page.getByRole("button", { name: "Delete the key" }).click()
      await page.getByText("None. Calls use the gateway's key").waitFor()
    })
  })
})
