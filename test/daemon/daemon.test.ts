import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import path from "node:path"
import type { AnyRequest } from "@agentclientprotocol/sdk"
import { afterEach, describe, expect, test } from "vitest"
import { eventually } from "../support/eventually.ts"
import { API_KEY, FakeGateway, JOIN_TOKEN } from "./gateway.ts"
import { AGENT, type Daemon, runDaemon } from "./run-daemon.ts"
import { removeFolder } from "../support/remove-folder.ts"

const ending: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const end of ending.splice(0).toReversed()) await end()
})

async function newGateway(): Promise<FakeGateway> {
  const gateway = await new FakeGateway().open()
  ending.push(() => gateway.close())
  return gateway
}

function start(gateway: FakeGateway, more: Parameters<typeof runDaemon>[1] = {}): Daemon {
  const daemon = runDaemon(gateway.port, more)
  ending.push(() => daemon.stop())
  return daemon
}

/** A connected daemon with a session of its agent. */
async function begin(more: Parameters<typeof runDaemon>[1] = {}, set: (gateway: FakeGateway) => void = () => {}) {
  const gateway = await newGateway()
  set(gateway)
  const daemon = start(gateway, more)
  const { sessionId } = await gateway.result("session/new")
  return { gateway, daemon, sessionId: String(sessionId) }
}

/** The agent's process id, where the system has /proc. */
function agentOf({ process: { pid } }: Daemon): string {
  const file = `/proc/${pid}/task/${pid}/children`
  return existsSync(file) ? readFileSync(file, "utf8").trim() : ""
}

const choose = (gateway: FakeGateway, { id }: AnyRequest, optionId: string) =>
  gateway.send({ jsonrpc: "2.0", id, result: { outcome: { outcome: "selected", optionId } } })

const ENDED = { stopReason: "end_turn", usage: { inputTokens: 10, outputTokens: 5, totalTokens: 15 } }

