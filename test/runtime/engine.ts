import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { mkdtempSync } from "node:fs"
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import net from "node:net"
import { tmpdir } from "node:os"
import path from "node:path"
import { root } from "../../src/dev/options.ts"
import { removeFolder } from "../support/remove-folder.ts"

type Spec = { Image: string; Env?: string[] }
type Box = {
  spec: Spec
  state: "created" | "running" | "exited"
  code: number
  waiting: (() => void)[]
  process?: ChildProcess
}

export type Engine = {
  /** The engine's URL for Miniflare. */
  url: string
  /** The command that runs on this computer in place of the image. */
  image: { command: string[]; env: Record<string, string>; isMissing: boolean }
  /** The environments of the started containers, in order. */
  started: Record<string, string>[]
  /** Signals and removals requested by the runtime. */
  ended: string[]
  /** The running processes. */
  running: () => ChildProcess[]
  stop: () => void
}

/** The platform's response when no container listens on the port that the class requests. */
const NOT_LISTENING = "HTTP/1.1 502 The container is not listening in the TCP address\r\ncontent-length: 0\r\n\r\n"
/** The proxy that the runtime starts next to each container. */
const SIDECAR = "-proxy"
const SIDECAR_PORT = "39001/tcp"

/**
 * The part of Docker's API that the runtime uses, on a socket. A container is a process on this computer, and its sidecar
 * responds that nothing listens.
 */
export async function startEngine(command: string[], env: Record<string, string>): Promise<Engine> {
  const folder = mkdtempSync(path.join(tmpdir(), "gateway-engine-"))
  const image = { command, env, isMissing: false }
  const boxes = new Map<string, Box>()
  const started: Engine["started"] = []
  const ended: string[] = []
  const sidecar = net.createServer((socket) => {
    socket.on("error", () => undefined)
    socket.on("data", (data) => {
      const isConnect = data.toString("latin1").startsWith("CONNECT ")
      socket.end(isConnect ? NOT_LISTENING : "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}")
    })
  })
  sidecar.listen(0, "127.0.0.1")
  await once(sidecar, "listening")
  const sidecarPort = String((sidecar.address() as net.AddressInfo).port)

  const over = (box: Box, code: number) => {
    Object.assign(box, { state: "exited", code })
    for (const resolve of box.waiting.splice(0)) resolve()
  }
  const run = (box: Box) => {
    box.state = "running"
    const given = Object.fromEntries((box.spec.Env ?? []).map((line) => line.split(/=(.*)/s).slice(0, 2)))
    started.push(given)
    const [program = "", ...args] = image.command
    box.process = spawn(program, args, {
      cwd: root,
      env: { PATH: process.env["PATH"], ...image.env, ...given },
      stdio: "ignore",
    })
    box.process.once("exit", (code) => over(box, code ?? 137))
  }
  const inspect = (name: string, { state, code, spec }: Box) => ({
    Id: name,
    Name: `/${name}`,
    State: { Status: state, Running: state === "running", ExitCode: code },
    Config: { Labels: {}, Image: spec.Image },
    NetworkSettings: {
      Ports: name.endsWith(SIDECAR) ? { [SIDECAR_PORT]: [{ HostIp: "127.0.0.1", HostPort: sidecarPort }] } : {},
      Networks: { bridge: { Gateway: "127.0.0.1", IPAddress: "127.0.0.1" } },
    },
  })

  async function ofBox(name: string, action: string, request: IncomingMessage, query: URLSearchParams) {
    const box = boxes.get(name)
    if (!box) return { status: 404, body: { message: "No such container" } }
    const isSidecar = name.endsWith(SIDECAR)
    if (request.method === "DELETE") {
      if (!isSidecar) ended.push("remove")
      box.process?.kill("SIGKILL")
      over(box, 137)
      boxes.delete(name)
      return { status: 204 }
    }
    if (action === "json") return { status: 200, body: inspect(name, box) }
    if (action === "start") {
      if (isSidecar) box.state = "running"
      else run(box)
      return { status: 204 }
    }
    if (action === "kill" || action === "stop") {
      const signal = query.get("signal") ?? "SIGTERM"
      if (!isSidecar) ended.push(signal)
      box.process?.kill(signal as NodeJS.Signals)
      return { status: 204 }
    }
    if (action !== "wait") return { status: 404, body: { message: `${action} is not played.` } }
    if (box.state !== "exited") await new Promise<void>((resolve) => box.waiting.push(resolve))
    return { status: 200, body: { StatusCode: box.code } }
  }

  async function answer(request: IncomingMessage) {
    const url = new URL(request.url ?? "", "http://engine")
    let text = ""
    for await (const part of request) text += String(part)
    if (url.pathname === "/containers/create") {
      const name = url.searchParams.get("name") ?? ""
      if (image.isMissing && !name.endsWith(SIDECAR)) return { status: 404, body: { message: "No such image" } }
      boxes.set(name, { spec: JSON.parse(text) as Spec, state: "created", code: 0, waiting: [] })
      return { status: 201, body: { Id: name, Warnings: [] } }
    }
    const [, name = "", action = ""] = /^\/containers\/([^/]+)(?:\/(\w+))?$/.exec(url.pathname) ?? []
    if (name !== "") return ofBox(name, action, request, url.searchParams)
    const isNetwork = url.pathname.startsWith("/networks/")
    if (isNetwork) return { status: 200, body: { IPAM: { Config: [{ Gateway: "127.0.0.1", Subnet: "127.0.0.0/8" }] } } }
    return { status: 404, body: { message: `${url.pathname} is not played.` } }
  }

  const reply = async (request: IncomingMessage, response: ServerResponse) => {
    const { status, body }: { status: number; body?: object } = await answer(request)
    response.writeHead(status, { "content-type": "application/json" }).end(body && JSON.stringify(body))
  }
  const server = createServer((request, response) => void reply(request, response))
  const socket = path.join(folder, "engine.sock")
  server.listen(socket)
  await once(server, "listening")
  const running = () =>
    [...boxes.values()].flatMap(({ process: child, state }) => (child && state === "running" ? [child] : []))
  return {
    url: `unix:${socket}`,
    image,
    started,
    ended,
    running,
    stop: () => {
      for (const child of running()) child.kill("SIGKILL")
      server.closeAllConnections()
      server.close()
      sidecar.close()
      removeFolder(folder)
    },
  }
}
