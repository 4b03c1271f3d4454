import path from "node:path"
import { root } from "../../src/dev/options.ts"
import { runWrangler } from "../../src/dev/wrangler.ts"

const folder = path.join(root, ".wrangler/runtime")

/** What `npm run deploy` would send, bytes and all. */
export const bundle = path.join(folder, "index.js")

/** What the bundle was made of, as esbuild reports it. */
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