describe("a daemon", () => {
  test("connects, reports its agent, and relays a prompt and its updates", async () => {
    const { gateway, sessionId } = await begin()
    expect(gateway.hellos).toEqual([{ version: 1, epoch: expect.any(String), next: 1, oldest: 1, from: 1 }])
    const ready = await gateway.notified("_intern/ready")
    expect(ready.params).toEqual({ agent: { name: "scripted", version: "1.0.0" }, loadSession: true, steering: false })
    const answer = await gateway.prompt(sessionId, "think of it\nsay one two three")()
    expect(answer).toMatchObject({ result: ENDED })
    expect([gateway.text(), gateway.text("agent_thought_chunk")]).toEqual(["one two three ", "of it"])
  })

  test("passes the MCP servers of its intern to an agent that supports them, in new and loaded sessions", async () => {
    const set = (gateway: FakeGateway) => (gateway.more = { mcp_servers: ["search", "db"] })
    const { gateway, sessionId } = await begin({ agent: `${AGENT} --mcp` }, set)
    const headers = [{ name: "Authorization", value: `Bearer ${API_KEY}` }]
    const base = `http://127.0.0.1:${gateway.port}/api/v1`
    const servers = ["search", "db"].map((name) => ({ type: "http", name, url: `${base}/mcp/${name}`, headers }))
    await gateway.prompt(sessionId, "servers")()
    expect(JSON.parse(gateway.text())).toEqual(servers)
    await gateway.result("session/load", { sessionId, mcpServers: [{ name: "of the client" }] })
    gateway.received.length = 0
    await gateway.prompt(sessionId, "servers")()
    expect(JSON.parse(gateway.text())).toEqual(servers)
  })

  test("authenticates an agent that requires it, with the chosen method, for new and loaded sessions", async () => {
    const more = { agent: `${AGENT} --sign-in`, args: ["--auth-method", "token"] }
    const { gateway, daemon, sessionId } = await begin(more)
    expect(await gateway.prompt(sessionId, "say kept")()).toMatchObject({ result: ENDED })
    const restarted = agentOf(daemon)
    if (restarted !== "") process.kill(Number(restarted), "SIGKILL")
    await gateway.notified("_intern/ready", 1)
    await gateway.result("session/load", { sessionId })
    expect(await gateway.prompt(sessionId, "say again")()).toMatchObject({ result: ENDED })
  })

  test.each([[], ["--auth-method", "browser"]])(
    "reports what to do if an agent requires authentication, with the options %j",
    async (...args) => {
      const gateway = await newGateway()
      start(gateway, { agent: `${AGENT} --sign-in`, args })
      const answer = await gateway.request("session/new")()
      const message = expect.stringMatching(
        /requires authentication \(Sign in first\)\. .+--auth-method\. Methods of this agent: token\.$/,
      ) as string
      expect(answer).toMatchObject({ error: { code: -32_000, message } })
    },
  )

  test("sets the chosen session mode of an agent", async () => {
    const { gateway, sessionId } = await begin({ args: ["--session-mode", "careful"] })
    await gateway.prompt(sessionId, "mode")()
    expect(gateway.text()).toBe("careful")
  })

  test("passes no MCP servers to an agent without HTTP support, and logs that", async () => {
    const set = (gateway: FakeGateway) => (gateway.more = { mcp_servers: ["search"] })
    const { gateway, daemon, sessionId } = await begin({}, set)
    await gateway.prompt(sessionId, "servers")()
    expect(gateway.text()).toBe("[]")
    expect(daemon.printed()).toContain("does not support MCP servers over HTTP")
  })

  test("gives the agent its key, and neither the join token nor the rest of its environment", async () => {
    const { gateway, sessionId, daemon } = await begin()
    const names = ["INTERN_KEY", "OPENAI_API_KEY", "OPENAI_MODEL", "INTERN_JOIN_TOKEN", "CANARY_OF_THE_DAEMON", "HOME"]
    await gateway.prompt(sessionId, names.map((name) => `env ${name}`).join("\n"))()
    expect(gateway.text()).toBe(
      `INTERN_KEY=${API_KEY}OPENAI_API_KEY=${API_KEY}OPENAI_MODEL=sim/echoINTERN_JOIN_TOKEN=CANARY_OF_THE_DAEMON=` +
        `HOME=${daemon.dir}/home`,
    )
    expect(readFileSync(path.join(daemon.dir, "work/AGENTS.md"), "utf8")).toBe("Be brief.\n")
    expect(daemon.printed()).not.toContain(JOIN_TOKEN)
    expect(daemon.printed()).not.toContain(API_KEY)
  })

  test("relays questions and answers with the agent's folder: one, two at once, and a form", async () => {
    const { gateway, daemon, sessionId } = await begin()
    const requests = gateway.prompt(sessionId, "ask rm\nask-two a b\nelicit Your name?")
    const question = await gateway.question("session/request_permission")
    const cwd = path.join(daemon.dir, "work")
    expect(question.params).toMatchObject({ sessionId, toolCall: { title: "rm" }, _meta: { cwd } })
    choose(gateway, question, "o-allow_once")
    const [a, b] = [
      await gateway.question("session/request_permission", 1),
      await gateway.question("session/request_permission", 2),
    ]
    choose(gateway, b, "o-reject_once")
    choose(gateway, a, "o-allow_always")
    const form = await gateway.question("elicitation/create")
    expect(form.params).toMatchObject({ mode: "form", message: "Your name?" })
    gateway.send({ jsonrpc: "2.0", id: form.id, result: { action: "accept", content: { name: "Ada" } } })
    expect(await requests()).toMatchObject({ result: ENDED })
    expect(gateway.text()).toBe(
      'rm: allow_oncea: allow_always, b: reject_once{"action":"accept","content":{"name":"Ada"}}',
    )
  })

  test("sends a question after the tool input that its agent reports late", async () => {
    const { gateway, sessionId } = await begin()
    const requests = gateway.prompt(sessionId, "late-input search")
    const question = await gateway.question("session/request_permission")
    const before = gateway.received.slice(
      0,
      gateway.received.findIndex((one) => "id" in one && one.id === question.id),
    )
    expect(JSON.stringify(before)).toContain('"rawInput":{"text":"rivers"}')
    choose(gateway, question, "o-allow_once")
    expect(await requests()).toMatchObject({ result: ENDED })
  })

  test("cancels the running turn", async () => {
    const { gateway, sessionId } = await begin()
    const requests = gateway.prompt(sessionId, "say begun\nhold")
    await eventually(() => expect(gateway.text()).toBe("begun "))
    gateway.notify("session/cancel", { sessionId })
    expect(await requests()).toMatchObject({ result: { stopReason: "cancelled" } })
  })

  test("relays an error of the agent unchanged, and rejects methods that are not for clients", async () => {
    const { gateway, sessionId } = await begin()
    expect(await gateway.prompt(sessionId, "fail 402 no credit left")()).toMatchObject({
      error: { code: -32_603, message: "402 no credit left" },
    })
    await gateway.prompt(sessionId, "other fs/read_text_file")()
    expect(gateway.text()).toBe("refused with -32601")
    expect(await gateway.request("fs/read_text_file")()).toMatchObject({ error: { code: -32_601 } })
  })
})

