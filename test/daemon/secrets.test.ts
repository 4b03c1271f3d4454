import { execFileSync, spawn } from "node:child_process"
import { createHash } from "node:crypto"
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import path from "node:path"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { root } from "../../src/dev/options.ts"
import { end, npmStart, type Started } from "../acceptance/npm-start.ts"
import { eventually } from "../support/eventually.ts"
import { installOpencode } from "../support/install-package.ts"
import { removeFolder } from "../support/remove-folder.ts"
import { type BoundHost, bytesOf, openBoundHost } from "./bound-host.ts"
import { type Daemon, runDaemon } from "./run-daemon.ts"
import { newInternApi } from "./intern-client.ts"

/**
 * Secrets end to end: the gateway as `npm start` runs it, the daemon as a user starts it, an agent that tries to get
 * at values, and a real https server in place of the bound hosts.
 */

const VALUE = "canary-Value/of+the=secret"
const OTHER = "canary-of-another-secret"
const WAIT_MS = 60_000
let commands: string
let folder: string
let host: BoundHost
let gateway: Started
let internApi: ReturnType<typeof newInternApi>
const ending: (() => Promise<unknown>)[] = []

beforeAll(async () => {
  commands = await installOpencode()
  folder = mkdtempSync(path.join(tmpdir(), "gateway-secrets-"))
  host = await openBoundHost(path.join(folder, "repositories"), VALUE)
  const ca = path.join(folder, "bound-host.pem")
  writeFileSync(ca, host.ca)
  const hosts = { "api.bound.example": host.origin, "other.bound.example": host.origin }
  const env = { ...process.env, NODE_EXTRA_CA_CERTS: ca, EGRESS_TEST_HOSTS: JSON.stringify(hosts) }
  gateway = await npmStart(path.join(folder, "gateway"), (args) =>
    spawn(process.execPath, ["src/dev/start.ts", ...args], { cwd: root, env, stdio: ["ignore", "pipe", "pipe"] }),
  )
  internApi = newInternApi(gateway.url, gateway.apiKey)
}, 240_000)

afterAll(async () => {
  for (const stop of ending.toReversed()) await stop()
  await end(gateway)
  await host.close()
  removeFolder(folder)
}, 60_000)

type Running = { id: string; token: string; daemon: Daemon }

async function start(name: string, more: Parameters<typeof runDaemon>[1] & { model?: string } = {}): Promise<Running> {
  const input = { name, host: "daemon", model: more.model ?? "sim/echo", provision: true }
  const { id } = await internApi.json<{ id: string }>("POST", "/interns", input)
  await store(id, "api_token", VALUE, "api.bound.example")
  await store(id, "other_token", OTHER, "other.bound.example")
  const { token } = await internApi.json<{ token: string }>("POST", `/interns/${id}/daemon/token`)
  const daemon = runDaemon(Number(new URL(gateway.url).port), { ...more, intern: id, token })
  ending.push(() => daemon.stop())
  await eventually(async () => {
    const { status } = await internApi.json<{ status: string }>("GET", `/interns/${id}`)
    expect(status, daemon.printed()).toBe("running")
  }, WAIT_MS)
  return { id, token, daemon }
}

const store = (id: string, name: string, value: string, ...hosts: string[]) =>
  internApi.json("PUT", `/vault/interns/${id}/secrets/${name}`, { hosts, value })

/** Output of a command of the scripted agent. */
async function run({ id }: Running, command: string): Promise<string> {
  const { text } = await (await internApi.prompt(id, `run ${command}`, { approval_mode: "self-drive" })).all()
  return text
}

const FORMS = [VALUE, OTHER].flatMap((value) => [
  value,
  encodeURIComponent(value),
  Buffer.from(value).toString("hex"),
  ...[0, 1, 2].map((offset) =>
    Buffer.from(`${"x".repeat(offset)}${value}`)
      .toString("base64")
      .slice(4, -4),
  ),
])

function expectNoValue(text: string): void {
  for (const form of FORMS) expect(text).not.toContain(form)
}

const curl = (target: string, ...args: string[]) =>
  `curl -sS -i --suppress-connect-headers -H "Authorization: Bearer $API_TOKEN" ${args.join(" ")} https://${target}`

