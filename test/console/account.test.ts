import { once } from "node:events"
import { createHash, randomBytes } from "node:crypto"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import type { Page } from "playwright-core"
import { beforeAll, describe, expect, test } from "vitest"
import { violationsOf } from "./axe.ts"
import { api, chat, newOrganization, newVisit, type Organization, origin, signedIn } from "./browser.ts"

let acme: Organization
beforeAll(async () => {
  acme = await newOrganization()
})

async function openConsole(key: string, path = "/", options: Parameters<typeof newVisit>[0] = {}) {
  const visit = await signedIn(key, options)
  await visit.page.goto(`${origin}${path}`)
  return visit
}

/** Waits until the first content of the page is loaded. */
async function loaded(page: Page): Promise<void> {
  await page.getByRole("heading", { level: 1 }).waitFor()
  await expect.poll(() => page.getByRole("status", { name: "Loading" }).count()).toBe(0)
}

async function call<T>(key: string, path: string): Promise<T> {
  const response = await fetch(`${api}${path}`, { headers: { authorization: `Bearer ${key}` } })
  expect(response.status, path).toBe(200)
  return (await response.json()) as T
}

test("a guardrail is created, tested on a text during editing, saved, and blocks a call that is then listed", async () => {
  const { page, faults } = await openConsole(acme.managementKey, "/guardrails")
  await page.getByRole("button", { name: "New guardrail" }).first().click()
  await page.getByLabel("Name").fill("No cards")
  await page.getByRole("button", { name: "Create and edit" }).click()
  await page.getByText("Nothing was found").waitFor()
  await page.getByLabel("Card numbers").selectOption("redact")
  await page.getByText("Parts are redacted").waitFor()
  const findings = page.getByRole("region", { name: "Findings in the text" })
  expect(await findings.locator("mark").allTextContents()).toEqual(["4111 1111 1111 1111"])
  expect(await page.getByRole("region", { name: "Text after the rules" }).textContent()).not.toContain("4111")
  await page.getByLabel("Card numbers").selectOption("block")
  await page.getByText("The request is blocked").waitFor()
  await page.getByRole("button", { name: "Save" }).click()
  await page.getByText("Saved. New calls follow the rules").waitFor()
  type Keys = { data: { hash: string; name: string; kind: string }[] }
  const { data } = await call<Keys>(acme.managementKey, "/keys")
  const key = data.find(({ kind }) => kind === "normal")
  await page.getByLabel("Apply to a key").selectOption(key?.hash ?? "")
  await page.getByRole("button", { name: "Apply", exact: true }).click()
  await page.getByText(`Applies to ${key?.name}`).waitFor()
  const content = "4111 1111 1111 1111"
  const blocked = await chat(acme.apiKey, { model: "sim/echo", messages: [{ role: "user", content }] })
  expect(blocked.status).toBe(403)
  await expect
    .poll(async () => {
      await page.reload()
      await loaded(page)
      return page.getByRole("region", { name: "Recent matches" }).getByText("blocked").count()
    })
    .toBe(1)
  expect(faults).toEqual([])
})

test("a preset gets versions with a diff between them, and one is designated", async () => {
  const { page, faults } = await openConsole(acme.managementKey, "/presets")
  await page.getByRole("button", { name: "New preset" }).click()
  await page.getByLabel("Name in calls").fill("support")
  await page.getByLabel("Instructions").fill("Answer in two sentences.")
  await page.getByRole("button", { name: "Create preset" }).click()
  await page.getByRole("heading", { name: "support" }).waitFor()
  await page.getByRole("button", { name: "New version" }).click()
  await page.getByLabel("Parameters").fill('{"model": "sim/echo", "temperature": 0.9}')
  await page.getByRole("button", { name: "Create version" }).click()
  const diff = page.getByRole("region", { name: "Changes from version 1 to 2" })
  await diff.waitFor()
  expect(await diff.locator(".removed").allTextContents()).toEqual([expect.stringContaining("temperature: 0.2")])
  expect(await diff.locator(".added").allTextContents()).toEqual([expect.stringContaining("temperature: 0.9")])
  await page.getByRole("navigation", { name: "Versions" }).getByText("Version 1").click()
  await page.getByRole("button", { name: "Use version 1" }).click()
  await page.getByText("Version 1 is in use").waitFor()
  type Preset = { data: { designated_version: { version: number; system_prompt: string } } }
  const { data } = await call<Preset>(acme.managementKey, "/presets/support")
  expect(data.designated_version).toMatchObject({ version: 1, system_prompt: "Answer in two sentences." })
  expect(faults).toEqual([])
})

