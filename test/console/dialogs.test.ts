import type { Page } from "playwright-core"
import { beforeAll, describe, expect, test } from "vitest"
import { violationsOf } from "./axe.ts"
import { api, hasChromium, newOrganization, type Organization, origin, visiting } from "./browser.ts"

const MADE = {
  "/guardrails": { name: "No card numbers" },
  "/workspaces": { name: "Research", slug: "research" },
  "/mcp-servers": { slug: "documents", name: "Documents", url: "http://127.0.0.1:9/mcp" },
  "/organization/members": { email: "ada@example.com", first_name: "Ada" },
  "/interns": { name: "scout", model: "sim/echo" },
  "/scim/directories": { name: "Okta" },
  "/byok": { provider: "embedded", key: "sk-provider-0123456789", name: "Team key" },
}

/** Pages, and the button that opens a dialog or a popover there. */
const OPENERS: [path: string, button: string | RegExp][] = [
  ["/", "Last 7 days"],
  ["/", /^Against/],
  ["/", "Default"],
  ["/", "Management key"],
  ["/playground", /^embedded\//],
  ["/calls", "Columns"],
  ["/batches", "Start a batch"],
  ["/interns", "New intern"],
  ["/interns/scout", /^Delete/],
  ["/interns/scout?tab=about", "Edit budget and tools"],
  ["/interns/scout?tab=about", "Clone"],
  ["/interns/scout?tab=vault", "New secret"],
  ["/interns/scout?tab=schedules", "New schedule"],
  ["/providers", "Add a provider"],
  ["/keys", "Create a key"],
  ["/keys/first", "Edit"],
  ["/keys/first", "Rotate"],
  ["/keys/first", "Disable"],
  ["/keys/first", "Delete"],
  ["/mcp-servers", "Add a server"],
  ["/mcp-servers/documents", "Edit"],
  ["/mcp-servers/documents", "Delete"],
  ["/mcp-servers/documents", "Allow a key"],
  ["/passthrough-services", "Add a service"],
  ["/guardrails", "New guardrail"],
  ["/presets", "New preset"],
  ["/team", "Add member"],
  ["/team", "Actions for Ada"],
  ["/team?tab=workspaces", "New workspace"],
  ["/team?tab=workspaces", "Delete"],
  ["/settings", "New destination"],
  ["/settings?tab=alerts", "New channel"],
  ["/settings?tab=directories", "Connect a directory"],
  ["/settings?tab=directories", "Replace token"],
]
/** On a phone, these are hidden or in another place. */
const WIDE_ONLY = new Set<string | RegExp>(["Columns", "Default", "Management key"])

let organization: Organization
const ids: Record<string, string> = {}
beforeAll(async () => {
  organization = await newOrganization()
  const headers = { authorization: `Bearer ${organization.managementKey}`, "content-type": "application/json" }
  for (const [path, body] of Object.entries(MADE)) {
    const response = await fetch(`${api}${path}`, { method: "POST", headers, body: JSON.stringify(body) })
    expect(response.status, path).toBeLessThan(300)
    if (path === "/interns") ids["scout"] = ((await response.json()) as { id: string }).id
  }
  const keys = (await (await fetch(`${api}/keys`, { headers })).json()) as { data: { hash: string; name: string }[] }
  ids["first"] = keys.data.find(({ name }) => name === "First key")?.hash ?? ""
})

async function open(page: Page, [path, name]: (typeof OPENERS)[number]) {
  const target = `${origin}${path.replace(/scout|first/, (word) => ids[word] ?? word)}`
  if (page.url() !== target) await page.goto(target)
  const exact = typeof name === "string"
  await page.getByRole("heading", { level: 1 }).waitFor()
  const button = page.getByRole("button", { name, exact }).and(page.locator(":visible")).first()
  await button.waitFor()
  await expect.poll(() => page.getByRole("status", { name: "Loading" }).count()).toBe(0)
  await button.focus()
  await page.keyboard.press("Enter")
  const dialog = page.getByRole("dialog")
  await dialog.waitFor()
  return { dialog, button }
}

describe.runIf(hasChromium)("dialogs and popovers", () => {
  // Colors depend on the theme and the layout on the width: two of the four combinations cover both.
  for (const [theme, width] of [
    ["light", 1440],
    ["dark", 390],
  ] as const)
    test(`conform to WCAG 2.2 AA, open with Enter and close with Escape, ${theme}, ${width} wide`, async () => {
      await visiting(
        organization.managementKey,
        async (page) => {
          const faults: string[] = []
          for (const opener of OPENERS) {
            if (width < 720 && WIDE_ONLY.has(opener[1])) continue
            const { dialog, button } = await open(page, opener)
            const found = await violationsOf(page)
            const isModal = await dialog.evaluate((element) => element.matches("dialog"))
            if (isModal && !(await dialog.evaluate((element) => element.contains(document.activeElement))))
              found.push("The focus is not in the dialog.")
            const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)
            if (overflow > 0) found.push(`Scrolls ${overflow} px sideways.`)
            await page.keyboard.press("Escape")
            await expect.poll(() => dialog.count()).toBe(0)
            if (!(await button.evaluate((element) => element === document.activeElement)))
              found.push("The focus does not go back to the button.")
            faults.push(...found.map((fault) => `${opener.join(" ")}: ${fault}`))
          }
          expect(faults).toEqual([])
        },
        { theme, width },
      )
    })
})
