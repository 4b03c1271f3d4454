import * as git from "isomorphic-git"
import { GitError, parseArguments } from "./arguments.ts"
import { commitDiff } from "./diff.ts"
import { describeCommit } from "./local.ts"
import { authorOf, currentBranch, inRepository, type Repository, resolve } from "./repository.ts"

export async function branch(repository: Repository, args: readonly string[]): Promise<string> {
  const { names, has } = parseArguments(args, ["-d", "-D", "-a", "-r", "--show-current", "-v"])
  const { fs, dir } = repository
  const branchName = await currentBranch(repository)
  if (has("--show-current")) return branchName === undefined ? "" : `${branchName}\n`
  const [name, start] = names
  if (name !== undefined && has("-d", "-D")) {
    await git.deleteBranch({ fs, dir, ref: name })
    return `Deleted branch ${name}.\n`
  }
  if (name !== undefined) {
    await git.branch({ fs, dir, ref: name, object: await resolve(repository, start ?? "HEAD") })
    return ""
  }
  const remotes = has("-a", "-r") ? await git.listRemotes({ fs, dir }) : []
  const ofRemotes = await Promise.all(
    remotes.map(async ({ remote }) =>
      (await git.listBranches({ fs, dir, remote })).map((one) => `  ${has("-a") ? "remotes/" : ""}${remote}/${one}`),
    ),
  )
  const local = has("-r")
    ? []
    : (await git.listBranches({ fs, dir })).map((one) => `${one === branchName ? "*" : " "} ${one}`)
  return [...local, ...ofRemotes.flat()].map((line) => `${line}\n`).join("")
}

export async function checkout(repository: Repository, args: readonly string[]): Promise<string> {
  const { names, paths, has, value } = parseArguments(args, ["-f", "--force", "-q"], ["-b", "-B"])
  const { fs, dir } = repository
  const newBranch = value("-b", "-B")
  if (newBranch !== undefined) return startBranch(repository, newBranch, names[0])
  const [name] = names
  if (paths.length > 0 || name === ".") {
    const filepaths = (paths.length > 0 ? paths : ["."]).map((path) => inRepository(repository, path))
    const ref = paths.length > 0 && name !== undefined ? await resolve(repository, name) : undefined
    if (ref === undefined) await restoreFromIndex(repository, filepaths)
    else await git.checkout({ fs, dir, ref, filepaths, force: true, noUpdateHead: true })
    return ""
  }
  if (name === undefined) throw new GitError("fatal: name a branch, or paths after --", 128)
  const branches = await git.listBranches({ fs, dir })
  const isRemote =
    !branches.includes(name) && (await resolve(repository, `origin/${name}`).catch(() => undefined)) !== undefined
  const ref = branches.includes(name) || isRemote ? name : await resolve(repository, name)
  await git.checkout({ fs, dir, ref, force: has("-f", "--force") })
  return ref === name ? `Switched to branch '${name}'\n` : `HEAD is now at ${ref.slice(0, 7)}\n`
}

export async function switchTo(repository: Repository, args: readonly string[]): Promise<string> {
  const { names, value } = parseArguments(args, ["-q"], ["-c", "--create"])
  const newBranch = value("-c", "--create")
  if (newBranch !== undefined) return startBranch(repository, newBranch, names[0])
  return checkout(repository, names)
}

async function startBranch(repository: Repository, name: string, start: string | undefined): Promise<string> {
  const { fs, dir } = repository
  const object = await resolve(repository, start ?? "HEAD").catch(() => undefined)
  if (object === undefined)
    await git.writeRef({ fs, dir, ref: "HEAD", value: `refs/heads/${name}`, symbolic: true, force: true })
  else {
    await git.branch({ fs, dir, ref: name, object })
    await git.checkout({ fs, dir, ref: name, force: start !== undefined })
  }
  return `Switched to a new branch '${name}'\n`
}

/** `git checkout -- paths`: restores paths from the index. */
async function restoreFromIndex({ fs, dir }: Repository, paths: readonly string[]): Promise<void> {
  const isWanted = (path: string) => paths.some((one) => one === "." || path === one || path.startsWith(`${one}/`))
  const map = async (
    path: string,
    [entry]: Awaited<Parameters<NonNullable<Parameters<typeof git.walk>[0]["map"]>>[1]>,
  ) => {
    if (!entry || !isWanted(path) || (await entry.type()) !== "blob") return
    const { blob } = await git.readBlob({ fs, dir, oid: await entry.oid() })
    await fs.promises.writeFile(`${dir}/${path}`, blob)
  }
  await git.walk({ fs, dir, trees: [git.STAGE()], map })
}

