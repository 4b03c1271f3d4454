import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { existsSync, mkdtempSync, readFileSync } from "node:fs"
import { tmpdir } from "node:os"
import path from "node:path"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { root } from "../../src/dev/options.ts"
import { startReceiver } from "../acceptance/receivers.ts"
import { byNode, end, npmStart, type Started } from "../acceptance/npm-start.ts"
import { eventually } from "../support/eventually.ts"
import { liveStory } from "../support/intern-story.ts"
import { type Access, closeEditors } from "../support/published-editor.ts"
import { sharesSessions } from "../support/shared-sessions.ts"
import { installOpencode } from "../support/install-package.ts"
import { newInternApi } from "./intern-client.ts"
import { removeFolder } from "../support/remove-folder.ts"

/**
 * End to end with a real agent: a client, the gateway as `npm start` runs it, the daemon as a user starts it, and
 * opencode, whose model calls come back through the gateway with the intern's key.
 */

const WAIT_MS = 60_000
let folder: string
let commands: string
let gateway: Started
let internApi: ReturnType<typeof newInternApi>

beforeAll(async () => {
  commands = await installOpencode()
  folder = mkdtempSync(path.join(tmpdir(), "gateway-chain-"))
  gateway = await npmStart(path.join(folder, "gateway"))
  internApi = newInternApi(gateway.url, gateway.apiKey)
}, 240_000)

afterAll(async () => {
  for (const { process: child, exited } of running) {
    child.kill("SIGTERM")
    await exited
  }
  await end(gateway)
  removeFolder(folder)
}, 60_000)

type Intern = { id: string; token: string; dir: string }
const running: { process: ChildProcess; printed: () => string; exited: Promise<unknown> }[] = []

async function newIntern(name: string): Promise<Intern> {
  const input = { name, host: "daemon", model: "sim/agent", instructions: "Be brief.", provision: true }
  const { id } = await internApi.json<{ id: string }>("POST", "/interns", input)
  const { token } = await internApi.json<{ token: string }>("POST", `/interns/${id}/daemon/token`)
  return { id, token, dir: path.join(folder, name) }
}

/** Starts the daemon of an intern with opencode, and waits until the intern runs. */
async function startDaemon({ id, token, dir }: Intern): Promise<ChildProcess> {
  const args = ["src/daemon/daemon.ts", "--url", new URL(gateway.url).origin, "--intern", id, "--agent", "opencode"]
  const env = { ...process.env, PATH: `${commands}:${process.env["PATH"]}`, INTERN_JOIN_TOKEN: token }
  const child = spawn(process.execPath, [...args, "--dir", dir], { cwd: root, env, stdio: ["ignore", "pipe", "pipe"] })
  let printed = ""
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (text: Buffer) => (printed += text.toString()))
  running.push({ process: child, printed: () => printed, exited: once(child, "exit") })
  await eventually(async () => {
    const { status } = await internApi.json<{ status: string }>("GET", `/interns/${id}`)
    expect(status, printed).toBe("running")
  }, WAIT_MS)
  return child
}

/** A turn that is paused at the permission question for a command. */
async function requests(intern: Intern, command: string) {
  const reading = await eventually(async () => {
    const one = await internApi.prompt(intern.id, `$ ${command}`)
    expect(one.response.status).toBe(200)
    return one
  }, WAIT_MS)
  await reading.all()
  expect(reading.finish, JSON.stringify(reading.chunks)).toBe("tool_calls")
  return reading
}

const fileOf = ({ dir }: Intern, name: string) => path.join(dir, "work", name)

