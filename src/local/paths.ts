import { accessSync, constants, existsSync } from "node:fs"
import path from "node:path"

export const root = path.join(import.meta.dirname, "../..")

/** Output of `npm run build`: the bundles, the console and the Worker's configuration. */
export const dist = path.join(root, "dist")

/** Throws at once if a build would fail later. For a folder that does not exist, its parent is checked. */
export function requireWritable(folders: readonly string[]): void {
  for (const folder of folders) {
    let nearest = folder
    while (!existsSync(nearest)) nearest = path.dirname(nearest)
    try {
      accessSync(nearest, constants.W_OK)
    } catch {
      throw new Error(
        `${nearest} is read-only. The gateway keeps its build, its secrets and its state there: make it writable, or copy the project to a folder that is.`,
      )
    }
  }
}
