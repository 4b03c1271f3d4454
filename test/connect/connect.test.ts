import { mkdirSync, mkdtempSync, readFileSync, statSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import path from "node:path"
import { parse as parseToml } from "smol-toml"
import { describe, expect, onTestFinished, test } from "vitest"
import { checkClients, checkClock, streamCheckOf } from "../../src/dev/connect/check.ts"
import type { ClientName } from "../../src/connect/clients.ts"
import { diffLines } from "../../src/dev/connect/diff.ts"
import { editFiles } from "../../src/dev/connect/edits.ts"
import { describeUndone, readText, undo, writeFiles } from "../../src/dev/connect/files.ts"
import { removeFolder } from "../support/remove-folder.ts"

const KEY = "sk-gw-v1-test-0123456789"
const BASE = "https://gateway.example.com/api/v1"

function newHome(): string {
  const home = mkdtempSync(path.join(tmpdir(), "gateway-home-"))
  onTestFinished(() => removeFolder(home))
  return home
}

function put(home: string, file: string, text: string): string {
  const full = path.join(home, file)
  mkdirSync(path.dirname(full), { recursive: true })
  writeFileSync(full, text)
  return full
}

function connect(home: string, client: ClientName, model = "acme/chat-1") {
  const connection = { home, base: BASE, key: KEY, model, models: [model, "acme/chat-2"] }
  return writeFiles(home, client, editFiles(client, connection))
}

const stateOf = (home: string, client: ClientName) => checkClients(home, BASE).find(({ about }) => about === client)?.is

describe.each(["codex", "claude", "gemini", "opencode", "qwen"] as const)("%s", (client) => {
  test("is connected with files readable by its user only, and connecting again changes nothing", () => {
    const home = newHome()
    expect(stateOf(home, client)).toBe("absent")
    const files = connect(home, client)
    expect(stateOf(home, client)).toBe("good")
    const texts = files.map(({ path: file }) => readFileSync(file, "utf8"))
    expect(texts.join("\n")).toContain(KEY)
    for (const { path: file } of files) expect(statSync(file).mode & 0o077).toBe(0)
    expect(connect(home, client)).toEqual(files)
    expect(files.map(({ path: file }) => readFileSync(file, "utf8"))).toEqual(texts)
  })

  test("is restored by --undo, also after two connects", () => {
    const home = newHome()
    const [first] = connect(newHome(), client)
    const name = path.relative(path.dirname(path.dirname(first?.path ?? "")), first?.path ?? "")
    const before = name.endsWith(".toml") ? 'model = "mine"\n\n[tui]\nnotifications = true\n' : '{"theme":"dark"}\n'
    const relative = client === "opencode" ? `.config/${name}` : name
    const file = put(home, relative, before)
    connect(home, client)
    connect(home, client, "acme/chat-2")
    expect(readFileSync(file, "utf8")).not.toBe(before)
    undo(home, client, false)
    expect(readFileSync(file, "utf8")).toBe(before)
    expect(stateOf(home, client)).toBe("absent")
    expect(() => undo(home, client, false)).toThrow("nothing to undo")
  })

  test("is not restored over later changes, unless forced", () => {
    const home = newHome()
    const [{ path: file } = { path: "" }] = connect(home, client)
    writeFileSync(file, "changed")
    expect(() => undo(home, client, false)).toThrow("was changed since")
    expect(readFileSync(file, "utf8")).toBe("changed")
    expect(describeUndone(undo(home, client, true))).toContain(`removed   ${file}`)
    expect(readText(file)).toBeUndefined()
  })
})

/** Settings that these versions add to a file at their first start: codex 0.169.0, claude 2.1.332, qwen 0.24.4. */
const ADDED = {
  codex: (text: string) => `${text}\n[tui]\nscreen_reader_detection_done = true\n`,
  claude: (text: string) => addJson(text, { theme: "auto" }),
  gemini: (text: string) => addJson(text, { ui: { theme: "Default" } }),
  opencode: (text: string) => addJson(text, { share: "disabled" }),
  qwen: (text: string) => addJson(text, { $version: 4, ui: { autoModeAcknowledged: true } }),
}

function addJson(text: string, more: object): string {
  return `${JSON.stringify({ ...(JSON.parse(text) as object), ...more }, null, 2)}\n`
}

const BEFORE = {
  codex: '# mine\nmodel = "mine"\n\n[model_providers.gateway]\nbase_url = "old"\n',
  claude: '{\n  "env": {\n    "ANTHROPIC_MODEL": "mine",\n    "A": "b"\n  }\n}\n',
  opencode: '{\n  "provider": {\n    "mine": {}\n  },\n  "model": "mine/one"\n}\n',
  gemini: '{\n  "model": {\n    "name": "mine",\n    "maxSessionTurns": 9\n  }\n}\n',
  qwen: '{\n  "model": {\n    "name": "mine",\n    "maxSessionTurns": 9\n  }\n}\n',
}
const SETTINGS = {
  codex: ".codex/config.toml",
  claude: ".claude/settings.json",
  gemini: ".gemini/settings.json",
  opencode: ".config/opencode/opencode.json",
  qwen: ".qwen/settings.json",
}

describe.each(["codex", "claude", "gemini", "opencode", "qwen"] as const)("undo of %s", (client) => {
  const added = ADDED[client]
  const change = (file: string) => writeFileSync(file, added(readFileSync(file, "utf8")))

  test("keeps settings added since, and restores replaced ones", () => {
    const home = newHome()
    const file = put(home, SETTINGS[client], BEFORE[client])
    connect(home, client)
    change(file)
    expect(undo(home, client, false)).toContainEqual({ path: file, keeps_changes: true, removed: false })
    const after = readFileSync(file, "utf8")
    expect(client === "codex" ? parseToml(after) : JSON.parse(after)).toEqual(
      client === "codex" ? parseToml(added(BEFORE.codex)) : JSON.parse(added(BEFORE[client])),
    )
    expect(stateOf(home, client)).toBe("absent")
  })

  test("removes all gateway settings from a file that did not exist", () => {
    const home = newHome()
    const [{ path: file } = { path: "" }] = connect(home, client)
    change(file)
    // Between two connects, too.
    connect(home, client, "acme/chat-2")
    undo(home, client, false)
    const after = readFileSync(file, "utf8")
    expect(after).toBe(client === "codex" ? added("").trimStart() : added("{}"))
  })

  test("is refused if a setting of the gateway was changed", () => {
    const home = newHome()
    const [{ path: file } = { path: "" }] = connect(home, client)
    const changed = added(readFileSync(file, "utf8").replace("acme/chat-1", "acme/other"))
    writeFileSync(file, changed)
    expect(() => undo(home, client, false)).toThrow("was changed since")
    expect(readFileSync(file, "utf8")).toBe(changed)
  })
})

test.each([
  ["a line in the gateway's table", (text: string) => `${text}query_params = { a = "b" }\n`],
  ["a table below the gateway's", (text: string) => `${text}\n[model_providers.gateway.http_headers]\na = "b"\n`],
  ["a string of several lines", (text: string) => `${text}\n[tui]\nnote = """\nx\n"""\n`],
])("undo of codex is refused for %s", (_, change) => {
  const home = newHome()
  const [{ path: file } = { path: "" }] = connect(home, "codex")
  writeFileSync(file, change(readFileSync(file, "utf8")))
  expect(() => undo(home, "codex", false)).toThrow("was changed since")
})

test("undo of codex keeps comments, and other variables in the file of its key", () => {
  const home = newHome()
  const [{ path: toml } = { path: "" }, { path: env } = { path: "" }] = connect(home, "codex")
  writeFileSync(toml, `# first\n${readFileSync(toml, "utf8")}# about tui\n[tui]\nx = 1\n`)
  writeFileSync(env, `OTHER=1\n${readFileSync(env, "utf8")}`)
  undo(home, "codex", false)
  expect(readFileSync(toml, "utf8")).toBe("# first\n\n# about tui\n[tui]\nx = 1\n")
  expect(readFileSync(env, "utf8")).toBe("OTHER=1\n")
})

test("codex keeps other settings, root keys come before tables, and its key is in no setting", () => {
  const home = newHome()
  const file = put(
    home,
    ".codex/config.toml",
    '# mine\nmodel = "gpt"\napproval_policy = "never"\n\n[model_providers.gateway]\nbase_url = "old"\n\n[tui]\nx = 1\n',
  )
  connect(home, "codex")
  const text = readFileSync(file, "utf8")
  expect(text).toBe(`model = "acme/chat-1"
model_provider = "gateway"

# mine
approval_policy = "never"

[tui]
x = 1

[model_providers.gateway]
name = "Gateway"
base_url = "${BASE}"
env_key = "GATEWAY_API_KEY"
wire_api = "responses"
`)
})

test("claude keeps other settings and gets the base URL without /v1", () => {
  const home = newHome()
  const file = put(home, ".claude/settings.json", '{"permissions":{"allow":["Read"]},"env":{"A":"b"}}')
  connect(home, "claude")
  const settings = JSON.parse(readFileSync(file, "utf8")) as { env: Record<string, string> }
  expect(settings).toMatchObject({
    permissions: { allow: ["Read"] },
    env: { A: "b", ANTHROPIC_BASE_URL: "https://gateway.example.com/api", ANTHROPIC_AUTH_TOKEN: KEY },
  })
  for (const size of ["FABLE", "OPUS", "SONNET", "HAIKU"]) {
    expect(settings.env[`ANTHROPIC_DEFAULT_${size}_MODEL`]).toBe("acme/chat-1")
  }
})

test("opencode has the key in a separate file", () => {
  const home = newHome()
  connect(home, "opencode")
  const settings = readFileSync(path.join(home, ".config/opencode/opencode.json"), "utf8")
  expect(settings).not.toContain(KEY)
  expect(JSON.parse(settings)).toMatchObject({
    model: "gateway/acme/chat-1",
    provider: { gateway: { models: { "acme/chat-1": {}, "acme/chat-2": {} } } },
  })
})

test.each([
  ["claude", ".claude/settings.json", "// mine\n{}"],
  ["codex", ".codex/config.toml", 'notes = """\n[x]\n"""'],
] as const)("settings of %s that cannot be edited safely are not changed", (client, name, before) => {
  const home = newHome()
  const file = put(home, name, before)
  expect(() => connect(home, client)).toThrow("by hand")
  expect(readFileSync(file, "utf8")).toBe(before)
})

test("a connected client with another base URL is reported with the command to fix it", () => {
  const home = newHome()
  connect(home, "qwen")
  put(home, ".qwen/.env", "OPENAI_BASE_URL=https://elsewhere.example.com/v1\n")
  const check = checkClients(home, BASE).find(({ about }) => about === "qwen")
  expect(check).toMatchObject({ is: "broken", message: expect.stringContaining("connect qwen") })
})

test("a clock that is off by minutes is reported", () => {
  const headers = new Headers({ date: "Mon, 23 Nov 2026 10:00:00 GMT" })
  const at = Date.parse("2026-11-23T10:00:00Z")
  expect(checkClock(headers, at + 30_000).is).toBe("good")
  expect(checkClock(headers, at - 300_000)).toMatchObject({ is: "broken", message: expect.stringContaining("300 s") })
})

test("a diff shows added and removed lines", () => {
  expect(diffLines("a\nb\nc\n", "a\nc\nd\n")).toEqual(["  a", "- b", "  c", "+ d"])
  expect(diffLines("", "a\n")).toEqual(["+ a"])
})

test("a stream in one chunk is reported if the model was slow enough to send several", () => {
  const one = { pieces: 1, hasLength: false }
  expect(streamCheckOf({ ...one, ms: 5_000 })).toMatchObject({
    is: "broken",
    message: expect.stringContaining("proxy"),
  })
  expect(streamCheckOf({ ...one, ms: 20 })).toMatchObject({ is: "absent", message: expect.stringContaining("slower") })
  expect(streamCheckOf({ ...one, hasLength: true, ms: 20 }).is).toBe("broken")
  expect(streamCheckOf({ pieces: 4, hasLength: false, ms: 20 }).is).toBe("good")
})
