import { type ChildProcess, execFileSync, spawn } from "node:child_process"
import { once } from "node:events"
import { chmodSync, chownSync, cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, symlinkSync } from "node:fs"
import { tmpdir } from "node:os"
import path from "node:path"
import { beforeAll, expect, onTestFinished, test } from "vitest"
import { ensureBuild } from "../../src/dev/build/build.ts"
import { root } from "../../src/local/paths.ts"
import { familyOf, runningProcesses } from "../../src/local/processes.ts"
import { eventually } from "../support/eventually.ts"
import { findFreePort } from "../support/free-port.ts"
import { removeFolder } from "../support/remove-folder.ts"

/** Checks the image by its Dockerfile, without an engine: its files, variables, user and commands. */

const [, stage = ""] = readFileSync(path.join(root, "Dockerfile"), "utf8").split(/^FROM .* AS build$/m)
const image = stage.slice(stage.indexOf("\nFROM "))
const copied = [...image.matchAll(/^COPY --from=build \/gateway\/(\S+) \.\/(\S*)$/gm)].map(
  ([, from = "", to = ""]) => [from, to] as const,
)
const variables = Object.fromEntries(
  (/^ENV (.+)$/m.exec(image)?.[1] ?? "").split(" ").map((one) => one.split("=") as [string, string]),
)
const commandOf = (pattern: RegExp) => JSON.parse(pattern.exec(image)?.[1] ?? "[]") as string[]
const CMD = commandOf(/^CMD (\[.+\])$/m)
const HEALTHCHECK = commandOf(/^ {2}CMD (\[.+\])$/m)

const NOBODY = 65_534
/** Tests run as root in a container, and as a normal user elsewhere. */
const user = process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {}

/** The packages that `npm prune --omit=dev` leaves. */
function linkProductionModules(folder: string): void {
  type Lock = { packages: Record<string, { dev?: boolean; devOptional?: boolean }> }
  const { packages } = JSON.parse(readFileSync(path.join(root, "package-lock.json"), "utf8")) as Lock
  for (const [name, { dev, devOptional }] of Object.entries(packages)) {
    if (!/^node_modules\/(?:@[^/]+\/)?[^/]+$/.test(name) || dev || devOptional || !existsSync(path.join(root, name)))
      continue
    mkdirSync(path.dirname(path.join(folder, name)), { recursive: true })
    symlinkSync(path.join(root, name), path.join(folder, name))
  }
}

type Container = { folder: string; data: string; env: NodeJS.ProcessEnv; url: string }

async function newContainer(): Promise<Container> {
  const folder = mkdtempSync(path.join(tmpdir(), "gateway-image-"))
  onTestFinished(() => removeFolder(folder))
  chmodSync(folder, 0o755)
  for (const [from, to] of copied) {
    if (from === "node_modules") linkProductionModules(folder)
    else cpSync(path.join(root, from), path.join(folder, to || from), { recursive: true })
  }
  const data = path.join(folder, "data")
  mkdirSync(data)
  if (user.uid !== undefined) chownSync(data, user.uid, user.gid)
  const port = String(await findFreePort())
  const env = {
    ...variables,
    // Values of the test machine.
    HOST: "127.0.0.1",
    PORT: port,
    STATE_DIR: data,
    PATH: process.env["PATH"] ?? "",
    MASTER_KEY: Buffer.alloc(32, 5).toString("base64"),
    BOOTSTRAP_MANAGEMENT_KEY: "sk-gw-boot-of-the-image-0123456789abcdef",
  }
  return { folder, data, env, url: `http://127.0.0.1:${port}` }
}

function run({ folder, env }: Container): { child: ChildProcess; printed: () => string } {
  const [, ...args] = CMD
  const child = spawn(process.execPath, args, { cwd: folder, env, stdio: ["ignore", "pipe", "pipe"], ...user })
  let printed = ""
  for (const stream of [child.stdout, child.stderr]) stream?.on("data", (text: Buffer) => (printed += text.toString()))
  onTestFinished(() => void child.kill("SIGKILL"))
  return { child, printed: () => printed }
}

/** 0 if the container is healthy. */
function health({ folder, env }: Container): number {
  const [, ...args] = HEALTHCHECK
  try {
    execFileSync(process.execPath, args, { cwd: folder, env, ...user, stdio: "ignore" })
    return 0
  } catch {
    return 1
  }
}

beforeAll(() => ensureBuild())

test("the Dockerfile has the expected files, variables, user and commands", () => {
  expect(copied.map(([from]) => from)).toEqual(["package.json", "node_modules", "dist", "src/local", "src/support"])
  expect(variables).toEqual({ NODE_ENV: "production", HOST: "0.0.0.0", PORT: "8787", STATE_DIR: "/data" })
  expect(image).toMatch(/^USER node$/m)
  expect(image).toMatch(/^VOLUME \/data$/m)
  expect(CMD).toEqual(["node", "src/local/serve.ts"])
})

test("it serves as an unprivileged user, is healthy at the first response, and writes and keeps only its volume", async () => {
  const container = await newContainer()
  expect(health(container)).toBe(1)
  const { child, printed } = run(container)
  let first: Response | undefined
  await eventually(async () => {
    first ??= await fetch(`${container.url}/ready`)
  }, 30_000)
  // The schema is migrated before the port opens.
  expect([first?.status, printed()]).toEqual([200, expect.any(String)])
  expect(health(container)).toBe(0)
  const made = await fetch(`${container.url}/api/v1/organizations`, {
    method: "POST",
    headers: {
      authorization: `Bearer ${container.env["BOOTSTRAP_MANAGEMENT_KEY"]}`,
      "content-type": "application/json",
    },
    body: JSON.stringify({ name: "Image", starting_balance_usd: 3 }),
  })
  expect(made.status).toBe(201)
  const { data } = (await made.json()) as { data: { management_key: string } }
  const models = await fetch(`${container.url}/api/v1/models`)
  // Production: no embedded models, and no development keys.
  expect(((await models.json()) as { data: unknown[] }).data).toEqual([])
  await eventually(() => expect(printed()).toContain('"message":"ready"'))
  child.kill("SIGTERM")
  expect(await once(child, "exit")).toEqual([0, null])

  const again = run(container)
  await eventually(async () => expect((await fetch(`${container.url}/ready`)).status).toBe(200))
  const credits = await fetch(`${container.url}/api/v1/credits`, {
    headers: { authorization: `Bearer ${data.management_key}` },
  })
  expect(await credits.json()).toMatchObject({ data: { total_credits: 3 } })
  again.child.kill("SIGTERM")
  await once(again.child, "exit")
})

test("a SIGTERM as soon as it listens ends all its processes", async () => {
  const container = await newContainer()
  const { child } = run(container)
  await eventually(() => fetch(`${container.url}/health`))
  const family = familyOf(child.pid ?? 0)
  child.kill("SIGTERM")
  await once(child, "exit")
  await eventually(() => expect(runningProcesses(family)).toEqual([]))
})
