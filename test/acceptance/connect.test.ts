import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
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

type Link = { data: { url: string; command: string } }

async function newLink(client: string): Promise<Link["data"]> {
  const response = await fetch(`${inject("gateway").url}/connect-links`, {
    method: "POST",
    headers: { authorization: `Bearer ${organization.apiKey}`, "content-type": "application/json" },
    body: JSON.stringify({ client, key: organization.apiKey, model: "sim/echo" }),
  })
  expect(response.status).toBe(201)
  return ((await response.json()) as Link).data
}

/** A shell without the gateway's variables, as on a developer's machine. */
function shell(command: string, { home, path: commands }: { home: string; path: string }) {
  return run("sh", ["-c", command], { env: { HOME: home, PATH: commands }, cwd: home })
}

test("the command of a link connects opencode without this repository, once, and is undone", async () => {
  const { home, env } = newHome()
  const { command, url } = await newLink("opencode")
  const machine = { home, path: env.PATH }
  const connected = await shell(command, machine)
  expect(connected.code, connected.errors).toBe(0)
  expect(connected.out).toContain("opencode.json")
  expect(connected.out + connected.errors).not.toContain(organization.apiKey)
  const quiet = { OPENCODE_DISABLE_MODELS_FETCH: "1", OPENCODE_DISABLE_AUTOUPDATE: "1" }
  const answer = await run("opencode", ["run", "-m", "gateway/sim/echo", "Say tangerine"], {
    env: { HOME: home, PATH: env.PATH, ...quiet },
    cwd: home,
  })
  expect(answer.out, answer.errors).toContain("tangerine")

  const again = await shell(command, { ...machine, home: newHome().home })
  expect([again.code, again.errors]).toEqual([1, expect.stringContaining("This link was used")])
  const undone = await shell(`curl -fsS ${new URL(url).origin}/connect.js | node - --undo opencode`, machine)
  expect(undone.code, undone.errors).toBe(0)
  expect(existsSync(path.join(home, ".config/opencode/opencode.json"))).toBe(false)
})

test("connect --link takes the key and the gateway from the link, and leaves it unused where it cannot write", async () => {
  const { home, env } = newHome()
  const { GATEWAY_API_KEY: _, ...named } = env
  const bare = { ...named, GATEWAY_URL: "http://127.0.0.1:1/api/v1" }
  const { url } = await newLink("codex")
  const file = path.join(home, ".codex/config.toml")
  const connect = (client: string) => gatewayCommand(["connect", client, "--link", url], bare)
  expect(await connect("claude")).toMatchObject({ code: 2, errors: expect.stringContaining("connect codex") })
  mkdirSync(path.dirname(file))
  writeFileSync(file, 'notes = """\nmine\n"""\n')
  expect(await connect("codex")).toMatchObject({ code: 1, errors: expect.stringContaining("by hand") })
  rmSync(file)
  const connected = await connect("codex")
  expect(connected.code, connected.errors).toBe(0)
  expect(readFileSync(file, "utf8")).toContain(`base_url = "${inject("gateway").url}"`)
  expect(readFileSync(path.join(home, ".codex/.env"), "utf8")).toBe(`GATEWAY_API_KEY=${organization.apiKey}\n`)
  expect(await connect("codex")).toMatchObject({ code: 1, errors: expect.stringContaining("Create a new one") })
})