describe("an agent of a daemon", () => {
  let running: Running
  beforeAll(async () => {
    running = await start("scripted")
  }, 120_000)

  test("uses a secret at its host, and reads the placeholder where the host echoes the value", async () => {
    const text = await run(running, curl("api.bound.example/echo"))
    expect(host.requests.at(-1)?.headers.authorization).toBe(`Bearer ${VALUE}`)
    expect(text).toMatch(/^HTTP\/1.1 200 OK/)
    expect(text).toMatch(/"authorization":"Bearer vault-api_token-[0-9a-f]{16}"/)
    expectNoValue(text)
    expectNoValue(await run(running, curl("api.bound.example/redirect")))
    expectNoValue(await run(running, `curl -sS -i -u "git:$API_TOKEN" https://api.bound.example/echo`))
    expect(host.requests.at(-1)?.headers.authorization).toBe(`Basic ${Buffer.from(`git:${VALUE}`).toString("base64")}`)
  })

  test("gets no value at any other host, port or protocol", async () => {
    const before = host.requests.length
    await run(running, curl("other.bound.example/echo"))
    const { authorization } = host.requests.at(-1)?.headers ?? {}
    expect(authorization).toMatch(/^Bearer vault-api_token-/)
    const port = new URL(host.origin).port
    for (const target of [`localhost:${port}/`, `127.0.0.1:${port}/`, "nobody.example/", "api.bound.example:8443/"]) {
      expectNoValue(await run(running, curl(target, "-m 20")))
    }
    expectNoValue(await run(running, 'curl -sS -i -H "x: $API_TOKEN" http://api.bound.example/echo'))
    expectNoValue(await run(running, curl("api.bound.example/echo", '-H "Host: other.bound.example"')))
    expect(host.requests).toHaveLength(before + 1)
  })

  test("sends and gets large bodies, streamed events and git repositories", async () => {
    const size = 8 * 1_048_576
    const file = path.join(running.daemon.dir, "work", "large")
    writeFileSync(file, bytesOf(size))
    const digest = createHash("sha256").update(bytesOf(size)).digest("hex")
    const sent = await run(running, curl("api.bound.example/upload", "-T large"))
    expect(sent).toContain(`${size} ${digest} ${size}`)
    const chunked = await run(running, `cat large | ${curl("api.bound.example/upload", "-T -")}`)
    expect(chunked).toContain(`${size} ${digest} chunked`)
    const back = await run(running, `curl -sS https://api.bound.example/download?${size} | sha256sum`)
    expect(back).toContain(digest)

    // The last event is sent once the agent has confirmed the first.
    const received = "curl -sS -o heard https://api.bound.example/heard"
    const loop = `while read -r line; do echo "$line"; case "$line" in *first*) ${received};; esac; done`
    const events = await run(running, `curl -sS -N https://api.bound.example/events | ${loop}`)
    expect(events).toMatch(/data: first\s+data: last/)

    const bare = path.join(folder, "repositories", "project.git")
    mkdirSync(bare, { recursive: true })
    execFileSync("git", ["init", "-q", "--bare", "-b", "main", bare])
    execFileSync("git", ["-C", bare, "config", "http.receivepack", "true"])
    const url = '"https://git:$API_TOKEN@api.bound.example/project.git"'
    const script = [
      "set -e; export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b",
      "rm -rf one two; git init -q -b main one; cp large one/; git -C one add .; git -C one commit -qm one",
      `git -C one push -q ${url} main; git clone -q ${url} two; cmp one/large two/large`,
      `git -C two log --format=%s; echo done`,
    ].join("; ")
    const reported = await run(running, script)
    expect(reported).toContain("one\ndone")
    expectNoValue(reported)
  })

  test("gets secrets that are added or changed while it runs, without a restart", async () => {
    const { id, daemon } = running
    await store(id, "new_token", "canary-new-value", "api.bound.example")
    const command = 'curl -sS -H "x-new: $NEW_TOKEN" https://api.bound.example/echo'
    const file = path.join(daemon.dir, "home/secrets.json")
    await eventually(() => expect(readFileSync(file, "utf8")).toContain("vault-new_token-"), WAIT_MS)
    expect(await run(running, "echo $NEW_TOKEN")).toMatch(/^vault-new_token-/)
    await run(running, command)
    expect(host.requests.at(-1)?.headers["x-new"]).toBe("canary-new-value")
    const list = await run(running, "cat $INTERN_SECRETS_FILE")
    expect(Object.keys(JSON.parse(list) as object)).toEqual(["api_token", "new_token", "other_token"])
    await store(id, "new_token", "canary-changed-value", "api.bound.example")
    await run(running, command)
    expect(host.requests.at(-1)?.headers["x-new"]).toBe("canary-changed-value")
    expect(daemon.process.exitCode).toBeNull()
  })

  test("finds no value in its environment, /proc, its files, its proxy or the daemon's memory", async () => {
    const { daemon, id, token } = running
    const reads = [
      "env; cat /proc/*/environ /proc/*/cmdline 2>/dev/null | tr '\\0' '\\n'",
      'curl -sS "$HTTPS_PROXY/"; curl -sS -x "" "$HTTPS_PROXY/"',
    ]
    for (const command of reads) expectNoValue(await run(running, command))
    for (const entry of readdirSync(daemon.dir, { recursive: true, withFileTypes: true })) {
      if (entry.isFile()) expectNoValue(readFileSync(path.join(entry.parentPath, entry.name), "latin1"))
    }
    const script = path.join(folder, "memory.mjs")
    writeFileSync(script, MEMORY)
    // Reversed, since commands to the agent pass through the daemon.
    const wanted = [VALUE, OTHER].map((value) => Buffer.from(Buffer.from(value).toReversed()).toString()).join(" ")
    const found = await run(running, `${process.execPath} ${script} ${daemon.process.pid} ${wanted}`)
    expect(found).toMatch(/^read [1-9]\d* MB; found 0/)
    // The join token of a daemon that runs as the same user can be stolen, but reveals no value.
    const stolen = `tr '\\0' '\\n' < /proc/${daemon.process.pid}/environ | sed -n 's/^INTERN_JOIN_TOKEN=//p'`
    expect(await run(running, stolen)).toContain(token)
    for (const resource of ["/daemon/secrets", "", "/daemon"]) {
      expectNoValue(
        await run(running, `curl -sS -i -H "Authorization: Bearer ${token}" ${gateway.url}/interns/${id}${resource}`),
      )
    }
    expectNoValue(daemon.printed())
    expect(readFileSync(path.join(daemon.dir, "work/AGENTS.md"), "utf8")).toContain("vault-api_token-")
  })
})