test("an intern asks before it runs a command, shows it exactly, is allowed, and responds", async () => {
  const { page, faults } = await openConsole(acme.managementKey, "/interns")
  await page.getByRole("button", { name: "New intern" }).click()
  await page.getByLabel("Name").fill("scout")
  await page.getByLabel("Model").fill("sim/tool-call")
  await page.getByRole("button", { name: "Create and start" }).click()
  await page.getByText("running", { exact: true }).waitFor()
  await page.getByLabel("Message to the intern").fill("echo hello from the intern")
  await page.keyboard.press("Enter")
  const question = page.getByRole("region", { name: "Question of the intern" })
  await question.getByText("left to answer").waitFor()
  await expect.poll(() => question.getByRole("region", { name: "What would run" }).textContent()).toMatch(/^echo hello/)
  expect(await question.getByRole("button").allTextContents()).toHaveLength(4)
  expect(await violationsOf(page)).toEqual([])
  // The first answer has the key 1.
  await page.keyboard.press("1")
  const conversation = page.getByRole("log", { name: "Conversation" })
  await expect
    .poll(() => conversation.getByRole("article", { name: "scout" }).last().textContent())
    .toContain("hello from the intern")
  expect(faults).toEqual([])
})

test("a question is announced on every page with a link to it", async () => {
  const { page, faults } = await openConsole(acme.managementKey, "/presets")
  await page.getByRole("link", { name: "support", exact: true }).waitFor()
  type Interns = { data: { id: string }[] }
  const [intern] = (await call<Interns>(acme.managementKey, "/interns")).data
  const paused = await fetch(`${api}/interns/${intern?.id}/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${acme.managementKey}`, "content-type": "application/json" },
    body: JSON.stringify({
      stream: true,
      approval_mode: "manual",
      messages: [{ role: "user", content: "echo again" }],
    }),
  })
  await paused.text()
  await page.getByText("scout asks a question").waitFor()
  await page.getByRole("button", { name: "Answer" }).click()
  const question = page.getByRole("region", { name: "Question of the intern" })
  await expect.poll(() => question.getByRole("region", { name: "What would run" }).textContent()).toBe("echo again")
  await question.getByRole("button", { name: "Reject", exact: false }).first().click()
  await expect.poll(() => page.getByTitle("Open questions").count()).toBe(0)
  expect(faults).toEqual([])
})

test("an intern's budget and tools are changed on its page, and cloned with it", async () => {
  const { page, faults } = await openConsole(acme.managementKey, "/interns")
  await page.getByRole("link", { name: "scout" }).click()
  await page.getByRole("link", { name: "About" }).click()
  await page.getByRole("button", { name: "Edit budget and tools" }).click()
  await page.getByLabel("Budget, USD", { exact: true }).fill("20")
  await page.getByLabel("Budget resets").selectOption("monthly")
  await page.getByLabel("Daily budget, USD").fill("2")
  await page.getByLabel("MCP tools").fill("search/query, docs/*")
  expect(await violationsOf(page)).toEqual([])
  await page.getByRole("button", { name: "Save" }).click()
  await page.getByText("left of $20.00, monthly").waitFor()
  await page.getByText("search/query, docs/*").waitFor()

  await page.getByRole("button", { name: "Clone" }).click()
  await page.getByLabel("Name").fill("second")
  await page.getByRole("button", { name: "Clone", exact: true }).last().click()
  await page.getByRole("heading", { level: 1, name: "second" }).waitFor()
  await page.getByText("left of $20.00, monthly").waitFor()
  type Interns = { data: { name: string; limit: number; daily_limit: number; mcp_tools: string[]; usage: number }[] }
  const { data } = await call<Interns>(acme.managementKey, "/interns")
  expect(data.find(({ name }) => name === "second")).toMatchObject({
    limit: 20,
    limit_reset: "monthly",
    daily_limit: 2,
    mcp_tools: ["search/query", "docs/*"],
    usage: 0,
  })

  await page.getByRole("button", { name: "Edit budget and tools" }).click()
  await page.getByLabel("Budget, USD", { exact: true }).fill("")
  await page.getByLabel("MCP tools").fill("no slash")
  await page.getByRole("button", { name: "Save" }).click()
  await page.getByRole("alert").getByText("mcp_tools").waitFor()
  await page.getByLabel("MCP tools").fill("")
  await page.getByRole("button", { name: "Save" }).click()
  await expect.poll(() => page.getByText("search/query").count()).toBe(0)
  expect(faults).toEqual([])
})