describe("a conversation that outlives its sockets", () => {
  test("goes on after the gateway was killed at an open question, unnoticed by the agent", async () => {
    const { gateway, sessionId } = await begin()
    const requests = gateway.prompt(sessionId, "say before\nask rm\nsay after")
    const question = await gateway.question("session/request_permission")
    await gateway.restart()
    choose(gateway, question, "o-allow_once")
    expect(await requests()).toMatchObject({ result: ENDED })
    expect(gateway.text()).toBe("before rm: allow_onceafter ")
    expect(new Set(gateway.hellos.map(({ epoch }) => epoch)).size).toBe(1)
    expect(gateway.hellos.length).toBeGreaterThan(1)
  })

  test("resends unacknowledged frames and drops duplicates", async () => {
    const { gateway, sessionId } = await begin()
    gateway.isAcking = false
    await gateway.prompt(sessionId, "say one two")()
    gateway.sever()
    await eventually(() => expect(gateway.hellos).toHaveLength(2))
    const [, again] = gateway.hellos
    expect(again?.oldest).toBeLessThan(again?.next ?? 0)
    gateway.isAcking = true
    // A duplicate frame is dropped; one that skips a number closes the socket.
    gateway.raw({ seq: 1, msg: { jsonrpc: "2.0", id: "dup", method: "session/new", params: {} } })
    await gateway.prompt(sessionId, "say three")()
    expect(gateway.text()).toBe("one two three ")
    expect(gateway.received.some((message) => "id" in message && message.id === "dup")).toBe(false)
    gateway.raw({ seq: 1_000, msg: { jsonrpc: "2.0", method: "session/cancel", params: { sessionId } } })
    await eventually(() => expect(gateway.closes).toContain(4001))
    await gateway.prompt(sessionId, "say four")()
    expect(gateway.text()).toBe("one two three four ")
    expect(new Set(gateway.hellos.map(({ epoch }) => epoch)).size).toBe(1)
  })

  test("restarts with a new agent if the gateway wants frames that are no longer kept", async () => {
    const { gateway, sessionId } = await begin()
    await gateway.prompt(sessionId, "say one")()
    await eventually(() => expect(gateway.hellos).toHaveLength(1))
    gateway.welcome = { from: 1 }
    gateway.sever()
    await eventually(() => {
      expect(gateway.hellos).toHaveLength(3)
      expect(gateway.closes).toContain(4002)
    })
    expect(gateway.hellos[2]).toMatchObject({ next: 1, oldest: 1, from: 1 })
    expect(gateway.hellos[2]?.epoch).not.toBe(gateway.hellos[0]?.epoch)
    expect(await gateway.prompt(sessionId, "say two")()).toMatchObject({
      error: { message: expect.stringContaining("no session") },
    })
    await gateway.result("session/load", { sessionId })
    expect(gateway.text()).toBe("one one ")
  })

  test("drops the oldest kept frames beyond 4 MiB, and then restarts", async () => {
    const { gateway, sessionId } = await begin()
    gateway.isAcking = false
    const lines = Array.from({ length: 6 }, () => "big 900000").join("\n")
    await gateway.prompt(sessionId, lines)()
    const reported = gateway.hellos.length
    gateway.welcome = { from: 1 }
    gateway.sever()
    await eventually(() => expect(gateway.hellos.length).toBe(reported + 2))
    expect(gateway.hellos[reported]?.oldest).toBeGreaterThan(1)
  })

  test("starts a new epoch after a restart of the daemon, and can load the session from disk", async () => {
    const home = mkdtempSync(path.join(tmpdir(), "gateway-daemon-"))
    const { gateway, sessionId, daemon } = await begin({ dir: home })
    await gateway.prompt(sessionId, "say remembered")()
    daemon.process.kill("SIGKILL")
    await daemon.exited
    start(gateway, { dir: home })
    await gateway.notified("_intern/ready", 1)
    await gateway.result("session/load", { sessionId })
    expect(gateway.text()).toBe("remembered remembered ")
    expect(gateway.text("user_message_chunk")).toBe("say remembered")
    expect(new Set(gateway.hellos.map(({ epoch }) => epoch)).size).toBe(2)
    removeFolder(home)
  })
})

