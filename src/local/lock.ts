import { mkdirSync, readFileSync, readlinkSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs"
import path from "node:path"
import { setTimeout } from "node:timers/promises"
import { runs } from "./processes.ts"

/** `space`: where the process ids are valid. Absent in locks of earlier releases. */
type Owner = { pid: number; runtimes: number[]; space?: string }

/** Two runtimes with one state would each spend the money that the other holds. The lock file is next to the folder. */
export type Lock = {
  /** Records the runtime, so that the next start can end it if this process is killed. */
  setRuntimes: (pids: readonly number[]) => void
}

/** The owner touches its lock this often, for processes that cannot see it: those of another container. */
const HEARTBEAT_MS = 1_000
/** A lock of another container that is not touched for this long was left behind. */
const SILENT_MS = 5_000
/** If several processes write the lock at the same moment, the last one holds it. */
const RACE_MS = 100

/**
 * Locks the state folder for `pid`: this process, or one that outlives it. Returns the reason if another process has
 * it. The lock of another container is taken over if that does not touch it for `silentMs`.
 */
export async function lock(
  stateDir: string,
  { pid = process.pid, silentMs = SILENT_MS } = {},
): Promise<Lock | { reason: string }> {
  const file = `${stateDir}.lock`
  mkdirSync(path.dirname(file), { recursive: true })
  const self = { pid, space: processSpace() }
  const left = read(file)
  if (left && !isVisible(left, self) && (await isTouched(file, silentMs))) {
    return { reason: `${stateDir} is in use by another container or machine.` }
  }
  if (left && isVisible(left, self) && !isInUse(left, self)) await Promise.all(left.runtimes.map(endRuntime))
  const write = (runtimes: readonly number[]) => writeFileSync(file, JSON.stringify({ ...self, runtimes }))
  const reasonFor = (owner: Owner | undefined) => ({ reason: `${stateDir} is in use by process ${owner?.pid}.` })
  // Read again: another process may have locked it meanwhile.
  const current = read(file)
  if (current && isInUse(current, self)) return reasonFor(current)
  write([])
  await setTimeout(RACE_MS)
  const last = read(file)
  if (last?.pid !== pid || last.space !== self.space) return reasonFor(last)
  if (pid === process.pid) keep(file)
  return { setRuntimes: write }
}

type Self = { pid: number; space: string }

/** Whether the process ids of the lock are valid here. */
function isVisible({ space }: Owner, self: Self): boolean {
  return space === undefined || space === self.space
}

function isInUse(owner: Owner, self: Self): boolean {
  return isVisible(owner, self) && owner.pid !== self.pid && runs(owner.pid, "node")
}

/** Where process ids are unique: each container may have a process 1. */
function processSpace(): string {
  try {
    return `${readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim()} ${readlinkSync("/proc/self/ns/pid")}`
  } catch {
    return "machine"
  }
}

async function isTouched(file: string, silentMs: number): Promise<boolean> {
  const timeOf = () => statSync(file, { throwIfNoEntry: false })?.mtimeMs
  const before = timeOf()
  const deadline = Date.now() + silentMs
  while (timeOf() === before && Date.now() < deadline) await setTimeout(50)
  return ![undefined, before].includes(timeOf())
}

function keep(file: string): void {
  const touch = () => {
    try {
      utimesSync(file, new Date(), new Date())
    } catch {
      // The file was deleted by hand.
    }
  }
  setInterval(touch, HEARTBEAT_MS).unref()
  process.on("exit", () => rmSync(file, { force: true }))
}

/** A runtime whose owner was killed keeps its port and its files until it ends. */
async function endRuntime(pid: number): Promise<void> {
  if (!runs(pid, "workerd")) return
  try {
    process.kill(pid, "SIGKILL")
  } catch {
    // It has ended already: another process that starts may have ended it.
  }
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
