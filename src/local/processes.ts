import { execFileSync } from "node:child_process"
import { existsSync, readdirSync, readFileSync } from "node:fs"

type Process = { pid: number; parent: number; command: string }

/** Ids of the processes of this name that `parent` started. */
export function pidsOf(name: string, parent: number): number[] {
  return processes().flatMap((each) => (each.parent === parent && each.command.includes(name) ? [each.pid] : []))
}

/** Whether the process runs and its command contains `name`: the id may belong to another program by now. */
export function runs(pid: number, name: string): boolean {
  return processes().some((each) => each.pid === pid && each.command.includes(name))
}

/** The nearest ancestor of this process whose command contains `name`. */
export function ancestorOf(pid: number, name: string): number | undefined {
  const all = new Map(processes().map((each) => [each.pid, each]))
  for (let at = all.get(pid); at !== undefined; at = all.get(at.parent)) {
    if (at.pid !== pid && at.command.includes(name)) return at.pid
  }
  return undefined
}

/** This process and all its descendants. */
export function familyOf(pid: number): number[] {
  const all = processes()
  const childrenOf = (parent: number): number[] =>
    all.filter((each) => each.parent === parent).flatMap((child) => [child.pid, ...childrenOf(child.pid)])
  return [pid, ...childrenOf(pid)]
}

/** The running processes among `pids`, with their commands. */
export function runningProcesses(pids: readonly number[]): string[] {
  return processes().flatMap(({ pid, command }) => (pids.includes(pid) ? [`${pid} ${command}`] : []))
}

/** Small images have no `ps`. */
function processes(): Process[] {
  return existsSync("/proc/self/stat") ? fromProc() : fromPs()
}

function fromProc(): Process[] {
  return readdirSync("/proc").flatMap((entry) => {
    if (!/^\d+$/.test(entry)) return []
    try {
      const stat = readFileSync(`/proc/${entry}/stat`, "utf8")
      // The name is in parentheses and may contain them: pid (name) state ppid …
      const [state, parent] = stat.slice(stat.lastIndexOf(")") + 2).split(" ")
      if (state === "Z") return []
      const command = readFileSync(`/proc/${entry}/cmdline`, "utf8").replaceAll("\0", " ")
      return [{ pid: Number(entry), parent: Number(parent), command }]
    } catch {
      // It ended in the meantime.
      return []
    }
  })
}

function fromPs(): Process[] {
  const listed = execFileSync("ps", ["-A", "-o", "pid=,ppid=,stat=,args="], { encoding: "utf8" })
  return listed.split("\n").flatMap((line) => {
    const [, pid, parent, state, command = ""] = /^\s*(\d+)\s+(\d+)\s+(\S+)\s+(.*)$/.exec(line) ?? []
    return pid === undefined || state?.startsWith("Z") ? [] : [{ pid: Number(pid), parent: Number(parent), command }]
  })
}