describe("frames of at most 1 MiB", () => {
  test("split a long text", async () => {
    const { gateway, sessionId } = await begin()
    await gateway.prompt(sessionId, "big 3000000")()
    expect(gateway.text()).toBe("x".repeat(3_000_000))
    expect(gateway.received.length).toBeGreaterThan(10)
  })

  test("cannot carry a long question, and the agent gets an error", async () => {
    const { gateway, sessionId } = await begin()
    await gateway.prompt(sessionId, "big-question 1100000")()
    expect(gateway.text()).toBe("refused with -32603")
  })
})

describe("a message to a running turn", () => {
  const text = (texts: string) => [{ type: "text", text: texts }]

  test("is injected by an agent that supports steering", async () => {
    const { gateway, sessionId } = await begin({ agent: `${AGENT} --steering` })
    const requests = gateway.prompt(sessionId, "say begun\nsteered")
    await eventually(() => expect(gateway.text()).toBe("begun "))
    expect(await gateway.result("_intern/steer", { sessionId, prompt: text("left") })).toEqual({ outcome: "injected" })
    expect(await requests()).toMatchObject({ result: ENDED })
    expect(gateway.text()).toBe("begun steered: left")
  })

  test("is queued otherwise, and the turn ends after the last one with the total usage", async () => {
    const { gateway, sessionId } = await begin()
    const requests = gateway.prompt(sessionId, "ask rm")
    const question = await gateway.question("session/request_permission")
    for (const texts of ["say second", "say third"]) {
      expect(await gateway.result("_intern/steer", { sessionId, prompt: text(texts) })).toEqual({ outcome: "queued" })
    }
    choose(gateway, question, "o-allow_once")
    expect(await requests()).toMatchObject({
      result: { stopReason: "end_turn", usage: { inputTokens: 30, outputTokens: 15, totalTokens: 45 } },
    })
    expect(gateway.text()).toBe("rm: allow_oncesecond third ")
  })

  test("is dropped when the turn is cancelled, and rejected when no turn runs", async () => {
    const { gateway, sessionId } = await begin()
    const requests = gateway.prompt(sessionId, "say begun\nhold")
    await eventually(() => expect(gateway.text()).toBe("begun "))
    await gateway.result("_intern/steer", { sessionId, prompt: text("say never") })
    gateway.notify("session/cancel", { sessionId })
    expect(await requests()).toMatchObject({ result: { stopReason: "cancelled" } })
    const late = await gateway.request("_intern/steer", { sessionId, prompt: text("say never") })()
    expect(late).toMatchObject({ error: { code: -32_001 } })
    await gateway.prompt(sessionId, "say next")()
    expect(gateway.text()).toBe("begun next ")
  })
})

