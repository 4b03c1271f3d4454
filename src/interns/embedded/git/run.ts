import * as git from "isomorphic-git"
import { GitError, parseArguments } from "./arguments.ts"
import * as branches from "./branches.ts"
import { diffCommand } from "./diff.ts"
import * as local from "./local.ts"
import * as remote from "./remote.ts"
import { type GitContext, openRepository, type Repository } from "./repository.ts"

type Subcommand = (repository: Repository, args: readonly string[]) => Promise<string>

const ANYWHERE: Record<string, (context: GitContext, args: readonly string[]) => Promise<string>> = {
  init: local.init,
  clone: remote.clone,
}
const IN_REPOSITORY: Record<string, Subcommand> = {
  add: local.add,
  rm: local.remove,
  commit: local.commit,
  log: local.log,
  status: local.status,
  diff: diffCommand,
  show: branches.show,
  branch: branches.branch,
  checkout: branches.checkout,
  switch: branches.switchTo,
  restore: branches.restore,
  reset: branches.reset,
  merge: branches.merge,
  tag: branches.tag,
  "rev-parse": branches.revParse,
  "ls-files": async ({ fs, dir }) => (await git.listFiles({ fs, dir })).map((path) => `${path}\n`).join(""),
  config,
  remote: remote.remoteCommand,
  fetch: remote.fetchCommand,
  pull: remote.pull,
  push: remote.push,
}

/** Runs a subcommand; returns its output. Throws a GitError with git's message. */
export async function runGit(context: GitContext, args: readonly string[]): Promise<string> {
  const [name = "help", ...rest] = args
  if (name === "--version" || name === "version") return `git (isomorphic-git ${git.version()})\n`
  const anywhere = ANYWHERE[name]
  if (anywhere) return anywhere(context, rest)
  const subcommand = IN_REPOSITORY[name]
  if (subcommand) return subcommand(await openRepository(context), rest)
  const commandNames = [...Object.keys(ANYWHERE), ...Object.keys(IN_REPOSITORY)].join(", ")
  throw new GitError(`git: '${name}' is not a command of this shell's git. There are ${commandNames}.`)
}

/** Only settings of the repository are supported: no other storage persists. */
async function config({ fs, dir }: Repository, args: readonly string[]): Promise<string> {
  const { names, has } = parseArguments(args, ["--global", "--local", "--get", "--unset"])
  const [path, value] = names
  if (path === undefined) throw new GitError("error: name a setting, such as user.name", 129)
  if (value !== undefined || has("--unset")) {
    await git.setConfig({ fs, dir, path, value })
    return ""
  }
  const found: unknown = await git.getConfig({ fs, dir, path })
  if (found === undefined) throw new GitError("")
  return `${typeof found === "string" ? found : JSON.stringify(found)}\n`
}
