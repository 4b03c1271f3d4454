import path from "node:path"
import { root } from "../../src/dev/options.ts"
import { runWrangler } from "../../src/dev/wrangler.ts"

const folder = path.join(root, ".wrangler/runtime")

/** The exact bundle of `npm run deploy`. */
export const bundle = path.join(folder, "index.js")

/** The inputs of the bundle as reported by esbuild. */
export const metafile = path.join(folder, "bundle-meta.json")

export default async function buildBundle(): Promise<void> {
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
