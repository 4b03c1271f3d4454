import { beforeAll, describe, expect, test } from "vitest"
import { api, hasChromium, newOrganization, type Organization, origin, visiting } from "./browser.ts"

type Intern = { id: string; status: string }

let organization: Organization
let intern: Intern
beforeAll(async () => {
  organization = await newOrganization()
  const response = await send("POST", "/interns", { name: "scout", model: "sim/tool-call" })
  intern = (await response.json()) as Intern
})

async function send(method: string, path: string, body?: object): Promise<Response> {
  const response = await fetch(`${api}${path}`, {
    method,
    headers: { authorization: `Bearer ${organization.managementKey}`, "content-type": "application/json" },
    ...(body && { body: JSON.stringify(body) }),
  })
  expect(response.status, path).toBeLessThan(300)
  return response
}

describe.runIf(hasChromium)("an intern", () => {
  test("starts at a first message, and its session can be read and continued", async () => {
    await visiting(organization.managementKey, async (page) => {
      await page.goto(`${origin}/interns/${intern.id}`)
      await page.getByText("not started").waitFor()
      await page.getByRole("button", { name: "Start", exact: true }).waitFor()
      await page.getByLabel("Message to the intern").fill("echo from the first session")
      await page.keyboard.press("Enter")
      await page.getByRole("region", { name: "Question of the intern" }).waitFor()
      // The message has started the intern, as its heading shows while the question is open.
      await page.getByRole("button", { name: "Stop", exact: true }).waitFor()
      await expect.poll(() => page.getByText("not started").count()).toBe(0)
      await page.keyboard.press("1")
      const log = page.getByRole("log", { name: "Conversation" })
      await log.getByRole("region", { name: "What shell did" }).getByText("echo from the first session").waitFor()
      await expect
        .poll(() => log.getByRole("article", { name: "scout" }).last().textContent())
        .toContain("from the first session")

      await page.getByRole("link", { name: "Sessions" }).click()
      await page.getByRole("link", { name: "echo from the first session" }).click()
      const transcript = page.getByRole("list", { name: "Transcript" })
      await transcript.getByText("completed").waitFor()
      // A tool call is one step, however often its state changed.
      expect(await transcript.getByText("shell", { exact: true }).count()).toBe(1)
      const step = transcript.getByRole("region", { name: "What shell did" })
      expect(await step.textContent()).toBe("echo from the first session")
      await transcript.getByText("answered", { exact: true }).waitFor()
      await transcript.getByText("End of the turn").waitFor()

      await page.getByRole("link", { name: "Continue in chat" }).click()
      await expect.poll(() => log.textContent()).toContain("echo from the first session")
      await page.getByLabel("Message to the intern").fill("echo second")
      await page.keyboard.press("Enter")
      const question = page.getByRole("region", { name: "Question of the intern" })
      await question.getByRole("button", { name: "Reject", exact: false }).first().click()
      await expect.poll(() => page.getByText("is working").count()).toBe(0)
      await page.getByLabel("Message to the intern").fill("echo third")
      await page.keyboard.press("Enter")
      await question.getByRole("button", { name: "Allow always" }).click()
      await expect.poll(() => log.textContent()).toContain("The tool answered: third")
      type Sessions = { data: { turns: number }[] }
      const { data } = (await (await send("GET", `/interns/${intern.id}/sessions`)).json()) as Sessions
      expect(data.length).toBe(1)

      await page.getByRole("link", { name: "Sessions" }).click()
      await page.getByRole("link", { name: "echo from the first session" }).click()
      await page.getByText("is allowed without a question").waitFor()
      await page.getByRole("button", { name: "Ask again" }).click()
      await expect.poll(() => page.getByText("is allowed without a question").count()).toBe(0)
      await page.getByRole("button", { name: "Delete the session" }).click()
      await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click()
      await page.getByText("No session yet").waitFor()
    })
  })

  test("has files to upload, read, copy to the workspace, download and delete", async () => {
    await visiting(organization.managementKey, async (page) => {
      await page.goto(`${origin}/interns/${intern.id}?tab=files`)
      await page.getByText("scout has no files yet").waitFor()
      const notes = { name: "notes.md", mimeType: "text/markdown", buffer: Buffer.from("# Notes of شركة") }
      const binary = { name: "data.bin", mimeType: "application/octet-stream", buffer: Buffer.from([0, 1, 2]) }
      await page.getByLabel("Files to upload").setInputFiles([notes, binary])
      await page.getByText("2 files are uploaded").waitFor()
      await page.getByRole("button", { name: "notes.md", exact: true }).click()
      await page.getByRole("region", { name: "Content" }).getByText("# Notes of شركة").waitFor()
      await page.getByRole("dialog").getByRole("button", { name: "Close" }).click()
      await page.getByRole("button", { name: "data.bin", exact: true }).click()
      await page.getByText("This is not text").waitFor()
      await page.keyboard.press("Escape")

      const actions = page.getByRole("button", { name: "Actions of notes.md" })
      await actions.click()
      const [download] = await Promise.all([
        page.waitForEvent("download"),
        page.getByRole("button", { name: "Download" }).click(),
      ])
      expect(download.suggestedFilename()).toBe("notes.md")
      await actions.click()
      await page.getByRole("button", { name: "Copy to the files of the workspace" }).click()
      await page.getByText("notes.md is copied to the files of the workspace").waitFor()
      await actions.click()
      await page.getByRole("button", { name: "Delete the file" }).click()
      await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click()
      await page.getByText("1 of 1 files").waitFor()
    })
  })

  test("has a webhook for its events, whose signing secret is shown once", async () => {
    await visiting(organization.managementKey, async (page) => {
      await page.goto(`${origin}/interns/${intern.id}?tab=events`)
      await page.getByLabel("URL of the webhook").fill("https://hooks.example.com/interns")
      await page.getByRole("button", { name: "Set the webhook" }).click()
      await expect.poll(() => page.getByRole("region", { name: "Signing secret" }).textContent()).toMatch(/^whsec_/)
      await page.getByText("nothing sent yet").waitFor()
      await page.reload()
      expect(await page.getByLabel("URL of the webhook").inputValue()).toBe("https://hooks.example.com/interns")
      expect(await page.getByRole("region", { name: "Signing secret" }).count()).toBe(0)
      await page.getByRole("button", { name: "Delete the webhook" }).click()
      await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click()
      await expect.poll(() => page.getByText("nothing sent yet").count()).toBe(0)
    })
  })

  test("is scheduled, runs now, is paused, changed and unscheduled", async () => {
    await visiting(organization.managementKey, async (page) => {
      await page.goto(`${origin}/interns/${intern.id}?tab=schedules`)
      await page.getByRole("button", { name: "New schedule" }).click()
      const dialog = page.getByRole("dialog")
      await dialog.getByLabel("Prompt").fill("echo good morning")
      await dialog.getByLabel("When").fill("not a time")
      await dialog.getByRole("button", { name: "Create the schedule" }).click()
      await dialog.getByRole("alert").getByText(/cron/).waitFor()
      await dialog.getByLabel("When").fill("30 8 * * 1-5")
      await dialog.getByLabel("Time zone").fill("Europe/Berlin")
      await dialog.getByLabel("Daily limit, USD").fill("2")
      await dialog.getByRole("button", { name: "Create the schedule" }).click()
      const card = page.getByRole("article", { name: "Schedule 30 8 * * 1-5" })
      await card.getByText("at most $2.00 a day").waitFor()

      await card.getByRole("button", { name: "Run now" }).click()
      await card.getByRole("link", { name: "its session" }).waitFor()
      await card.getByRole("button", { name: "Pause" }).click()
      await card.getByText("paused").waitFor()
      await card.getByRole("button", { name: "Edit" }).click()
      await dialog.getByLabel("When").fill("0 9 * * *")
      await dialog.getByRole("button", { name: "Save" }).click()
      await page.getByRole("article", { name: "Schedule 0 9 * * *" }).getByRole("button", { name: "Delete" }).click()
      await dialog.getByRole("button", { name: "Delete" }).click()
      await page.getByText("No schedules").waitFor()
    })
  })
})
