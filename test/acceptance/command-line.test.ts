import { once } from "node:events"
import { mkdtempSync, readFileSync } from "node:fs"
import http from "node:http"
import type { AddressInfo } from "node:net"
import { tmpdir } from "node:os"
import path from "node:path"
import { beforeAll, describe, expect, inject, onTestFinished, test } from "vitest"
import { type Ended, gatewayCommand } from "./command.ts"
import { newOrganization, openrouter, type Organization } from "./world.ts"
import { removeFolder } from "../support/remove-folder.ts"

let organization: Organization

beforeAll(async () => {
  organization = await newOrganization()
})

function gateway(args: readonly string[], more: Record<string, string> = {}): Promise<Ended> {
  const { bootstrapKey } = inject("gateway")
  const keys = { BOOTSTRAP_MANAGEMENT_KEY: bootstrapKey, GATEWAY_MANAGEMENT_KEY: organization.managementKey }
  return gatewayCommand(args, { ...keys, ...more })
}

async function done(args: readonly string[], more?: Record<string, string>): Promise<string> {
  const { code, out, errors } = await gateway(args, more)
  expect(code, errors + out).toBe(0)
  return out
}

test("lists its commands, and shows the usage of each with --help", async () => {
  const help = await done(["--help"])
  const names = help.split("\n").flatMap((line) => /^ {2}([a-z-]+(?: [a-z]+)?) {2,}\S/.exec(line)?.[1] ?? [])
  expect(names).toEqual([
    "init",
    "keys list",
    "keys create",
    "keys revoke",
    "credits add",
    "plan",
    "apply",
    "connect",
    "doctor",
    "providers",
    "provider test",
    "provider stop",
    "provider start",
    "models",
    "catalogue update",
    "catalogue price",
    "rotate-master-key",
    "export",
    "reconcile",
    "tail",
  ])
  for (const name of names) {
    expect(await done([...name.split(" "), "--help"])).toContain(`npm run gateway -- ${name}`)
  }
})

test.each([
  [["nonsense"], "There is no command nonsense"],
  [["keys", "create"], "keys create takes NAME"],
  [["keys", "list", "--nonsense"], "nonsense"],
  [["credits", "add", "much"], "USD must be a number"],
  [["credits", "add", "0x10"], "USD must be a number"],
  [["credits", "add", "1e3"], "USD must be a number"],
  [["export"], "--from is required"],
  [["export", "--from", "yesterday"], "--from must be a day"],
  [["catalogue", "price", "a/b", "c"], "Set --prompt and --completion"],
  [["catalogue", "update", "/nowhere.json"], "cannot be read"],
  [["export", "--from", "2020-01-01", "--out", "/nowhere/calls.csv"], "/nowhere/calls.csv cannot be written: ENOENT"],
])("%j prints the usage error", async (args, message) => {
  const { code, errors } = await gateway(args)
  expect([code, errors]).toEqual([2, expect.stringContaining(message)])
})

test("a missing gateway and a missing key are reported", async () => {
  const page = http.createServer((_, response) => response.end("<h1>Welcome</h1>"))
  page.listen(0, "127.0.0.1")
  await once(page, "listening")
  onTestFinished(() => void page.close())
  const { port } = page.address() as AddressInfo
  const other = await gateway(["providers"], { GATEWAY_URL: `http://127.0.0.1:${port}` })
  expect([other.code, other.errors]).toEqual([2, expect.stringContaining("is not a gateway")])
  const unreachable = await gateway(["providers"], { GATEWAY_URL: "http://127.0.0.1:9" })
  expect([unreachable.code, unreachable.errors]).toEqual([2, expect.stringContaining("There is no gateway at")])
  const keyless = await gateway(["reconcile"], {
    BOOTSTRAP_MANAGEMENT_KEY: "",
    GATEWAY_URL: `${inject("gateway").url}/`,
  })
  expect([keyless.code, keyless.errors]).toEqual([2, expect.stringContaining("Set BOOTSTRAP_MANAGEMENT_KEY")])
  const wrong = await gateway(["keys", "list"], { GATEWAY_MANAGEMENT_KEY: "sk-wrong" })
  expect([wrong.code, wrong.errors]).toEqual([1, "This API key is not valid.\n"])
})

