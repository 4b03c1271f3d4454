import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import path from "node:path"
import { setTimeout } from "node:timers/promises"
import { runs } from "./processes.ts"

type Owner = { pid: number; runtimes: number[] }

/** Two runtimes with one state would each spend the money that the other holds. The lock file is next to the folder. */
export type Lock = {
  /** Records the runtime, so that the next start can end it if this process is killed. */
  setRuntimes: (pids: readonly number[]) => void
}

/**
 * Locks the state folder for `pid`: this process, or one that outlives it. Returns the reason if another process has
 * it.
 */
export async function lock(stateDir: string, pid = process.pid): Promise<Lock | { reason: string }> {
  const file = `${stateDir}.lock`
  mkdirSync(path.dirname(file), { recursive: true })
  const owner = read(file)
  if (owner && owner.pid !== pid && runs(owner.pid, "node")) {
    return { reason: `${stateDir} is in use by process ${owner.pid}.` }
  }
  await Promise.all((owner?.runtimes ?? []).map(endRuntime))
  const write = (runtimes: readonly number[]) =>
    writeFileSync(file, JSON.stringify({ pid, runtimes } satisfies Record<keyof Owner, unknown>))
  write([])
  if (pid === process.pid) process.on("exit", () => rmSync(file, { force: true }))
  return { setRuntimes: write }
}

/** A runtime whose owner was killed keeps its port and its files until it ends. */
async function endRuntime(pid: number): Promise<void> {
  if (!runs(pid, "workerd")) return
  process.kill(pid, "SIGKILL")
  for (let tries = 0; tries < 100 && runs(pid, "workerd"); tries++) await setTimeout(50)
}

function read(file: string): Owner | undefined {
  try {
    const owner: Owner = JSON.parse(readFileSync(file, "utf8"))
    return Array.isArray(owner.runtimes) ? owner : undefined
  } catch {
    // There is no lock, or a crash truncated it.
    return undefined
  }
}
