import path from "node:path"
import { root } from "../../src/dev/options.ts"
import { runWrangler } from "../../src/dev/start/wrangler.ts"

const folder = path.join(root, ".wrangler/runtime")

/** The exact bundle of `npm run deploy`. */
export const bundle = path.join(folder, "index.js")

/** The inputs of the bundle as reported by esbuild. */
export const metafile = path.join(folder, "bundle-meta.json")

/** With RUNTIME_BUNDLE_IS_BUILT, another process has built it. */
export default async function buildBundle(): Promise<void> {
  if (process.env["RUNTIME_BUNDLE_IS_BUILT"]) return
  await runWrangler([
    "deploy",
    "--env",
    "production",
    "--minify",
    "--dry-run",
    "--outdir",
    folder,
    "--metafile",
    metafile,
  ])
}
