import { createHash } from "node:crypto"
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs"
import path from "node:path"
import type { InlineConfig } from "vite"
import { root } from "../options.ts"

const source = path.join(root, "src/console")
const output = path.join(root, "dist/console")
/** Outside of the output folder, whose files are all public. */
const marker = path.join(root, "dist/console.digest")

/**
 * The script that redeems a link for developers without this repository (served by src/app/console.ts), and its
 * sources.
 */
const script = "src/dev/connect/script.ts"
const SCRIPT_SOURCES = ["src/connect", "src/dev/connect", "src/dev/failure.ts", "src/support/text/json.ts"]

/** Builds the console into `dist/console`, unless that build is up to date. True if it was built. */
export async function ensureConsole(): Promise<boolean> {
  const digest = digestOfSources()
  if (existsSync(path.join(output, "index.html")) && existsSync(marker) && readFileSync(marker, "utf8") === digest)
    return false
  // Loaded here because Vite takes longer to load than the check for an up-to-date build.
  const { build } = await import("vite")
  await build({ configFile: path.join(source, "vite.config.ts"), logLevel: "warn" })
  await build(SCRIPT_BUILD)
  writeFileSync(marker, digest)
  return true
}

/** One file for Node that runs from standard input. */
const SCRIPT_BUILD: InlineConfig = {
  root,
  configFile: false,
  logLevel: "warn",
  ssr: { noExternal: true },
  build: {
    ssr: script,
    outDir: output,
    emptyOutDir: false,
    copyPublicDir: false,
    target: "node20",
    rolldownOptions: { output: { format: "cjs", entryFileNames: "connect.js" } },
  },
}

/** Names and contents of the sources, including the versions of libraries. */
function digestOfSources(): string {
  const digest = createHash("sha256")
  const files = [source, ...SCRIPT_SOURCES.map((name) => path.join(root, name))].flatMap(filesIn)
  for (const file of [...files, path.join(root, "package-lock.json")])
    digest.update(path.relative(root, file)).update("\0").update(readFileSync(file)).update("\0")
  return digest.digest("hex")
}

function filesIn(name: string): string[] {
  if (statSync(name).isFile()) return [name]
  const entries = readdirSync(name, { recursive: true, withFileTypes: true })
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => path.join(entry.parentPath, entry.name))
    .sort()
}

if (import.meta.main) {
  const started = Date.now()
  const isBuilt = await ensureConsole()
  console.log(isBuilt ? `Built the console in ${Date.now() - started} ms.` : "The console is up to date.")
}
