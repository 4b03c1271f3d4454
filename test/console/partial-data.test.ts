import { beforeAll, describe, expect, test } from "vitest"
import { api, hasChromium, newOrganization, type Organization, origin, visiting } from "./browser.ts"

let organization: Organization
let intern: string

async function send<T>(method: "POST" | "PATCH", path: string, body: object): Promise<T> {
  const response = await fetch(`${api}${path}`, {
    method,
    headers: { authorization: `Bearer ${organization.managementKey}`, "content-type": "application/json" },
    body: JSON.stringify(body),
  })
  expect(response.status, path).toBeLessThan(300)
  return (await response.json()) as T
}

beforeAll(async () => {
  organization = await newOrganization()
  intern = (await send<{ id: string }>("POST", "/interns", { name: "scout", model: "sim/echo" })).id
})

describe.runIf(hasChromium)("data that is not loaded", () => {
  test("is an error, and not a budget or a key that does not exist", async () => {
    await visiting(organization.managementKey, async (page) => {
      await page.route(/\/budgets$|\/api\/v1\/byok/, (route) => route.abort())
      await page.goto(`${origin}/team?tab=workspaces`)
      await page.getByRole("alert").getByText("The gateway cannot be reached.").waitFor()
      expect(await page.getByText("no budget").count()).toBe(0)
      await page.goto(`${origin}/providers`)
      await page.getByRole("alert").getByText("The gateway cannot be reached.").waitFor()
      const row = page.getByRole("row", { name: /Embedded/ }).first()
      await row.waitFor()
      expect(await row.textContent()).not.toContain("none")
    })
  })

  test("does not let an estimate fit under limits that are unknown", async () => {
    const { data } = await send<{ data: { hash: string } }>("POST", "/keys", { name: "limited", limit: 0 })
    await visiting(organization.managementKey, async (page) => {
      await page.route(/\/keys\/.*\/limits$/, (route) => route.abort())
      await page.goto(`${origin}/keys/${data.hash}`)
      await page.getByText("Estimate the hold of a call").click()
      await page.getByTitle("Model of the call").click()
      await page.getByLabel("Search models").fill("sim/echo")
      await page.keyboard.press("Enter")
      await page.getByLabel("Prompt").fill("Hello")
      await page.getByRole("button", { name: "Estimate", exact: true }).click()
      const outcome = page.getByRole("status").filter({ hasText: "and probably costs" })
      await outcome.waitFor()
      expect(await outcome.textContent()).not.toContain("fits")
      // The estimate is of another prompt.
      await page.getByLabel("Prompt").fill("Hello again")
      await expect.poll(() => outcome.count()).toBe(0)
    })
  })
})

describe.runIf(hasChromium)("a choice", () => {
  test("that is not among the options is shown as it is", async () => {
    await visiting(organization.managementKey, async (page) => {
      await page.goto(`${origin}/models?provider=elsewhere`)
      expect(await page.getByLabel("Provider", { exact: true }).inputValue()).toBe("elsewhere")
    })
  })

  test("of a file is the last one, whichever is read first", async () => {
    await visiting(organization.managementKey, async (page) => {
      await page.addInitScript(() => {
        // The first file is read when the test says so.
        Blob.prototype.text = async function slowly() {
          const content = await new Response(this).text()
          if (content.includes("slow")) await new Promise((resolve) => addEventListener("read", resolve))
          return content
        }
      })
      await page.goto(`${origin}/batches?new=1`)
      const file = (name: string) => {
        const body = { custom_id: name, method: "POST", url: "/v1/embeddings", body: { model: name } }
        return { name: `${name}.jsonl`, mimeType: "application/jsonl", buffer: Buffer.from(JSON.stringify(body)) }
      }
      await page.getByLabel("Request file").setInputFiles(file("slow"))
      await page.getByLabel("Request file").setInputFiles(file("second"))
      await page.getByText(/1 request · .* · second/).waitFor()
      await page.evaluate(async () => {
        dispatchEvent(new Event("read"))
        await new Promise(requestAnimationFrame)
        await new Promise(requestAnimationFrame)
      })
      expect(await page.getByText(/1 request · .* · slow/).count()).toBe(0)
    })
  })
})

describe.runIf(hasChromium)("a daemon", () => {
  test("is offered for replacement only if one is attached", async () => {
    await visiting(organization.managementKey, async (page) => {
      await page.goto(`${origin}/interns/${intern}?tab=setup`)
      await page.route("**/daemon/token", (route) => route.abort())
      await page.getByRole("button", { name: "Create a join token" }).click()
      await page.getByText("The gateway cannot be reached.").waitFor()
      expect(await page.getByRole("button", { name: "Replace the attached daemon" }).count()).toBe(0)
    })
  })
})

describe.runIf(hasChromium)("text", () => {
  test("is copied on a page without TLS, where browsers have no clipboard for scripts", async () => {
    await visiting(organization.managementKey, async (page) => {
      await page.addInitScript(() => Object.defineProperty(navigator, "clipboard", { value: undefined }))
      await page.goto(`${origin}/docs`)
      await page.getByRole("button", { name: "Copy", exact: true }).first().click()
      await page.getByRole("button", { name: "Copied", exact: true }).waitFor()
    })
  })
})

describe.runIf(hasChromium)("limits of a workspace", () => {
  test("are saved without those that another user has changed meanwhile", async () => {
    await visiting(organization.managementKey, async (page) => {
      await page.goto(`${origin}/team?tab=workspaces`)
      await page.getByText("Rate limits, response cache, over budget").click()
      await page.getByLabel("Requests per minute").fill("50")
      const list = await fetch(`${api}/workspaces`, {
        headers: { authorization: `Bearer ${organization.managementKey}` },
      })
      const [workspace] = ((await list.json()) as { data: { id: string }[] }).data
      const path = `/workspaces/${workspace?.id}`
      await send("PATCH", path, { tokens_per_minute: 7000 })
      await page.getByRole("button", { name: "Save" }).click()
      await page.getByText("The limits apply from the next call").waitFor()
      await expect.poll(() => page.getByLabel("Tokens per minute").inputValue()).toBe("7000")
      expect(await page.getByLabel("Requests per minute").inputValue()).toBe("50")
    })
  })
})
