import * as git from "isomorphic-git"
import { GitError, parseArguments } from "./arguments.ts"
import { type GitContext, inRepository, type Repository, authorOf, currentBranch, resolve } from "./repository.ts"

export async function init({ fs, cwd }: GitContext, args: readonly string[]): Promise<string> {
  const { names, has, value } = parseArguments(args, ["-q"], ["-b", "--initial-branch"])
  const dir = names[0] === undefined ? cwd : names[0].startsWith("/") ? names[0] : `${cwd}/${names[0]}`
  await git.init({ fs, dir, defaultBranch: value("-b", "--initial-branch") ?? "main" })
  return has("-q") ? "" : `Initialized empty Git repository in ${dir}/.git/\n`
}

type Row = { path: string; index: string; folder: string; isUntracked: boolean; isGone: boolean }

/** Letters of `git status --short`, for the files that differ. */
async function changesOf({ fs, dir }: Repository, filepaths?: string[]): Promise<Row[]> {
  const matrix = await git.statusMatrix({ fs, dir, ...(filepaths && { filepaths }) })
  return matrix
    .filter(([, head, folder, stage]) => head !== 1 || folder !== 1 || stage !== 1)
    .map(([path, head, folder, stage]) => ({
      path,
      index: stage === 1 ? " " : head === 0 ? (stage === 0 ? "?" : "A") : stage === 0 ? "D" : "M",
      folder: stage === 0 ? (head === 0 ? "?" : " ") : folder === 0 ? "D" : folder !== stage ? "M" : " ",
      isUntracked: stage === 0 && folder !== 0,
      isGone: folder === 0,
    }))
}

export async function status(repository: Repository, args: readonly string[]): Promise<string> {
  const { has } = parseArguments(args, ["-s", "--short", "--porcelain", "-b", "--branch"])
  const rows = await changesOf(repository)
  const branch = (await currentBranch(repository)) ?? "(no branch)"
  if (has("-s", "--short", "--porcelain")) {
    const lines = rows.map(({ index, folder, path }) => `${index}${folder} ${path}\n`).join("")
    return (has("-b", "--branch") ? `## ${branch}\n` : "") + lines
  }
  const labels: Record<string, string> = { A: "new file:   ", M: "modified:   ", D: "deleted:    " }
  const staged = rows.filter(({ index }) => index !== " " && index !== "?")
  const unstaged = rows.filter(({ folder }) => folder !== " " && folder !== "?")
  const untracked = rows.filter(({ isUntracked }) => isUntracked)
  const section = (title: string, lines: string[]) =>
    lines.length === 0 ? [] : [`${title}:`, ...lines.map((line) => `\t${line}`), ""]
  const parts = [
    `On branch ${branch}`,
    ...section(
      "Changes to be committed",
      staged.map(({ index, path }) => `${labels[index] ?? ""}${path}`),
    ),
    ...section(
      "Changes not staged for commit",
      unstaged.map(({ folder, path }) => `${labels[folder] ?? ""}${path}`),
    ),
    ...section(
      "Untracked files",
      untracked.map(({ path }) => path),
    ),
    ...(rows.length === 0 ? ["nothing to commit, working tree clean"] : []),
  ]
  return `${parts.join("\n").trimEnd()}\n`
}

export async function add(repository: Repository, args: readonly string[]): Promise<string> {
  const { names, paths, has } = parseArguments(args, ["-A", "--all", "-u", "--update", "-f"])
  const { fs, dir } = repository
  const targets = [...names, ...paths].map((path) => inRepository(repository, path))
  const rows = await changesOf(repository, targets.length === 0 ? undefined : targets)
  const tracked = new Set(await git.listFiles({ fs, dir }))
  const isMissing = (path: string) =>
    path !== "." && !tracked.has(path) && !rows.some((row) => row.path === path || row.path.startsWith(`${path}/`))
  for (const path of targets) {
    if (isMissing(path) && !(await fs.promises.lstat(`${dir}/${path}`).catch(() => undefined))) {
      throw new GitError(`fatal: pathspec '${path}' did not match any files`, 128)
    }
  }
  if (targets.length === 0 && !has("-A", "--all", "-u", "--update"))
    throw new GitError("Nothing specified, nothing added.")
  for (const { path, isGone, isUntracked } of rows) {
    if (isUntracked && has("-u", "--update")) continue
    if (isGone) await git.remove({ fs, dir, filepath: path })
    else await git.add({ fs, dir, filepath: path })
  }
  return ""
}

