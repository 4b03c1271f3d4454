import { createTwoFilesPatch } from "diff"
import * as git from "isomorphic-git"
import { parseArguments } from "./arguments.ts"
import { inRepository, type Repository, resolve } from "./repository.ts"

type Side = { oid: string; text: string | undefined }
type Change = { path: string; before: Side | undefined; after: Side | undefined }

export async function diffCommand(repository: Repository, args: readonly string[]): Promise<string> {
  const { names, paths, has } = parseArguments(args, ["--cached", "--staged", "--name-only", "--name-status", "--stat"])
  const found = await splitNames(repository, names)
  const revisions = found.revisions
    .flatMap((name) => name.split(/\.\.\.?/))
    .map((name) => (name === "" ? "HEAD" : name))
  const wantedPaths = [...found.paths, ...paths].map((path) => inRepository(repository, path))
  const [fromTree, toTree] = await Promise.all(revisions.map((name) => resolve(repository, name)))
  const isStaged = has("--cached", "--staged")
  const head = fromTree ?? (isStaged ? await resolve(repository, "HEAD").catch(() => undefined) : undefined)
  const before =
    fromTree === undefined && !isStaged ? git.STAGE() : head === undefined ? undefined : git.TREE({ ref: head })
  const after = toTree === undefined ? (isStaged ? git.STAGE() : git.WORKDIR()) : git.TREE({ ref: toTree })
  const isOfFolder = toTree === undefined && !isStaged
  const changes = await changesBetween(repository, { before, after, wanted: wantedPaths, isOfFolder })
  if (has("--name-only", "--stat")) return changes.map(({ path }) => `${path}\n`).join("")
  if (has("--name-status")) return changes.map((change) => `${letterOf(change)}\t${change.path}\n`).join("")
  return changes.map(toPatch).join("")
}

/** The change of a commit against its first parent. */
export async function commitDiff(repository: Repository, oid: string): Promise<string> {
  const { fs, dir } = repository
  const { commit } = await git.readCommit({ fs, dir, oid })
  const [parent] = commit.parent
  const before = parent === undefined ? undefined : git.TREE({ ref: parent })
  return (await changesBetween(repository, { before, after: git.TREE({ ref: oid }), wanted: [] })).map(toPatch).join("")
}

async function splitNames(repository: Repository, names: readonly string[]) {
  const [revisions, paths]: [string[], string[]] = [[], []]
  for (const name of names) {
    const parts = name.split(/\.\.\.?/).filter((part) => part !== "")
    const commits = await Promise.all(parts.map((part) => resolve(repository, part).catch(() => undefined)))
    if (paths.length === 0 && parts.length > 0 && commits.every((oid) => oid !== undefined)) revisions.push(name)
    else paths.push(name)
  }
  return { revisions, paths }
}

type Compared = {
  /** Undefined before the first commit. */
  before: ReturnType<typeof git.TREE> | undefined
  after: ReturnType<typeof git.TREE>
  wanted: readonly string[]
  /** Whether `after` is the working folder, which may have untracked files. */
  isOfFolder?: boolean
}

async function changesBetween(
  { fs, dir }: Repository,
  { before, after, wanted, isOfFolder = false }: Compared,
): Promise<Change[]> {
  const tracked = isOfFolder ? new Set(await git.listFiles({ fs, dir })) : undefined
  const isWanted = (path: string) =>
    wanted.length === 0 || wanted.some((one) => one === "." || path === one || path.startsWith(`${one}/`))
  const sideOf = async (entry: git.WalkerEntry | null): Promise<Side | undefined> => {
    if (!entry || (await entry.type()) !== "blob") return undefined
    const oid = await entry.oid()
    const bytes = (await entry.content()) ?? (await git.readBlob({ fs, dir, oid })).blob
    return { oid, text: bytes.includes(0) ? undefined : new TextDecoder().decode(bytes) }
  }
  const map = async (path: string, entries: (git.WalkerEntry | null)[]): Promise<Change | undefined> => {
    const [a, b] = before === undefined ? [null, entries[0] ?? null] : [entries[0] ?? null, entries[1] ?? null]
    if (path === "." || !isWanted(path)) return undefined
    if (tracked && !a && !tracked.has(path)) return undefined
    const [oldSide, newSide] = [await sideOf(a), await sideOf(b)]
    return oldSide?.oid === newSide?.oid ? undefined : { path, before: oldSide, after: newSide }
  }
  const trees = before === undefined ? [after] : [before, after]
  const walked: unknown = await git.walk({ fs, dir, trees, map })
  return Array.isArray(walked) ? walked.flat(Infinity).filter(isChange) : []
}

function isChange(value: unknown): value is Change {
  return typeof value === "object" && value !== null && "path" in value
}

function letterOf({ before, after }: Change): "A" | "D" | "M" {
  if (!before) return "A"
  return after ? "M" : "D"
}

function toPatch({ path, before, after }: Change): string {
  const head = `diff --git a/${path} b/${path}\n`
  if ((before && before.text === undefined) || (after && after.text === undefined)) {
    return `${head}Binary files a/${path} and b/${path} differ\n`
  }
  const [from, to] = [before ? `a/${path}` : "/dev/null", after ? `b/${path}` : "/dev/null"]
  const patch = createTwoFilesPatch(from, to, before?.text ?? "", after?.text ?? "", "", "", { context: 3 })
  return head + patch.replace(/^=+\n/, "").replace(/^(---|\+\+\+) (.*)\t$/gm, "$1 $2")
}
