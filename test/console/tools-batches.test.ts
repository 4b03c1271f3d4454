import { once } from "node:events"
import http from "node:http"
import type { AddressInfo } from "node:net"
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js"
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { hasChromium, newOrganization, type Organization, origin, visiting } from "./browser.ts"

const documents = http.createServer((request, response) => {
  const server = new McpServer({ name: "documents", version: "1.0.0" })
  for (const name of ["search", "remove"]) {
    server.registerTool(name, { description: `It can ${name}.` }, () => ({ content: [{ type: "text", text: "done" }] }))
  }
  const transport = new StreamableHTTPServerTransport({})
  void server.connect(transport).then(() => transport.handleRequest(request, response))
})

let organization: Organization
beforeAll(async () => {
  organization = await newOrganization()
  documents.listen(0, "127.0.0.1")
  await once(documents, "listening")
})
afterAll(async () => {
  documents.close()
})

const line = (id: string, model: string) =>
  JSON.stringify({
    custom_id: id,
    method: "POST",
    url: "/v1/chat/completions",
    body: { model, messages: [{ role: "user", content: id }] },
  })

describe.runIf(hasChromium)("MCP servers and batches", () => {
  test("a server is added, its tools are listed and allowed for a key, and it is deleted", async () => {
    await visiting(organization.managementKey, async (page) => {
      await page.goto(`${origin}/mcp-servers`)
      await page.getByText("No MCP servers in this workspace").waitFor()
      await page.getByRole("button", { name: "Add a server" }).click()
      await page.getByLabel("URL").fill(`http://127.0.0.1:${(documents.address() as AddressInfo).port}/mcp`)
      await page.getByLabel("Slug").fill("documents")
      await page.getByLabel("Headers").fill("Authorization: Bearer token-of-the-documents")
      await page.getByLabel("Price per call, USD").fill("0.002")
      await page.getByRole("button", { name: "Add the server" }).click()
      await page.getByRole("heading", { level: 1, name: "documents" }).waitFor()
      expect(await page.getByText("token-of-the-documents").count()).toBe(0)

      await page.getByRole("button", { name: "List tools" }).click()
      await page.getByRole("button", { name: /^Allow documents\/\* for this key/ }).click()
      await page.getByText("It can search.").waitFor()

      await page.getByRole("button", { name: "Allow a key" }).click()
      const dialog = page.getByRole("dialog")
      await expect.poll(() => dialog.getByLabel("Key").locator("option").count()).toBeGreaterThan(1)
      await dialog.getByLabel("Key").selectOption({ index: 1 })
      await dialog.getByLabel(/^Every tool of documents/).uncheck()
      await dialog.getByLabel("search", { exact: true }).check()
      await dialog.getByRole("button", { name: "Save" }).click()
      await page.getByText(/may call search of documents/).waitFor()

      await page.getByRole("button", { name: "Turn off" }).click()
      await page.getByText("off: clients get 404", { exact: true }).waitFor()
      await page.getByRole("button", { name: "Delete" }).click()
      await page
        .getByRole("dialog")
        .getByLabel(/Type documents/)
        .fill("documents")
      await page.getByRole("dialog").getByRole("button", { name: "Delete the server" }).click()
      await page.getByText("No MCP servers in this workspace").waitFor()
    })
  })

  test("a file of requests is checked, runs as a batch, and its results can be downloaded", async () => {
    await visiting(organization.managementKey, async (page) => {
      await page.goto(`${origin}/batches`)
      await page.getByRole("button", { name: "Start a batch" }).first().click()
      const choose = (text: string) =>
        page
          .getByLabel("Request file")
          .setInputFiles({ name: "labels.jsonl", mimeType: "application/jsonl", buffer: Buffer.from(text) })
      await choose("not JSON\n")
      expect(
        await page
          .getByRole("dialog")
          .getByRole("button", { name: /^Start/ })
          .isDisabled(),
      ).toBe(true)
      await choose(`${line("a", "sim/echo")}\n${line("b", "sim/status-400")}\n`)
      await page.getByRole("button", { name: "Start 2 requests" }).click()
      await page.getByRole("heading", { level: 1, name: "labels.jsonl" }).waitFor()
      await page.getByText("2 of 2").first().waitFor()
      await page.getByText(/^labels\.jsonl, \d+\sB$/).waitFor()
      await page
        .getByText(/completed/)
        .first()
        .waitFor()
      const [download] = await Promise.all([
        page.waitForEvent("download"),
        page.getByRole("button", { name: /results/i }).click(),
      ])
      expect(download.suggestedFilename()).toMatch(/\.jsonl$/)
    })
  })
})
