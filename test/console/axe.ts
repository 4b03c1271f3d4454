import { readFileSync } from "node:fs"
import { createRequire } from "node:module"
import type { AxeResults } from "axe-core"
import type { Page } from "playwright-core"

declare const axe: { run: (context: unknown, options: unknown) => Promise<AxeResults> }

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8")
const RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]

/** What the page breaks of WCAG 2.2 AA, as it is now. */
export async function violationsOf(page: Page): Promise<string[]> {
  // The policy of the page forbids a script element; the debugger's evaluation is not one.
  await page.evaluate(AXE)
  const { violations } = await page.evaluate(
    (tags) => axe.run(document, { runOnly: { type: "tag", values: tags } }),
    RULES,
  )
  return violations.flatMap(({ id, nodes }) =>
    nodes.slice(0, 3).map(({ target, failureSummary }) => `${id}: ${target.join(" ")} ${failureSummary ?? ""}`),
  )
}
