import * as git from "isomorphic-git"
import type { ShellFetch } from "../shell/shell-fetch.ts"
import { GitError } from "./arguments.ts"
import type { GitFiles } from "./files.ts"
import type { gitHttp } from "./http.ts"

/** Context of a subcommand. */
export type GitContext = {
  fs: GitFiles
  cwd: string
  env: ReadonlyMap<string, string>
  http: ReturnType<typeof gitHttp>
  fetch: ShellFetch
}

export type Repository = GitContext & { dir: string }

export async function openRepository(context: GitContext): Promise<Repository> {
  const dir = await git.findRoot({ fs: context.fs, filepath: context.cwd }).catch(() => undefined)
  if (dir !== undefined) return { ...context, dir }
  throw new GitError("fatal: not a git repository (or any of the parent directories): .git", 128)
}

/** Paths of the command line, relative to the repository. */
export function inRepository({ cwd, dir }: Repository, path: string): string {
  const parts: string[] = []
  for (const part of (path.startsWith("/") ? path : `${cwd}/${path}`).split("/")) {
    if (part === "..") parts.pop()
    else if (part !== "" && part !== ".") parts.push(part)
  }
  const absolute = `/${parts.join("/")}`
  if (absolute === dir) return "."
  if (absolute.startsWith(`${dir}/`)) return absolute.slice(dir.length + 1)
  throw new GitError(`fatal: ${path}: '${path}' is outside repository at '${dir}'`, 128)
}

export async function authorOf({ fs, dir, env }: Repository, role: "AUTHOR" | "COMMITTER") {
  const read = async (name: string, fallback: string): Promise<string> => {
    const fromEnv = env.get(`GIT_${role}_${name.toUpperCase()}`)
    if (fromEnv !== undefined && fromEnv !== "") return fromEnv
    const configured: unknown = await git.getConfig({ fs, dir, path: `user.${name}` })
    return typeof configured === "string" ? configured : fallback
  }
  return { name: await read("name", "intern"), email: await read("email", "intern@localhost") }
}

export async function currentBranch({ fs, dir }: Repository): Promise<string | undefined> {
  return (await git.currentBranch({ fs, dir, test: false })) ?? undefined
}

/** Full id of a branch, tag, id or abbreviated id; `HEAD~2` and `HEAD^` go back. */
export async function resolve({ fs, dir }: Repository, name: string): Promise<string> {
  const [, base = "", back] = /^(.+?)(~\d*|\^+)?$/.exec(name) ?? []
  let oid = await git
    .resolveRef({ fs, dir, ref: base })
    .catch(() => git.expandOid({ fs, dir, oid: base }))
    .catch(() => undefined)
  if (oid === undefined) throw new GitError(`fatal: ambiguous argument '${name}': unknown revision or path`, 128)
  const steps = back === undefined ? 0 : back.startsWith("~") ? Number(back.slice(1) || "1") : back.length
  for (let step = 0; step < steps; step++) {
    const { commit } = await git.readCommit({ fs, dir, oid })
    const [parent] = commit.parent
    if (parent === undefined) throw new GitError(`fatal: '${name}': there is no such commit`, 128)
    oid = parent
  }
  return oid
}
