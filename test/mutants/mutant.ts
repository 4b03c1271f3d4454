import path from "node:path"
import type { Plugin } from "vite"

/** A fault in the source, which a test must find. `from` occurs once in `file`. */
export type Mutant = { name: string; file: string; from: string; to: string; test: string }

/** Puts a mutant into the source as it is loaded; the file on the disk is unchanged. */
export function mutated({ name, file, from, to }: Mutant): Plugin {
  return {
    name: "mutant",
    enforce: "pre",
    transform(code, id) {
      if (!id.split("?")[0]?.endsWith(path.normalize(`/${file}`))) return null
      if (code.split(from).length !== 2) throw new Error(`The mutant "${name}" does not fit ${file}.`)
      console.log(`mutated: ${name}`)
      return { code: code.replace(from, () => to), map: null }
    },
  }
}
