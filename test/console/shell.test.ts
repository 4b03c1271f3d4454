import { execFile } from "node:child_process"
import { readdirSync, readFileSync } from "node:fs"
import path from "node:path"
import { promisify } from "node:util"
import { gzipSync } from "node:zlib"
import { beforeAll, describe, expect, test } from "vitest"
import { root } from "../../src/dev/options.ts"
import { api, close, hasChromium, newOrganization, newVisit, type Organization, origin, visiting } from "./browser.ts"

const run = promisify(execFile)

const MAX_FIRST_LOAD_BYTES = 150_000

let organization: Organization
beforeAll(async () => {
  organization = await newOrganization()
})

const assets = path.join(root, "dist/console/assets")
const sizeOf = (file: string) => gzipSync(readFileSync(path.join(assets, file))).length

/** A chunk with its static imports; dynamic imports are another load. */
function withImports(file: string, found = new Set<string>()): Set<string> {
  if (found.has(file)) return found
  found.add(file)
  const text = readFileSync(path.join(assets, file), "utf8")
  for (const [, imported = ""] of text.matchAll(/(?:from|import)\s*[`"']\.\/([^`"']+\.js)[`"']/g))
    withImports(imported, found)
  return found
}

test("the first load of every page is at most 150 KB", () => {
  const html = readFileSync(path.join(root, "dist/console/index.html"), "utf8")
  const entry = [...html.matchAll(/(?:src|href)="\/assets\/([^"]+\.(?:js|css))"/g)].map((match) => match[1] ?? "")
  const files = readdirSync(assets)
  // The styles of all pages are fewer bytes than a mistake here could hide.
  const styles = files.filter((file) => file.endsWith(".css")).reduce((sum, file) => sum + sizeOf(file), 0)
  const loads = files
    .filter((file) => file.endsWith(".js"))
    .map((file) => {
      const scripts = new Set(
        [...entry.filter((each) => each.endsWith(".js")), file].flatMap((each) => [...withImports(each)]),
      )
      return { file, bytes: styles + [...scripts].reduce((sum, each) => sum + sizeOf(each), 0) }
    })
  expect(loads.length).toBeGreaterThan(10)
  expect(loads.filter(({ bytes }) => bytes > MAX_FIRST_LOAD_BYTES)).toEqual([])
})

test("scripts are marked for compilation off the main thread, and the chart creates no formatter on load", () => {
  const scripts = readdirSync(assets).filter((file) => file.endsWith(".js"))
  const textOf = (file: string) => readFileSync(path.join(assets, file), "utf8")
  expect(scripts.filter((file) => !textOf(file).startsWith("//# allFunctionsCalledOnLoad\n"))).toEqual([])
  const [chart = "", ...others] = scripts.filter((file) => file.startsWith("uplot-"))
  expect(others).toEqual([])
  expect(textOf(chart)).not.toContain("Intl.")
})

test("every page has the content security policy, and files with a digest are cached for a year", async () => {
  const page = await fetch(`${origin}/calls/gen-1?status=failed`)
  expect(page.status).toBe(200)
  expect(page.headers.get("cache-control")).toBe("no-store")
  expect(page.headers.get("content-security-policy")).toContain(
    "default-src 'none'; script-src 'self'; style-src 'self'",
  )
  expect(page.headers.get("content-security-policy")).toContain("require-trusted-types-for 'script'")
  expect(page.headers.get("x-content-type-options")).toBe("nosniff")
  const html = await page.text()
  expect(html).not.toMatch(/<script>|<style|style=|onload=/)
  const script = await fetch(`${origin}${/src="([^"]+)"/.exec(html)?.[1] ?? ""}`)
  expect(script.headers.get("cache-control")).toBe("public, max-age=31536000, immutable")
  const missing = await fetch(`${origin}/assets/none-00000000.js`)
  expect(missing.status).toBe(404)
  expect(await missing.json()).toMatchObject({ error: { code: 404 } })
})

const COMMIT = "commit of the navigation"

describe.runIf(hasChromium)("in a browser", () => {
  test("a page requests only the data that it shows, and the session before the shell runs", async () => {
    await visiting(organization.managementKey, async (page) => {
      const requested: string[] = []
      page.on("request", (request) => requested.push(new URL(request.url()).pathname))
      await page.goto(`${origin}/`)
      await page.getByRole("heading", { level: 1, name: "Overview" }).waitFor()
      await expect.poll(() => page.getByRole("status", { name: "Loading" }).count()).toBe(0)
      await expect.poll(() => requested.includes("/api/v1/events")).toBe(true)
      const calls = requested.filter((path) => path.startsWith("/api/v1/"))
      // Names of members and keys are not on the page, and the event stream waits for the rest.
      expect(calls).not.toContain("/api/v1/organization/members")
      // One of them is for the first call, until it was made.
      expect(calls.length).toBeLessThanOrEqual(18)
      // A browser has six connections to a host: the chart does not wait behind its data.
      const chart = requested.findIndex((path) => path.startsWith("/assets/uplot-"))
      expect(chart).toBeGreaterThan(0)
      expect(chart).toBeLessThan(requested.indexOf("/api/v1/analytics/query"))
      expect(calls.indexOf("/api/v1/events")).toBeGreaterThanOrEqual(14)
      requested.length = 0
      // The overview may still request something until the new document replaces it.
      page.once("framenavigated", () => requested.push(COMMIT))
      await page.goto(`${origin}/calls`)
      await page.getByRole("heading", { level: 1, name: "Calls" }).waitFor()
      await expect.poll(() => page.getByRole("status", { name: "Loading" }).count()).toBe(0)
      const ofCalls = requested.slice(requested.indexOf(COMMIT))
      expect(ofCalls.filter((path) => path.includes("/markdown-"))).toEqual([])
      const session = ofCalls.indexOf("/console/session")
      expect(session).toBeGreaterThan(0)
      expect(session).toBeLessThan(ofCalls.findIndex((path) => path.startsWith("/api/v1/")))
    })
  })

  test("a page whose code loads late is shown once loaded, and the previous page stays until then", async () => {
    await visiting(organization.managementKey, async (page) => {
      let release = () => {}
      const hold = async () => {
        const released = new Promise<void>((resolve) => (release = resolve))
        await page.route("**/assets/page-*.js", async (route) => {
          await released
          await route.continue()
        })
      }
      await hold()
      await page.goto(origin)
      const side = page.getByRole("navigation", { name: "Console", exact: true })
      await side.waitFor()
      expect(await page.getByRole("heading", { level: 1 }).count()).toBe(0)
      release()
      await page.getByRole("heading", { level: 1, name: "Overview" }).waitFor()
      await page.unroute("**/assets/page-*.js")
      await hold()
      await side.getByRole("link", { name: "Keys" }).click()
      expect(new URL(page.url()).pathname).toBe("/keys")
      expect(await page.getByRole("heading", { level: 1, name: "Overview" }).count()).toBe(1)
      release()
      await page.getByRole("heading", { level: 1, name: "Keys" }).waitFor()
    })
  })

  test("a key signs in, is not stored by the page, and signs out", async () => {
    const visit = await newVisit()
    const { page, context } = visit
    await page.goto(`${origin}/keys`)
    await page.getByLabel("API key").fill("sk-gw-v1-wrong-wrong-wrong-wrong-wrong-wrong")
    await page.getByRole("button", { name: "Sign in" }).click()
    await expect.poll(() => page.getByRole("alert").textContent()).toMatch(/key/i)
    await page.getByLabel("API key").fill(organization.managementKey)
    await page.getByRole("button", { name: "Sign in" }).click()
    await page.getByRole("heading", { name: "Keys" }).waitFor()
    const kept = await page.evaluate(() =>
      JSON.stringify([Object.entries(localStorage), Object.entries(sessionStorage), document.cookie]),
    )
    expect(kept).not.toContain("sk-gw")
    expect(kept).not.toContain("gateway_console")
    expect((await context.cookies())[0]).toMatchObject({ httpOnly: true, sameSite: "Strict" })
    await page.getByRole("button", { name: "Management key" }).click()
    await page.getByRole("button", { name: "Sign out" }).click()
    await page.getByRole("heading", { name: "Sign in" }).waitFor()
    await close(visit)
  })

  test("the keyboard reaches pages, rows, the filter and help", async () => {
    await visiting(organization.managementKey, async (page) => {
      await page.goto(origin)
      await page.getByRole("heading", { name: "Overview" }).waitFor()
      await page.keyboard.press("Control+k")
      await page.getByRole("combobox", { name: /^Search pages/ }).fill("playgr")
      await page.keyboard.press("Enter")
      await page.getByRole("heading", { name: "Playground" }).waitFor()
      await page.keyboard.press("Escape")
      await page.keyboard.press("Control+k")
      await page.getByRole("combobox", { name: /^Search pages/ }).fill("page models")
      await page.keyboard.press("Enter")
      await page
        .getByRole("row", { name: /sim\/echo/ })
        .first()
        .waitFor()
      await page.keyboard.press("/")
      expect(await page.evaluate(() => document.activeElement?.getAttribute("aria-label"))).toBe("Search models")
      await page.keyboard.type("sim/reason")
      await page.keyboard.press("Escape")
      await expect.poll(() => page.url()).toContain("q=sim/reason")
      await page.getByRole("link", { name: "sim/reasoning", exact: true }).waitFor()
      await page.keyboard.press("j")
      await page.keyboard.press("Enter")
      await page.getByRole("heading", { name: /sim\/reasoning/ }).waitFor()
      await page.keyboard.press("Escape")
      await page.getByRole("heading", { name: "Models", exact: true }).waitFor()
      await page.keyboard.press("?")
      await page.getByRole("dialog", { name: "Keyboard" }).waitFor()
    })
  })

  test("a theme is pinned and survives a reload", async () => {
    await visiting(organization.managementKey, async (page) => {
      await page.goto(origin)
      await page.getByRole("button", { name: "Management key" }).click()
      await page.getByRole("button", { name: "Dark" }).click()
      await page.reload()
      await page.getByRole("heading", { name: "Overview" }).waitFor()
      expect(await page.evaluate(() => getComputedStyle(document.documentElement).colorScheme)).toBe("dark")
    })
  })

  test("a normal key sees its calls and limits, and no pages of the organization", async () => {
    await visiting(organization.apiKey, async (page) => {
      await page.goto(`${origin}/keys`)
      await page.getByRole("list", { name: "Limits" }).waitFor()
      const links = await page
        .getByRole("navigation", { name: "Console", exact: true })
        .getByRole("link")
        .allTextContents()
      expect(links).toContain("Calls")
      for (const hidden of ["Guardrails", "Team", "Providers"]) expect(links).not.toContain(hidden)
    })
  })

  test.each(["a management key", "a normal key"])(
    "%s is shown a first call, which works when it is pasted",
    async (kind) => {
      const { apiKey, managementKey } = await newOrganization()
      const session = kind === "a normal key" ? apiKey : managementKey
      await visiting(session, async (page) => {
        await page.goto(origin)
        const steps = page.getByRole("region", { name: "First steps" })
        await steps.getByText(api, { exact: true }).waitFor()
        const command = steps.getByRole("region", { name: "A call with curl" })
        await expect.poll(() => command.textContent()).not.toContain("author/model")
        const { stdout } = await run("sh", ["-c", (await command.textContent()) ?? ""], {
          env: { ...process.env, GATEWAY_API_KEY: apiKey },
        })
        expect(stdout).toContain("data: [DONE]")
        await expect
          .poll(async () => {
            await page.reload()
            await page.getByRole("heading", { level: 1 }).waitFor()
            await expect.poll(() => page.getByRole("status", { name: "Loading" }).count()).toBe(0)
            return command.count()
          })
          .toBe(0)
      })
    },
  )

  test("a link to a page of the organization leads a normal key to the sign-in", async () => {
    await visiting(organization.apiKey, async (page) => {
      for (const link of ["/settings?tab=audit", "/guardrails/01a220d0-0000-7000-8000-000000000000"]) {
        const requested: string[] = []
        page.on("response", (response) => requested.push(`${response.status()} ${response.url()}`))
        await page.goto(origin + link)
        await page.getByRole("heading", { name: /^You cannot open/ }).waitFor()
        expect(requested.filter((response) => response.startsWith("403"))).toEqual([])
      }
      await page.getByRole("button", { name: "Sign in with another key" }).click()
      await page.getByLabel("API key").fill(organization.managementKey)
      await page.getByRole("button", { name: "Sign in" }).click()
      await page.getByRole("heading", { level: 1, name: "Guardrail" }).waitFor()
      // The same request would be rejected again.
      await page.getByRole("alert").getByText("There is no guardrail with this id.").waitFor()
      expect(await page.getByRole("button", { name: "Try again" }).count()).toBe(0)
    })
  })

  test("a page whose code is gone after a deployment offers to reload", async () => {
    await visiting(organization.managementKey, async (page) => {
      await page.goto(origin)
      await page.getByRole("heading", { level: 1, name: "Overview" }).waitFor()
      await page.route(/\/assets\/.*\.js/, (route) => route.fulfill({ status: 404, body: "gone" }))
      await page.getByRole("link", { name: "Presets" }).click()
      await page.getByRole("heading", { level: 1, name: "Presets" }).waitFor()
      await page.unroute(/\/assets\/.*\.js/)
      await page.getByRole("button", { name: "Reload the page" }).click()
      await page.getByRole("heading", { name: "No presets in this workspace" }).waitFor()
    })
  })

  test("an unknown page shows that there is none, and an unknown API path returns 404", async () => {
    await visiting(organization.managementKey, async (page) => {
      for (const path of ["/settings/none/such", "/nowhere"]) {
        await page.goto(origin + path)
        await page.getByText(`There is no page at ${path}`).waitFor()
      }
    })
    const response = await fetch(`${origin}/api/v1/none`)
    expect(response.status).toBe(404)
  })
})
