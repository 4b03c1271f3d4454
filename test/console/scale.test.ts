import { execFileSync } from "node:child_process"
import { readdirSync } from "node:fs"
import path from "node:path"
import type { Page } from "playwright-core"
import { beforeAll, describe, expect, inject, test } from "vitest"
import { eventually } from "../support/eventually.ts"
import { api, chat, hasChromium, newOrganization, type Organization, origin, visiting } from "./browser.ts"

const CALLS = 10_000
const LONG = "an-author-with-a-very-long-name/a-model-with-an-even-longer-name-that-no-column-holds-2026-preview"
const HEBREW = "מודל/בעברית-ארוכה-מאוד-שאין-לה-מקום-בשום-עמודה-של-הטבלה"
const ARABIC = "تطبيق طويل الاسم جدا لا يتسع له أي عمود من أعمدة الجدول"
const NAMES = [LONG.replaceAll("-", " ").slice(0, 110), ARABIC, "מפתח של צוות המחקר (beta)"]

type Call = { key: string; method: string; resource: string; body: object }

async function send({ key, method, resource, body }: Call): Promise<Response> {
  const response = await fetch(`${api}${resource}`, {
    method,
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify(body),
  })
  expect(response.status, resource).toBeLessThan(300)
  return response
}

/** The gateway's database file in the runtime's state. */
function databaseIn(state: string): string {
  const files = readdirSync(state, { recursive: true, encoding: "utf8" })
  const file = files.find((name) => /miniflare-D1DatabaseObject\/[0-9a-f]{64}\.sqlite$/.test(name))
  if (file === undefined) throw new Error(`No database in ${state}.`)
  return path.join(state, file)
}

/** Copies of the organization's one call, one every minute, with names wider than any column. */
const COPY = `
  WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < ?2 - 1),
  one AS (SELECT * FROM generations WHERE organization_id = ?1 LIMIT 1),
  copy AS (SELECT printf('gen-%08x-%04x-7000-8000-%012x', (o.created_at - i * 60000) >> 16,
      (o.created_at - i * 60000) & 65535, i) AS id, o.created_at - i * 60000 AS at,
      CASE i % 3 WHEN 0 THEN ?3 WHEN 1 THEN ?4 ELSE o.model END AS name, o.* FROM n, one o WHERE i > 0)
  INSERT INTO generations
    (id, organization_id, workspace_id, key_hash, created_at, settled_at, model, upstream_id, cost_nano, byok_cost_nano, record)
  SELECT id, organization_id, workspace_id, key_hash, at, at, name, id, cost_nano, byok_cost_nano,
    json_set(record, '$.id', id, '$.createdAt', at, '$.settledAt', at, '$.model', name, '$.requestedModel', name,
      '$.appTitle', ?5)
  FROM copy`

/** In a separate process with Node's SQLite, which waits for the lock of the runtime. */
function fill(state: string, organizationId: string): void {
  const script = `
    const { DatabaseSync } = require("node:sqlite")
    const [file, sql, ...values] = process.argv.slice(1)
    const db = new DatabaseSync(file, { timeout: 20000 })
    db.prepare(sql).run(...values.map((value) => (/^\\d+$/.test(value) ? Number(value) : value)))`
  const values = [organizationId, String(CALLS), LONG, HEBREW, ARABIC]
  execFileSync(process.execPath, ["-e", script, databaseIn(state), COPY, ...values], { stdio: "pipe" })
}

