import * as git from "isomorphic-git"
import { MAX_FILE_BYTES } from "../home.ts"
import { GitError, parseArguments } from "./arguments.ts"
import type { GitFiles } from "./files.ts"
import { authorOf, currentBranch, type GitContext, type Repository } from "./repository.ts"

export async function clone(context: GitContext, args: readonly string[]): Promise<string> {
  const flags = ["-q", "--single-branch", "--no-tags"]
  const { names, has, value } = parseArguments(args, flags, ["--depth", "-b", "--branch"])
  const [url, folder] = names
  if (url === undefined) throw new GitError("fatal: You must specify a repository to clone.", 128)
  requireHttps(url)
  const { fs, cwd, http } = context
  const name = folder ?? (url.replace(/\/+$/, "").split("/").at(-1) ?? "").replace(/\.git$/, "")
  const dir = name.startsWith("/") ? name : `${cwd}/${name}`
  const there = await fs.promises.readdir(dir).catch(() => [])
  if (there.length > 0) throw new GitError(`fatal: destination path '${name}' already exists and is not empty.`, 128)
  const [ref, depth] = [value("-b", "--branch"), value("--depth")]
  const noTags = has("--no-tags") || depth !== undefined
  const singleBranch = has("--single-branch") || depth !== undefined
  try {
    const options = { ...(ref !== undefined && { ref }), ...(depth !== undefined && { depth: Number(depth) }) }
    await git.clone({ fs, http, dir, url, singleBranch, noTags, ...options })
    await requireSmallPacks(fs, dir)
  } catch (thrown) {
    await removeAll(fs, dir)
    throw thrown
  }
  return `Cloning into '${name}'...\n`
}

/** Fails for a history that the shell cannot store, so that no broken repository remains. */
async function requireSmallPacks(fs: GitFiles, dir: string): Promise<void> {
  const folder = `${dir}/.git/objects/pack`
  for (const file of await fs.promises.readdir(folder).catch(() => [])) {
    const { size } = await fs.promises.stat(`${folder}/${file}`)
    if (size <= MAX_FILE_BYTES) continue
    throw new GitError(`fatal: the history has more than ${MAX_FILE_BYTES} bytes in one pack; use --depth 1`, 128)
  }
}

async function removeAll(fs: GitFiles, path: string): Promise<void> {
  const found = await fs.promises.lstat(path).catch(() => undefined)
  if (!found) return
  if (!found.isDirectory()) return fs.promises.unlink(path)
  for (const name of await fs.promises.readdir(path)) await removeAll(fs, `${path}/${name}`)
  await fs.promises.rmdir(path)
}

function requireHttps(url: string): void {
  if (url.startsWith("https://")) return
  throw new GitError(`fatal: '${url}': this git supports only https`, 128)
}

async function remoteOf({ fs, dir }: Repository, name: string | undefined) {
  const remote = name ?? "origin"
  const configured = (await git.listRemotes({ fs, dir })).find((one) => one.remote === remote)
  if (!configured) throw new GitError(`fatal: '${remote}' does not appear to be a git repository`, 128)
  requireHttps(configured.url)
  return configured
}

export async function fetchCommand(repository: Repository, args: readonly string[]): Promise<string> {
  const { names, has, value } = parseArguments(args, ["--all", "-p", "--prune", "--tags", "-q"], ["--depth"])
  const { fs, dir, http } = repository
  const { remote, url } = await remoteOf(repository, names[0])
  const [ref, depth] = [names[1], value("--depth")]
  const options = { ...(ref !== undefined && { ref }), ...(depth !== undefined && { depth: Number(depth) }) }
  await git.fetch({ fs, http, dir, remote, url, prune: has("-p", "--prune"), tags: has("--tags"), ...options })
  await requireSmallPacks(fs, dir)
  return ""
}

export async function pull(repository: Repository, args: readonly string[]): Promise<string> {
  const { names, has } = parseArguments(args, ["--ff-only", "-q"])
  const { fs, dir, http } = repository
  const { remote, url } = await remoteOf(repository, names[0])
  const author = await authorOf(repository, "AUTHOR")
  const ref = await currentBranch(repository)
  if (ref === undefined) throw new GitError("fatal: You are not currently on a branch.", 128)
  const remoteRef = names[1] ?? ref
  await git.pull({
    fs,
    http,
    dir,
    remote,
    url,
    ref,
    remoteRef,
    author,
    fastForwardOnly: has("--ff-only"),
    singleBranch: true,
  })
  await requireSmallPacks(fs, dir)
  return `Updated to ${(await git.resolveRef({ fs, dir, ref: "HEAD" })).slice(0, 7)}\n`
}

export async function push(repository: Repository, args: readonly string[]): Promise<string> {
  const { names, has } = parseArguments(args, ["-u", "--set-upstream", "-f", "--force", "-q"])
  const { fs, dir, http } = repository
  const { remote, url } = await remoteOf(repository, names[0])
  const [local, remoteRef] = (names[1] ?? (await currentBranch(repository)) ?? "HEAD").split(":")
  const ref = local === undefined || local === "HEAD" ? await currentBranch(repository) : local
  if (ref === undefined) throw new GitError("fatal: You are not currently on a branch.", 128)
  const options = { ...(remoteRef !== undefined && { remoteRef }), force: has("-f", "--force") }
  const { ok, error, refs } = await git.push({ fs, http, dir, remote, url, ref, ...options })
  const rejected = Object.entries(refs).flatMap(([name, { error: why }]) => (why ? [`${name}: ${why}`] : []))
  if (!ok || rejected.length > 0) throw new GitError(`error: failed to push: ${error ?? rejected.join("; ")}`)
  if (has("-u", "--set-upstream")) {
    await git.setConfig({ fs, dir, path: `branch.${ref}.remote`, value: remote })
    await git.setConfig({ fs, dir, path: `branch.${ref}.merge`, value: `refs/heads/${remoteRef ?? ref}` })
  }
  return `Pushed ${ref} to ${remote}\n`
}

export async function remoteCommand(repository: Repository, args: readonly string[]): Promise<string> {
  const { names, has } = parseArguments(args, ["-v"])
  const { fs, dir } = repository
  const [action, remote, url] = names
  const remotes = await git.listRemotes({ fs, dir })
  if (action === undefined) {
    return remotes.map((one) => (has("-v") ? `${one.remote}\t${one.url}\n` : `${one.remote}\n`)).join("")
  }
  if (remote === undefined) throw new GitError("error: name the remote", 129)
  if (action === "get-url") return `${(await remoteOf(repository, remote)).url}\n`
  if (action === "remove" || action === "rm") await git.deleteRemote({ fs, dir, remote })
  else if ((action === "add" || action === "set-url") && url !== undefined) {
    requireHttps(url)
    await git.addRemote({ fs, dir, remote, url, force: action === "set-url" })
  } else throw new GitError(`error: unknown subcommand: ${action}; there are add, set-url, get-url, remove`, 129)
  return ""
}
