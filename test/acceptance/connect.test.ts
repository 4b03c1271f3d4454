import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import path from "node:path"
import { beforeAll, expect, inject, onTestFinished, test } from "vitest"
import { installClaude, installCodex, installOpencode } from "../support/install-package.ts"
import { gatewayCommand, run } from "./command.ts"
import { newOrganization, type Organization, usageOf } from "./world.ts"
import { removeFolder } from "../support/remove-folder.ts"

let organization: Organization
let commands: string

/** The agents with the API format of each: chat, Responses, Messages. The last argument is the prompt. */
const AGENTS = {
  opencode: {
    file: ".config/opencode/opencode.json",
    argv: ["opencode", "run", "-m", "gateway/sim/echo"],
    shown: '+   "model": "gateway/sim/echo"',
    quiet: { OPENCODE_DISABLE_MODELS_FETCH: "1", OPENCODE_DISABLE_AUTOUPDATE: "1" },
  },
  codex: {
    file: ".codex/config.toml",
    // codex works only in repositories by default.
    argv: ["codex", "exec", "--skip-git-repo-check"],
    shown: '+ model = "sim/echo"',
    quiet: {},
  },
  claude: {
    file: ".claude/settings.json",
    argv: ["claude", "-p"],
    shown: '+     "ANTHROPIC_MODEL": "sim/echo"',
    quiet: { CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1", DISABLE_AUTOUPDATER: "1" },
  },
} as const
type Agent = keyof typeof AGENTS

beforeAll(async () => {
  organization = await newOrganization()
  commands = [await installOpencode(), await installCodex(), await installClaude()].join(path.delimiter)
}, 300_000)

function newHome({ apiKey } = organization) {
  const home = mkdtempSync(path.join(tmpdir(), "gateway-connect-"))
  onTestFinished(() => removeFolder(home))
  const env = {
    HOME: home,
    PATH: `${commands}${path.delimiter}${process.env["PATH"]}`,
    GATEWAY_URL: inject("gateway").url,
    GATEWAY_API_KEY: apiKey,
  }
  const gateway = (...args: string[]) => gatewayCommand(args, env)
  return { home, env, gateway }
}

/** Runs an agent with only the configuration that `connect` wrote: the environment has no variable of the gateway. */
function prompt(agent: Agent, { home, path: searched }: { home: string; path: string }, promptArgs: readonly string[]) {
  const { argv, quiet } = AGENTS[agent]
  const [command, ...args] = argv
  return run(command, [...args, ...promptArgs], { env: { HOME: home, PATH: searched, ...quiet }, cwd: home })
}

test.each(["opencode", "codex", "claude"] as const)(
  "%s calls the gateway after one command, doctor reports it, and undo disconnects it",
  async (agent) => {
    const own = await newOrganization()
    const { home, env, gateway } = newHome(own)
    const file = path.join(home, AGENTS[agent].file)
    const shown = await gateway("connect", agent, "--model", "sim/echo", "--dry-run")
    expect(shown.out).toContain(AGENTS[agent].shown)
    expect(shown.out).not.toContain(own.apiKey)
    expect(existsSync(file)).toBe(false)

    const connected = await gateway("connect", agent, "--model", "sim/echo")
    expect(connected.code, connected.errors).toBe(0)
    expect(connected.out).not.toContain(own.apiKey)
    const answer = await prompt(agent, { home, path: env.PATH }, ["Say marmalade"])
    expect(answer.out, answer.errors).toContain("marmalade")
    expect(await usageOf(own)).toBeGreaterThan(0)

    const checked = await gateway("doctor")
    expect(checked.code, checked.out + checked.errors).toBe(0)
    expect(checked.out).toMatch(new RegExp(`ok +${agent} +uses this gateway`))
    const undone = await gateway("connect", agent, "--undo")
    expect(undone.code, undone.errors).toBe(0)
    expect(existsSync(file)).toBe(false)
  },
)

test("claude's model size names map to the gateway's model", async () => {
  const { home, env, gateway } = newHome()
  expect((await gateway("connect", "claude", "--model", "sim/echo")).code).toBe(0)
  for (const size of ["haiku", "fable"]) {
    const answer = await prompt("claude", { home, path: env.PATH }, ["--model", size, "Say quince"])
    expect(answer.out, answer.errors).toContain("quince")
  }
})

test("doctor checks the key and that a stream is not buffered", async () => {
  const { gateway } = newHome()
  const { code, out, errors } = await gateway("doctor", "--stream", "sim/paced")
  expect(code, out + errors).toBe(0)
  expect(out).toMatch(/ok +key/)
  expect(out).toMatch(/ok +stream/)
})

test("doctor fails for an invalid key and prints the fix", async () => {
  const { env } = newHome()
  const { code, out } = await gatewayCommand(["doctor"], { ...env, GATEWAY_API_KEY: "sk-gw-v1-wrong" })
  expect(code).toBe(1)
  expect(out).toMatch(/FAIL +key.+keys create/)
})

test("a key on the command line is rejected in favour of --key-file", async () => {
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

test.each(["opencode", "codex", "claude"] as const)(
  "the command of a connect link connects %s without this repository, once, and can be undone",
  async (agent) => {
    const { home, env } = newHome()
    const { command, url } = await newLink(agent)
    const machine = { home, path: env.PATH }
    const connected = await shell(command, machine)
    expect(connected.code, connected.errors).toBe(0)
    expect(connected.out).toContain(AGENTS[agent].file)
    expect(connected.out + connected.errors).not.toContain(organization.apiKey)
    const answer = await prompt(agent, machine, ["Say tangerine"])
    expect(answer.out, answer.errors).toContain("tangerine")

    const again = await shell(command, { ...machine, home: newHome().home })
    expect([again.code, again.errors]).toEqual([1, expect.stringContaining("This link was used")])
    const undone = await shell(`curl -fsS ${new URL(url).origin}/connect.js | node - --undo ${agent}`, machine)
    expect(undone.code, undone.errors).toBe(0)
    expect(existsSync(path.join(home, AGENTS[agent].file))).toBe(false)
  },
)

test("connect --link takes the key and the gateway from the link, and does not use it up if it cannot write", async () => {
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
