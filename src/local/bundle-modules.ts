import { readdirSync } from "node:fs"
import path from "node:path"

/** The modules of a built Worker for Miniflare: the script, then its documentation and WebAssembly files. */
export function modulesOf(script: string) {
  const folder = path.dirname(script)
  const files = readdirSync(folder).filter((name) => /^[0-9a-f]+-.*\.(?:md|wasm)$/.test(name))
  const typeOf = (name: string) => (name.endsWith(".wasm") ? ("CompiledWasm" as const) : ("Text" as const))
  return {
    modulesRoot: folder,
    modules: [
      { type: "ESModule" as const, path: script },
      ...files.map((name) => ({ type: typeOf(name), path: path.join(folder, name) })),
    ],
  }
}