describe("an agent", () => {
  test("that dies fails its open requests and is restarted in a new epoch", async () => {
    const { gateway, sessionId } = await begin()
    const requests = gateway.prompt(sessionId, "ask-two a b")
    await gateway.question("session/request_permission", 1)
    const other = await gateway.result("session/new")
    const crashed = gateway.prompt(String(other["sessionId"]), "crash 7")
    expect(await crashed()).toMatchObject({ error: { code: -32_603 } })
    expect(await requests()).toMatchObject({ error: { code: -32_603 } })
    expect((await gateway.notified("_intern/agent_exited")).params).toEqual({
      code: 7,
      message: "The agent exited with code 7.",
    })
    await eventually(() => expect(new Set(gateway.hellos.map(({ epoch }) => epoch)).size).toBe(2))
    // A new numbering: nothing of the former epoch is left.
    expect(gateway.hellos.at(-1)).toMatchObject({ next: 1, oldest: 1, from: 1 })
    await gateway.notified("_intern/ready", 1)
    await gateway.result("session/load", { sessionId: other["sessionId"] })
    expect(await gateway.prompt(String(other["sessionId"]), "say back")()).toMatchObject({ result: ENDED })
  })

  test("that fails to start is reported to the gateway and started again on the next request", async () => {
    const gateway = await newGateway()
    start(gateway, { agent: "/no/such/agent" })
    const message = expect.stringContaining("/no/such/agent is not installed where the daemon runs") as string
    expect((await gateway.notified("_intern/agent_exited")).params).toEqual({ code: null, message })
    expect(await gateway.request("session/new")()).toMatchObject({ error: { message } })
  })

  test("that exits at its start is reported with its code and where to find its output", async () => {
    const gateway = await newGateway()
    start(gateway, { agent: `${process.execPath} -e process.exit(7)` })
    const { params } = await gateway.notified("_intern/agent_exited")
    expect(params).toMatchObject({
      message: expect.stringContaining("ended before it was ready, with code 7.") as string,
    })
    expect(params).toMatchObject({ message: expect.stringContaining("in the output of the daemon") as string })
  })

  test("of a known name that exits at its start is reported with its package", async () => {
    const gateway = await newGateway()
    const folder = mkdtempSync(path.join(tmpdir(), "gateway-broken-agent-"))
    writeFileSync(path.join(folder, "codex-acp"), "#!/bin/sh\nexit 1\n", { mode: 0o755 })
    try {
      const place = [folder, path.dirname(process.execPath), process.env["PATH"]].join(path.delimiter)
      start(gateway, { agent: "codex", path: place })
      const message = expect.stringContaining("npm install -g @agentclientprotocol/codex-acp") as string
      expect((await gateway.notified("_intern/agent_exited")).params).toMatchObject({ message })
    } finally {
      removeFolder(folder)
    }
  })

  test("is stopped by a shutdown, and restarted by the next provision in a new epoch with its disk", async () => {
    const { gateway, sessionId, daemon } = await begin()
    await gateway.prompt(sessionId, "say kept")()
    gateway.intern = "stopped"
    expect(await gateway.result("_intern/shutdown")).toEqual({})
    expect(await gateway.request("session/new")()).toMatchObject({ error: { message: "The agent was stopped." } })
    // A socket that breaks meanwhile starts nothing.
    gateway.sever()
    await eventually(() => expect(gateway.secretReads).toBe(2))
    gateway.intern = "provisioning"
    gateway.sever(4004)
    await gateway.notified("_intern/ready", 1)
    expect(new Set(gateway.hellos.map(({ epoch }) => epoch)).size).toBe(2)
    await gateway.result("session/load", { sessionId })
    expect(gateway.text()).toBe("kept kept ")
    expect(daemon.process.exitCode).toBeNull()
    expect(gateway.received.some((one) => "method" in one && one.method === "_intern/agent_exited")).toBe(false)
  })

  test("is not started for a stopped intern, and ends if the stop was not delivered", async () => {
    const gateway = await newGateway()
    gateway.intern = "stopped"
    const daemon = start(gateway)
    await eventually(() => expect(gateway.secretReads).toBe(1))
    gateway.intern = "provisioning"
    gateway.sever(4004)
    await gateway.notified("_intern/ready")
    gateway.intern = "stopped"
    gateway.sever()
    await eventually(() => expect(agentOf(daemon)).toBe(""))
    expect(gateway.received).toHaveLength(1)
  })

  test("applies changed settings at a provision, and not at a reconnect", async () => {
    const { gateway, sessionId } = await begin()
    gateway.more = { model: "acme/other" }
    gateway.sever()
    await gateway.notified("_intern/ready", 1)
    await gateway.prompt(sessionId, "env OPENAI_MODEL")()
    gateway.intern = "provisioning"
    gateway.sever(4004)
    await gateway.notified("_intern/ready", 2)
    await gateway.result("session/load", { sessionId })
    await gateway.prompt(sessionId, "env OPENAI_MODEL")()
    expect(gateway.text()).toBe("OPENAI_MODEL=sim/echoOPENAI_MODEL=sim/echoOPENAI_MODEL=acme/other")
    expect(new Set(gateway.hellos.map(({ epoch }) => epoch)).size).toBe(2)
    // A provision without changes leaves the agent running.
    gateway.sever(4004)
    await gateway.notified("_intern/ready", 3)
    expect(new Set(gateway.hellos.map(({ epoch }) => epoch)).size).toBe(2)
  })

  test("is archived and deleted when the intern is destroyed", async () => {
    const archive = mkdtempSync(path.join(tmpdir(), "gateway-archive-"))
    ending.push(() => Promise.resolve(removeFolder(archive)))
    const { gateway, daemon } = await begin({ args: ["--archive-dir", archive] })
    expect(await gateway.result("_intern/destroy")).toEqual({ archived: true })
    expect(existsSync(daemon.dir)).toBe(false)
    expect(readdirSync(archive)).toEqual([expect.stringMatching(/^intern-.*\.tar\.gz$/)])
  })

  test("is kept and reported as an error if it cannot be archived", async () => {
    const archive = mkdtempSync(path.join(tmpdir(), "gateway-archive-"))
    ending.push(() => Promise.resolve(removeFolder(archive)))
    const file = path.join(archive, "a-file")
    writeFileSync(file, "")
    const { gateway, daemon } = await begin({ args: ["--archive-dir", file] })
    expect(await gateway.request("_intern/destroy")()).toMatchObject({ error: { code: -32_603 } })
    expect(existsSync(daemon.dir)).toBe(true)
  })
})

