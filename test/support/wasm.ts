import path from "node:path"
import type { Plugin } from "vite"
import { ensurePython } from "../../src/dev/build/python-build.ts"

/** WebAssembly as compiled modules, by the rule of wrangler.toml; `runtime`: by the runtime, in a Worker. */
export function wasmAsModule(where: "node" | "runtime"): Plugin {
  return {
    name: "wasm-as-module",
    enforce: "pre",
    buildStart: () => ensurePython(),
    resolveId(source, importer) {
      if (!source.endsWith(".wasm") || importer === undefined) return null
      const id = path.resolve(path.dirname(importer), source)
      return where === "runtime" ? { id, external: "absolute" } : `${id}?compiled`
    },
    load(id) {
      if (!id.endsWith(".wasm?compiled")) return null
      return `import { readFileSync } from "node:fs"
export default new WebAssembly.Module(readFileSync(${JSON.stringify(id.slice(0, -"?compiled".length))}))`
    },
  }
}
