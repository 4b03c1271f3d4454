import { execFileSync, spawnSync } from "node:child_process"
import { copyFileSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs"
import path from "node:path"
import { ensurePython, pythonModule } from "../../src/dev/build/python-build.ts"
import { shim } from "../../src/dev/start/wrangler.ts"
import { root } from "../../src/local/paths.ts"

function git(...args: string[]): string {
  return execFileSync("git", args, {
    cwd: root,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "ignore"],
    maxBuffer: 1 << 28,
  })
}

/** The commit that added the newest release to the changelog. */
function findCommit(): { version: string; commit: string } | undefined {
  const version = /^## \[(\d[^\]]*)\]/m.exec(readFileSync(path.join(root, "CHANGELOG.md"), "utf8"))?.[1]
  if (version === undefined) return undefined
  try {
    const commits = git("log", `-S## [${version}]`, "--format=%H", "--", "CHANGELOG.md").trim().split("\n")
    const commit = commits.at(-1) ?? ""
    // In a shallow clone the oldest commit seems to have added everything.
    return commit === "" || git("rev-parse", "--is-shallow-repository").trim() === "true"
      ? undefined
      : { version, commit }
  } catch {
    return undefined
  }
}

/** The newest release; undefined without the history. */
export const previous = findCommit()
if (!previous) {
  console.warn("The history is missing: the previous release is not tried on the present schema. git fetch --unshallow")
}

/** The source files of that release in a folder. */
export function readPrevious(folder: string): string[] {
  if (!previous) return []
  const files = git("ls-tree", "-r", "--name-only", previous.commit, folder).trim().split("\n")
  return files.map((file) => git("show", `${previous.commit}:${file}`))
}

/** Builds the bundle that release deployed; returns the file. */
export function buildPrevious({ commit }: { commit: string }): string {
  const folder = path.join(root, ".wrangler/previous", commit)
  const built = path.join(folder, "built/index.js")
  if (existsSync(built)) return built
  mkdirSync(folder, { recursive: true })
  const archive = execFileSync("git", ["archive", commit], { cwd: root, maxBuffer: 1 << 28 })
  execFileSync("tar", ["-x", "-C", folder], { input: archive })
  // The console is not tested, and its build takes longer than the Worker's.
  const config = path.join(folder, "wrangler.toml")
  writeFileSync(config, readFileSync(config, "utf8").replace(/^\[build\]\ncommand = .*$/m, ""))
  mkdirSync(path.join(folder, "dist/console"), { recursive: true })
  writeFileSync(path.join(folder, "dist/console/index.html"), "")
  // Neither is the Python of the shell.
  ensurePython()
  copyFileSync(pythonModule, path.join(folder, "dist/micropython.wasm"))
  const modules = path.join(folder, "node_modules")
  if (!existsSync(modules)) symlinkSync(path.join(root, "node_modules"), modules)
  const args = ["deploy", "--env", "production", "--minify", "--dry-run", "--outdir", path.dirname(built)]
  const env = { ...process.env, CI: "true", WRANGLER_SEND_METRICS: "false", WRANGLER_WRITE_LOGS: "false" }
  const { status, stdout, stderr } = spawnSync(process.execPath, ["--no-warnings", shim, ...args], {
    cwd: folder,
    env,
    encoding: "utf8",
  })
  if (status !== 0) throw new Error(`The previous release was not built:\n${stdout}${stderr}`)
  return built
}
