import type { CommandContext } from "just-bash/browser"

type ShellFiles = CommandContext["fs"]

export type FileNode = { is: "file"; body: Uint8Array; size: number; mode: number; mtime: number; isChanged: boolean }
type FolderNode = { is: "folder"; mode: number; mtime: number }
export type TreeNode = FileNode | FolderNode

/** Error numbers of MicroPython's `errno`. */
export const ERRNO = {
  notFound: 2,
  badDescriptor: 9,
  exists: 17,
  notFolder: 20,
  isFolder: 21,
  invalid: 22,
  tooManyFiles: 24,
  noSpace: 28,
  notSupported: 38,
  notEmpty: 39,
} as const

export class Errno extends Error {
  readonly errno: number

  constructor(errno: number) {
    super(`errno ${errno}`)
    this.errno = errno
  }
}

/** Paths that only the shell has: devices and names of commands. */
const NOT_FILES = /^\/(?:dev|proc|bin|usr\/bin)(?:\/|$)/
const MAX_BYTES = 32 * 1024 * 1024
/** Above the limit of the intern's disk; new files are written at the end. */
const MAX_NODES = 3_000

/** The shell's files for a synchronous program: loaded before it starts, changes written after it ends. */
export class Tree {
  readonly #before = new Map<string, TreeNode | string>()
  readonly #nodes = new Map<string, TreeNode>()
  /** Symbolic links with their final targets. */
  readonly #links = new Map<string, string>()
  #bytes = 0

  static async load(fs: ShellFiles): Promise<Tree> {
    const tree = new Tree()
    for (const path of fs.getAllPaths()) {
      if (NOT_FILES.test(path)) continue
      const { isSymbolicLink, isFile, mode, mtime } = await fs.lstat(path)
      if (isSymbolicLink) {
        const target = await fs.realpath(path).catch(() => undefined)
        if (target === undefined) continue
        tree.#links.set(path, target)
        tree.#before.set(path, target)
        continue
      }
      const body = isFile ? await fs.readFileBuffer(path) : undefined
      const common = { mode: mode & 0o777, mtime: mtime.getTime() }
      const node: TreeNode = body
        ? { is: "file", body, size: body.length, isChanged: false, ...common }
        : { is: "folder", ...common }
      tree.#bytes += body?.length ?? 0
      tree.#nodes.set(path, node)
      tree.#before.set(path, node)
    }
    return tree
  }

