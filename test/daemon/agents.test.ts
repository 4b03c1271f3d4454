import { mkdtempSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import path from "node:path"
import { describe, expect, test } from "vitest"
import { environmentOf, setupOf } from "../../src/daemon/agent/agents.ts"
import { toFrames } from "../../src/daemon/agent/to-frames.ts"
import { MAX_FRAME_BYTES } from "../../src/interns/hosts/daemon-protocol.ts"
import { readOptions } from "../../src/daemon/options.ts"
import { AGENT_CONFIG } from "../support/agent-config.ts"
import { removeFolder } from "../support/remove-folder.ts"

const WHERE = { home: "/intern/home" }

describe("the setup of a known agent", () => {
  test("opencode asks before it acts and uses models through the gateway only", () => {
    const { argv, env, files } = setupOf(["opencode"], AGENT_CONFIG, WHERE)
    expect(argv).toEqual(["opencode", "acp"])
    expect(env).toMatchObject({ INTERN_KEY: "sk-intern-own", OPENCODE_CONFIG: "/intern/home/opencode.json" })
    expect(JSON.parse(files["/intern/home/opencode.json"] ?? "")).toMatchObject({
      enabled_providers: ["gw"],
      model: "gw/acme/chat-1",
      provider: { gw: { options: { baseURL: AGENT_CONFIG.api_base, apiKey: "{env:INTERN_KEY}" } } },
      permission: { "*": "ask", read: "allow" },
    })
  })

  test("opencode finds the package for plugins in its lock file, so that it installs nothing from the registry", () => {
    const { firstFiles } = setupOf(["opencode"], AGENT_CONFIG, WHERE)
    const lock = JSON.parse(firstFiles?.["/intern/home/.config/opencode/package-lock.json"] ?? "")
    expect(Object.keys(lock.packages[""].dependencies)).toEqual(["@opencode-ai/plugin"])
    expect(firstFiles).toHaveProperty(["/intern/home/.config/opencode/node_modules/.keep"])
  })

  test("codex asks before it acts and uses models through the gateway only", () => {
    const { env, files, sessionMode } = setupOf(["codex"], AGENT_CONFIG, WHERE)
    expect(env).toEqual({ INTERN_KEY: "sk-intern-own", CODEX_HOME: "/intern/home/.codex" })
    const config = files["/intern/home/.codex/config.toml"] ?? ""
    for (const line of ['model = "acme/chat-1"', 'approval_policy = "on-request"', 'wire_api = "responses"']) {
      expect(config.split("\n")).toContain(line)
    }
    expect(sessionMode).toBe("read-only")
  })

  test("qwen, gemini and claude use models through the gateway only", () => {
    expect(setupOf(["gemini"], AGENT_CONFIG, WHERE)).toMatchObject({
      env: { GEMINI_API_KEY: "sk-intern-own", GOOGLE_GEMINI_BASE_URL: "https://gateway.example.com/api" },
      titlesAreCommands: true,
    })
    expect(setupOf(["qwen"], AGENT_CONFIG, WHERE).env).toEqual({
      OPENAI_API_KEY: "sk-intern-own",
      OPENAI_BASE_URL: AGENT_CONFIG.api_base,
      OPENAI_MODEL: "acme/chat-1",
    })
    expect(setupOf(["claude"], AGENT_CONFIG, WHERE).env).toMatchObject({
      ANTHROPIC_BASE_URL: "https://gateway.example.com/api",
      ANTHROPIC_AUTH_TOKEN: "sk-intern-own",
    })
  })

  test("writes no key to a file", () => {
    for (const agent of ["opencode", "qwen", "gemini", "codex", "claude"]) {
      expect(JSON.stringify(setupOf([agent], AGENT_CONFIG, WHERE).files)).not.toContain("sk-intern-own")
    }
  })

  test("any other command runs as it is written", () => {
    const { argv, env } = setupOf(["node", "agent.js"], { ...AGENT_CONFIG, model: null }, WHERE)
    expect(argv).toEqual(["node", "agent.js"])
    expect(env).toMatchObject({ INTERN_KEY: "sk-intern-own" })
    expect(env).not.toHaveProperty("OPENAI_MODEL")
  })

  test("a known agent without a model names INTERN_MODEL in its error", () => {
    expect(() => setupOf(["qwen"], { ...AGENT_CONFIG, model: null }, WHERE)).toThrow("INTERN_MODEL")
  })
})

test("no secret overrides a variable that the agent needs", () => {
  const secrets = [
    { name: "path", placeholder: "vault-path-0" },
    { name: "home", placeholder: "vault-home-0" },
    { name: "intern_key", placeholder: "vault-intern_key-0" },
    { name: "token", placeholder: "vault-token-0" },
  ]
  const scoped = { PATH: "/bin", INTERN_JOIN_TOKEN: "join", AWS_SECRET_ACCESS_KEY: "aws" }
  const env = environmentOf(scoped, WHERE, secrets, { INTERN_KEY: "sk-intern-own" })
  expect(env).toMatchObject({ PATH: "/bin", HOME: "/intern/home", INTERN_KEY: "sk-intern-own", TOKEN: "vault-token-0" })
  expect(Object.values(env)).not.toContain("join")
  expect(Object.values(env)).not.toContain("aws")
})

test("a long text is split between characters into frames", () => {
  const text = `a${"😀".repeat(400_000)}`
  const update = { sessionUpdate: "agent_message_chunk", content: { type: "text", text } }
  const { send } = toFrames({ jsonrpc: "2.0", method: "session/update", params: { sessionId: "s", update } })
  const texts = send.map((one) => (one as { params: { update: typeof update } }).params.update.content.text)
  expect(texts.join("")).toBe(text)
  expect(texts.every((piece) => piece.isWellFormed())).toBe(true)
  for (const msg of send) expect(Buffer.byteLength(JSON.stringify({ seq: 1e9, msg }))).toBeLessThan(MAX_FRAME_BYTES)
})

test("a response that is too large becomes an error, and a notification is dropped", () => {
  const large = "x".repeat(MAX_FRAME_BYTES)
  expect(toFrames({ jsonrpc: "2.0", id: 1, result: { large } })).toMatchObject({
    send: [{ id: 1, error: { code: -32_603 } }],
  })
  expect(toFrames({ jsonrpc: "2.0", method: "session/update", params: { update: { large } } })).toEqual({ send: [] })
})

describe("the command line", () => {
  const ENV = {
    INTERN_GATEWAY_URL: "https://gateway.example.com/api/v1/",
    INTERN_ID: "i",
    INTERN_JOIN_TOKEN: "t",
    INTERN_AGENT: "qwen",
  }

  test("falls back to environment variables", () => {
    expect(readOptions(["--agent", "node agent.js", "--allow-hosts", "A.example, b.example"], ENV)).toMatchObject({
      url: new URL("https://gateway.example.com/"),
      agent: ["node", "agent.js"],
      dir: expect.stringMatching(/\/intern-i$/),
      allowedHosts: ["a.example", "b.example"],
      agentUid: undefined,
    })
  })

  test.each([
    ["the gateway", { INTERN_GATEWAY_URL: "" }, "--url is missing"],
    ["an address", { INTERN_GATEWAY_URL: "gateway" }, "--url must be"],
    ["the token", { INTERN_JOIN_TOKEN: "" }, "The join token is missing"],
    ["an agent", { INTERN_AGENT: "" }, "--agent is missing"],
    ["a user that is not root", { INTERN_AGENT_UID: "0" }, "--agent-uid must be"],
  ])("without %s reports the missing option", (_, more, argv) => {
    expect(() => readOptions([], { ...ENV, ...more })).toThrow(argv)
  })

  test.each([[["--token", "the-join-token"]], [["--token=the-join-token"]]])(
    "rejects a token in the arguments, where other users could read it: %s",
    (argv) => {
      const failure = (() => {
        try {
          return readOptions(argv, ENV)
        } catch (error) {
          return String(error)
        }
      })()
      expect(failure).toContain("--token-file FILE, --token-stdin")
      expect(failure).not.toContain("the-join-token")
    },
  )

  test("takes the token from stdin, then from a file, then from the environment", () => {
    const folder = mkdtempSync(path.join(tmpdir(), "gateway-token-"))
    const file = path.join(folder, "token")
    writeFileSync(file, "from-a-file\n")
    const read = (argv: string[]) => readOptions(argv, ENV, () => "from-stdin\n").joinToken
    expect(read([])).toBe("t")
    expect(read(["--token-file", file])).toBe("from-a-file")
    expect(read(["--token-file", file, "--token-stdin"])).toBe("from-stdin")
    removeFolder(folder)
  })
})
