import { spawnSync } from "node:child_process"
import { appendFileSync, existsSync, mkdirSync, readFileSync } from "node:fs"
import path from "node:path"
import readline from "node:readline"

/**
 * A scripted agent with ACP v1 on its standard streams: node test/support/acp-agent.ts [--steering] [--no-load] [--mcp] [--sign-in].
 * Each line of a prompt is a step:
 *   say TEXT         an agent_message_chunk per word
 *   think TEXT       an agent_thought_chunk
 *   ask NAME         a permission question (allow_once, allow_always, reject_once); then the text "NAME: the chosen kind"
 *   ask-two A B      two at once, answered in any order
 *   elicit MESSAGE   a form with the field `name`; then the answer as text
 *   env NAME         the value of an environment variable as text
 *   servers          the MCP servers of the session as text
 *   mode             the mode of the session as text
 *   run COMMAND      runs it in bash, and sends its output as text
 *   big N            one chunk of N characters
 *   late-input NAME  a permission question without its input, which is sent in an update after it
 *   big-question N   a permission question with N characters in it; then the error as text
 *   hold             waits until it is cancelled
 *   steered          waits for a message during the turn (with --steering), and sends it as text
 *   fail TEXT        the prompt fails with this message
 *   crash CODE       the process exits
 *   other METHOD     a request with an unknown method; then the error code as text
 * Any other line is sent back. Each prompt uses 10 tokens in, 5 out. Sessions are kept below HOME, and replayed when loaded.
 */

type Rpc = {
  id?: number | string
  method?: string
  params?: Record<string, unknown>
  result?: unknown
  error?: { code: number }
}
type Session = {
  isCancelled: boolean
  onCancel: () => void
  steer: ((text: string) => void) | undefined
  isBusy: boolean
  mcpServers: unknown
  mode: string
}

const hasSteering = process.argv.includes("--steering")
const hasMcp = process.argv.includes("--mcp")
/** With --sign-in, sessions need `authenticate` with the method `token`. */
let isSignedIn = !process.argv.includes("--sign-in")
const loadSession = !process.argv.includes("--no-load")
const home = path.join(process.env["HOME"] ?? ".", "sessions")
const sessions = new Map<string, Session>()
const waiting = new Map<number | string, (answer: Rpc) => void>()
let lastId = 0