describe("the secrets of the intern", () => {
  const VALUE = "value-canary-0123456789"
  const secret = (name: string, placeholder: string) => ({
    name,
    hosts: ["api.example.com"],
    placeholder,
    value: VALUE,
  })
  const HELD = "vault-github_token-0123456789abcdef"

  /** Names and contents of all files in a folder, without those of packed ones. */
  const filesIn = (dir: string) =>
    readdirSync(dir, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => readFileSync(path.join(entry.parentPath, entry.name), "utf8"))
      .join("\n")

  test("reach the agent as placeholders, and no file, environment or message as values", async () => {
    const { gateway, sessionId, daemon } = await begin({}, (made) => {
      made.secrets = [secret("github_token", HELD), secret("path", "vault-path-0123456789abcdef")]
    })
    const environ = path.join("/proc", agentOf(daemon), "environ")
    await gateway.prompt(sessionId, "env GITHUB_TOKEN\nenv HTTPS_PROXY\nenv NO_PROXY")()
    expect(gateway.text()).toMatch(
      new RegExp(`^GITHUB_TOKEN=${HELD}HTTPS_PROXY=http://agent:[0-9a-f]{48}@127.0.0.1:\\d+NO_PROXY=127.0.0.1$`),
    )
    // A secret cannot replace a variable that the agent needs.
    const environment = existsSync(environ) ? readFileSync(environ, "utf8") : ""
    expect(environment).not.toContain("vault-path")
    const files = filesIn(daemon.dir)
    expect(files).toContain(`- \`$GITHUB_TOKEN\` (\`${HELD}\`): api.example.com`)
    for (const position of [files, environment, daemon.printed(), JSON.stringify(gateway.received)]) {
      expect(position).not.toContain(VALUE)
      expect(position).not.toContain(JOIN_TOKEN)
    }
  })

  test("are fetched again when they change", async () => {
    const { gateway, daemon } = await begin()
    gateway.secrets = [secret("github_token", HELD)]
    gateway.notify("_intern/vault_changed", {})
    const file = path.join(daemon.dir, "work/AGENTS.md")
    await eventually(() => expect(readFileSync(file, "utf8")).toContain(HELD))
    // Also after a change while it was disconnected.
    gateway.secrets = []
    gateway.sever()
    await eventually(() => expect(readFileSync(file, "utf8")).not.toContain(HELD))
  })
})

