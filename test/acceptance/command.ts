import { type ChildProcess, execFile, fork } from "node:child_process"
import path from "node:path"
import { inject } from "vitest"
import { root } from "../../src/dev/options.ts"

export type Ended = { code: number; out: string; errors: string }

type Options = { env: Record<string, string>; cwd?: string | undefined }

/** Runs a program to its end, without input. */
export function run(file: string, args: readonly string[], { env, cwd = root }: Options): Promise<Ended> {
  return new Promise((resolve) => {
    const child = execFile(file, args, { cwd, env }, (error, out, errors) => {
      resolve({ code: typeof error?.code === "number" ? error.code : error ? 1 : 0, out, errors })
    })
    child.stdin?.end()
  })
}

export type CommandRequest = { id: number; args: readonly string[]; env: Record<string, string>; cwd: string }

/** The gateway's command line as on another computer: its settings come from `env`. It runs in HOME if there is one. */
export function gatewayCommand(args: readonly string[], env: Record<string, string>): Promise<Ended> {
  return run(process.execPath, [path.join(root, "src/dev/gateway.ts"), ...args], {
    env: environmentOf(env),
    cwd: env["HOME"],
  })
}

/** The same in a process that runs one command after the other, for tests with many of them. */
export function quickGatewayCommand(args: readonly string[], env: Record<string, string>): Promise<Ended> {
  commands ??= startCommands()
  const { child, waiting } = commands
  const request: CommandRequest = { id: waiting.size, args, env: environmentOf(env), cwd: env["HOME"] ?? root }
  return new Promise((resolve, reject) => {
    waiting.set(request.id, { resolve, reject })
    child.send(request)
  })
}

type Commands = {
  child: ChildProcess
  /** By request id, which is not reused. */
  waiting: Map<number, { resolve: (ended: Ended) => void; reject: (reason: Error) => void }>
}

let commands: Commands | undefined

/** Ends with this process. */
function startCommands(): Commands {
  const child = fork(path.join(import.meta.dirname, "command-process.ts"), {
    stdio: ["ignore", "inherit", "inherit", "ipc"],
  })
  const waiting: Commands["waiting"] = new Map()
  child.on("message", ({ id, ended }: { id: number; ended: Ended }) => waiting.get(id)?.resolve(ended))
  child.on("exit", (code) => {
    for (const { reject } of waiting.values()) reject(new Error(`The process of the commands ended with ${code}.`))
  })
  child.unref()
  child.channel?.unref()
  return { child, waiting }
}

function environmentOf(env: Record<string, string>): Record<string, string> {
  const { PATH = "", NODE_COMPILE_CACHE } = process.env
  const cache = NODE_COMPILE_CACHE === undefined ? {} : { NODE_COMPILE_CACHE }
  return { PATH, ...cache, GATEWAY_URL: inject("gateway").url, ...env }
}
