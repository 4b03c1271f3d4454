import { readdirSync, readFileSync } from "node:fs"

/** USER_HZ, which is 100 wherever Node runs on Linux. */
const MS_PER_TICK = 10

/** CPU time of a process and all its threads, user and system. */
export function cpuMs(pid: number): number {
  const fields = statOf(pid)
  return (Number(fields[11]) + Number(fields[12])) * MS_PER_TICK
}

/** Kilobytes of memory that a process uses now. */
export function memoryKb(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, "utf8")
  return Number(/^VmRSS:\s+(\d+) kB/m.exec(status)?.[1] ?? 0)
}

/** The process of that name which this process started. */
export function ownChild(name: string): number {
  for (const entry of readdirSync("/proc")) {
    if (!/^\d+$/.test(entry)) continue
    try {
      if (Number(statOf(Number(entry))[1]) !== process.pid) continue
      if (readFileSync(`/proc/${entry}/comm`, "utf8").trim() === name) return Number(entry)
    } catch {
      // It has ended meanwhile.
    }
  }
  throw new Error(`No process ${name} was started.`)
}

/** The fields of `/proc/<pid>/stat` from the third on: the second may contain spaces. */
function statOf(pid: number): string[] {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8")
  return stat.slice(stat.lastIndexOf(")") + 2).split(" ")
}
