import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { appendFileSync, mkdirSync, readFileSync } from "node:fs"
import http from "node:http"
import type { AddressInfo } from "node:net"
import path from "node:path"
import { expect, onTestFinished, test } from "vitest"
import { eventually } from "../support/eventually.ts"
import { findFreePort } from "../support/free-port.ts"
import { cloneTree } from "./clone.ts"
import { withoutProviders } from "./npm-start.ts"
import { matches, type Step, stepsOf } from "./transcript.ts"

/** Follows docs/first-minutes.md: every block is run in a new folder, every line compared. */

/** A vendor with the chat format that accepts any key. */
async function startVendor(): Promise<string> {
  const models = ["gpt-4.1-mini", "gpt-brand-new", "text-embedding-3-small"].map((id) => ({ id, object: "model" }))
  const message = { role: "assistant", content: "Hello from the vendor." }
  const usage = { prompt_tokens: 9, completion_tokens: 5, total_tokens: 14 }
  const choices = [{ index: 0, message, finish_reason: "stop" }]
  const completion = { id: "chatcmpl-1", object: "chat.completion", created: 1, model: "gpt-4.1-mini" }
  const server = http.createServer((request, response) => {
    response.setHeader("content-type", "application/json")
    const isList = request.url === "/v1/models?limit=1000" || request.url === "/v1/models"
    const answer = isList ? { object: "list", data: models } : { ...completion, choices, usage }
    request.resume().on("end", () => response.end(JSON.stringify(answer)))
  })
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  onTestFinished(() => void server.close())
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`
}

/** A shell that stays open, as in a terminal. */
class Terminal {
  readonly #shell: ChildProcess
  #printed = ""

  constructor(cwd: string, env: NodeJS.ProcessEnv) {
    this.#shell = spawn("sh", [], { cwd, env, stdio: ["pipe", "pipe", "ignore"], detached: true })
    this.#shell.stdout?.on("data", (text: Buffer) => (this.#printed += text.toString()))
    this.#shell.stdin?.write("exec 2>&1\n")
    onTestFinished(() => this.kill())
  }

  /** Output until the commands end. */
  async run(commands: string): Promise<string[]> {
    this.#printed = ""
    this.#shell.stdin?.write(`${commands}\necho "--end--"\n`)
    await this.#until("--end--\n")
    return linesOf(this.#printed.replace("--end--\n", ""))
  }

  /** For a command that keeps running: its output until this line. */
  async start(command: string, last: string): Promise<string[]> {
    this.#printed = ""
    this.#shell.stdin?.write(`${command}\n`)
    await this.#until(last)
    return linesOf(this.#printed)
  }

  get lines(): string[] {
    return linesOf(this.#printed)
  }

  clear(): void {
    this.#printed = ""
  }

  /** Ctrl-C: signals all processes of the terminal. */
  async kill(): Promise<void> {
    const { pid = 0 } = this.#shell
    this.#shell.stdin?.end()
    const signal = (name: NodeJS.Signals | 0) => {
      try {
        return process.kill(-pid, name)
      } catch {
        return false
      }
    }
    signal("SIGINT")
    await eventually(() => expect(signal(0)).toBe(false))
  }

  async #until(text: string): Promise<void> {
    await eventually(() => expect(this.#printed).toContain(text))
  }
}

/** Without npm's lines before a script, and without blank lines around the rest. */
function linesOf(printed: string): string[] {
  const text = printed.replaceAll(/^\n?(?:> .*\n)+\n/gm, "").trim()
  return text === "" ? [] : text.split("\n")
}

const READY = "Ctrl-C ends it."

test("the first ten minutes print what the page shows", async () => {
  const folder = cloneTree()
  const vendor = await startVendor()
  const port = await findFreePort()
  const home = path.join(folder, "home")
  mkdirSync(home)
  const env = { ...withoutProviders(), HOME: home, LOG_FORMAT: "text", NO_COLOR: "1" }
  const text = (line: string) => line.replaceAll("8787", String(port)).replaceAll("9000", String(port + 213))
  const steps = stepsOf(text(readFileSync(path.join(folder, "docs/first-minutes.md"), "utf8")))
  expect(steps.length).toBeGreaterThan(15)

  let gateway: Terminal | undefined
  const second = new Terminal(folder, env)
  const start = async ({ commands }: Step) => {
    await gateway?.kill()
    gateway = new Terminal(folder, env)
    const before = commands
      .replace(/npm ci\n/, "")
      .split("\n")
      .slice(0, -1)
    // The vendor of this test instead of OpenAI.
    if (before.length > 0) appendFileSync(path.join(folder, ".dev.vars"), `OPENAI_BASE_URL=${vendor}\n`)
    if (before.length > 0) await second.run(before.join("\n"))
    return gateway.start(`npm start -- --port ${port}`, READY)
  }
  const expectingFailure = (commands: string) =>
    commands.replaceAll(/^npm start(?: --(.*))?$/gm, (_, options: string | undefined) => {
      return options?.includes("--port") ? `npm start --${options}` : `npm start -- --port ${port}${options ?? ""}`
    })
  for (const step of steps) {
    const { line, commands, printed, terminal } = step
    const isStart = printed[0] === "The gateway is ready."
    if (!isStart) gateway?.clear()
    const lines = isStart ? await start(step) : await second.run(expectingFailure(commands))
    expect(matches(printed, lines), `line ${line}:\n${printed.join("\n")}\n--- printed:\n${lines.join("\n")}`).toBe(
      true,
    )
    for (const shown of terminal) {
      await eventually(() => {
        const all = gateway?.lines ?? []
        expect(
          all.some((one) => matches([shown], [one])),
          `line ${line}: ${shown}\n--- shown:\n${all.join("\n")}`,
        ).toBe(true)
      })
    }
  }
}, 120_000)