export async function remove(repository: Repository, args: readonly string[]): Promise<string> {
  const { names, paths, has } = parseArguments(args, ["-r", "-f", "--cached"])
  const { fs, dir } = repository
  const files = await git.listFiles({ fs, dir })
  const deleted: string[] = []
  for (const path of [...names, ...paths].map((name) => inRepository(repository, name))) {
    const found = files.filter((file) => file === path || (has("-r") && file.startsWith(`${path}/`)))
    if (found.length === 0) throw new GitError(`fatal: pathspec '${path}' did not match any files`, 128)
    deleted.push(...found)
  }
  for (const filepath of deleted) {
    await git.remove({ fs, dir, filepath })
    if (!has("--cached")) await fs.promises.unlink(`${dir}/${filepath}`).catch(() => undefined)
  }
  return deleted.map((path) => `rm '${path}'\n`).join("")
}

export async function commit(repository: Repository, args: readonly string[]): Promise<string> {
  const flags = ["-a", "--all", "--amend", "--allow-empty", "-q", "--no-edit", "--no-verify"]
  const { has, value } = parseArguments(args, flags, ["-m", "--message"])
  const { fs, dir } = repository
  if (has("-a", "--all")) await add(repository, ["-u"])
  const message = value("-m", "--message")
  if (message === undefined && !has("--amend")) throw new GitError("error: this shell has no editor; use -m MESSAGE")
  const staged = (await changesOf(repository)).filter(({ index }) => index !== " " && index !== "?")
  if (staged.length === 0 && !has("--amend", "--allow-empty")) throw new GitError(await status(repository, []))
  const [author, committer] = [await authorOf(repository, "AUTHOR"), await authorOf(repository, "COMMITTER")]
  const text = message === undefined ? {} : { message }
  const oid = await git.commit({ fs, dir, author, committer, ...text, amend: has("--amend") })
  if (has("-q")) return ""
  const { commit: created } = await git.readCommit({ fs, dir, oid })
  const branch = (await currentBranch(repository)) ?? "detached HEAD"
  return `[${branch} ${oid.slice(0, 7)}] ${created.message.split("\n")[0]}\n ${staged.length} files changed\n`
}

export async function log(repository: Repository, args: readonly string[]): Promise<string> {
  const plain = args.map((argument) => (/^-\d+$/.test(argument) ? `--max-count=${argument.slice(1)}` : argument))
  const { names, has, value } = parseArguments(plain, ["--oneline", "--stat"], ["-n", "--max-count"])
  const { fs, dir } = repository
  const ref = await resolve(repository, names[0] ?? "HEAD")
  const depth = Number(value("-n", "--max-count") ?? "1000")
  const commits = await git.log({ fs, dir, ref, depth })
  if (has("--oneline"))
    return commits.map(({ oid, commit: { message } }) => `${oid.slice(0, 7)} ${message.split("\n")[0]}\n`).join("")
  return commits.map(({ oid, commit: made }) => describeCommit(oid, made)).join("\n")
}

type CreatorColumns = Awaited<ReturnType<typeof git.readCommit>>["commit"]

export function describeCommit(oid: string, { author, message }: CreatorColumns): string {
  const date = new Date(author.timestamp * 1_000).toISOString().replace("T", " ").slice(0, 19)
  const text = message.trimEnd().replaceAll(/^/gm, "    ")
  return `commit ${oid}\nAuthor: ${author.name} <${author.email}>\nDate:   ${date} +0000\n\n${text}\n`
}
