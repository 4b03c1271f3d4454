import type { Page } from "playwright-core"
import { beforeAll, describe, expect, test } from "vitest"
import { api, hasChromium, newOrganization, type Organization, origin, visiting } from "./browser.ts"

let organization: Organization
let intern: string
beforeAll(async () => {
  organization = await newOrganization()
  const response = await fetch(`${api}/interns`, {
    method: "POST",
    headers: { authorization: `Bearer ${organization.managementKey}`, "content-type": "application/json" },
    body: JSON.stringify({ name: "scout", model: "sim/tool-call" }),
  })
  intern = ((await response.json()) as { id: string }).id
})

async function ask(page: Page, text: string) {
  await page.getByLabel("Message", { exact: true }).fill(text)
  await page.getByRole("button", { name: "Send" }).click()
}

describe.runIf(hasChromium)("the playground", () => {
  test("shows that a response is not complete", async () => {
    await visiting(organization.managementKey, async (page) => {
      const body = 'data: {"choices":[{"delta":{"content":"Half of the"}}]}\n\n'
      await page.route("**/chat/completions", (route) => route.fulfill({ contentType: "text/event-stream", body }))
      await page.goto(`${origin}/playground?model=sim/echo`)
      await ask(page, "Cut me")
      await page.getByRole("alert").getByText("The connection was lost before the response was complete.").waitFor()
      await page.getByRole("log").getByText("Half of the").waitFor()
    })
  })

  test("keeps a conversation that is left while its response streams", async () => {
    await visiting(organization.managementKey, async (page) => {
      await page.goto(`${origin}/playground?model=sim/slow`)
      await ask(page, "Left early")
      await page.getByRole("img", { name: "Waiting for the first token" }).waitFor()
      await page.getByRole("button", { name: "New", exact: true }).click()
      await page.getByLabel("Message", { exact: true }).fill("The next one")
      await page.getByRole("button", { name: "Send" }).waitFor()
      await page.getByRole("button", { name: "History" }).click()
      await page
        .getByRole("dialog")
        .getByRole("button", { name: /Left early/ })
        .click()
      await page.getByRole("log").getByText("Left early").waitFor()
      await page.getByRole("button", { name: "History" }).click()
      expect(await page.getByRole("dialog").getByText("Empty").count()).toBe(0)
    })
  })

  test("says which value of the request must be corrected before it is sent", async () => {
    await visiting(organization.managementKey, async (page) => {
      await page.goto(`${origin}/playground?model=sim/echo`)
      await page.getByRole("button", { name: /^Request/ }).click()
      await page.getByLabel("Temperature").fill("9")
      await page.getByLabel("Message", { exact: true }).fill("Hello")
      await page.getByText("Correct the request first: temperature must be from 0 to 2").waitFor()
      expect(await page.getByRole("button", { name: "Send" }).isDisabled()).toBe(true)
    })
  })
})

describe.runIf(hasChromium)("a chat with an intern", () => {
  test("goes on while another tab is shown, and returns a message that was not sent", async () => {
    await visiting(organization.managementKey, async (page) => {
      await page.goto(`${origin}/interns/${intern}`)
      const composer = page.getByLabel("Message to the intern")
      await page.route("**/chat/completions", (route) => route.abort())
      await composer.fill("echo kept")
      await page.keyboard.press("Enter")
      await page.getByRole("alert").getByText("The gateway cannot be reached.").waitFor()
      expect(await composer.inputValue()).toBe("echo kept")
      await page.unroute("**/chat/completions")
      await composer.press("Enter")
      const question = page.getByRole("region", { name: "Question of the intern" })
      await question.waitFor()
      await page.getByRole("link", { name: "Files" }).click()
      await page.getByLabel("Filter files").waitFor()
      await page.getByRole("link", { name: "Chat", exact: true }).click()
      await question.waitFor()

      await page.route("**/chat/completions", (route) => route.abort())
      await question.getByRole("button", { name: "Allow once" }).click()
      await page.getByRole("alert").getByText("The gateway cannot be reached.").waitFor()
      await question.waitFor()
      await page.unroute("**/chat/completions")
      await question.getByRole("button", { name: "Allow once" }).click()
      await expect.poll(() => page.getByRole("log").textContent()).toContain("The tool answered: kept")
      await page.reload()
      await expect.poll(() => page.getByRole("log").textContent()).toContain("The tool answered: kept")
      await page.getByRole("button", { name: "New conversation" }).click()
      await page.getByText("Ask scout something.").waitFor()
    })
  })
})

describe.runIf(hasChromium)("events", () => {
  test("that were missed without a connection are read after it", async () => {
    await visiting(organization.managementKey, async (page) => {
      const question = {
        id: "q1",
        intern: { id: intern, name: "scout" },
        session_id: "s1",
        created_at: new Date().toISOString(),
        deadline: new Date(Date.now() + 300_000).toISOString(),
        question: { kind: "elicitation", message: "Which?", fields: [] },
      }
      let open = [question]
      await page.route("**/api/v1/questions", (route) => route.fulfill({ json: { data: open } }))
      // Each connection ends at once.
      const body = "retry: 1000\n\n"
      await page.route("**/api/v1/events", (route) => route.fulfill({ contentType: "text/event-stream", body }))
      await page.goto(`${origin}/models`)
      const badge = page.getByRole("navigation", { name: "Console", exact: true }).getByTitle("Open questions")
      await badge.waitFor()
      await page.waitForResponse("**/api/v1/events")
      open = []
      await expect.poll(() => badge.count()).toBe(0)
    })
  })
})
