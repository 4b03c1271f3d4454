import { execFileSync } from "node:child_process"
import { cpSync, existsSync, mkdirSync, mkdtempSync, symlinkSync } from "node:fs"
import { tmpdir } from "node:os"
import path from "node:path"
import { onTestFinished } from "vitest"
import { root } from "../../src/local/paths.ts"
import { removeFolder } from "../support/remove-folder.ts"

/** A clone of the present tree, with the install and the build of the tests. */
export function cloneTree(): string {
  const folder = mkdtempSync(path.join(tmpdir(), "gateway-clone-"))
  onTestFinished(() => removeFolder(folder))
  const files = execFileSync("git", ["ls-files", "-co", "--exclude-standard", "-z"], { cwd: root, encoding: "utf8" })
  for (const file of files.split("\0").filter((name) => name !== "" && existsSync(path.join(root, name)))) {
    mkdirSync(path.dirname(path.join(folder, file)), { recursive: true })
    cpSync(path.join(root, file), path.join(folder, file))
  }
  symlinkSync(path.join(root, "node_modules"), path.join(folder, "node_modules"))
  cpSync(path.join(root, "dist"), path.join(folder, "dist"), { recursive: true })
  return folder
}
