import type { Command } from "just-bash/browser"
import type { ShellFetch } from "../shell/shell-fetch.ts"
import { GitError } from "./arguments.ts"
import { gitFiles } from "./files.ts"
import { gitHttp } from "./http.ts"

/** Prefix that isomorphic-git adds to messages of unexpected errors. */
const INTERNAL = /^An internal error caused.*this error message: /s

type Shell = typeof import("just-bash/browser")

/** `git` of the shell: isomorphic-git on the shell's files. Loaded on first use. Does not run hooks. */
export function gitCommand({ defineCommand }: Shell, fetch: ShellFetch): Command {
  return defineCommand("git", async (args, { fs, cwd, env, signal }) => {
    try {
      const { folder, headers, rest } = globalOptions(args, cwd)
      const { runGit } = await import("./run.ts")
      const http = gitHttp(fetch, signal, headers)
      const stdout = await runGit({ fs: gitFiles(fs), cwd: folder, env, http, fetch }, rest)
      return { stdout, stderr: "", exitCode: 0 }
    } catch (thrown) {
      const message = thrown instanceof Error ? thrown.message : String(thrown)
      const exitCode = thrown instanceof GitError ? thrown.exitCode : 128
      const text = thrown instanceof GitError ? message : `fatal: ${message.replace(INTERNAL, "")}`
      return { stdout: "", stderr: text === "" ? "" : `${text.trimEnd()}\n`, exitCode }
    }
  })
}

/** Before the subcommand: `-C folder` and `-c http.extraHeader=Name: value`. */
function globalOptions(args: readonly string[], cwd: string) {
  let [at, folder] = [0, cwd]
  const headers: Record<string, string> = {}
  for (; args[at] === "-C" || args[at] === "-c" || args[at] === "--no-pager"; at += args[at] === "--no-pager" ? 1 : 2) {
    const value = args[at + 1] ?? ""
    if (args[at] === "-C") folder = value.startsWith("/") ? value : `${folder}/${value}`
    const [, name = "", header = ""] = /^http\.extraheader=([^:]+):\s*(.*)$/i.exec(args[at] === "-c" ? value : "") ?? []
    if (name !== "") headers[name] = header
  }
  return { folder, headers, rest: args.slice(at) }
}