const send = (message: object) => void process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`)
const request = (method: string, params: object) =>
  new Promise<Rpc>((resolve) => {
    const id = ++lastId
    waiting.set(id, resolve)
    send({ id, method, params })
  })

function update(sessionId: string, sessionUpdate: string, text: string): void {
  if (sessionUpdate !== "user_message_chunk") remember(sessionId, sessionUpdate, text)
  send({ method: "session/update", params: { sessionId, update: { sessionUpdate, content: { type: "text", text } } } })
}

const fileOf = (sessionId: string) => path.join(home, `${sessionId}.jsonl`)
function remember(sessionId: string, kind: string, text: string): void {
  mkdirSync(home, { recursive: true })
  appendFileSync(fileOf(sessionId), `${JSON.stringify([kind, text])}\n`)
}

const newSession = (mcpServers: unknown): Session => {
  return { isCancelled: false, onCancel: () => {}, steer: undefined, isBusy: false, mcpServers, mode: "default" }
}
const textOf = (params: Record<string, unknown>) =>
  (params["prompt"] as { type: string; text?: string }[]).map(({ text }) => text ?? "").join("\n")

const OPTIONS = ["allow_once", "allow_always", "reject_once"].map((kind) => ({
  optionId: `o-${kind}`,
  name: kind,
  kind,
}))

async function permission(sessionId: string, name: string): Promise<string> {
  const toolCall = { toolCallId: `t-${name}`, title: name, kind: "execute" }
  const { result, error } = await request("session/request_permission", { sessionId, toolCall, options: OPTIONS })
  if (error) return `refused with ${error.code}`
  const { outcome } = result as { outcome: { outcome: string; optionId?: string } }
  return outcome.optionId?.slice(2) ?? outcome.outcome
}

async function lateInput(sessionId: string, name: string): Promise<string> {
  const toolCall = { toolCallId: `t-${name}`, title: name, kind: "other", rawInput: {} }
  const pending = request("session/request_permission", { sessionId, toolCall, options: OPTIONS })
  const input = { toolCallId: `t-${name}`, status: "in_progress", rawInput: { text: "rivers" } }
  send({ method: "session/update", params: { sessionId, update: { sessionUpdate: "tool_call_update", ...input } } })
  const { result } = await pending
  return (result as { outcome: { optionId?: string } }).outcome.optionId ?? "none"
}

async function step(sessionId: string, session: Session, line: string): Promise<void> {
  const [word = "", ...rest] = line.split(" ")
  const text = rest.join(" ")
  const sendText = (message: string) => update(sessionId, "agent_message_chunk", message)
  switch (word) {
    case "say":
      for (const each of rest) sendText(`${each} `)
      return
    case "mode":
      return sendText(session.mode)
    case "think":
      return update(sessionId, "agent_thought_chunk", text)
    case "ask":
      return sendText(`${text}: ${await permission(sessionId, text)}`)
    case "ask-two":
      return sendText(
        (await Promise.all(rest.map(async (name) => `${name}: ${await permission(sessionId, name)}`))).join(", "),
      )
    case "elicit": {
      const requestedSchema = { type: "object", properties: { name: { type: "string" } }, required: ["name"] }
      const { result } = await request("elicitation/create", {
        sessionId,
        mode: "form",
        message: text,
        requestedSchema,
      })
      return sendText(JSON.stringify(result))
    }
    case "env":
      return sendText(`${text}=${process.env[text] ?? ""}`)
    case "servers":
      return sendText(JSON.stringify(session.mcpServers))
    case "run": {
      const { stdout, stderr } = spawnSync("bash", ["-c", text], { encoding: "utf8", maxBuffer: 64 * 1024 * 1024 })
      return sendText(`${stdout}${stderr}`)
    }
    case "big":
      return sendText("x".repeat(Number(text)))
    case "late-input":
      return sendText(await lateInput(sessionId, text))
    case "big-question":
      return sendText(await permission(sessionId, "x".repeat(Number(text))))
    case "hold":
      return new Promise((resolve) => {
        session.onCancel = resolve
      })
    case "steered":
      return sendText(`steered: ${await new Promise<string>((resolve) => (session.steer = resolve))}`)
    case "fail":
      throw new Error(text)
    case "crash":
      process.exit(Number(text))
      break
    case "other":
      return sendText(`refused with ${(await request(text, { sessionId })).error?.code}`)
    default:
      sendText(line)
  }
}

async function prompt(params: Record<string, unknown>): Promise<object> {
  const sessionId = String(params["sessionId"])
  const session = sessions.get(sessionId)
  if (!session) throw new Error(`There is no session ${sessionId}.`)
  // Like some agents: a second prompt fails.
  if (session.isBusy) throw new Error("A prompt is running.")
  Object.assign(session, { isBusy: true, isCancelled: false })
  remember(sessionId, "user_message_chunk", textOf(params))
  try {
    for (const line of textOf(params).split("\n")) {
      if (session.isCancelled) break
      await step(sessionId, session, line)
    }
  } finally {
    session.isBusy = false
  }
  const usage = { inputTokens: 10, outputTokens: 5, totalTokens: 15 }
  return { stopReason: session.isCancelled ? "cancelled" : "end_turn", usage }
}

async function answer(method: string, params: Record<string, unknown>): Promise<object> {
  const sessionId = String(params["sessionId"])
  if (!isSignedIn && /^session\/(?:new|load)$/.test(method))
    throw Object.assign(new Error("Sign in first."), { code: -32_000 })
  switch (method) {
    case "authenticate":
      if (params["methodId"] !== "token") throw new Error("There is no such method.")
      isSignedIn = true
      return {}
    case "session/set_mode":
      Object.assign(sessions.get(sessionId) ?? {}, { mode: params["modeId"] })
      return {}
    case "initialize":
      return {
        protocolVersion: 1,
        agentInfo: { name: "scripted", version: "1.0.0" },
        agentCapabilities: { loadSession, ...(hasMcp && { mcpCapabilities: { http: true } }) },
        authMethods: isSignedIn
          ? []
          : [
              { id: "browser", name: "Log in", type: "terminal" },
              { id: "token", name: "Use the token" },
            ],
        ...(hasSteering && { _meta: { steering: { supported: true } } }),
      }
    case "session/new": {
      const made = crypto.randomUUID()
      if (typeof params["cwd"] !== "string" || !Array.isArray(params["mcpServers"])) throw new Error("cwd is missing.")
      sessions.set(made, newSession(params["mcpServers"]))
      return { sessionId: made }
    }
    case "session/load": {
      if (!existsSync(fileOf(sessionId))) throw new Error(`There is no session ${sessionId}.`)
      sessions.set(sessionId, newSession(params["mcpServers"]))
      for (const line of readFileSync(fileOf(sessionId), "utf8").trim().split("\n")) {
        const [sessionUpdate, text] = JSON.parse(line) as [string, string]
        const content = { type: "text", text }
        send({ method: "session/update", params: { sessionId, update: { sessionUpdate, content } } })
      }
      return {}
    }
    case "session/prompt":
      return prompt(params)
    case "_session/steering": {
      const { steer } = sessions.get(sessionId) ?? {}
      steer?.(textOf(params))
      return { outcome: steer ? "injected" : "promptRequired" }
    }
    default:
      throw new Error(`Method not found: ${method}`)
  }
}

async function take({ id, method, params = {}, ...rest }: Rpc): Promise<void> {
  if (method === undefined) {
    waiting.get(id ?? 0)?.({ ...rest })
    return
  }
  if (id === undefined) {
    const session = method === "session/cancel" ? sessions.get(String(params["sessionId"])) : undefined
    if (!session) return
    session.isCancelled = true
    session.onCancel()
    return
  }
  try {
    send({ id, result: await answer(method, params) })
  } catch (thrown) {
    send({ id, error: { message: (thrown as Error).message, ...Object.assign({ code: -32_603 }, thrown) } })
  }
}

readline.createInterface({ input: process.stdin }).on("line", (line) => void take(JSON.parse(line) as Rpc))