test("an intern is created with initial files", async () => {
  const { page, faults } = await openConsole(acme.managementKey, "/interns")
  await page.getByRole("button", { name: "New intern" }).click()
  await page.getByLabel("Name").fill("pirate")
  const agents = { name: "AGENTS.md", mimeType: "text/markdown", buffer: Buffer.from("Speak like a pirate.") }
  await page.getByLabel("Files").setInputFiles([agents])
  expect(await violationsOf(page)).toEqual([])
  await page.getByRole("button", { name: "Create and start" }).click()
  await page.getByRole("heading", { level: 1, name: "pirate" }).waitFor()
  type Interns = { data: { id: string; name: string }[] }
  const { data } = await call<Interns>(acme.managementKey, "/interns")
  const id = data.find(({ name }) => name === "pirate")?.id
  const files = await call<{ data: { path: string }[] }>(acme.managementKey, `/interns/${id}/files`)
  expect(files.data).toEqual([{ path: "/home/intern/AGENTS.md", bytes: 20 }])
  expect(faults).toEqual([])
})

test("a secret of an intern is stored, and its value is not on the page", async () => {
  const { page } = await openConsole(acme.managementKey, "/interns")
  await page.getByRole("link", { name: "scout" }).click()
  await page.getByRole("link", { name: "Vault" }).click()
  await page.getByRole("button", { name: "New secret" }).click()
  await page.getByLabel("Name").fill("github_token")
  await page.getByLabel("Hosts").fill("api.github.com")
  await page.getByLabel("Value").fill("ghp-canary-4711")
  await page.getByRole("button", { name: "Store" }).click()
  await page.getByRole("cell", { name: "github_token", exact: true }).waitFor()
  expect(await page.content()).not.toContain("ghp-canary-4711")
})

test("an alert channel is created and tested, and an exceeded limit is shown as a delivered alert", async () => {
  const got: string[] = []
  const receiver = createServer((request, response) => {
    let body = ""
    request.on("data", (chunk) => (body += String(chunk)))
    request.on("end", () => {
      got.push(body)
      response.end("ok")
    })
  }).listen(0, "127.0.0.1")
  await once(receiver, "listening")
  const { port } = receiver.address() as AddressInfo
  const { page, faults } = await openConsole(acme.managementKey, "/settings?tab=alerts")
  await page.getByText("No alert channels").waitFor()
  await page.getByRole("button", { name: "New channel" }).click()
  await page.getByLabel("Name").fill("#llm-costs")
  await page.getByLabel("URL").fill(`http://127.0.0.1:${port}/slack`)
  await page.getByRole("button", { name: "Create channel" }).click()
  await page.getByRole("button", { name: "Send a test alert" }).click()
  await page.getByText("Test alert: the receiver returned 200").waitFor()
  expect(got.join()).toContain("This is a test of the alert channel")
  const post = (key: string, path: string, body: object) =>
    fetch(`${api}${path}`, {
      method: "POST",
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      body: JSON.stringify(body),
    })
  const made = await post(acme.managementKey, "/keys", { name: "tiny", limit: 0.000_001 })
  const { key } = (await made.json()) as { key: string }
  const messages = [{ role: "user", content: "Hello" }]
  expect((await post(key, "/chat/completions", { model: "sim/echo", messages })).status).toBe(402)
  await expect.poll(() => got.join()).toContain('Key \\"tiny\\" of workspace \\"Default\\" rejected a call')
  await page.reload()
  const alert = page.getByRole("list", { name: "Recent alerts" }).getByRole("listitem").first()
  await alert.getByText('Key "tiny" of workspace "Default" rejected a call').waitFor()
  expect(await alert.textContent()).toContain("delivered")
  expect(faults).toEqual([])
  receiver.close()
})