  async writeBack(fs: ShellFiles): Promise<void> {
    const now = (path: string) => this.#links.get(path) ?? this.#nodes.get(path)
    const changed = [...this.#before.keys()].filter((path) => now(path) !== this.#before.get(path))
    for (const path of changed.toSorted().toReversed()) await fs.rm(path, { recursive: true, force: true })
    for (const [path, node] of [...this.#nodes].toSorted(([a], [b]) => (a < b ? -1 : 1))) {
      const isNew = this.#before.get(path) !== node
      if (node.is === "folder") {
        if (isNew) await fs.mkdir(path, { recursive: true })
      } else if (isNew || node.isChanged) {
        await fs.writeFile(path, node.body.slice(0, node.size))
        await fs.chmod(path, node.mode)
      }
    }
  }

  /** Number of names, which is the cost of a search. */
  get size(): number {
    return this.#nodes.size
  }

  /** The absolute path without links; the last name may be a link if `follow` is false. */
  resolve(cwd: string, path: string, follow = true): string {
    let at = ""
    const parts = (path.startsWith("/") ? path : `${cwd}/${path}`).split("/").filter((part) => part && part !== ".")
    for (const [index, part] of parts.entries()) {
      if (part === "..") at = at.slice(0, Math.max(at.lastIndexOf("/"), 0))
      else at = `${at}/${part}`
      if (follow || index < parts.length - 1) at = this.#links.get(at) ?? at
    }
    return at === "" ? "/" : at
  }

  find(path: string): TreeNode | undefined {
    return this.#nodes.get(path) ?? (path === "/" ? { is: "folder", mode: 0o755, mtime: 0 } : undefined)
  }

  isLink(path: string): boolean {
    return this.#links.has(path)
  }

  get(path: string): TreeNode {
    const node = this.find(path)
    if (!node) throw new Errno(ERRNO.notFound)
    return node
  }

  /** Names in a folder. */
  list(path: string): { name: string; isFolder: boolean }[] {
    if (this.get(path).is !== "folder") throw new Errno(ERRNO.notFolder)
    const prefix = path === "/" ? "/" : `${path}/`
    return [...this.#nodes, ...this.#links].flatMap(([each, node]) => {
      const name = each.slice(prefix.length)
      if (!each.startsWith(prefix) || name === "" || name.includes("/")) return []
      return [{ name, isFolder: typeof node !== "string" && node.is === "folder" }]
    })
  }

  create(path: string, is: TreeNode["is"]): TreeNode {
    if (this.find(path) ?? this.#links.get(path)) throw new Errno(ERRNO.exists)
    this.#requireParent(path)
    if (this.#nodes.size >= MAX_NODES) throw new Errno(ERRNO.noSpace)
    const mtime = Date.now()
    const node: TreeNode =
      is === "folder"
        ? { is, mode: 0o755, mtime }
        : { is, body: new Uint8Array(0), size: 0, mode: 0o644, mtime, isChanged: true }
    this.#nodes.set(path, node)
    return node
  }

  remove(path: string, is: TreeNode["is"]): void {
    if (is === "file" && this.#links.delete(path)) return
    const node = this.get(path)
    if (is === "folder" && node.is === "file") throw new Errno(ERRNO.notFolder)
    if (is === "file" && node.is === "folder") throw new Errno(ERRNO.isFolder)
    if (node.is === "folder" && this.list(path).length > 0) throw new Errno(ERRNO.notEmpty)
    if (node.is === "file") this.#bytes -= node.size
    this.#nodes.delete(path)
  }

  rename(from: string, to: string): void {
    if (from === to) return
    const link = this.#links.get(from)
    const node = link === undefined ? this.get(from) : undefined
    if (to.startsWith(`${from}/`)) throw new Errno(ERRNO.invalid)
    this.#requireParent(to)
    const target = this.find(to)
    if (target) this.remove(to, node?.is ?? "file")
    this.#links.delete(to)
    if (node === undefined) {
      this.#links.delete(from)
      this.#links.set(to, link ?? "")
      return
    }
    for (const map of [this.#nodes, this.#links] as Map<string, TreeNode | string>[]) {
      for (const [path, each] of map) {
        if (path !== from && !path.startsWith(`${from}/`)) continue
        map.delete(path)
        map.set(to + path.slice(from.length), each)
      }
    }
  }

  write(node: FileNode, at: number, bytes: Uint8Array): void {
    this.resize(node, Math.max(node.size, at + bytes.length))
    node.body.set(bytes, at)
  }

  resize(node: FileNode, size: number): void {
    if (this.#bytes + size - node.size > MAX_BYTES) throw new Errno(ERRNO.noSpace)
    if (!node.isChanged || size > node.body.length) {
      // The first change copies the content, which the shell still references.
      const body = new Uint8Array(size > node.body.length ? Math.min(size * 2, MAX_BYTES) : node.body.length)
      body.set(node.body.subarray(0, Math.min(size, node.size)))
      node.body = body
    } else node.body.fill(0, size, Math.max(size, node.size))
    this.#bytes += size - node.size
    node.size = size
    node.mtime = Date.now()
    node.isChanged = true
  }

  #requireParent(path: string): void {
    const parent = this.get(path.slice(0, path.lastIndexOf("/")) || "/")
    if (parent.is !== "folder") throw new Errno(ERRNO.notFolder)
  }
}
