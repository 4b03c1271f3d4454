import { once } from "node:events"
import { mkdtempSync } from "node:fs"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { tmpdir } from "node:os"
import path from "node:path"
import { afterAll, beforeAll, expect, test } from "vitest"
import { byNode, end, npmStart, type Started } from "../acceptance/npm-start.ts"
import { hasChromium, newVisit, type Visit } from "./browser.ts"
import { removeFolder } from "../support/remove-folder.ts"

/** The console of a gateway whose operator set more than the defaults. */

/** An external check that flags texts with the word `forbidden`. */
const checkServer = createServer((request, response) => {
  let body = ""
  request.on("data", (chunk: Buffer) => (body += chunk.toString()))
  request.on("end", () => response.end(JSON.stringify({ flagged: body.includes("forbidden"), categories: ["rules"] })))
})

const state = mkdtempSync(path.join(tmpdir(), "gateway-configured-"))
let gateway: Started
beforeAll(async () => {
  if (!hasChromium) return
  await once(checkServer.listen(0, "127.0.0.1"), "listening")
  const { port } = checkServer.address() as AddressInfo
  const checks = JSON.stringify([{ name: "house-rules", url: `http://127.0.0.1:${port}/check` }])
  // No server listens there: the batch is created, and its upload to the provider is retried until its window ends.
  const provider = { OPENAI_API_KEY: "vendor-key-0123456789", OPENAI_BASE_URL: "http://127.0.0.1:9/v1" }
  const variables = { ...provider, CONTENT_CHECKS: checks }
  gateway = await npmStart(state, (args) => byNode(args, variables))
})
afterAll(async () => {
  if (!hasChromium) return
  await end(gateway)
  checkServer.close()
  removeFolder(state)
})

async function signIn(): Promise<Visit & { origin: string }> {
  const visit = await newVisit()
  const { origin } = new URL(gateway.url)
  const session = { data: { key: gateway.managementKey }, headers: { "x-gateway-console": "1" } }
  expect((await visit.context.request.post(`${origin}/console/session`, session)).status()).toBe(201)
  return { ...visit, origin }
}

test.runIf(hasChromium)("an external check is tried on a text, and saved with a guardrail", async () => {
  const { page, context, origin } = await signIn()
  const authorization = `Bearer ${gateway.managementKey}`
  const post = { data: { name: "House rules" }, headers: { authorization } }
  const { data: made } = await (await context.request.post(`${gateway.url}/guardrails`, post)).json()
  await page.goto(`${origin}/guardrails/${made.id}`)
  await page.getByLabel("house-rules").selectOption({ label: "Block both" })
  await page.getByLabel("Text", { exact: true }).fill("A forbidden plan")
  await page.getByRole("button", { name: "Run external checks" }).click()
  await page
    .getByRole("list", { name: "Results of external checks" })
    .getByText("house-rules: flagged: rules")
    .waitFor()
  await page.getByRole("button", { name: "Save" }).click()
  await page.getByText("Saved. New calls follow the rules").waitFor()
  const stored = await context.request.get(`${gateway.url}/guardrails/${made.id}`, { headers: { authorization } })
  expect((await stored.json()).data.content_checks).toEqual([
    { check: "house-rules", action: "block", direction: "both" },
  ])
  await page.goto(`${origin}/guardrails`)
  await page.getByRole("row").filter({ hasText: "House rules" }).getByText("blocks house-rules").waitFor()
  await context.close()
})

test.runIf(hasChromium)("a batch is started at a provider, and its page and the list show that", async () => {
  const { page, context, origin } = await signIn()
  const anthropic = { provider: "anthropic", key: "sk-ant-vendor-0123456789" }
  const authorization = `Bearer ${gateway.managementKey}`
  const added = await context.request.post(`${gateway.url}/byok`, { data: anthropic, headers: { authorization } })
  expect(added.status()).toBe(201)
  await page.goto(`${origin}/batches?new=1`)
  const body = { model: "openai/gpt-5-mini", messages: [{ role: "user", content: "Hi" }] }
  const line = JSON.stringify({ custom_id: "a", method: "POST", url: "/v1/chat/completions", body })
  await page
    .getByLabel("Request file")
    .setInputFiles({ name: "night.jsonl", mimeType: "application/jsonl", buffer: Buffer.from(`${line}\n`) })
  await page.getByText("Each request is an ordinary call of the key").waitFor()
  // The gateway has no key of Anthropic, the workspace has.
  await expect
    .poll(() => page.getByLabel("Runs").innerText())
    .toContain("In batches of Anthropic, at 50 % of its prices")
  await page.getByLabel("Runs").selectOption({ label: "In batches of OpenAI, at 50 % of its prices" })
  await page.getByText("The provider runs the requests when it has capacity").waitFor()
  await page.getByRole("button", { name: "Start 1 request" }).click()
  await page.getByRole("heading", { level: 1, name: "night.jsonl" }).waitFor()
  await page.getByText("in batches of").getByRole("link", { name: "openai" }).waitFor()
  await page.goto(`${origin}/batches`)
  await page.getByText("at openai").waitFor()
  await context.close()
})
