import type { Page } from "playwright-core"
import { beforeAll, describe, expect, test } from "vitest"
import { colorViolationsOf, violationsOf } from "./axe.ts"
import { chat, hasChromium, newOrganization, type Organization, origin, visiting } from "./browser.ts"

const PAGES = [
  "/",
  "/playground",
  "/calls",
  "/batches",
  "/batches?new=1",
  "/mcp-servers",
  "/passthrough-services",
  "/passthrough-services?new=1",
  "/mcp-servers?new=1",
  "/keys",
  "/models",
  "/models/sim/echo",
  "/providers",
  "/providers/embedded",
  "/guardrails",
  "/presets",
  "/team",
  "/team?tab=workspaces",
  "/settings",
  "/settings?tab=alerts",
  "/settings?tab=directories",
  "/settings?tab=audit",
  "/settings?tab=files",
  "/interns",
  "/docs",
  "/docs/createChatCompletion",
  "/console/components",
  "/console/components?tab=data",
  "/console/components?tab=states",
  "/console/components?tab=text",
]

let organization: Organization
beforeAll(async () => {
  organization = await newOrganization()
  for (const model of ["sim/echo", "sim/status-503"]) await chat(organization.apiKey, { model })
})

/** Ends the transitions with which colors change to another theme, and those that follow them. */
async function finishTransitions(): Promise<void> {
  const transitions = () => document.getAnimations().filter((animation) => animation instanceof CSSTransition)
  for (let open = transitions(); open.length > 0; open = transitions()) {
    for (const transition of open) transition.finish()
    await new Promise((resolve) => requestAnimationFrame(resolve))
  }
}

/** Faults of a page in either theme: violations of axe, and content wider than the screen. */
async function faultsOf(page: Page, path: string): Promise<string[]> {
  await page.goto(`${origin}${path}`)
  await page.getByRole("heading", { level: 1 }).waitFor()
  // The page of components always shows the loading state.
  const loading = path.endsWith("tab=states") ? 1 : 0
  await expect.poll(() => page.getByRole("status", { name: "Loading" }).count()).toBe(loading)
  const violations = await violationsOf(page)
  const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)
  const faults = [...violations, ...(overflow > 0 ? [`scrolls ${overflow} px sideways`] : [])]
  await page.emulateMedia({ colorScheme: "dark" })
  await page.evaluate(finishTransitions)
  faults.push(...(await colorViolationsOf(page)).map((violation) => `dark: ${violation}`))
  await page.emulateMedia({ colorScheme: "light" })
  return faults.map((fault) => `${path} ${fault}`)
}

describe.runIf(hasChromium)("WCAG 2.2 AA", () => {
  for (const width of [1440, 390])
    test(`has no violation, light and dark, ${width} wide`, async () => {
      await visiting(
        organization.managementKey,
        async (page) => {
          const faults: string[] = []
          for (const path of PAGES) faults.push(...(await faultsOf(page, path)))
          expect(faults).toEqual([])
        },
        { width },
      )
    })

  test("has no violation on the sign-in page", async () => {
    const { newVisit, close } = await import("./browser.ts")
    const visit = await newVisit()
    await visit.page.goto(origin)
    await visit.page.getByRole("heading", { name: "Sign in" }).waitFor()
    expect(await violationsOf(visit.page)).toEqual([])
    await close(visit)
  })
})

const KEYBOARD_PAGES = [
  "/",
  "/playground",
  "/calls",
  "/batches",
  "/interns",
  "/models/sim/echo",
  "/providers/embedded",
  "/keys",
  "/mcp-servers",
  "/passthrough-services",
  "/guardrails",
  "/presets",
  "/team",
  "/team?tab=workspaces",
  "/settings",
  "/settings?tab=files",
]

test.runIf(hasChromium)("every control is reached with Tab and shows its focus", async () => {
  await visiting(organization.managementKey, async (page) => {
    for (const path of KEYBOARD_PAGES) {
      await page.goto(`${origin}${path}`)
      await page.getByRole("heading", { level: 1 }).waitFor()
      await expect.poll(() => page.getByRole("status", { name: "Loading" }).count()).toBe(0)
      const total = await page.evaluate(() => {
        if (document.activeElement instanceof HTMLElement) document.activeElement.blur()
        const usable = "a[href], button:not(:disabled), input:not([hidden]), select, textarea, summary"
        const shown = [...document.querySelectorAll<HTMLElement>(usable)].filter((element) => element.checkVisibility())
        for (const [index, element] of shown.entries()) element.dataset["number"] = String(index)
        return shown.length
      })
      const reached = new Set<string>()
      const unseen = new Set<string>()
      // Regions that scroll take the focus, too.
      for (let presses = 0; presses < total + 30; presses++) {
        await page.keyboard.press("Tab")
        const focus = await page.evaluate(() => {
          const element = document.activeElement
          if (!(element instanceof HTMLElement) || element === document.body) return undefined
          const { outlineStyle, outlineWidth } = getComputedStyle(element)
          const isSeen = outlineStyle !== "none" && Number.parseFloat(outlineWidth) > 0
          return { number: element.dataset["number"], isSeen, html: element.outerHTML.slice(0, 80) }
        })
        if (focus?.number !== undefined) reached.add(focus.number)
        if (focus && !focus.isSeen) unseen.add(focus.html)
      }
      expect(reached.size, path).toBe(total)
      expect([...unseen], path).toEqual([])
    }
  })
})
