import { beforeAll, describe, expect, test } from "vitest"
import { hasChromium, newOrganization, type Organization, origin, visiting } from "./browser.ts"

let organization: Organization
beforeAll(async () => {
  organization = await newOrganization()
})

/** Scripts, handlers, styles, frames, links of every kind, images, and a long table. */
const HOSTILE = [
  "<script>window.hacked = 1</script>",
  '<img src=x onerror="window.hacked = 1">',
  "<style>body { display: none }</style>",
  '<iframe src="https://evil.test/"></iframe>',
  "[script](javascript:window.hacked=1)",
  "[data](data:text/html,<script>window.hacked=1</script>)",
  "[safe](https://example.com/page)",
  "![pixel](https://evil.test/pixel.png)",
  "![inline](data:image/svg+xml;base64,PHN2Zz48L3N2Zz4=)",
  `| a | b |\n|---|---|\n${"| 1 | 2 |\n".repeat(520)}`,
].join("\n\n")

describe.runIf(hasChromium)("the playground", () => {
  test("shows a streamed response with its cost and its pipeline", async () => {
    await visiting(organization.managementKey, async (page) => {
      await page.goto(origin)
      await page.getByRole("link", { name: "Open the playground" }).click()
      await page.getByTitle("Model", { exact: true }).click()
      await page.getByRole("combobox", { name: "Search models" }).fill("sim/echo")
      await page.keyboard.press("Enter")
      await page.getByLabel("Message", { exact: true }).fill("**Hello** from the console")
      await page.keyboard.press("Enter")
      const answer = page.getByRole("log").locator("strong")
      await expect.poll(() => answer.textContent()).toBe("Hello")
      const path = page.getByRole("list", { name: "Path of the call" })
      await expect.poll(() => path.textContent()).toMatch(/plan 1 target.*hold.*Embedded.*relay.*settle.*gen-/)
      await path.getByRole("button", { name: "hold" }).click()
      await page.getByText(/left of \$100\.00, reached first/).waitFor()
      await path.getByRole("button", { name: "settle" }).click()
      await page.getByText("counted by the provider").waitFor()
      expect(await page.getByRole("log").textContent()).toMatch(/first token.*tokens.*\$0\.\d+ of \$0\.\d+ held/)
    })
  })

  test("compares two models side by side, and shows the call as code without a key", async () => {
    await visiting(organization.managementKey, async (page) => {
      await page.goto(`${origin}/playground?model=sim/echo`)
      await page.getByRole("button", { name: "Compare" }).click()
      await page.getByRole("combobox", { name: "Search models" }).fill("sim/reasoning")
      await page.keyboard.press("Enter")
      await page.getByLabel("Message", { exact: true }).fill("Compare me")
      await page.getByRole("button", { name: "Send" }).click()
      await page
        .getByRole("region", { name: "Conversation with sim/echo" })
        .getByText(/settle/)
        .waitFor()
      await page
        .getByRole("region", { name: "Conversation with sim/reasoning" })
        .getByText("Reasoning", { exact: true })
        .waitFor()
      await page.getByRole("button", { name: "Code", exact: true }).click()
      const dialog = page.getByRole("dialog", { name: "Code of this call" })
      for (const language of ["curl", "Python", "TypeScript (openai)", "TypeScript (@openrouter/sdk)"]) {
        await dialog.getByRole("button", { name: language, exact: true }).click()
        const code = await dialog.getByRole("region", { name: "Code of the call" }).textContent()
        expect(code).toContain("GATEWAY_API_KEY")
        expect(code).toContain("Compare me")
        expect(code).not.toContain("sk-gw")
      }
    })
  })

  test("offers models as soon as the catalogue is loaded, with the focus on the search", async () => {
    await visiting(organization.managementKey, async (page) => {
      await page.route("**/api/v1/models", async (route) => {
        await page.getByRole("button", { name: "Compare", disabled: true }).waitFor()
        await route.continue()
      })
      await page.goto(`${origin}/playground?model=sim/echo`)
      await page.getByRole("button", { name: "Compare" }).click()
      await page.keyboard.type("sim/reasoning")
      await page.keyboard.press("Enter")
      await page.getByRole("region", { name: "Conversation with sim/reasoning" }).waitFor()
    })
  })

  test("shows a fault as a client would see it", async () => {
    await visiting(organization.managementKey, async (page) => {
      await page.goto(`${origin}/playground?model=sim/echo`)
      await page.getByRole("button", { name: /^Request/ }).click()
      await page.getByLabel("Simulate a fault").selectOption("sim/cut")
      await page.getByLabel("Message", { exact: true }).fill("Hello")
      await page.keyboard.press("Enter")
      await expect.poll(() => page.getByRole("alert").textContent()).toMatch(/closed the stream.*inside the stream/)
      await page.getByText("sim/cut in place of sim/echo").waitFor()
    })
  })

  test("sends tools and structured output, and shows tool calls", async () => {
    await visiting(organization.managementKey, async (page) => {
      await page.goto(`${origin}/playground?model=sim/tool-call`)
      await page.getByRole("button", { name: /^Request/ }).click()
      await page.getByText("Tools", { exact: true }).click()
      await page.getByRole("button", { name: "Use the example" }).first().click()
      await page.getByLabel("Message", { exact: true }).fill("The weather in Oslo?")
      await page.keyboard.press("Enter")
      await page.getByText("get_weather").last().waitFor()
      await page.getByRole("region", { name: "Arguments of get_weather" }).waitFor()
    })
  })

  test("shares models and settings by a link, and the prompt only if chosen", async () => {
    await visiting(organization.managementKey, async (page) => {
      await page.goto(`${origin}/playground?model=sim/echo`)
      await page.getByRole("button", { name: /^Request/ }).click()
      await page.getByLabel("System").fill("Answer in rhyme")
      await page.getByLabel("Message", { exact: true }).fill("A secret question")
      await page.getByRole("button", { name: "Share" }).click()
      const link = page.getByRole("region", { name: "Link" })
      const without = (await link.textContent()) ?? ""
      await page.getByLabel("Include the question").check()
      const withQuestion = (await link.textContent()) ?? ""
      expect(withQuestion.length).toBeGreaterThan(without.length)
      await page.goto(without)
      await expect.poll(() => page.getByLabel("System").inputValue()).toBe("Answer in rhyme")
      expect(await page.getByLabel("Message", { exact: true }).inputValue()).toBe("")
      await page.goto(withQuestion)
      await expect.poll(() => page.getByLabel("Message", { exact: true }).inputValue()).toBe("A secret question")
    })
  })

  test("renders a hostile response without running or loading anything", async () => {
    await visiting(organization.managementKey, async (page) => {
      await page.goto(`${origin}/playground?model=sim/echo`)
      await page.getByLabel("Message", { exact: true }).fill(HOSTILE)
      await page.keyboard.press("Enter")
      await page.getByText(/more rows are not shown/).waitFor()
      const answer = page.locator(".answer")
      expect(await page.evaluate(() => "hacked" in window)).toBe(false)
      expect(await answer.locator("script, style, iframe, img").count()).toBe(0)
      expect(
        await answer
          .locator("a")
          .evaluateAll((links) => links.map((link) => [link.getAttribute("href"), link.getAttribute("rel")])),
      ).toEqual([
        ["https://example.com/page", "noopener noreferrer nofollow ugc"],
        ["https://evil.test/pixel.png", "noopener noreferrer nofollow ugc"],
      ])
      expect(await answer.getByText("(example.com)").count()).toBe(1)
      expect(await answer.locator("tbody tr").count()).toBe(500)
    })
  })
})
