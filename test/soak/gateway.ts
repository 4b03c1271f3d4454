import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { createWriteStream, readdirSync, readFileSync } from "node:fs"
import path from "node:path"
import { setTimeout as wait } from "node:timers/promises"
import { root } from "../../src/dev/options.ts"
import { familyOf, pidsOf } from "../../src/local/processes.ts"

export const BOOTSTRAP = "sk-gw-boot-of-the-soak-run-0123456789"

export type Outage = { from: number; to: number; killed: Victim }
export type Victim = "runtime" | "supervisor"
export type Process = { name: "runtime" | "supervisor"; pid: number; rssMb: number; descriptors: number }

type Options = { port: number; folder: string; provider: string; onLog: (line: string) => void }

/** The longest time until a killed gateway responds again. */
const READY_WITHIN_MS = 30_000
/** Requests in flight when the gateway responded again may still fail. */
const GRACE_MS = 1_500

/** The built gateway as a separate process on this machine, which can be killed. */
export class Gateway {
  readonly url: string
  readonly outages: Outage[] = []
  readonly #options: Options
  readonly #log
  #child: ChildProcess | undefined
  #isStopping = false

  constructor(options: Options) {
    this.#options = options
    this.url = `http://127.0.0.1:${options.port}`
    this.#log = createWriteStream(path.join(options.folder, "gateway.log"))
  }

  async start(): Promise<void> {
    const { port, folder, provider } = this.#options
    const ports = ["--port", String(port), "--inspect", String(this.inspectorPort)]
    const args = ["src/local/serve.ts", ...ports, "--host", "127.0.0.1", "--state"]
    const child = spawn(process.execPath, [...args, path.join(folder, "state")], {
      cwd: root,
      stdio: ["ignore", "pipe", "pipe"],
      env: {
        PATH: process.env["PATH"],
        HOME: process.env["HOME"],
        LOG_FORMAT: "json",
        LOG_CALLS: "errors",
        MASTER_KEY: Buffer.alloc(32, 7).toString("base64"),
        BOOTSTRAP_MANAGEMENT_KEY: BOOTSTRAP,
        // Short, so that what a kill left behind is charged before the end of the run.
        HOLD_TTL_MS: "20000",
        CUSTOM_PROVIDERS: provider,
      },
    })
    this.#child = child
    for (const out of [child.stdout, child.stderr]) {
      let rest = ""
      out.on("data", (data: Buffer) => {
        this.#log.write(data)
        const lines = (rest + data.toString()).split("\n")
        rest = lines.pop() ?? ""
        for (const line of lines) this.#options.onLog(line)
      })
    }
    await this.#answers()
  }

  get inspectorPort(): number {
    return this.#options.port + 1
  }

  /** kill -9, and a start if the supervisor was killed; returns when the gateway responds again. */
  async kill(victim: Victim): Promise<Outage> {
    const outage: Outage = { from: Date.now(), to: Number.POSITIVE_INFINITY, killed: victim }
    this.outages.push(outage)
    const child = this.#child
    if (!child?.pid) throw new Error("The gateway does not run.")
    if (victim === "runtime") {
      const before = pidsOf("workerd", child.pid)
      for (const pid of before) process.kill(pid, "SIGKILL")
      await this.#replaced(child.pid, before)
      await this.#answers()
    } else {
      const ended = once(child, "exit")
      child.kill("SIGKILL")
      await ended
      await this.start()
    }
    outage.to = Date.now() + GRACE_MS
    return outage
  }

  /** Whether a request of this time may have met a gateway that was being killed. */
  wasOut(from: number, to: number): boolean {
    return this.outages.some((outage) => from <= outage.to && to >= outage.from)
  }

  processes(): Process[] {
    const parent = this.#child?.pid
    if (parent === undefined) return []
    const [runtime] = pidsOf("workerd", parent)
    const found = [toProcess("supervisor", parent)]
    if (runtime !== undefined) found.push(toProcess("runtime", runtime))
    return found.flatMap((one) => one ?? [])
  }

  async stop(): Promise<void> {
    const child = this.#child
    if (!child?.pid || this.#isStopping) return
    this.#isStopping = true
    const family = familyOf(child.pid)
    const ended = child.exitCode === null && child.signalCode === null ? once(child, "exit") : undefined
    child.kill("SIGTERM")
    await Promise.race([ended, wait(15_000)])
    for (const pid of family) {
      try {
        process.kill(pid, "SIGKILL")
      } catch {
        // It has ended.
      }
    }
    this.#log.end()
  }

  async #replaced(parent: number, before: readonly number[]): Promise<void> {
    const deadline = Date.now() + READY_WITHIN_MS
    while (pidsOf("workerd", parent).every((pid) => before.includes(pid))) {
      if (Date.now() > deadline) throw new Error("The runtime was not started again.")
      await wait(50)
    }
  }

  async #answers(): Promise<void> {
    const deadline = Date.now() + READY_WITHIN_MS
    for (;;) {
      const response = await fetch(`${this.url}/ready`, { signal: AbortSignal.timeout(3_000) }).catch(() => undefined)
      await response?.arrayBuffer()
      if (response?.ok) return
      if (Date.now() > deadline) throw new Error("The gateway does not answer. Its log is gateway.log.")
      await wait(100)
    }
  }
}

function toProcess(name: Process["name"], pid: number): Process | undefined {
  try {
    const status = readFileSync(`/proc/${pid}/status`, "utf8")
    const rssMb = Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1] ?? 0) / 1_024
    return { name, pid, rssMb, descriptors: readdirSync(`/proc/${pid}/fd`).length }
  } catch {
    // It ended in the meantime.
    return undefined
  }
}
