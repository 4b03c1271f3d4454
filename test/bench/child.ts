import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { openSync } from "node:fs"

/** Processes of the benchmark: each starts, reports its properties, responds to requests, and ends with its parent. */

export type Child<Hello, Question, Answer> = Hello & { pid: number; request: (question: Question) => Promise<Answer> }

const running = new Set<ChildProcess>()

/** `core`: where it and its children run, if they can be kept there. */
export async function startChild<Hello, Question, Answer>(
  file: string,
  args: readonly string[],
  { core, logFile, env }: { core: string | undefined; logFile: string; env?: NodeJS.ProcessEnv },
): Promise<Child<Hello, Question, Answer>> {
  const log = openSync(logFile, "w")
  const [command = "", ...rest] = [
    ...(core === undefined ? [] : ["taskset", "-c", core]),
    process.execPath,
    `${import.meta.dirname}/${file}`,
    ...args,
  ]
  const child = spawn(command, rest, { stdio: ["ignore", log, log, "ipc"], env: { ...process.env, ...env } })
  running.add(child)
  child.once("exit", () => running.delete(child))
  const next = async (): Promise<unknown> => {
    const gone = new AbortController()
    const message = once(child, "message", { signal: gone.signal })
    const exit = once(child, "exit", { signal: gone.signal }).then(([code]) => {
      throw new Error(`${file} ${args.join(" ")} ended with ${String(code)}; see ${logFile}`)
    })
    try {
      const [value] = (await Promise.race([message, exit])) as [unknown]
      return value
    } finally {
      gone.abort()
      await Promise.allSettled([message, exit])
    }
  }
  const hello = (await next()) as Hello
  const request = async (question: Question) => {
    child.send(question as object)
    return (await next()) as Answer
  }
  return { ...hello, pid: child.pid ?? 0, request }
}

/** Every child has ended when this settles. */
export async function stopChildren(): Promise<void> {
  await Promise.all(
    [...running].map(async (child) => {
      const ended = once(child, "exit")
      child.kill("SIGTERM")
      const forced = setTimeout(() => child.kill("SIGKILL"), 5_000)
      await ended
      clearTimeout(forced)
    }),
  )
}

/** In the child: sends its greeting, responds to requests one after the other, and ends when the parent does. */
export function serveParent(
  hello: object,
  answer: (question: never) => Promise<object>,
  end: () => Promise<void> = () => Promise.resolve(),
): void {
  const endProcess = () => void end().finally(() => process.exit(0))
  for (const event of ["disconnect", "SIGTERM", "SIGINT"]) process.once(event, endProcess)
  process.on("message", (question) => void answer(question as never).then((result) => process.send?.(result)))
  process.send?.(hello)
}
