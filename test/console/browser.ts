import type { Browser, BrowserContext, Page } from "playwright-core"
import { expect, inject } from "vitest"
import { newOrganization, type Organization } from "../acceptance/world.ts"
import { hasChromium, launchChromium } from "../support/chromium.ts"

export const api = inject("gateway").url
export const origin = new URL(api).origin

/** One for all files of a run: it ends with the process of the tests. */
let browser: Promise<Browser> | undefined

export type Visit = {
  page: Page
  context: BrowserContext
  /** Must be empty at the end: violations of the policy, script errors, requests to other origins. */
  faults: string[]
}

type Options = { width?: number; height?: number; theme?: "light" | "dark"; javaScript?: boolean }

/** A new browser context without a session. */
export async function newVisit({ width = 1440, height = 900, theme = "light" }: Options = {}): Promise<Visit> {
  browser ??= launchChromium()
  const context = await (
    await browser
  ).newContext({ viewport: { width, height }, colorScheme: theme, reducedMotion: "reduce" })
  context.setDefaultTimeout(60_000)
  const page = await context.newPage()
  const faults: string[] = []
  page.on("pageerror", (error) => faults.push(`Script: ${error.message}`))
  page.on("console", (message) => {
    // The browser also logs responses that the API rejects, which the page shows.
    if (message.type() === "error" && !message.text().startsWith("Failed to load resource")) faults.push(message.text())
  })
  page.on("request", (request) => {
    const url = new URL(request.url())
    if (!["data:", "blob:"].includes(url.protocol) && url.origin !== origin) faults.push(`Request to ${url.origin}`)
  })
  return { page, context, faults }
}

/** A visit with the session of a key, as the sign-in page creates it. */
export async function signedIn(key: string, options: Options = {}): Promise<Visit> {
  const visit = await newVisit(options)
  const response = await visit.context.request.post(`${origin}/console/session`, {
    data: { key },
    headers: { "x-gateway-console": "1" },
  })
  expect(response.status(), await response.text()).toBe(201)
  return visit
}

export async function close({ context, faults }: Visit): Promise<void> {
  await context.close()
  expect(faults).toEqual([])
}

/** State of the page when a test fails. */
async function describe({ page, faults }: Visit): Promise<string> {
  const text = await page.innerText("body", { timeout: 1_000 }).catch(() => "nothing")
  return [`At ${page.url()}: ${text.slice(0, 1_500)}`, ...faults].join("\n")
}

/** Runs one visit, and checks that the page has no fault. */
export async function visiting(
  key: string,
  run: (page: Page, visit: Visit) => Promise<void>,
  options: Options = {},
): Promise<void> {
  const visit = await signedIn(key, options)
  try {
    await run(visit.page, visit)
  } catch (cause) {
    throw new Error(`${String(cause)}\n${await describe(visit)}`, { cause })
  } finally {
    await visit.context.close()
  }
  expect(visit.faults).toEqual([])
}

export { hasChromium, newOrganization, type Organization }

/** A call from outside of the console. */
export async function chat(key: string, body: object): Promise<Response> {
  const messages = [{ role: "user", content: "Hello" }]
  return fetch(`${api}/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify({ messages, ...body }),
  })
}