let organization: Organization
beforeAll(async () => {
  if (!hasChromium) return
  organization = await newOrganization()
  expect((await chat(organization.apiKey, { model: "sim/echo" })).status).toBe(200)
  await eventually(async () => {
    const response = await fetch(`${api}/calls`, { headers: { authorization: `Bearer ${organization.apiKey}` } })
    if (((await response.json()) as { data: object[] }).data.length === 0) throw new Error("The call is not listed.")
  })
  fill(inject("gateway").state, organization.id)
  const key = organization.managementKey
  for (const [index, name] of NAMES.entries()) {
    await send({ key, method: "POST", resource: "/keys", body: { name } })
    await send({ key, method: "POST", resource: "/guardrails", body: { name } })
    await send({ key, method: "POST", resource: "/workspaces", body: { name, slug: `workspace-${index}` } })
    const person = { email: `person-${index}@example.com`, first_name: name.slice(0, 60), last_name: name.slice(0, 60) }
    await send({ key, method: "POST", resource: "/organization/members", body: person })
    await send({
      key,
      method: "POST",
      resource: "/byok",
      body: { provider: "embedded", key: `sk-${index}-0123456789`, name },
    })
    const server = { slug: `server-${index}`, name, url: "http://127.0.0.1:9/mcp" }
    await send({ key, method: "POST", resource: "/mcp-servers", body: server })
    const destination = { name, type: "webhook", config: { url: "https://example.com/hook" } }
    await send({ key, method: "POST", resource: "/observability/destinations", body: destination })
    const channel = { name, type: "webhook", config: { url: "https://example.com/hook" } }
    await send({ key, method: "POST", resource: "/alerts/channels", body: channel })
  }
})

/** Text that is cut off without an ellipsis, and right-to-left text whose beginning is cut off. */
async function faultsOf(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const faults: string[] = []
    if (document.documentElement.scrollWidth > innerWidth) faults.push("The page scrolls sideways.")
    const rightToLeft = /[\u0590-\u06ff]/
    for (const element of document.querySelectorAll<HTMLElement>("main *")) {
      const { overflowX, textOverflow, direction } = getComputedStyle(element)
      const text = element.textContent.trim().slice(0, 40)
      const isCut = overflowX === "hidden" && element.scrollWidth > element.clientWidth + 1
      if (
        !isCut ||
        element.clientWidth < 2 ||
        element.closest(".visually-hidden, .u-wrap, .page, .table.bounded") === element
      )
        continue
      if (textOverflow !== "ellipsis") faults.push(`Cut without an ellipsis: ${element.className} ${text}`)
      if (rightToLeft.test(text.slice(0, 1)) && direction !== "rtl")
        faults.push(`Cut at its beginning: ${element.className} ${text}`)
    }
    return faults
  })
}

const LISTS = [
  "/?range=30d",
  "/calls?range=30d",
  "/keys",
  "/guardrails",
  "/team",
  "/team?tab=workspaces",
  "/providers/embedded",
  "/mcp-servers",
  "/settings",
  "/settings?tab=alerts",
]

const TABLES = [
  ["/calls?range=30d", "Calls"],
  ["/models", "Models"],
  ["/keys", "Keys"],
  ["/providers", "Providers"],
  ["/mcp-servers", "MCP servers"],
  ["/guardrails", "Guardrails"],
  ["/team", "Members"],
  ["/settings?tab=audit", "Audit log"],
] as const

