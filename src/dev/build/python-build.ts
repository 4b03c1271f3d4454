import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { createRequire } from "node:module"
import path from "node:path"
import { dist } from "../../local/paths.ts"
import { meterWasm } from "./metered-wasm.ts"

const require = createRequire(import.meta.url)
const source = require.resolve("@micropython/micropython-webassembly-pyscript/micropython.wasm")

/** The Python of the embedded shell: MicroPython with a step limit. */
export const pythonModule = path.join(dist, "micropython.wasm")

/** Writes it into `dist`, unless it is up to date. */
export function ensurePython(): void {
  const metered = meterWasm(readFileSync(source), "steps")
  if (existsSync(pythonModule) && readFileSync(pythonModule).equals(metered)) return
  mkdirSync(dist, { recursive: true })
  writeFileSync(pythonModule, metered)
}
