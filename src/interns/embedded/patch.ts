import type { Command, CommandContext } from "just-bash/browser"
import { GitError, parseArguments } from "./git/arguments.ts"

type Shell = typeof import("just-bash/browser")

/** `patch` of the shell: unified diffs from standard input or a file. */
export function patchCommand({ defineCommand }: Shell): Command {
  return defineCommand("patch", async (args, context) => {
    try {
      return await applyPatches(args, context)
    } catch (thrown) {
      const stderr = `patch: ${thrown instanceof Error ? thrown.message : String(thrown)}\n`
      return { stdout: "", stderr, exitCode: thrown instanceof GitError ? thrown.exitCode : 2 }
    }
  })
}

async function applyPatches(args: readonly string[], { fs, cwd, stdin }: CommandContext) {
  const { applyPatch, parsePatch, reversePatch } = await import("diff")
  const { names, has, value } = parseArguments(args, ["-R", "--reverse", "--dry-run", "-s", "-N"], ["-p", "-i", "-d"])
  const folder = fs.resolvePath(cwd, value("-d") ?? ".")
  const input = value("-i") ?? names[1]
  const text = input === undefined ? fromPipe(stdin) : await fs.readFile(fs.resolvePath(cwd, input))
  const parsed = parsePatch(text).filter(({ hunks }) => hunks.length > 0)
  if (parsed.length === 0) throw new GitError("**** Only garbage was found in the patch input.", 2)
  const strip = Number(value("-p") ?? "-1")
  let [stdout, failed] = ["", 0]
  for (const forward of parsed) {
    const patch = has("-R", "--reverse") ? reversePatch(forward) : forward
    const isGone = patch.newFileName === "/dev/null"
    const name = names[0] ?? stripFolders((isGone ? patch.oldFileName : patch.newFileName) ?? "", strip)
    const path = fs.resolvePath(folder, name)
    const before = (await fs.exists(path)) ? await fs.readFile(path) : ""
    const after = applyPatch(before, patch, { fuzzFactor: 2 })
    stdout += `patching file ${name}\n`
    if (after === false) {
      failed += 1
      stdout += `Hunks of ${name} do not apply. The file is unchanged.\n`
    } else if (!has("--dry-run")) {
      if (isGone && after === "") await fs.rm(path)
      else {
        await fs.mkdir(path.slice(0, path.lastIndexOf("/")) || "/", { recursive: true })
        await fs.writeFile(path, after)
      }
    }
  }
  return { stdout: has("-s") ? "" : stdout, stderr: "", exitCode: failed > 0 ? 1 : 0 }
}

/** Without `-p`, strips all folders like patch, but from git's `a/` and `b/` names only the prefix. */
function stripFolders(name: string, strip: number): string {
  if (strip >= 0) return name.split("/").slice(strip).join("/")
  return /^[ab]\//.test(name) ? name.slice(2) : name
}

/** The shell's pipes carry bytes as characters of a string, contrary to their type. */
function fromPipe(piped: unknown): string {
  if (typeof piped !== "string") return ""
  return new TextDecoder().decode(Uint8Array.from(piped, (unit) => unit.charCodeAt(0)))
}
