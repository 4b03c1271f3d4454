import { existsSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import path from "node:path"
import { beforeAll, expect, inject, onTestFinished, test } from "vitest"
import { installOpencode } from "../support/opencode.ts"
import { gatewayCommand, run } from "./command.ts"
import { newOrganization, type Organization, usageOf } from "./world.ts"

let organization: Organization
let commands: string

beforeAll(async () => {
  organization = await newOrganization()
  commands = installOpencode()
}, 300_000)

function newHome() {
  const home = mkdtempSync(path.join(tmpdir(), "gateway-connect-"))
  onTestFinished(() => rmSync(home, { recursive: true, force: true }))
  const env = {
    HOME: home,
    PATH: `${commands}:${process.env["PATH"]}`,
    GATEWAY_URL: inject("gateway").url,
    GATEWAY_API_KEY: organization.apiKey,
  }
  const gateway = (...args: string[]) => gatewayCommand(args, env)
  return { home, env, gateway }
}

test("opencode calls the gateway after one command, doctor finds it, and undo removes it", async () => {
  const { home, env, gateway } = newHome()
  const shown = await gateway("connect", "opencode", "--model", "sim/echo", "--dry-run")
  expect(shown.out).toContain('+   "model": "gateway/sim/echo"')
  expect(shown.out).not.toContain(organization.apiKey)
  expect(existsSync(path.join(home, ".config/opencode/opencode.json"))).toBe(false)

  const connected = await gateway("connect", "opencode", "--model", "sim/echo")
  expect(connected.code, connected.errors).toBe(0)
  expect(connected.out).not.toContain(organization.apiKey)
  const { GATEWAY_API_KEY: _, ...bare } = env
  const quiet = { OPENCODE_DISABLE_MODELS_FETCH: "1", OPENCODE_DISABLE_AUTOUPDATE: "1" }
  const answer = await run("opencode", ["run", "-m", "gateway/sim/echo", "Say marmalade"], {
    env: { ...bare, ...quiet },
    cwd: home,
  })
  expect(answer.out, answer.errors).toContain("marmalade")
  expect(await usageOf(organization)).toBeGreaterThan(0)

  const checked = await gateway("doctor", "--stream", "sim/paced")
  expect(checked.code, checked.out + checked.errors).toBe(0)
  expect(checked.out).toMatch(/ok +opencode +uses this gateway/)
  expect(checked.out).toMatch(/ok +key/)
  expect(checked.out).toMatch(/ok +stream/)
  expect((await gateway("connect", "opencode", "--undo")).code).toBe(0)
  expect(existsSync(path.join(home, ".config/opencode/opencode.json"))).toBe(false)
})

test("doctor fails for a key that is not valid and says what to do", async () => {
  const { env } = newHome()
  const { code, out } = await gatewayCommand(["doctor"], { ...env, GATEWAY_API_KEY: "sk-gw-v1-wrong" })
  expect(code).toBe(1)
  expect(out).toMatch(/FAIL +key.+keys create/)
})

test("a key on the command line is refused unless it is insisted on", async () => {
  const { gateway } = newHome()
  const { code, errors } = await gateway("connect", "codex", "--key", organization.apiKey)
  expect([code, errors]).toEqual([2, expect.stringContaining("--key-file")])
})
