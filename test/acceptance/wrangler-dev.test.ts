import { spawn } from "node:child_process"
import { once } from "node:events"
import { readFileSync } from "node:fs"
import path from "node:path"
import { expect, onTestFinished, test } from "vitest"
import { readEnvFile } from "../../src/dev/start/dev-vars.ts"
import { familyOf, runningProcesses } from "../../src/local/processes.ts"
import { eventually } from "../support/eventually.ts"
import { findFreePort } from "../support/free-port.ts"
import { cloneTree } from "./clone.ts"
import { withoutProviders } from "./npm-start.ts"

test("wrangler dev in a new clone serves with working keys from the first request", async () => {
  const folder = cloneTree()
  const port = await findFreePort()
  const { bin } = JSON.parse(readFileSync(path.join(folder, "node_modules/wrangler/package.json"), "utf8")) as {
    bin: { wrangler: string }
  }
  const shim = path.join(folder, "node_modules/wrangler", bin.wrangler)
  const env = {
    ...withoutProviders(),
    HOME: folder,
    XDG_CONFIG_HOME: folder,
    CI: "true",
    WRANGLER_SEND_METRICS: "false",
  }
  const child = spawn(process.execPath, [shim, "dev", "--port", String(port)], {
    cwd: folder,
    env,
    stdio: ["ignore", "pipe", "pipe"],
  })
  let printed = ""
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (text: Buffer) => (printed += text.toString()))
  let family: number[] = []
  onTestFinished(async () => {
    child.kill("SIGTERM")
    if (child.exitCode === null && child.signalCode === null) await once(child, "exit")
    await eventually(() => expect(runningProcesses(family)).toEqual([]))
  })
  const origin = `http://127.0.0.1:${port}`
  await eventually(async () => expect((await fetch(`${origin}/health`)).status, printed).toBe(200), 240_000)
  family = familyOf(child.pid ?? 0)
  expect(printed).toContain("The keys for clients are in .dev.env; they work from the first request.")

  const { GATEWAY_API_KEY: key = "" } = readEnvFile(path.join(folder, ".dev.env"))
  const response = await fetch(`${origin}/api/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify({
      model: "embedded/guide",
      messages: [{ role: "user", content: "How do I add my OpenAI key?" }],
    }),
  })
  expect([response.status, await response.text()]).toEqual([200, expect.stringContaining("OPENAI_API_KEY")])
  expect((await fetch(`${origin}/ready`)).status).toBe(200)
  expect(await (await fetch(`${origin}/docs`)).text()).toContain("<!doctype html>")
  // One line for each call, and no error of wrangler or of the Worker.
  expect(printed).toContain('"model":"embedded/guide"')
  expect(printed).not.toMatch(/\[wrangler:error\]|Uncaught/)
}, 90_000)
