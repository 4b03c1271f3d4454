import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { mkdtempSync } from "node:fs"
import { tmpdir } from "node:os"
import path from "node:path"
import { INTERN, JOIN_TOKEN } from "./gateway.ts"
import { removeFolder } from "../support/remove-folder.ts"

const root = path.join(import.meta.dirname, "../..")
export const AGENT = `${process.execPath} ${path.join(root, "test/support/acp-agent.ts")}`

export type Daemon = {
  dir: string
  process: ChildProcess
  printed: () => string
  exited: Promise<number | null>
  stop: () => Promise<void>
}

/** A daemon as a user starts it, in a separate folder. */
export function runDaemon(
  port: number,
  more: { intern?: string; agent?: string; token?: string; dir?: string; args?: string[]; path?: string } = {},
): Daemon {
  const dir = more.dir ?? mkdtempSync(path.join(tmpdir(), "gateway-daemon-"))
  const args = ["--url", `http://127.0.0.1:${port}`, "--intern", more.intern ?? INTERN, "--agent", more.agent ?? AGENT]
  const env = {
    ...process.env,
    INTERN_JOIN_TOKEN: more.token ?? JOIN_TOKEN,
    ...(more.path && { PATH: more.path }),
    CANARY_OF_THE_DAEMON: "not the agent's",
  }
  const all = ["src/daemon/daemon.ts", ...args, "--dir", path.join(dir, "intern"), ...(more.args ?? [])]
  const child = spawn(process.execPath, all, { cwd: root, env, stdio: ["ignore", "pipe", "pipe"] })
  let printed = ""
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (text: Buffer) => (printed += text.toString()))
  const exited = once(child, "exit").then(([code]) => code as number | null)
  return {
    dir: path.join(dir, "intern"),
    process: child,
    printed: () => printed,
    exited,
    stop: async () => {
      child.kill("SIGTERM")
      await exited
      if (more.dir === undefined) removeFolder(dir)
    },
  }
}
