import { beforeAll, describe, expect, test } from "vitest"
import { api, chat, hasChromium, newOrganization, type Organization, origin, visiting } from "./browser.ts"

let organization: Organization
const hashes: Record<string, string> = {}

const headers = () => ({ authorization: `Bearer ${organization.managementKey}`, "content-type": "application/json" })

async function send<T>(method: "POST" | "PATCH", path: string, body: object): Promise<T> {
  const response = await fetch(`${api}${path}`, { method, headers: headers(), body: JSON.stringify(body) })
  expect(response.status, path).toBeLessThan(300)
  return (await response.json()) as T
}

beforeAll(async () => {
  organization = await newOrganization()
  for (const name of ["alpha", "beta"])
    hashes[name] = (await send<{ data: { hash: string } }>("POST", "/keys", { name, limit: 5 })).data.hash
  expect((await chat(organization.apiKey, { model: "sim/echo" })).status).toBe(200)
})

/** A response that arrives when the test says so, and the number of requests for it. */
function held() {
  const { promise, resolve } = Promise.withResolvers<void>()
  return { promise, release: resolve, requests: 0 }
}

describe.runIf(hasChromium)("a page", () => {
  test("of one object does not keep the dialog of another", async () => {
    await visiting(organization.managementKey, async (page) => {
      await page.goto(`${origin}/keys/${hashes["alpha"]}`)
      await page.getByRole("heading", { level: 1, name: "alpha" }).waitFor()
      await page.keyboard.press("Control+k")
      await page.getByRole("combobox", { name: /^Search pages/ }).fill("key beta")
      await page.getByRole("option", { name: /beta/ }).waitFor()
      await page.keyboard.press("Enter")
      await page.getByRole("heading", { level: 1, name: "beta" }).waitFor()
      await page.getByRole("button", { name: "Edit", exact: true }).click()
      await page.getByRole("dialog").getByLabel("Name").fill("of beta")
      await page.goBack()
      await page.getByRole("heading", { level: 1, name: "alpha" }).waitFor()
      expect(await page.getByRole("dialog").count()).toBe(0)
    })
  })

  test("keeps its object while the code of the next page loads", async () => {
    await visiting(organization.managementKey, async (page) => {
      await page.goto(`${origin}/keys/${hashes["alpha"]}`)
      await page.getByRole("heading", { level: 1, name: "alpha" }).waitFor()
      const code = held()
      await page.route("**/assets/page-*.js", async (route) => {
        await code.promise
        await route.continue()
      })
      const paths: string[] = []
      page.on("request", (request) => paths.push(new URL(request.url()).pathname))
      await page.getByRole("navigation", { name: "Console", exact: true }).getByRole("link", { name: "Team" }).click()
      await page.getByRole("heading", { level: 1, name: "alpha" }).waitFor()
      code.release()
      await page.getByRole("table", { name: "Members" }).waitFor()
      expect(paths).not.toContain("/api/v1/keys/")
    })
  })

  test("shows a response that is not from the gateway as an error, and tries again", async () => {
    await visiting(organization.managementKey, async (page) => {
      await page.route(/\/api\/v1\/presets/, (route) => route.fulfill({ contentType: "text/html", body: "<html>" }))
      await page.goto(`${origin}/presets`)
      await page.getByRole("alert").getByText("The response is not from the gateway.").waitFor()
      await page.unroute(/\/api\/v1\/presets/)
      await page.getByRole("button", { name: "Try again" }).click()
      await page.getByRole("heading", { name: "No presets in this workspace" }).waitFor()
    })
  })

  test("at a path with a wrong escape is shown", async () => {
    await visiting(organization.managementKey, async (page) => {
      await page.goto(`${origin}/presets/100%25%`)
      await page.getByRole("heading", { level: 1 }).waitFor()
    })
  })
})

describe.runIf(hasChromium)("a list", () => {
  test("does not show the rows of the former search with an error of the next", async () => {
    await visiting(organization.managementKey, async (page) => {
      await page.goto(`${origin}/keys`)
      await page.getByRole("link", { name: "alpha" }).waitFor()
      await page.route(/\/api\/v1\/keys\?.*q=bet/, (route) => route.abort())
      await page.getByLabel("Filter keys").fill("bet")
      await page.getByRole("alert").getByText("The gateway cannot be reached.").waitFor()
      expect(await page.getByRole("link", { name: "alpha" }).count()).toBe(0)
    })
  })

  test("does not keep the rows of the former search while the next takes long", async () => {
    await visiting(organization.managementKey, async (page) => {
      await page.goto(`${origin}/keys`)
      await page.getByRole("link", { name: "alpha" }).waitFor()
      const rows = held()
      await page.route(/\/api\/v1\/keys\?.*q=bet/, async (route) => {
        await rows.promise
        await route.continue()
      })
      await page.getByLabel("Filter keys").fill("bet")
      await expect.poll(() => page.getByRole("link", { name: "alpha" }).count()).toBe(0)
      rows.release()
      await page.getByRole("link", { name: "beta" }).waitFor()
    })
  })

  test("of calls shows no former rows with an error of the next filter", async () => {
    await visiting(organization.managementKey, async (page) => {
      await page.goto(`${origin}/calls`)
      const row = page.getByRole("table", { name: "Calls" }).getByRole("row", { name: /sim\/echo/ })
      await row.first().waitFor()
      await page.route(/\/api\/v1\/calls\?.*status=failed/, (route) => route.abort())
      await page.getByRole("button", { name: "Failed" }).click()
      await page.getByRole("alert").getByText("The gateway cannot be reached.").waitFor()
      expect(await row.count()).toBe(0)
    })
  })

  test("contains an object that was created a moment ago", async () => {
    await visiting(organization.managementKey, async (page) => {
      await page.goto(`${origin}/guardrails`)
      await page.getByRole("heading", { name: "No guardrails" }).waitFor()
      await page.getByRole("button", { name: "New guardrail" }).click()
      await page.getByLabel("Name").fill("Made now")
      await page.getByRole("button", { name: "Create and edit" }).click()
      await page.getByRole("heading", { level: 1, name: "Made now" }).waitFor()
      await page.goBack()
      await page.getByRole("link", { name: "Made now" }).waitFor()
    })
  })
})