describe("opencode, through the daemon", () => {
  test("asks for permission, runs the allowed command in its folder, and reports usage", async () => {
    const intern = await newIntern("asks")
    await startDaemon(intern)
    const question = await requests(intern, "echo proof > proof.txt; cat proof.txt")
    expect(existsSync(fileOf(intern, "proof.txt"))).toBe(false)
    const reported = await (await internApi.answer(intern.id, question.session, question.question, "allow_once")).all()
    expect(reported.text).toContain("proof")
    expect(reported.finish).toBe("stop")
    expect(reported.usage?.total_tokens).toBeGreaterThan(0)
    expect(reported.chunks.at(-1)?.model).toBe("sim/agent")
    expect(readFileSync(fileOf(intern, "proof.txt"), "utf8")).toBe("proof\n")

    const rejected = await requests(intern, "echo no > no.txt")
    const ended = await (await internApi.answer(intern.id, rejected.session, rejected.question, "reject_once")).all()
    expect(ended.finish).toBe("stop")
    expect(existsSync(fileOf(intern, "no.txt"))).toBe(false)

    const cancelled = await requests(intern, "echo no > no.txt")
    const over = await (await internApi.answer(intern.id, cancelled.session, cancelled.question, "cancel")).all()
    expect(over.reason).toBe("run_ended")
    expect(existsSync(fileOf(intern, "no.txt"))).toBe(false)
  })

  test("serves the flow of a new user's first hour", async () => {
    const receiver = await startReceiver()
    await liveStory({
      url: gateway.url,
      key: gateway.apiKey,
      creation: { host: "daemon" },
      start: async (id) => {
        const { token } = await internApi.json<{ token: string }>("POST", `/interns/${id}/daemon/token`)
        await startDaemon({ id, token, dir: path.join(folder, "story") })
      },
      readFile: async (_, name) => {
        const file = path.join(folder, "story/work", name)
        return existsSync(file) ? readFileSync(file, "utf8") : undefined
      },
      receiver,
    })
    await receiver.stop()
  })

  test("with allow_always may repeat that command in the session, and nothing else", async () => {
    const intern = await newIntern("always")
    await startDaemon(intern)
    const prompt = (session: string, command: string) =>
      internApi.prompt(intern.id, `$ ${command}`, { session_id: session }).then((one) => one.all())
    const first = await prompt("one", "echo alpha")
    expect((await (await internApi.answer(intern.id, "one", first.question, "allow_always")).all()).text).toContain(
      "alpha",
    )
    expect(await prompt("one", "echo alpha")).toMatchObject({ finish: "stop" })
    const path = `/interns/${intern.id}/sessions/one/permissions`
    expect(await internApi.json("GET", path)).toEqual({ data: [{ operation: "echo alpha", decision: "allow" }] })
    expect(await prompt("two", "echo alpha")).toMatchObject({ finish: "tool_calls" })
    await internApi.json("DELETE", path)
    expect(await prompt("one", "echo alpha")).toMatchObject({ finish: "tool_calls" })
  })

  test("shares its sessions with an editor", async () => {
    const intern = await newIntern("shared")
    await startDaemon(intern)
    const access = await internApi.json<Access>("GET", `/interns/${intern.id}/daemon`)
    await sharesSessions({ id: intern.id, internApi, access, command: (text) => `$ ${text}` })
    closeEditors()
  })

  test("is steered during a turn, and stops when its client disconnects", async () => {
    const intern = await newIntern("steered")
    await startDaemon(intern)
    const long = `begin ${"and so on ".repeat(200)}`
    const reading = await internApi.prompt(intern.id, long, { session_id: "s" })
    await reading.until("begin")
    const steered = await internApi.prompt(intern.id, "afterthought", { session_id: "s" })
    expect(steered.response.status).toBe(202)
    await reading.all()
    expect(reading.text).toContain("afterthought")
    expect(reading.finish).toBe("stop")

    const left = await internApi.prompt(intern.id, long, { session_id: "s" })
    await left.until("begin")
    left.disconnect()
    const next = await eventually(async () => {
      const one = await internApi.prompt(intern.id, "still there", { session_id: "s" })
      expect(one.response.status).toBe(200)
      return one
    }, WAIT_MS)
    expect((await next.all()).text).toContain("still there")
  })

  test("a gateway killed at an open question accepts the answer after its restart", async () => {
    const intern = await newIntern("gateway")
    await startDaemon(intern)
    const question = await requests(intern, "echo later > later.txt; cat later.txt")
    const { port } = new URL(gateway.url)
    for (const pid of gateway.family) process.kill(pid, "SIGKILL")
    const state = path.join(folder, "gateway")
    gateway = await npmStart(state, () => byNode(["--port", port, "--state", state]))
    const reported = await eventually(async () => {
      const one = await internApi.answer(intern.id, question.session, question.question, "allow_once")
      expect(one.response.status).toBe(200)
      return one
    }, WAIT_MS)
    await reported.all()
    expect(reported.text).toContain("later")
    expect(reported.finish).toBe("stop")
    expect(readFileSync(fileOf(intern, "later.txt"), "utf8")).toBe("later\n")
  })

  test("a killed daemon loses its question and keeps its session", async () => {
    const intern = await newIntern("daemon")
    const first = await startDaemon(intern)
    const before = await (await internApi.prompt(intern.id, "remember me", { session_id: "s" })).all()
    expect(before.finish).toBe("stop")
    const question = await requests(intern, "echo x")
    first.kill("SIGKILL")
    await once(first, "exit")
    await startDaemon(intern)
    await eventually(async () => {
      const late = await internApi.answer(intern.id, question.session, question.question, "allow_once")
      expect(late.response.status).toBe(409)
    }, WAIT_MS)
    const after = await (await internApi.prompt(intern.id, "and again", { session_id: "s" })).all()
    expect(after.finish).toBe("stop")
    expect(after.text).toContain("and again")
    expect(after.text).not.toContain("remember me")
  })
})