test("a directory is connected, its group is mapped, and a sync job runs to its end", async () => {
  const { page, faults } = await openConsole(acme.managementKey, "/settings?tab=directories")
  await page.getByRole("button", { name: "Connect a directory" }).click()
  await page.getByLabel("Name").fill("Okta")
  await page.getByRole("button", { name: "Connect", exact: true }).click()
  const token = await page.getByRole("region", { name: "Bearer token" }).textContent()
  const base = await page.getByRole("region", { name: "SCIM base URL" }).textContent()
  const pushed = await fetch(`${base}/Groups`, {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/scim+json" },
    body: JSON.stringify({ schemas: ["urn:ietf:params:scim:schemas:core:2.0:Group"], displayName: "Engineers" }),
  })
  expect(pushed.status).toBe(201)
  await page.reload()
  await page.getByLabel("Group", { exact: true }).selectOption("Engineers")
  await page.getByLabel("Workspace", { exact: true }).selectOption("Default")
  await page.getByRole("button", { name: "Map" }).click()
  await page.getByText("as member").waitFor()
  await page.getByRole("button", { name: "Sync now" }).click()
  await page.getByRole("region", { name: "Sync" }).getByText("succeeded").waitFor()
  await page.getByText("1 groups synced").waitFor()
  await page.getByRole("button", { name: "Replace token" }).click()
  await page.getByLabel("The former token").selectOption("Reject it at once")
  await page.getByRole("button", { name: "Replace", exact: true }).click()
  await page.getByText("Okta has a new token.").waitFor()
  const replaced = await page.getByRole("region", { name: "Bearer token" }).textContent()
  const statusOf = async (bearer: string | null) =>
    (await fetch(`${base}/Groups`, { headers: { authorization: `Bearer ${bearer}` } })).status
  expect([await statusOf(token), await statusOf(replaced)]).toEqual([401, 200])
  expect(faults).toEqual([])
})

test("a user approves an app on the consent page, and the app gets a working key", async () => {
  const verifier = randomBytes(32).toString("base64url")
  const challenge = createHash("sha256").update(verifier).digest("base64url")
  const callback = `${origin}/console/components`
  const query = new URLSearchParams({
    callback_url: callback,
    code_challenge: challenge,
    code_challenge_method: "S256",
  })
  const { page } = await newVisit()
  await page.goto(`${origin}/auth?${query}`)
  expect(await violationsOf(page)).toEqual([])
  await page.getByLabel("Your API key").fill(acme.apiKey)
  await page.getByRole("button", { name: "Sign in" }).click()
  await page.getByRole("heading", { name: /^Give .* a key\?$/ }).waitFor()
  expect(await violationsOf(page)).toEqual([])
  await page.getByRole("button", { name: "Allow" }).click()
  await page.waitForURL((url) => url.searchParams.has("code"))
  const code = new URL(page.url()).searchParams.get("code")
  const exchanged = await fetch(`${origin}/api/v1/auth/keys`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ code, code_verifier: verifier, code_challenge_method: "S256" }),
  })
  const { key } = (await exchanged.json()) as { key: string }
  await call(key, "/key")
})

describe("a normal key", () => {
  test("sees only the pages that it may use", async () => {
    const { page, faults } = await openConsole(acme.apiKey, "/presets")
    const side = page.getByRole("navigation", { name: "Console", exact: true })
    await page.getByRole("link", { name: "support", exact: true }).waitFor()
    const shown = await side.getByRole("link").allTextContents()
    expect(shown).toEqual(expect.arrayContaining(["Overview", "Playground", "Calls", "Models", "Presets"]))
    for (const hidden of ["Guardrails", "Team", "Settings"]) expect(shown).not.toContain(hidden)
    expect(await page.getByRole("button", { name: "New preset" }).count()).toBe(0)
    expect(faults).toEqual([])
  })
})

const PAGES = [
  "/guardrails",
  "/presets/support",
  "/team",
  "/team?tab=workspaces",
  "/settings",
  "/settings?tab=alerts",
  "/settings?tab=directories",
  "/settings?tab=audit",
  "/settings?tab=files",
  "/interns",
]

describe.each([
  { width: 1440, theme: "light" as const },
  { width: 390, theme: "dark" as const },
])("at $width pixels, $theme", (options) => {
  test("no page violates WCAG 2.2 AA or scrolls sideways", async () => {
    const { page, faults } = await openConsole(acme.managementKey, "/", options)
    type Interns = { data: { id: string }[] }
    const [intern] = (await call<Interns>(acme.managementKey, "/interns")).data
    const tabs = ["sessions", "files", "schedules", "vault", "setup", "about"].map((tab) => `?tab=${tab}`)
    for (const path of [...PAGES, ...["", ...tabs].map((tab) => `/interns/${intern?.id}${tab}`)]) {
      await page.goto(`${origin}${path}`)
      await page.getByRole("heading", { level: 1 }).waitFor()
      await loaded(page)
      expect(await violationsOf(page), path).toEqual([])
      const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)
      expect(overflow, path).toBeLessThanOrEqual(0)
    }
    expect(faults).toEqual([])
  })
})