export async function restore(repository: Repository, args: readonly string[]): Promise<string> {
  const { names, paths, has } = parseArguments(args, ["--staged", "--worktree"])
  const targets = [...names, ...paths]
  if (has("--staged")) return reset(repository, targets)
  await restoreFromIndex(
    repository,
    targets.map((path) => inRepository(repository, path)),
  )
  return ""
}

export async function reset(repository: Repository, args: readonly string[]): Promise<string> {
  const { names, paths, has } = parseArguments(args, ["--hard", "--soft", "--mixed", "-q"])
  const { fs, dir } = repository
  const [first] = names
  const target = first === undefined ? undefined : await resolve(repository, first).catch(() => undefined)
  if (target !== undefined || has("--hard", "--soft")) {
    const oid = target ?? (await resolve(repository, "HEAD"))
    const branchName = await currentBranch(repository)
    await git.writeRef({
      fs,
      dir,
      ref: branchName === undefined ? "HEAD" : `refs/heads/${branchName}`,
      value: oid,
      force: true,
    })
    if (has("--hard")) await git.checkout({ fs, dir, ref: branchName ?? oid, force: true })
    if (has("--hard", "--soft")) return has("--hard") && !has("-q") ? `HEAD is now at ${oid.slice(0, 7)}\n` : ""
  }
  const targets = [...(target === undefined ? names : names.slice(1)), ...paths].map((path) =>
    inRepository(repository, path),
  )
  const files = await git.listFiles({ fs, dir })
  const isWanted = (file: string) =>
    targets.length === 0 || targets.some((one) => one === "." || file === one || file.startsWith(`${one}/`))
  for (const filepath of files.filter(isWanted)) await git.resetIndex({ fs, dir, filepath })
  return ""
}

export async function merge(repository: Repository, args: readonly string[]): Promise<string> {
  const { names, has } = parseArguments(args, ["--ff-only", "--no-ff"], ["-m"])
  const { fs, dir } = repository
  const incoming = names[0]
  if (incoming === undefined) throw new GitError("fatal: name what to merge", 128)
  const author = await authorOf(repository, "AUTHOR")
  const done = await git.merge({
    fs,
    dir,
    theirs: incoming,
    author,
    fastForwardOnly: has("--ff-only"),
    fastForward: !has("--no-ff"),
  })
  await git.checkout({ fs, dir, ref: (await currentBranch(repository)) ?? "HEAD", force: true })
  if (done.alreadyMerged === true) return "Already up to date.\n"
  return done.fastForward === true
    ? `Fast-forward to ${done.oid?.slice(0, 7)}\n`
    : `Merge made: ${done.oid?.slice(0, 7)}\n`
}

export async function show(repository: Repository, args: readonly string[]): Promise<string> {
  const { names } = parseArguments(args, [])
  const { fs, dir } = repository
  const [revision = "HEAD", path] = (names[0] ?? "HEAD").split(/:(.*)/s)
  const oid = await resolve(repository, revision === "" ? "HEAD" : revision)
  if (path !== undefined) {
    const { blob } = await git.readBlob({ fs, dir, oid, filepath: path })
    return new TextDecoder().decode(blob)
  }
  const { commit } = await git.readCommit({ fs, dir, oid })
  return `${describeCommit(oid, commit)}\n${await commitDiff(repository, oid)}`
}

export async function tag(repository: Repository, args: readonly string[]): Promise<string> {
  const { names, has } = parseArguments(args, ["-d", "-l"], ["-m"])
  const { fs, dir } = repository
  const [name, object] = names
  if (name === undefined || has("-l")) return (await git.listTags({ fs, dir })).map((one) => `${one}\n`).join("")
  if (has("-d")) await git.deleteTag({ fs, dir, ref: name })
  else await git.tag({ fs, dir, ref: name, object: await resolve(repository, object ?? "HEAD") })
  return ""
}

export async function revParse(repository: Repository, args: readonly string[]): Promise<string> {
  const { names, has } = parseArguments(args, ["--abbrev-ref", "--short", "--show-toplevel", "--is-inside-work-tree"])
  if (has("--show-toplevel")) return `${repository.dir}\n`
  if (has("--is-inside-work-tree")) return "true\n"
  if (has("--abbrev-ref")) return `${(await currentBranch(repository)) ?? "HEAD"}\n`
  const oid = await resolve(repository, names[0] ?? "HEAD")
  return `${has("--short") ? oid.slice(0, 7) : oid}\n`
}
