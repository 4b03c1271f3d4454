import { spawn } from "node:child_process"
import { once } from "node:events"
import { mkdtempSync } from "node:fs"
import net, { type AddressInfo } from "node:net"
import { tmpdir } from "node:os"
import path from "node:path"
import { expect, test } from "vitest"
import { end, npmStart } from "../acceptance/npm-start.ts"
import { eventually } from "../support/eventually.ts"
import { hasChromium, newVisit } from "./browser.ts"
import { removeFolder } from "../support/remove-folder.ts"

async function freePort(): Promise<number> {
  const server = net.createServer().listen(0, "127.0.0.1")
  await once(server, "listening")
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, "close")
  return port
}

test.runIf(hasChromium)("npm run dev serves the console from its sources, at every path of a page", async () => {
  const state = mkdtempSync(path.join(tmpdir(), "gateway-dev-"))
  const port = await freePort()
  const env = { ...process.env, PORT: String(port) }
  const started = await npmStart(state, (args) =>
    spawn(process.execPath, ["src/dev/dev.ts", ...args], { env, stdio: ["ignore", "pipe", "pipe"] }),
  )
  const origin = `http://127.0.0.1:${port}`
  await eventually(async () => expect((await fetch(origin)).status).toBe(200))
  const { page, context } = await newVisit()
  await page.goto(`${origin}/keys/none`)
  await page.getByLabel("API key").fill(started.managementKey)
  await page.getByRole("button", { name: "Sign in" }).click()
  await page.getByRole("heading", { level: 1, name: "Key" }).waitFor()
  await page.getByRole("link", { name: "Keys", exact: true }).first().click()
  await page.getByRole("link", { name: "First key" }).waitFor()
  await context.close()
  await end(started)
  removeFolder(state)
})
