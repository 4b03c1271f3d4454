import { spawnSync } from "node:child_process"
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs"

/** Prepares the gateways that this one is compared with. */

/** Node processes of the tools, without their banners and telemetry. */
export const QUIET = {
  CLOUDFLARE_CF_FETCH_ENABLED: "false",
  WRANGLER_HIDE_BANNER: "true",
  WRANGLER_SEND_METRICS: "false",
  WRANGLER_WRITE_LOGS: "false",
}

export const PORTKEY_VERSION = "1.15.2"
/** From its lock file. With the present versions of its ranges every stream of it is an error. */
const OVERRIDES = { hono: "4.9.7", "@hono/node-server": "1.13.5" }

/**
 * The reason why it cannot be measured, or null. It is not a dependency of this project: it is installed in a separate
 * folder.
 */
export function installPortkey(folder: string, installed: string, offline: boolean): string | null {
  if (!isInstalled(installed)) {
    if (offline) return "it is not installed, and --offline forbids to fetch it"
    mkdirSync(folder, { recursive: true })
    const manifest = {
      private: true,
      dependencies: { "@portkey-ai/gateway": PORTKEY_VERSION },
      overrides: OVERRIDES,
    }
    writeFileSync(`${folder}/package.json`, JSON.stringify(manifest, null, 2))
    const options = { cwd: folder, encoding: "utf8", timeout: 120_000 } as const
    const { status, stderr } = spawnSync("npm", ["install", "--ignore-scripts", "--no-audit", "--no-fund"], options)
    if (status !== 0 || !isInstalled(installed)) return `npm could not install it: ${stderr.slice(0, 300)}`
  }
  return null
}

function isInstalled(folder: string): boolean {
  const manifest = `${folder}/package.json`
  if (!existsSync(manifest)) return false
  return (JSON.parse(readFileSync(manifest, "utf8")) as { version: string }).version === PORTKEY_VERSION
}

/** Whether the \`litellm\` command of its Python package is on the PATH. */
export function hasLitellm(): boolean {
  return spawnSync("litellm", ["--version"], { stdio: "ignore", timeout: 60_000 }).status === 0
}