describe.runIf(hasChromium)("a dialog", () => {
  test("that creates a key stays open until its secret is copied", async () => {
    await visiting(organization.managementKey, async (page) => {
      const response = held()
      await page.route("**/api/v1/keys", async (route) => {
        await response.promise
        await route.continue()
      })
      await page.goto(`${origin}/keys?new=1`)
      await page.getByRole("dialog").getByLabel("Name").fill("slow")
      await page.keyboard.press("Enter")
      for (let press = 0; press < 3; press++) await page.keyboard.press("Escape")
      await page.mouse.click(5, 5)
      expect(await page.getByRole("button", { name: "Cancel" }).isDisabled()).toBe(true)
      response.release()
      const secret = page.getByRole("region", { name: "The new key" })
      await secret.waitFor()
      // Closed by the browser and shown again, it would flicker.
      await page
        .getByRole("dialog")
        .evaluate((dialog) => dialog.addEventListener("close", () => dialog.setAttribute("data-closed", "")))
      for (let press = 0; press < 3; press++) await page.keyboard.press("Escape")
      await page.mouse.click(5, 5)
      expect(await secret.isVisible()).toBe(true)
      expect(await page.getByRole("dialog").getAttribute("data-closed")).toBeNull()
      // The list of models is a popover of this dialog.
      await page.getByRole("button", { name: "the agent's usual one" }).click()
      await page.getByLabel("Search models").press("Escape")
      await expect.poll(() => page.getByLabel("Search models").count()).toBe(0)
      expect(await secret.isVisible()).toBe(true)
      await page.getByRole("button", { name: "I have copied it" }).click()
      await expect.poll(() => page.getByRole("dialog").count()).toBe(0)
    })
  })

  test("creates once, however often it is submitted", async () => {
    await visiting(organization.managementKey, async (page) => {
      const response = held()
      await page.route("**/api/v1/alerts/channels", async (route) => {
        if (route.request().method() === "POST") {
          response.requests += 1
          await response.promise
        }
        await route.continue()
      })
      await page.goto(`${origin}/settings?tab=alerts`)
      await page.getByRole("button", { name: "New channel" }).click()
      await page.getByLabel("Type").selectOption("webhook")
      await page.getByLabel("Name").fill("hooks")
      await page.getByLabel("URL").fill("https://alerts.example.com/hook")
      for (let press = 0; press < 3; press++) await page.getByLabel("URL").press("Enter")
      response.release()
      await page.getByRole("dialog", { name: "Signing secret" }).waitFor()
      expect(response.requests).toBe(1)
    })
  })

  test("is not closed by a selection of text that ends outside", async () => {
    await visiting(organization.managementKey, async (page) => {
      await page.goto(`${origin}/keys?new=1`)
      const name = page.getByRole("dialog").getByLabel("Name")
      await name.fill("selected with the mouse")
      const box = await name.boundingBox()
      await page.mouse.move((box?.x ?? 0) + 80, (box?.y ?? 0) + 8)
      await page.mouse.down()
      await page.mouse.move(5, 300)
      await page.mouse.up()
      expect(await name.inputValue()).toBe("selected with the mouse")
    })
  })
})

describe.runIf(hasChromium)("edits of a guardrail", () => {
  test("outlast a visit to another page, and keep what another user changed meanwhile", async () => {
    const path = `/guardrails/${(await send<{ data: { id: string } }>("POST", "/guardrails", { name: "Shared" })).data.id}`
    await visiting(organization.managementKey, async (page) => {
      await page.goto(origin + path)
      await page.getByLabel("Description").fill("written here")
      await page.getByRole("link", { name: "Guardrails" }).first().click()
      await page.getByRole("table", { name: "Guardrails" }).waitFor()
      await page.goBack()
      await expect.poll(() => page.getByLabel("Description").inputValue()).toBe("written here")
      await send("PATCH", path, { limit_usd: 7, reset_interval: "daily" })
      await page.getByRole("button", { name: "Save" }).click()
      await page.getByText("Saved. New calls follow the rules").waitFor()
      await expect.poll(() => page.getByRole("button", { name: "Save" }).isDisabled()).toBe(true)
    })
    const { data } = (await (await fetch(`${api}${path}`, { headers: headers() })).json()) as { data: object }
    expect(data).toMatchObject({ description: "written here", limit_usd: 7 })
  })
})
