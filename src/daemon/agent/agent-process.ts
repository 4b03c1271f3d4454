import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { Readable, Writable } from "node:stream"
import { setTimeout as wait } from "node:timers/promises"
import { type AnyMessage, ndJsonStream } from "@agentclientprotocol/sdk"
import { isObject } from "../../support/text/json.ts"
import { limitLines } from "../limit-lines.ts"

/** A command that uses ACP on its standard streams, and its environment. */
export type Command = {
  argv: readonly string[]
  cwd: string
  env: Record<string, string>
  uid: number | undefined
  /** The npm package that has the command. */
  package?: string
}

export type RpcError = { code: number; message: string; data?: unknown }

/** A JSON-RPC error of the agent. */
export class RpcFailure extends Error {
  override readonly name = "RpcFailure"
  readonly error: RpcError

  constructor(error: RpcError) {
    super(error.message)
    this.error = error
  }
}

export type Agent = {
  name: string
  version: string
  loadSession: boolean
  steering: boolean
  /** Whether the agent supports MCP servers over HTTP. */
  mcpHttp: boolean
  /** Ids of its authentication methods that need no terminal. */
  authMethods: string[]
  send: (message: AnyMessage) => void
  /** Sends a request. Rejects with an RpcFailure, also if the agent has exited. */
  request: (method: string, params: unknown) => Promise<Record<string, unknown>>
  stop: () => Promise<void>
}

type Initialized = {
  protocolVersion?: number
  agentInfo?: { name?: string; version?: string } | null
  agentCapabilities?: { loadSession?: boolean; mcpCapabilities?: { http?: boolean } }
  authMethods?: { id?: string; type?: string }[] | null
  _meta?: { steering?: { supported?: boolean } } | null
}

const STDIO: ["pipe", "pipe", "inherit"] = ["pipe", "pipe", "inherit"]

type Handlers = {
  /** Called for requests and notifications of the agent. */
  onMessage: (message: AnyMessage) => void
  /** The agent exited without having been stopped. */
  onExit: (code: number | null) => void
}

const ACP_VERSION = 1
const START_TIMEOUT_MS = 60_000
const STOP_TIMEOUT_MS = 5_000
const DRAIN_MS = 1_000
const GONE: RpcError = { code: -32_603, message: "The agent has ended." }

/** Starts an agent and initializes it. Rejects, with no process left running, if that fails. */
export async function startAgent(command: Command, handlers: Handlers): Promise<Agent> {
  const running = run(command, handlers)
  const timer = setTimeout(() => void running.stop(), START_TIMEOUT_MS)
  try {
    const clientCapabilities = { fs: { readTextFile: false, writeTextFile: false }, terminal: false }
    const initialized = (await running.request("initialize", {
      protocolVersion: ACP_VERSION,
      clientCapabilities: { ...clientCapabilities, elicitation: { form: {} } },
      clientInfo: { name: "gateway-daemon", version: "1" },
    })) as Initialized
    if (initialized.protocolVersion !== ACP_VERSION) throw new Error("It does not support ACP version 1.")
    running.ready()
    const { agentInfo, agentCapabilities, authMethods, _meta } = initialized
    return {
      name: agentInfo?.name ?? "unknown",
      version: agentInfo?.version ?? "unknown",
      loadSession: agentCapabilities?.loadSession === true,
      steering: _meta?.steering?.supported === true,
      mcpHttp: agentCapabilities?.mcpCapabilities?.http === true,
      authMethods: (authMethods ?? []).flatMap(({ id, type }) => (id === undefined || type === "terminal" ? [] : [id])),
      ...running,
    }
  } catch (thrown) {
    await running.stop()
    throw thrown
  } finally {
    clearTimeout(timer)
  }
}

/** An error as the protocol defines it: agents send texts and numbers in other places. */
function toRpcError(error: unknown): RpcError {
  const { code, message, data } = isObject(error) ? error : { message: error }
  return {
    code: typeof code === "number" ? code : GONE.code,
    message: typeof message === "string" ? message : JSON.stringify(message ?? error),
    ...(data != null && { data }),
  }
}