describe("an operator", () => {
  test("creates an organization, credits it once, and reconciles its ledger", async () => {
    const refused = await gateway(["init", "Us"])
    expect([refused.code, refused.errors]).toEqual([1, expect.stringContaining("--another")])
    const made = JSON.parse(await done(["init", "Us", "--balance", "5", "--another", "--json"])) as Record<
      string,
      string
    >
    const { data } = await openrouter(made["management_key"] ?? "").credits.getCredits()
    expect(data.totalCredits).toBe(5)
    const credit = ["credits", "add", "2.5", "--id", "invoice-1", "--organization", made["id"] ?? ""]
    for (const _ of [1, 2]) expect(await done(credit)).toContain("Credited 7.5 USD in total")
    expect(await done(["reconcile", "--organization", made["id"] ?? ""])).toContain(
      "the ledger matches its generations",
    )
  })

  test("lists providers, updates the catalogue and sets a price", async () => {
    expect(await done(["providers"])).toMatch(/^embedded\s+Embedded$/m)
    expect(await done(["catalogue", "update"])).toContain("up to date")
    const [model, provider] = ["openai/gpt-4o", "openai"]
    const price = ["--prompt", "0.000001", "--completion", "0.000002"]
    expect(await done(["catalogue", "price", model, provider, ...price])).toContain("is changed")
    const nothing = await gateway(["catalogue", "price", "acme/none", provider, "--off"])
    expect([nothing.code, nothing.errors]).toEqual([1, expect.stringContaining("acme/none")])
  })

  test("rotates the master key", async () => {
    expect(await done(["rotate-master-key"])).toContain("0 data keys were wrapped with the current master key")
  })
})

describe("a manager", () => {
  test("creates, lists and revokes keys", async () => {
    const [key = ""] = (await done(["keys", "create", "ci", "--limit", "3", "--reset", "daily"])).split("\n")
    const { data } = await openrouter(key).apiKeys.getCurrentKeyMetadata()
    expect(data).toMatchObject({ limit: 3, limitReset: "daily" })
    const line = (await done(["keys", "list"])).split("\n").find((one) => one.startsWith("ci ")) ?? ""
    const hash = line.split(/\s+/).at(-1) ?? ""
    expect(hash).toMatch(/^[0-9a-f]{64}$/)
    await done(["keys", "revoke", hash])
    expect(await done(["keys", "list"])).not.toContain(hash)
    const again = await gateway(["keys", "revoke", hash])
    expect([again.code, again.errors]).toEqual([1, expect.stringContaining("no key")])
  })

  test("cannot give a key a name with control characters", async () => {
    const refused = await gateway(["keys", "create", "ci\u001b[2K\u202eyek"])
    expect([refused.code, refused.errors]).toEqual([1, expect.stringContaining("must be one line")])
    for (const sign of ["\u001b", "\u202e"]) expect(refused.errors).not.toContain(sign)
  })

  test("exports the calls of a period to a file or to stdout", async () => {
    const { chat } = openrouter(organization.apiKey)
    await chat.send({ chatRequest: { model: "sim/echo", messages: [{ role: "user", content: "Hello" }] } })
    const folder = mkdtempSync(path.join(tmpdir(), "gateway-export-"))
    onTestFinished(() => removeFolder(folder))
    const file = path.join(folder, "calls.csv")
    const run = async () => {
      await done(["export", "--from", "2020-01-01", "--out", file])
      return readFileSync(file, "utf8")
    }
    await expect.poll(run, { timeout: 60_000, interval: 500 }).toContain("sim/echo")
    const lines = (await done(["export", "--from", "2020-01-01", "--format", "ndjson"])).trimEnd().split("\n")
    expect(JSON.parse(lines[0] ?? "")).toMatchObject({ model: "sim/echo" })
  })
})
