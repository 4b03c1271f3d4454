import { execFileSync, spawnSync } from "node:child_process"
import { existsSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import path from "node:path"
import { describe, expect, test } from "vitest"
import { parse } from "smol-toml"
import { parseAllDocuments } from "yaml"
import { readOptions, USAGE } from "../../src/daemon/options.ts"
import { FlyToml } from "../support/fly-toml.ts"
import { faultsInResources } from "../support/kubernetes-types.ts"
import { removeFolder } from "../support/remove-folder.ts"

const root = path.join(import.meta.dirname, "../..")
const FOLDER = path.join(root, "docs/recipes")
const read = (name: string) => readFileSync(path.join(FOLDER, name), "utf8")

function isInstalled(program: string): boolean {
  return (process.env["PATH"] ?? "").split(path.delimiter).some((folder) => existsSync(path.join(folder, program)))
}

type Setting = readonly [section: string, name: string, value: string]

function readUnit(text: string): Setting[] {
  let section = ""
  return text.split("\n").flatMap((line): Setting[] => {
    if (line === "" || line.startsWith("#")) return []
    const header = /^\[(\w+)\]$/.exec(line)?.[1]
    if (header !== undefined) section = header
    const [, name, value] = /^(\w+)=(.+)$/.exec(line) ?? []
    if (header === undefined && name === undefined) throw new Error(`Not a line of a unit: ${line}`)
    return name === undefined || value === undefined ? [] : [[section, name, value]]
  })
}

/** The daemon starts with this environment and a token, and knows each of its variables. */
function expectAccepted(environment: Readonly<Record<string, string>>): void {
  for (const name of Object.keys(environment).filter((one) => one.startsWith("INTERN_"))) {
    expect(USAGE).toMatch(new RegExp(`\\b${name}\\b`))
  }
  const { INTERN_JOIN_TOKEN_FILE: _, ...others } = environment
  const given = { ...others, INTERN_JOIN_TOKEN: "token" }
  expect(readOptions([], given)).toMatchObject({ agent: ["opencode"], joinToken: "token" })
}

const dockerfile = readFileSync(path.join(root, "src/daemon/Dockerfile"), "utf8")
const volume = /^VOLUME (\S+)$/m.exec(dockerfile)?.[1] ?? ""

describe("Fly", () => {
  const toml = parse(read("fly.toml"))
  const config = FlyToml.parse(toml)

  test("uses only documented sections and keys, and others fail the schema", () => {
    for (const wrong of [{ kill_timout: 15 }, { vm: [{ cpu: 1 }] }, { env: { FLY_X: "1" } }, { restart: [{}] }]) {
      expect(FlyToml.safeParse({ ...toml, ...wrong }).success).toBe(false)
    }
  })

  test("builds the daemon's image with the agent that it starts", () => {
    const { dockerfile: file = "", args = {} } = config.build
    expect(existsSync(path.join(FOLDER, file))).toBe(true)
    for (const name of Object.keys(args)) expect(dockerfile).toContain(`ARG ${name}=`)
    expect(dockerfile).toContain(`ARG AGENT=${args["AGENT"]}\n`)
  })

  test("sets only variables that the daemon knows", () => {
    expectAccepted(config.env)
  })

  test("keeps the agent's folder on a volume, and opens no port", () => {
    expect(config.mounts).toEqual([{ source: "intern", destination: volume }])
    expect(Object.keys(toml)).not.toContain("services")
    expect(config.restart).toMatchObject([{ policy: "on-failure" }])
  })
})

type Named = { name: string }
type Container = {
  image: string
  env: { name: string; value: string }[]
  envFrom: { configMapRef: Named }[]
  securityContext: Record<string, unknown>
  resources: Record<string, unknown>
  volumeMounts: (Named & { mountPath: string })[]
}
type Pod = {
  containers: Container[]
  volumes: (Named & { secret?: { secretName: string; defaultMode: number } })[]
} & Record<string, unknown>
type Resource = {
  apiVersion: string
  kind: string
  metadata: Named
  data: Record<string, string>
  spec: {
    replicas: number
    selector: { matchLabels: unknown }
    template: { metadata: { labels: unknown }; spec: Pod }
    volumeClaimTemplates: { metadata: Named }[]
  }
}

describe("Kubernetes", () => {
  const documents = parseAllDocuments(read("kubernetes.yaml"), { uniqueKeys: true })
  const resources = documents.map((one) => one.toJS() as Resource)
  const find = (kind: string) => {
    const found = resources.find((one) => one.kind === kind)
    if (!found) throw new Error(`No ${kind}`)
    return found
  }
  const { spec } = find("StatefulSet")
  const pod = spec.template.spec
  const [container, ...others] = pod.containers
  if (!container) throw new Error("No container")

  test("has a StatefulSet with one pod and its settings, and no Secret", () => {
    for (const { errors, warnings } of documents) expect([...errors, ...warnings]).toEqual([])
    expect(resources.map(({ apiVersion, kind }) => [apiVersion, kind])).toEqual([
      ["v1", "ConfigMap"],
      ["apps/v1", "StatefulSet"],
    ])
    expect(spec.replicas).toBe(1)
    expect(spec.selector.matchLabels).toEqual(spec.template.metadata.labels)
    expect(others).toEqual([])
  })

  test("sets only variables that the daemon knows, and mounts the token as a file for root only", () => {
    const settings = find("ConfigMap")
    expect(container.envFrom).toEqual([{ configMapRef: { name: settings.metadata.name } }])
    const env = Object.fromEntries(container.env.map(({ name, value }) => [name, value] as const))
    expectAccepted({ ...settings.data, ...env })
    const { mountPath } = container.volumeMounts.find(({ name }) => name === "token") ?? { mountPath: "" }
    expect(env["INTERN_JOIN_TOKEN_FILE"]).toBe(`${mountPath}/token`)
    const secret = pod.volumes.find(({ name }) => name === "token")?.secret
    expect(secret).toEqual({ secretName: "intern-ada", defaultMode: 0o400 })
  })

  test("declares every mounted volume, and keeps the agent's folder on a persistent one", () => {
    const claims = spec.volumeClaimTemplates.map(({ metadata }) => metadata.name)
    const volumes = [...claims, ...pod.volumes.map(({ name }) => name)]
    expect(container.volumeMounts.map(({ name }) => name).toSorted()).toEqual(volumes.toSorted())
    expect(container.volumeMounts.find(({ name }) => name === claims[0])?.mountPath).toBe(volume)
  })

  test("has restricted rights and resource limits", () => {
    expect(pod).toMatchObject({ automountServiceAccountToken: false })
    expect(container.securityContext).toMatchObject({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ["ALL"] },
    })
    expect(container.resources).toMatchObject({
      requests: { cpu: expect.any(String), memory: expect.any(String) },
      limits: { memory: expect.any(String) },
    })
  })
})

