import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import path from "node:path"
import { describe, expect, onTestFinished, test } from "vitest"
import { checkClients, checkClock, judgeStream } from "../../src/dev/connect/check.ts"
import type { ClientName } from "../../src/connect/clients.ts"
import { diffLines } from "../../src/dev/connect/diff.ts"
import { editFiles } from "../../src/dev/connect/edits.ts"
import { readText, undo, writeFiles } from "../../src/dev/connect/files.ts"

const KEY = "sk-gw-v1-test-0123456789"
const BASE = "https://gateway.example.com/api/v1"

function newHome(): string {
  const home = mkdtempSync(path.join(tmpdir(), "gateway-home-"))
  onTestFinished(() => rmSync(home, { recursive: true, force: true }))
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

describe.each(["codex", "claude", "opencode", "qwen"] as const)("%s", (client) => {
  test("is connected, for its user alone, and connecting again changes nothing", () => {
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

  test("is as before after --undo, also after two connects", () => {
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

  test("is not undone over later changes, unless forced", () => {
    const home = newHome()
    const [{ path: file } = { path: "" }] = connect(home, client)
    writeFileSync(file, "changed")
    expect(() => undo(home, client, false)).toThrow("was changed since")
    expect(readFileSync(file, "utf8")).toBe("changed")
    undo(home, client, true)
    expect(readText(file)).toBeUndefined()
  })
})

test("codex keeps other settings, root keys stand before tables, and its key is in no setting", () => {
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

test("claude keeps other settings and gets the address without /v1", () => {
  const home = newHome()
  const file = put(home, ".claude/settings.json", '{"permissions":{"allow":["Read"]},"env":{"A":"b"}}')
  connect(home, "claude")
  expect(JSON.parse(readFileSync(file, "utf8"))).toMatchObject({
    permissions: { allow: ["Read"] },
    env: { A: "b", ANTHROPIC_BASE_URL: "https://gateway.example.com/api", ANTHROPIC_AUTH_TOKEN: KEY },
  })
})

test("opencode has the key in a file of its own", () => {
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
] as const)("settings of %s that cannot be edited safely are left alone", (client, name, before) => {
  const home = newHome()
  const file = put(home, name, before)
  expect(() => connect(home, client)).toThrow("by hand")
  expect(readFileSync(file, "utf8")).toBe(before)
})

test("a client that was connected and points elsewhere is a fault with its remedy", () => {
  const home = newHome()
  connect(home, "qwen")
  put(home, ".qwen/.env", "OPENAI_BASE_URL=https://elsewhere.example.com/v1\n")
  const check = checkClients(home, BASE).find(({ about }) => about === "qwen")
  expect(check).toMatchObject({ is: "broken", message: expect.stringContaining("connect qwen") })
})

test("a clock that is off by minutes is a fault", () => {
  const headers = new Headers({ date: "Mon, 23 Nov 2026 10:00:00 GMT" })
  const at = Date.parse("2026-11-23T10:00:00Z")
  expect(checkClock(headers, at + 30_000).is).toBe("good")
  expect(checkClock(headers, at - 300_000)).toMatchObject({ is: "broken", message: expect.stringContaining("300 s") })
})

test("a diff shows what is added and removed", () => {
  expect(diffLines("a\nb\nc\n", "a\nc\nd\n")).toEqual(["  a", "- b", "  c", "+ d"])
  expect(diffLines("", "a\n")).toEqual(["+ a"])
})

test("a stream in one piece is a fault where a model was slow enough to send several", () => {
  const one = { pieces: 1, hasLength: false }
  expect(judgeStream({ ...one, ms: 5_000 })).toMatchObject({ is: "broken", message: expect.stringContaining("proxy") })
  expect(judgeStream({ ...one, ms: 20 })).toMatchObject({ is: "absent", message: expect.stringContaining("slower") })
  expect(judgeStream({ ...one, hasLength: true, ms: 20 }).is).toBe("broken")
  expect(judgeStream({ pieces: 4, hasLength: false, ms: 20 }).is).toBe("good")
})
