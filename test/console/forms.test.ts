import type { Page } from "playwright-core"
import { beforeAll, describe, expect, test } from "vitest"
import { chat, hasChromium, newOrganization, type Organization, origin, visiting } from "./browser.ts"

let organization: Organization
beforeAll(async () => {
  organization = await newOrganization()
})

describe.runIf(hasChromium)("a destination", () => {
  test("has the fields of its type, keeps its secret on a change, and needs it again for a new URL", async () => {
    await visiting(organization.managementKey, async (page) => {
      await page.goto(`${origin}/settings?tab=destinations`)
      await page.getByRole("button", { name: "New destination" }).click()
      const dialog = page.getByRole("dialog")
      await dialog.getByLabel("Kind").selectOption({ label: "ClickHouse" })
      await dialog.getByLabel("Name").fill("warehouse")
      await dialog.getByLabel("Host").fill("https://clickhouse.example.com")
      await dialog.getByLabel("Database").fill("calls")
      await dialog.getByLabel("User").fill("writer")
      expect(await dialog.getByRole("button", { name: "Create destination" }).isDisabled()).toBe(true)
      await dialog.getByLabel("Password").fill("canary-password-0123456789")
      await dialog.getByRole("button", { name: "Create destination" }).click()
      const card = page.getByRole("region", { name: "warehouse" })
      await card.getByText("https://clickhouse.example.com").waitFor()

      await card.getByRole("button", { name: "Edit" }).click()
      expect(await dialog.getByLabel("Password").inputValue()).toBe("")
      await dialog.getByLabel("Database").fill("other")
      await dialog.getByText("Headers and share").click()
      await dialog.getByLabel("Share of calls").fill("25")
      await dialog.getByRole("button", { name: "Save" }).click()
      await card.getByText("25 %").waitFor()

      await card.getByRole("button", { name: "Edit" }).click()
      await dialog.getByLabel("Host").fill("https://elsewhere.example.com")
      await dialog.getByRole("button", { name: "Save" }).click()
      await dialog.getByText(/password: would be sent to another host/).waitFor()
      await dialog.getByLabel("Password").fill("canary-password-9876543210")
      await dialog.getByRole("button", { name: "Save" }).click()
      await card.getByText("https://elsewhere.example.com").waitFor()
      expect(await page.content()).not.toContain("canary-password")
    })
  })
})

describe.runIf(hasChromium)("playground presets", () => {
  test("are saved with the model, settings and instructions", async () => {
    await visiting(organization.managementKey, async (page) => {
      await page.goto(`${origin}/playground?model=sim/echo`)
      await page.getByRole("button", { name: /^Request/ }).click()
      await page.getByLabel("System").fill("Answer in one word.")
      await page.getByLabel("Temperature").fill("0.3")
      await page.getByLabel("Stop").fill("END")
      await page.getByRole("button", { name: "Save as preset" }).click()
      await page.getByLabel("Name in calls").fill("short")
      await page.getByRole("button", { name: "Create preset" }).click()
      await page.waitForURL(`${origin}/presets/short`)
      await page.getByText("Answer in one word.").first().waitFor()
      await page.getByText(/END/).first().waitFor()
    })
  })
})

describe.runIf(hasChromium)("the list of calls", () => {
  test("keeps the chosen order of columns after a reload", async () => {
    expect((await chat(organization.apiKey, { model: "sim/echo" })).status).toBe(200)
    await visiting(organization.managementKey, async (page) => {
      await page.goto(`${origin}/calls`)
      const heads = async () => await page.getByRole("columnheader").allTextContents()
      await page.getByRole("columnheader", { name: "Model" }).waitFor()
      expect((await heads()).slice(0, 3).map((text) => text.replace(/\W+$/, ""))).toEqual(["Time", "Status", "Model"])
      await page.getByRole("button", { name: "Columns" }).click()
      await page.getByRole("button", { name: "Move Model to the left" }).click()
      await page.getByRole("button", { name: "Move Model to the left" }).click()
      await page.reload()
      await page.getByRole("columnheader", { name: "Model" }).waitFor()
      expect((await heads())[0]).toContain("Model")
    })
  })

  test("opens from a step of the chart, and from a row of the table with the same range", async () => {
    await visiting(organization.managementKey, async (page) => {
      await page.goto(`${origin}/?range=1h`)
      const row = page.getByRole("table", { name: "Spend by model" }).getByRole("link", { name: "1", exact: true })
      expect(await row.first().getAttribute("href")).toMatch(/range=1h/)
      const area = page.locator(".u-over")
      await area.waitFor()
      const box = await area.boundingBox()
      if (!box) throw new Error("There is no chart.")
      await page.mouse.move(box.x + box.width - 8, box.y + box.height / 2)
      await page.mouse.down()
      await page.mouse.up()
      await page.waitForURL(/\/calls\?from=.*&to=/)
    })
  })
})

async function watchShifts(page: Page): Promise<void> {
  await page.evaluate(() => {
    const shifts: number[] = []
    Reflect.set(globalThis, "shifts", shifts)
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries()) {
        const { value, hadRecentInput } = entry as PerformanceEntry & { value: number; hadRecentInput: boolean }
        if (!hadRecentInput) shifts.push(value)
      }
    }).observe({ type: "layout-shift", buffered: false })
  })
}

async function shiftsOf(page: Page): Promise<number> {
  const shifts = await page.evaluate(() => Reflect.get(globalThis, "shifts") as number[])
  return shifts.reduce((sum, value) => sum + value, 0)
}

describe.runIf(hasChromium)("a long response", () => {
  test.each([1440, 390])("streams without layout shifts, %i wide", async (width) => {
    await visiting(
      organization.managementKey,
      async (page) => {
        await page.goto(`${origin}/playground?model=sim/long`)
        await page.getByLabel("Message", { exact: true }).fill("Tell me a long story")
        await watchShifts(page)
        await page.keyboard.press("Enter")
        await page
          .getByText(/tok\/s/)
          .first()
          .waitFor()
        expect(await shiftsOf(page)).toBeLessThan(0.05)
      },
      { width },
    )
  })

  test("keeps its end in view while lines are added above it", async () => {
    await visiting(
      organization.managementKey,
      async (page) => {
        await page.goto(`${origin}/playground?model=sim/paced`)
        const lines = Array.from({ length: 40 }, (_, index) => `line ${index}`)
        await page.getByLabel("Message", { exact: true }).fill(lines.join("\n\n"))
        await watchShifts(page)
        await page.keyboard.press("Enter")
        await page.getByRole("paragraph").filter({ hasText: "line 39" }).last().waitFor()
        await page.getByText("line 38", { exact: true }).last().waitFor()
        expect(await shiftsOf(page)).toBeLessThan(0.01)
      },
      { height: 600 },
    )
  })
})