test("the types of Kubernetes accept each field, and reject a wrong one", () => {
  const resources = parseAllDocuments(read("kubernetes.yaml")).map((one) => one.toJS() as Resource)
  expect(faultsInResources(resources)).toBe("")
  const [settings, set] = resources
  if (!settings || !set) throw new Error("No resources")
  const [container] = set.spec.template.spec.containers
  const wrong = [
    { ...settings, datum: {} },
    { ...set, spec: { ...set.spec, replicas: "1" } },
    {
      ...set,
      spec: { ...set.spec, template: { spec: { containers: [{ ...container, readOnlyRootFilesystem: true }] } } },
    },
  ]
  const faults = faultsInResources(wrong)
  for (const field of ["datum", "'number'", "readOnlyRootFilesystem"]) expect(faults).toContain(field)
})

/** A decoder of Kubernetes drops unknown fields, and fails for values of another type. */
test("kubectl decodes each field of the StatefulSet", () => {
  if (!isInstalled("kubectl")) return
  const text = read("kubernetes.yaml").split(/^---$/m)[1] ?? ""
  const image = /image: (\S+)$/m.exec(text)?.[1]
  const set = ["set", "image", "--local", "-f", "-", `daemon=${image}:changed`, "-o", "json"]
  const decoded: unknown = JSON.parse(execFileSync("kubectl", set, { input: text, encoding: "utf8" }))
  const [document] = parseAllDocuments(text.replace(/(image: \S+)$/m, "$1:changed"))
  expect(decoded).toMatchObject(document?.toJS() as object)
})