function startFailure(file: string, error: NodeJS.ErrnoException, name: string | undefined): RpcError {
  if (error.code !== "ENOENT") return { ...GONE, message: `The agent did not start: ${error.message}` }
  const install = name === undefined ? "Install it, or name another command with --agent." : `npm install -g ${name}`
  return { ...GONE, message: `${file} is not installed where the daemon runs. ${install}` }
}

/** Describes a failed start. The agent's error output goes to that of the daemon. */
function startEnd(file: string, code: number | null, isLate: boolean, name: string | undefined): RpcError {
  const end = isLate
    ? `did not start within ${START_TIMEOUT_MS / 1_000} s`
    : `ended before it was ready${code === null ? "" : `, with code ${code}`}`
  const install = name === undefined ? "The command must speak ACP." : `Reinstall it: npm install -g ${name}`
  return { ...GONE, message: `${file} ${end}. Its errors are in the output of the daemon. ${install}` }
}

type Waiting = { resolve: (result: Record<string, unknown>) => void; reject: (failure: RpcFailure) => void }

function run({ argv, cwd, env, uid, package: name }: Command, { onMessage, onExit }: Handlers) {
  const [file = "", ...args] = argv
  // A separate process group, so that the agent's child processes are killed with it.
  const as = uid === undefined ? {} : { uid, gid: uid }
  const child = spawn(file, args, { cwd, env, detached: true, stdio: STDIO, ...as })
  const output = Readable.toWeb(child.stdout) as ReadableStream<Uint8Array>
  const stream = ndJsonStream(Writable.toWeb(child.stdin), output.pipeThrough(limitLines()))
  const writer = stream.writable.getWriter()
  const waiting = new Map<unknown, Waiting>()
  let [isReady, isStopped, isGone, last] = [false, false, false, 0]

  const send = (message: AnyMessage) => void writer.write(message).catch(() => {})
  const finish = (code: number | null, error: RpcError = GONE) => {
    if (isGone) return
    isGone = true
    for (const { reject } of waiting.values()) reject(new RpcFailure(error))
    waiting.clear()
    if (isReady && !isStopped) onExit(code)
  }
  const take = (message: AnyMessage) => {
    if ("method" in message) return onMessage(message)
    const pending = waiting.get(message.id)
    waiting.delete(message.id)
    if (!pending) return
    // Some agents send both fields, and null in the one that does not apply.
    const { result, error } = { result: undefined, error: undefined, ...message }
    if (error == null) pending.resolve(isObject(result) ? result : {})
    else pending.reject(new RpcFailure(toRpcError(error)))
  }

  child.once("error", (error) => finish(null, startFailure(file, error, name)))
  // The last output is still read, but a child process of the agent may hold the pipe open.
  child.once("exit", (code) => {
    const error = isReady ? GONE : startEnd(file, code, isStopped, name)
    void Promise.race([draining, wait(DRAIN_MS)]).then(() => finish(code, error))
  })
  const draining = (async () => {
    for await (const message of stream.readable) take(message)
  })().catch(() => signal(child, "SIGKILL"))
  return {
    send,
    ready: () => {
      isReady = true
    },
    request: (method: string, params: unknown) =>
      new Promise<Record<string, unknown>>((resolve, reject) => {
        if (isGone) return reject(new RpcFailure(GONE))
        const id = `daemon-${++last}`
        waiting.set(id, { resolve, reject })
        send({ jsonrpc: "2.0", id, method, params })
      }),
    stop: async () => {
      isStopped = true
      if (!isGone) await end(child)
    },
  }
}

function signal({ pid }: ChildProcess, name: NodeJS.Signals): void {
  try {
    if (pid !== undefined) process.kill(-pid, name)
  } catch {
    // The process has exited already.
  }
}

async function end(child: ChildProcess): Promise<void> {
  if (child.pid === undefined) return
  const exited = child.exitCode === null && child.signalCode === null ? once(child, "exit") : undefined
  signal(child, "SIGTERM")
  const timer = setTimeout(() => signal(child, "SIGKILL"), STOP_TIMEOUT_MS)
  await exited
  clearTimeout(timer)
  // Kills the remaining processes of the group.
  signal(child, "SIGKILL")
}
