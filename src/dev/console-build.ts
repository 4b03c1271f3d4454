import { createHash } from "node:crypto"
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import path from "node:path"
import { root } from "./options.ts"

const source = path.join(root, "src/console")
const output = path.join(root, "dist/console")
/** Outside of the output: everything in there is public. */
const marker = path.join(root, "dist/console.digest")

/** Builds the console into `dist/console`, unless the build there is of the same sources. True if it was built. */
export async function ensureConsole(): Promise<boolean> {
  const digest = digestOfSources()
  if (existsSync(path.join(output, "index.html")) && existsSync(marker) && readFileSync(marker, "utf8") === digest)
    return false
  // Loaded here because Vite takes longer to load than an up-to-date build takes to recognize.
  const { build } = await import("vite")
  await build({ configFile: path.join(source, "vite.config.ts"), logLevel: "warn" })
  writeFileSync(marker, digest)
  return true
}

/** Names and contents of the sources, the versions of the libraries included. */
function digestOfSources(): string {
  const digest = createHash("sha256")
  const files = readdirSync(source, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => path.join(entry.parentPath, entry.name))
  for (const file of [...files.sort(), path.join(root, "package-lock.json")])
    digest.update(path.relative(root, file)).update("\0").update(readFileSync(file)).update("\0")
  return digest.digest("hex")
}

if (import.meta.main) {
  const started = Date.now()
  const isBuilt = await ensureConsole()
  console.log(isBuilt ? `Built the console in ${Date.now() - started} ms.` : "The console is up to date.")
}
