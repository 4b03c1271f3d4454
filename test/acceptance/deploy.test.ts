import { mkdtempSync } from "node:fs"
import { tmpdir } from "node:os"
import path from "node:path"
import { expect, onTestFinished, test } from "vitest"
import { LATEST_MIGRATION } from "../../src/app/schema-version.ts"
import { root } from "../../src/local/paths.ts"
import { type Account, startAccount } from "./cloudflare-api.ts"
import { type Ended, run } from "./command.ts"
import { removeFolder } from "../support/remove-folder.ts"

function deploy(account: Account, secrets: Record<string, string> = {}): Promise<Ended> {
  const home = mkdtempSync(path.join(tmpdir(), "gateway-deploy-"))
  onTestFinished(() => removeFolder(home))
  const { PATH = "", NODE_COMPILE_CACHE } = process.env
  const env = {
    PATH,
    ...(NODE_COMPILE_CACHE !== undefined && { NODE_COMPILE_CACHE }),
    HOME: home,
    XDG_CONFIG_HOME: home,
    CLOUDFLARE_API_BASE_URL: account.url,
    CLOUDFLARE_ACCOUNT_ID: "account",
    CLOUDFLARE_API_TOKEN: "token",
    CLOUDFLARE_CF_FETCH_ENABLED: "false",
    WRANGLER_SEND_METRICS: "false",
    ...secrets,
  }
  return run(process.execPath, [path.join(root, "src/dev/deploy.ts")], { env })
}

const order = ({ written }: Account, ...names: readonly RegExp[]) =>
  names.map((name) => written.findIndex((one) => name.test(one)))

test("one command creates the resources and uploads code with its secrets; the next one migrates first", async () => {
  const account = await startAccount()
  onTestFinished(account.close)
  const masterKey = Buffer.alloc(32, 7).toString("base64")
  const first = await deploy(account, { MASTER_KEY: masterKey })
  expect([first.code, first.errors + first.out]).toEqual([
    0,
    expect.stringContaining("npx wrangler secret put BOOTSTRAP_MANAGEMENT_KEY"),
  ])
  expect([...account.secrets]).toEqual([["MASTER_KEY", masterKey]])
  expect(first.out + first.errors).not.toContain(masterKey)
  // The queues, which a deploy only looks for; the code with what it creates; then the schema of the new database.
  const [queue = -1, code = -1, database = -1, schema = -1] = order(
    account,
    /^POST \/queues$/,
    /^PUT \/workers\/scripts\/gateway$/,
    /^POST \/d1\/database$/,
    /\/query$/,
  )
  expect(queue).toBeGreaterThanOrEqual(0)
  expect(database).toBeGreaterThan(queue)
  expect(code).toBeGreaterThan(database)
  expect(schema).toBeGreaterThan(code)

  expect(account.migrations.at(-1)).toBe(LATEST_MIGRATION)
  account.migrations.pop()
  account.written.length = 0
  const second = await deploy(account, { BOOTSTRAP_MANAGEMENT_KEY: "sk-gw-boot-of-this-deployment-0123456789" })
  expect([second.code, second.errors]).toEqual([0, expect.any(String)])
  expect([...account.secrets.keys()]).toEqual(["MASTER_KEY", "BOOTSTRAP_MANAGEMENT_KEY"])
  const [newSchema = -1, newCode = -1] = order(account, /\/query$/, /^PUT \/workers\/scripts\/gateway$/)
  expect(newSchema).toBeGreaterThanOrEqual(0)
  expect(newCode).toBeGreaterThan(newSchema)
  expect(account.migrations.at(-1)).toBe(LATEST_MIGRATION)
  expect(account.written).not.toContain("POST /d1/database")
  expect(account.written).not.toContain("POST /queues")
})
