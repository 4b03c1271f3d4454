import { type ChildProcess, spawn } from "node:child_process"
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync } from "node:fs"
import { tmpdir } from "node:os"
import path from "node:path"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { startAgent } from "../../src/daemon/agent/agent-process.ts"
import { environmentOf, setupOf } from "../../src/daemon/agent/agents.ts"
import { folderIn, prepare } from "../../src/daemon/files/folder.ts"
import { root } from "../../src/dev/options.ts"
import { end, npmStart, type Started } from "../acceptance/npm-start.ts"
import { eventually } from "../support/eventually.ts"
import { installOpencode } from "../support/install-package.ts"
import { newInternApi } from "./intern-client.ts"
import { removeFolder } from "../support/remove-folder.ts"

/**
 * Measures the table of docs/daemon.md. The embedded agent and opencode always; another agent if it is installed: on
 * the PATH, or by `npm install --prefix .wrangler/agents/NAME PACKAGE`.
 */

const WAIT_MS = 60_000
const AGENTS = ["opencode", "qwen", "gemini", "codex", "claude"]
/** With `--agent NAME`, the daemon starts these commands. */
const COMMANDS: Record<string, string> = { codex: "codex-acp", claude: "claude-agent-acp" }
const PACKAGES: Record<string, string> = {
  opencode: "opencode-ai",
  qwen: "@qwen-code/qwen-code",
  gemini: "@google/gemini-cli",
  codex: "@agentclientprotocol/codex-acp",
  claude: "@agentclientprotocol/claude-agent-acp",
}

let folder: string
let gateway: Started
const running: ChildProcess[] = []

beforeAll(async () => {
  await installOpencode()
  folder = mkdtempSync(path.join(tmpdir(), "gateway-capabilities-"))
  gateway = await npmStart(path.join(folder, "gateway"))
}, 240_000)

afterAll(async () => {
  for (const child of running) if (child.exitCode === null) child.kill("SIGKILL")
  await end(gateway)
  removeFolder(folder)
}, 60_000)

/** The folder of the command of an agent; undefined if it is not installed. */
function folderOf(agent: string): string | undefined {
  const agents = path.join(root, ".wrangler/agents")
  const own = existsSync(agents) ? readdirSync(agents).map((name) => path.join(agents, name, "node_modules/.bin")) : []
  const places = [...own, ...(process.env["PATH"] ?? "").split(path.delimiter)]
  return places.find((place) => existsSync(path.join(place, COMMANDS[agent] ?? agent)))
}

function versionOf(agent: string, commands: string): string {
  const file = path.join(commands, "..", PACKAGES[agent] ?? "", "package.json")
  const { version } = JSON.parse(readFileSync(file, "utf8")) as { version: string }
  return version
}

const yesOrNo = (is: boolean) => (is ? "yes" : "no")

/** Capabilities that an agent announces. */
async function announced(agent: string, commands: string): Promise<string[]> {
  const place = folderIn(path.join(folder, `${agent}-announced`))
  const config = {
    intern_id: "i",
    name: "ada",
    model: "sim/agent",
    instructions: null,
    api_base: gateway.url,
    api_key: gateway.apiKey,
    secrets_url: "",
    egress_url: "",
  }
  const { argv, env, files, firstFiles } = setupOf([agent], config, place)
  await prepare(place, { ...firstFiles, ...files }, undefined)
  const scoped = { ...process.env, PATH: `${commands}:${process.env["PATH"]}` }
  const command = { argv, cwd: place.work, env: environmentOf(scoped, place, [], env), uid: undefined }
  const started = await startAgent(command, { onMessage: () => {}, onExit: () => {} })
  await started.stop()
  const { loadSession, steering, mcpHttp } = started
  return [yesOrNo(loadSession), yesOrNo(steering), yesOrNo(mcpHttp)]
}