describe("systemd", () => {
  const unit = readUnit(read("gateway-daemon.service"))
  const all = (name: string) => unit.filter((setting) => setting[1] === name).map(([, , value]) => value)
  const pairs = all("Environment").map((pair) => [pair.slice(0, pair.indexOf("=")), pair.slice(pair.indexOf("=") + 1)])
  const environment = Object.fromEntries(pairs) as Record<string, string>

  test("starts the daemon of the repository with variables that it knows", () => {
    const [command = "", ...parts] = (all("ExecStart")[0] ?? "").split(" ")
    expect(existsSync(command.replace("/opt/gateway", root))).toBe(true)
    expect(parts).toEqual(["src/daemon/daemon.ts"])
    expect(all("WorkingDirectory")).toEqual(["/opt/gateway"])
    expectAccepted({ ...environment, ...exampleEnvironment() })
  })

  test("passes the token as a credential and not in the environment", () => {
    expect(all("LoadCredential")).toEqual(["token:/etc/gateway-daemon/token"])
    expect(environment["INTERN_JOIN_TOKEN_FILE"]).toBe("%d/token")
    expect(environment["INTERN_DIR"]).toBe(`/var/lib/${all("StateDirectory")[0]}/agent`)
  })

  test("restarts it after a failure, except for invalid options or token", () => {
    expect(all("Restart")).toEqual(["on-failure"])
    expect(all("RestartPreventExitStatus")).toEqual(["2 3"])
  })

  test("has restricted rights", () => {
    expect(all("NoNewPrivileges")).toEqual(["yes"])
    expect(all("ProtectSystem")).toEqual(["strict"])
    expect(all("CapabilityBoundingSet")[0]).not.toMatch(/ADMIN|PTRACE|RAW|~/)
  })

  test("has only sections and settings that systemd knows", () => {
    expect([...new Set(unit.map(([section]) => section))]).toEqual(["Unit", "Service", "Install"])
    if (!isInstalled("systemd-analyze")) return
    const folder = mkdtempSync(path.join(tmpdir(), "gateway-unit-"))
    try {
      const file = path.join(folder, "gateway-daemon.service")
      writeFileSync(file, read("gateway-daemon.service").replaceAll(/=\/opt\/gateway(?=[/\n])/g, `=${root}`))
      const { status, stderr } = spawnSync("systemd-analyze", ["verify", "--man=no", file], { encoding: "utf8" })
      // An unknown setting is only a warning. Other lines are about other units of the machine.
      expect(stderr.split("\n").filter((line) => line.includes("gateway-daemon.service"))).toEqual([])
      expect(status, stderr).toBe(0)
    } finally {
      removeFolder(folder)
    }
  })
})

/** The example of an environment file in the page. */
function exampleEnvironment(): Record<string, string> {
  const page = readFileSync(path.join(root, "docs/recipes.md"), "utf8")
  const lines = page.split("\n").filter((line) => /^INTERN_\w+=[^ ]+$/.test(line))
  expect(lines.length).toBeGreaterThan(3)
  return Object.fromEntries(lines.map((line) => line.split("=", 2) as [string, string]))
}

test("no recipe contains a token or a key", () => {
  for (const name of ["fly.toml", "kubernetes.yaml", "gateway-daemon.service"]) {
    const text = read(name)
    expect(text).not.toMatch(/\bsk-|--token|INTERN_JOIN_TOKEN(?!_FILE)|kind: Secret|[A-Za-z0-9_-]{40,}/)
  }
})