test("added while the agent runs are in its next shell and in a file", async () => {
  const { gateway, daemon, sessionId } = await begin()
  const placeholder = "vault-github_token-0123456789abcdef"
  const hosts = ["api.example.com"]
  gateway.secrets = [
    { name: "github_token", hosts, placeholder, value: "never told" },
    { name: "path", hosts, placeholder: "vault-path-0123456789abcdef", value: "never told" },
  ]
  gateway.notify("_intern/vault_changed", {})
  const file = path.join(daemon.dir, "home/secrets.json")
  await eventually(() => expect(readFileSync(file, "utf8")).toContain(placeholder))
  const before = gateway.text()
  await gateway.prompt(sessionId, "run echo $GITHUB_TOKEN; echo $PATH | grep -c vault; cat $INTERN_SECRETS_FILE")()
  const output = gateway.text().slice(before.length)
  expect(output.split("\n").slice(0, 2)).toEqual([placeholder, "0"])
  expect(JSON.parse(output.slice(output.indexOf("{")))).toMatchObject({ github_token: { placeholder, hosts } })
})

test("are written to a file that replaces a link of the agent without following it", async () => {
  const { gateway, daemon } = await begin()
  const target = path.join(daemon.dir, "target")
  writeFileSync(target, "not the agent's")
  const file = path.join(daemon.dir, "work/AGENTS.md")
  rmSync(file)
  symlinkSync(target, file)
  gateway.secrets = [{ name: "token", hosts: ["a.example"], placeholder: "vault-token-0", value: "v" }]
  gateway.notify("_intern/vault_changed", {})
  await eventually(() => expect(readFileSync(file, "utf8")).toContain("vault-token-0"))
  expect(readFileSync(target, "utf8")).toBe("not the agent's")
})

describe("a daemon exits", () => {
  test("with 3 when its token is rejected at the handshake", async () => {
    const gateway = await newGateway()
    const daemon = start(gateway, { token: "wrong" })
    expect(await daemon.exited).toBe(3)
    expect(daemon.printed()).toContain("rejected this join token")
    expect(daemon.printed()).not.toContain("wrong")
  })

  test("with 3 when its token is revoked, and stops its agent", async () => {
    const { gateway, daemon, sessionId } = await begin()
    gateway.prompt(sessionId, "hold")
    gateway.sever(4003)
    expect(await daemon.exited).toBe(3)
  })

  test("with 0 when another daemon takes over", async () => {
    const { gateway, daemon } = await begin()
    gateway.sever(4000)
    expect(await daemon.exited).toBe(0)
  })

  test("with 2 and a message for an invalid option", async () => {
    const gateway = await newGateway()
    const daemon = start(gateway, { args: ["--agent-uid", "zero"] })
    expect(await daemon.exited).toBe(2)
    expect(daemon.printed()).toContain("--agent-uid must be")
  })

  test("never for other failures of the gateway", async () => {
    const gateway = await newGateway()
    gateway.status = 503
    const daemon = start(gateway)
    await eventually(() => expect(gateway.hellos).toEqual([]))
    gateway.status = 101
    await gateway.result("session/new")
    expect(daemon.process.exitCode).toBeNull()
  })
})