/** Behaviour of an agent: in manual mode, in self-drive, and in the usage that it reports. */
async function observed(agent: string, commands: string | undefined): Promise<string[]> {
  const internApi = newInternApi(gateway.url, gateway.apiKey)
  const host = agent === "embedded" ? "embedded" : "daemon"
  const input = { name: `cap-${agent}`, host, model: "sim/agent", provision: true }
  const { id } = await internApi.json<{ id: string }>("POST", "/interns", input)
  const dir = path.join(folder, agent)
  if (host === "daemon") {
    mkdirSync(dir)
    const { token } = await internApi.json<{ token: string }>("POST", `/interns/${id}/daemon/token`)
    const args = ["src/daemon/daemon.ts", "--url", new URL(gateway.url).origin, "--intern", id, "--agent", agent]
    const env = { ...process.env, PATH: `${commands}:${process.env["PATH"]}`, INTERN_JOIN_TOKEN: token }
    running.push(
      spawn(process.execPath, [...args, "--dir", path.join(dir, "intern")], { cwd: root, env, stdio: "ignore" }),
    )
  }
  await eventually(async () => {
    expect(await internApi.json("GET", `/interns/${id}`)).toMatchObject({ status: "running" })
  }, WAIT_MS)
  const hasFile = async (name: string) => {
    if (host === "daemon") return existsSync(path.join(dir, "intern/work", name))
    const { data } = await internApi.json<{ data: { path: string }[] }>("GET", `/interns/${id}/files`)
    return data.some((file) => file.path.endsWith(`/${name}`))
  }
  const command = "echo proof > manual.txt"
  const asked = await (await internApi.prompt(id, `$ ${command}`)).all()
  expect(asked.finish, JSON.stringify(asked.chunks)).toBe("tool_calls")
  expect(await hasFile("manual.txt")).toBe(false)
  const question = JSON.parse(asked.questionText) as { command?: string; folder?: string; options: string[] }
  expect(question.folder).toBe(host === "daemon" ? path.join(dir, "intern/work") : "/home/intern")
  const shown = question.command === command ? "exact command" : (question.command ?? "no command")
  const ended = await (await internApi.answer(id, asked.session, asked.question, "allow_once")).all()
  expect(await hasFile("manual.txt"), JSON.stringify(ended.chunks)).toBe(true)
  const free = await (await internApi.prompt(id, "$ echo proof > free.txt", { approval_mode: "self-drive" })).all()
  expect(free.finish, JSON.stringify(free.chunks)).toBe("stop")
  expect(await hasFile("free.txt")).toBe(true)
  return [shown, question.options.join(", ")]
}

/** The table of the documentation: cells by agent. */
function documented(): Map<string, string[]> {
  const text = readFileSync(path.join(root, "docs/daemon.md"), "utf8")
  const table = text.slice(text.indexOf("## Agents"), text.indexOf("## Container"))
  const rows = table.split("\n").filter((line) => line.startsWith("| `"))
  return new Map(
    rows.map((line) => {
      const [name = "", ...cells] = line
        .split("|")
        .slice(1, -1)
        .map((cell) => cell.trim().replaceAll("`", ""))
      return [name, cells]
    }),
  )
}

test("the table has a row for each agent", () => {
  expect([...documented().keys()]).toEqual(["embedded", ...AGENTS])
})

describe("the table row matches the behaviour of the agent", () => {
  test("embedded", async () => {
    expect(documented().get("embedded")).toEqual([
      "–",
      "–",
      "yes",
      "yes",
      "yes",
      ...(await observed("embedded", undefined)),
    ])
  })

  test.for(AGENTS)("%s", async (agent, { skip }) => {
    const commands = folderOf(agent)
    if (commands === undefined) return skip(`${PACKAGES[agent]} is not installed`)
    const found = [PACKAGES[agent], versionOf(agent, commands), ...(await announced(agent, commands))]
    expect(documented().get(agent)).toEqual([...found, ...(await observed(agent, commands))])
  })
})
