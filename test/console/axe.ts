import { readFileSync } from "node:fs"
import { createRequire } from "node:module"
import type { AxeResults, RunOnly } from "axe-core"
import type { Page } from "playwright-core"

declare const axe: { run: (context: unknown, options: unknown) => Promise<AxeResults> }

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8")
const RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]

/** Rules of WCAG 2.2 AA that a change of the theme can break. */
const COLOR_RULES = ["color-contrast", "link-in-text-block"]

/** Violations of WCAG 2.2 AA on the page. */
export function violationsOf(page: Page): Promise<string[]> {
  return runAxe(page, { type: "tag", values: RULES })
}

/** The same for rules about colors only. */
export function colorViolationsOf(page: Page): Promise<string[]> {
  return runAxe(page, { type: "rule", values: COLOR_RULES })
}

async function runAxe(page: Page, runOnly: RunOnly): Promise<string[]> {
  // The policy of the page forbids a script element, but not an evaluation by the debugger.
  if (await page.evaluate(() => !("axe" in globalThis))) await page.evaluate(AXE)
  const { violations } = await page.evaluate(
    (only) => axe.run(document, { runOnly: only, resultTypes: ["violations"] }),
    runOnly,
  )
  return violations.flatMap(({ id, nodes }) =>
    nodes.slice(0, 3).map(({ target, failureSummary }) => `${id}: ${target.join(" ")} ${failureSummary ?? ""}`),
  )
}