/**
 * Searches all memory that a process can write to, which includes everything it has read: node memory.mjs PID
 * REVERSED...
 */
const MEMORY = `
import { openSync, readFileSync, readSync } from "node:fs"
const [pid, ...reversed] = process.argv.slice(2)
const wanted = reversed.map((text) => Buffer.from(text).reverse())
const memory = openSync("/proc/" + pid + "/mem", "r")
let [read, found] = [0, 0]
for (const line of readFileSync("/proc/" + pid + "/maps", "utf8").split("\\n")) {
  const [, from, to] = /^([0-9a-f]+)-([0-9a-f]+) rw/.exec(line) ?? []
  if (!from) continue
  for (let at = BigInt("0x" + from); at < BigInt("0x" + to); at += 4194304n) {
    const size = Number(BigInt("0x" + to) - at < 4194304n ? BigInt("0x" + to) - at : 4194304n)
    const bytes = Buffer.alloc(size)
    try { readSync(memory, bytes, 0, size, at) } catch { continue }
    read += size
    for (const each of wanted) if (bytes.includes(each)) found += 1
  }
}
console.log("read " + Math.round(read / 1e6) + " MB; found " + found)
`

/** Others are tested if they are installed: TEST_AGENTS=qwen,codex,claude, and their commands in the PATH. */
const AGENTS = (process.env["TEST_AGENTS"] ?? "opencode").split(",")

describe("a real agent", () => {
  test.each(AGENTS)("completes a turn that uses a secret at its host, and gets it nowhere else: %s", async (agent) => {
    const running = await start(agent, { agent, model: "sim/agent", path: `${commands}:${process.env["PATH"]}` })
    const prompt = async (command: string) => {
      const reading = await eventually(async () => {
        const one = await internApi.prompt(running.id, `$ ${command}`, { approval_mode: "self-drive" })
        expect(one.response.status).toBe(200)
        return one
      }, WAIT_MS)
      const reported = await reading.all()
      expect(reported.finish, running.daemon.printed() + JSON.stringify(reported.chunks)).toBe("stop")
      return reported
    }
    const used = await prompt(curl(`api.bound.example/${agent}`))
    const atHost = host.requests.findLast((one) => one.path === `/${agent}`)
    expect(atHost?.headers.authorization, JSON.stringify(used.chunks)).toBe(`Bearer ${VALUE}`)
    expect(used.text).toMatch(/vault-api_token-[0-9a-f]{16}/)
    const elsewhere = await prompt(curl(`other.bound.example/${agent}/elsewhere`))
    const other = host.requests.findLast((one) => one.path === `/${agent}/elsewhere`)
    expect(other?.headers.authorization).toMatch(/^Bearer vault-api_token-/)
    for (const { text } of [used, elsewhere]) expectNoValue(text)

    const sent = host.requests.length
    const question = await internApi.prompt(running.id, `$ ${curl("api.bound.example/asked")}`, {
      approval_mode: "manual",
    })
    expect((await question.all()).finish).toBe("tool_calls")
    expect(host.requests).toHaveLength(sent)
    await (await internApi.answer(running.id, question.session, question.question, "reject_once")).all()
    expect(host.requests).toHaveLength(sent)
  })
})