describe.runIf(hasChromium)("10,000 calls, long names and right-to-left text", () => {
  test.each([1440, 1024, 390])("are cut with an ellipsis at their end, on every list, %i wide", async (width) => {
    await visiting(
      organization.managementKey,
      async (page) => {
        for (const list of LISTS) {
          await page.goto(`${origin}${list}`)
          await page.getByRole("heading", { level: 1 }).waitFor()
          await expect.poll(() => page.getByRole("status", { name: "Loading" }).count()).toBe(0)
          await page
            .getByText(/[\u0590-\u06FF]/)
            .first()
            .waitFor()
          expect(await faultsOf(page), list).toEqual([])
        }
      },
      { width },
    )
  })

  test.each([1440, 1024, 768])("no table is wider than the page, %i wide", async (width) => {
    await visiting(
      organization.managementKey,
      async (page) => {
        for (const [list, table] of TABLES) {
          await page.goto(`${origin}${list}`)
          const element = page.getByRole("table", { name: table })
          await element.getByRole("row").nth(1).waitFor()
          const overflow = () => element.evaluate(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)
          expect(await overflow(), list).toBe(0)
        }
      },
      { width },
    )
  })

  test("columns of calls that a user chooses are shown at any width", async () => {
    await visiting(
      organization.managementKey,
      async (page) => {
        await page.goto(`${origin}/calls?range=30d`)
        const header = page.getByRole("table", { name: "Calls" }).getByRole("columnheader")
        await header.first().waitFor()
        expect(await header.allTextContents()).not.toContain("App")
        await page.getByRole("button", { name: "Columns" }).click()
        await page.getByRole("dialog").getByLabel("User", { exact: true }).check()
        await expect.poll(() => header.allTextContents()).toEqual(expect.arrayContaining(["App", "User"]))
      },
      { width: 768 },
    )
  })

  test("a key is found beyond the first page of keys, and the count includes all keys", async () => {
    const { managementKey: key } = await newOrganization()
    for (let number = 0; number < 130; number += 10) {
      const names = Array.from({ length: 10 }, (_, index) => `key number ${number + index}`)
      await Promise.all(names.map((name) => send({ key, method: "POST", resource: "/keys", body: { name } })))
    }
    await visiting(key, async (page) => {
      await page.goto(`${origin}/keys`)
      await page.getByText("132 keys").waitFor()
      // The first page of the API has 100 of them; the rest is loaded near the end of the list.
      const table = page.getByRole("table", { name: "Keys" })
      await page.locator(".scroller").evaluate((element) => element.scrollTo(0, element.scrollHeight))
      await expect.poll(() => table.getAttribute("aria-rowcount")).toBe("133")
      await page.getByRole("searchbox", { name: "Filter keys" }).fill("number 3")
      await page.getByRole("link", { name: "key number 3", exact: true }).waitFor()
      await page.getByText("11 of 132 keys").waitFor()
    })
  })

  test("a range is compared with any other, per day if their lengths differ", async () => {
    await visiting(organization.managementKey, async (page) => {
      await page.goto(`${origin}/?range=24h`)
      // One call a minute, in both.
      await page
        .getByText(/^[+−±]\d\.\d % against the previous period$/)
        .first()
        .waitFor()
      await page.getByRole("button", { name: "Against the previous period" }).click()
      const popover = page.getByRole("dialog", { name: "Compare with" })
      await popover.getByRole("button", { name: /^A week earlier/ }).click()
      await page.getByRole("button", { name: "Against a week earlier" }).waitFor()
      expect(new URL(page.url()).searchParams.get("against")).toBe("week")
      await page.getByRole("button", { name: "Against a week earlier" }).click()
      const ago = (hours: number) => new Date(Date.now() - hours * 3_600_000).toISOString().slice(0, 16)
      await popover.getByRole("button", { name: "UTC" }).click()
      await popover.getByLabel("From").fill(ago(72))
      await popover.getByLabel("To").fill(ago(60))
      await popover.getByRole("button", { name: "Apply" }).click()
      await page
        .getByText(/^[+−±]\d\.\d % a day against /)
        .first()
        .waitFor()
      await page.reload()
      await page
        .getByText(/^[+−±]\d\.\d % a day against /)
        .first()
        .waitFor()
    })
  })

  test("the list loads page by page to its end, with only the rows in view in the document", async () => {
    await visiting(organization.managementKey, async (page) => {
      await page.goto(`${origin}/calls?range=30d`)
      const rows = page.getByRole("table", { name: "Calls" }).getByRole("row")
      await rows.nth(5).waitFor()
      // Rows that are laid out only as they come into view make a scrolled list stutter.
      expect(await rows.nth(5).evaluate((row) => getComputedStyle(row).contentVisibility)).toBe("visible")
      const table = page.getByRole("table", { name: "Calls" })
      await expect
        .poll(
          async () => {
            await page.locator(".scroller").evaluate((element) => element.scrollTo(0, element.scrollHeight))
            return Number(await table.getAttribute("aria-rowcount"))
          },
          { timeout: 80_000, interval: 20 },
        )
        .toBe(CALLS + 1)
      await page.locator(".scroller").evaluate((element) => element.scrollTo(0, element.scrollHeight))
      await page.locator(`[aria-rowindex="${CALLS + 1}"]`).waitFor()
      expect(await rows.count()).toBeLessThan(100)
    })
  })
})
