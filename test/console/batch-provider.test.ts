import { mkdtempSync } from "node:fs"
import { tmpdir } from "node:os"
import path from "node:path"
import { afterAll, beforeAll, expect, test } from "vitest"
import { byNode, end, npmStart, type Started } from "../acceptance/npm-start.ts"
import { hasChromium, newVisit } from "./browser.ts"
import { removeFolder } from "../support/remove-folder.ts"

const state = mkdtempSync(path.join(tmpdir(), "gateway-batch-provider-"))
let gateway: Started
beforeAll(async () => {
  if (!hasChromium) return
  // No server listens there: the batch is created, and its upload to the provider is retried until its window ends.
  const variables = { OPENAI_API_KEY: "vendor-key-0123456789", OPENAI_BASE_URL: "http://127.0.0.1:9/v1" }
  gateway = await npmStart(state, (args) => byNode(args, variables))
})
afterAll(async () => {
  if (!hasChromium) return
  await end(gateway)
  removeFolder(state)
})

test.runIf(hasChromium)("a batch is started at a provider, and its page and the list show that", async () => {
  const { page, context } = await newVisit()
  const { origin } = new URL(gateway.url)
  const session = { data: { key: gateway.managementKey }, headers: { "x-gateway-console": "1" } }
  expect((await context.request.post(`${origin}/console/session`, session)).status()).toBe(201)
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
