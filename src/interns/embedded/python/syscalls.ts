import { concat } from "../../../support/bytes.ts"
import { Errno, ERRNO, type FileNode, type Tree, type TreeNode } from "./tree.ts"

/** Ends a program that exceeds a limit. No code in the module can catch it. */
export class Halt extends Error {}

type Descriptor = { path: string; node: TreeNode; at: number; isAppending: boolean }

export type ProgramState = {
  memory: () => WebAssembly.Memory
  /** Subtracts from the steps of the program. */
  charge: (steps: number) => void
  tree: Tree
  cwd: string
  stdin: Uint8Array
}

const [CREATE, EXCLUSIVE, TRUNCATE, APPEND] = [64, 128, 512, 1024] as const
const [NO_FOLLOW, REMOVE_FOLDER] = [256, 512] as const
const FIRST_DESCRIPTOR = 3
const MAX_DESCRIPTORS = 256
const MAX_OUTPUT_BYTES = 1024 * 1024
/** Steps charged for a host call. */
export const STEPS_PER_CALL = 1_000
const ENTRY_BYTES = 280
const MAX_NAME_BYTES = 255

/** The system calls of the module's libc, on a tree of files and three streams. There are no others. */
export class System {
  readonly #program: ProgramState
  readonly #open = new Map<number, Descriptor>()
  readonly #output: Record<1 | 2, Uint8Array[]> = { 1: [], 2: [] }
  #outputBytes = 0
  #stdinAt = 0
  #cwd: string

  constructor(program: ProgramState) {
    this.#program = program
    this.#cwd = program.cwd
  }

  output(descriptor: 1 | 2): Uint8Array {
    return concat(this.#output[descriptor])
  }

  /** `env` has a negative number for an error, `wasi_snapshot_preview1` a positive one. */
  imports() {
    const env: Record<string, (...args: number[]) => number> = {
      __syscall_chdir: (path = 0) => this.#chdir(this.#path(path)),
      __syscall_getcwd: (to = 0, size = 0) => this.#getcwd(to, size),
      __syscall_mkdirat: (_, path = 0) => this.#made(this.#path(path)),
      __syscall_openat: (_, path = 0, flags = 0) => this.#openat(this.#path(path), flags),
      __syscall_getdents64: (fd = 0, to = 0, size = 0) => this.#entries(this.#descriptor(fd), to, size),
      __syscall_renameat: (_, from = 0, __ = 0, to = 0) => this.#rename(this.#path(from, false), this.#path(to, false)),
      __syscall_rmdir: (path = 0) => this.#remove(this.#path(path, false), "folder"),
      __syscall_unlinkat: (_, path = 0, flags = 0) =>
        this.#remove(this.#path(path, false), flags & REMOVE_FOLDER ? "folder" : "file"),
      __syscall_fstat64: (fd = 0, to = 0) => this.#stat(this.#descriptor(fd).node, to),
      __syscall_stat64: (path = 0, to = 0) => this.#stat(this.#program.tree.get(this.#path(path)), to),
      __syscall_lstat64: (path = 0, to = 0) => this.#stat(this.#program.tree.get(this.#path(path)), to),
      __syscall_newfstatat: (_, path = 0, to = 0, flags = 0) =>
        this.#stat(this.#program.tree.get(this.#path(path, (flags & NO_FOLLOW) === 0)), to),
    }
    const wasi: typeof env = {
      fd_close: (fd = 0) => this.#close(fd),
      fd_sync: () => 0,
      fd_seek: (fd = 0, offset: number | bigint = 0, whence = 0, to = 0) =>
        this.#seek(this.#descriptor(fd), Number(offset), whence, to),
      fd_read: (fd = 0, vectors = 0, count = 0, to = 0) =>
        this.#each(vectors, count, to, (part) => this.#read(fd, part)),
      fd_write: (fd = 0, vectors = 0, count = 0, to = 0) =>
        this.#each(vectors, count, to, (part) => this.#write(fd, part)),
    }
    return { env: this.#guarded(env, -1), wasi: this.#guarded(wasi, 1) }
  }

  #guarded(calls: Record<string, (...args: number[]) => number>, sign: 1 | -1) {
    const guard =
      (call: (...args: number[]) => number) =>
      (...args: number[]) => {
        this.#program.charge(STEPS_PER_CALL)
        try {
          return call(...args)
        } catch (thrown) {
          if (thrown instanceof Errno) return sign * thrown.errno
          throw thrown
        }
      }
    return Object.fromEntries(Object.entries(calls).map(([name, call]) => [name, guard(call)]))
  }

  get #view(): DataView {
    return new DataView(this.#program.memory().buffer)
  }

  #bytes(at: number, length: number): Uint8Array {
    return new Uint8Array(this.#program.memory().buffer, at, length)
  }

  #path(at: number, follow = true): string {
    const bytes = new Uint8Array(this.#program.memory().buffer, at)
    const path = new TextDecoder().decode(bytes.subarray(0, bytes.indexOf(0)))
    this.#program.charge(path.length)
    return this.#program.tree.resolve(this.#cwd, path, follow)
  }

  #descriptor(fd: number): Descriptor {
    const found = this.#open.get(fd)
    if (!found) throw new Errno(ERRNO.badDescriptor)
    return found
  }

  #chdir(path: string): number {
    if (this.#program.tree.get(path).is !== "folder") throw new Errno(ERRNO.notFolder)
    this.#cwd = path
    return 0
  }

  #getcwd(to: number, size: number): number {
    const bytes = new TextEncoder().encode(`${this.#cwd}\0`)
    if (bytes.length > size) throw new Errno(ERRNO.invalid)
    this.#bytes(to, bytes.length).set(bytes)
    return bytes.length
  }

  #made(path: string): number {
    this.#program.tree.create(path, "folder")
    return 0
  }

  #openat(path: string, flags: number): number {
    const { tree } = this.#program
    let node = tree.find(path)
    if (node && flags & CREATE && flags & EXCLUSIVE) throw new Errno(ERRNO.exists)
    if (!node && !(flags & CREATE)) throw new Errno(ERRNO.notFound)
    node ??= tree.create(path, "file")
    if (node.is === "folder" && flags & 3) throw new Errno(ERRNO.isFolder)
    if (node.is === "file" && flags & TRUNCATE) tree.resize(node, 0)
    if (this.#open.size >= MAX_DESCRIPTORS) throw new Errno(ERRNO.tooManyFiles)
    let fd = FIRST_DESCRIPTOR
    while (this.#open.has(fd)) fd += 1
    this.#open.set(fd, { path, node, at: 0, isAppending: (flags & APPEND) !== 0 })
    return fd
  }

  #close(fd: number): number {
    if (fd >= FIRST_DESCRIPTOR && !this.#open.delete(fd)) throw new Errno(ERRNO.badDescriptor)
    return 0
  }

  #remove(path: string, is: TreeNode["is"]): number {
    this.#program.charge(this.#program.tree.size)
    this.#program.tree.remove(path, is)
    return 0
  }

  #rename(from: string, to: string): number {
    this.#program.charge(this.#program.tree.size)
    this.#program.tree.rename(from, to)
    return 0
  }

  /** Layout of musl's `struct dirent`, with room for the longest name. */
  #entries(descriptor: Descriptor, to: number, size: number): number {
    this.#program.charge(this.#program.tree.size)
    const names = this.#program.tree.list(descriptor.path)
    const some = names.slice(descriptor.at, descriptor.at + Math.floor(size / ENTRY_BYTES))
    for (const [index, { name, isFolder }] of some.entries()) {
      const at = to + index * ENTRY_BYTES
      const next = descriptor.at + index + 1
      this.#view.setBigUint64(at, BigInt(next), true)
      this.#view.setBigUint64(at + 8, BigInt(next), true)
      this.#view.setUint16(at + 16, ENTRY_BYTES, true)
      this.#view.setUint8(at + 18, isFolder ? 4 : 8)
      const bytes = new TextEncoder().encode(name).subarray(0, MAX_NAME_BYTES)
      this.#bytes(at + 19, bytes.length + 1).set([...bytes, 0])
    }
    descriptor.at += some.length
    return some.length * ENTRY_BYTES
  }

  /** Layout of musl's `struct stat` for Emscripten. */
  #stat(node: TreeNode, to: number): number {
    const view = this.#view
    this.#bytes(to, 96).fill(0)
    view.setUint32(to + 4, (node.is === "folder" ? 0o040_000 : 0o100_000) | node.mode, true)
    view.setUint32(to + 8, 1, true)
    view.setBigInt64(to + 24, BigInt(node.is === "file" ? node.size : 0), true)
    view.setUint32(to + 32, 4096, true)
    const seconds = BigInt(Math.floor(node.mtime / 1000))
    for (const at of [40, 56, 72]) view.setBigInt64(to + at, seconds, true)
    return 0
  }

  #seek(descriptor: Descriptor, offset: number, whence: number, to: number): number {
    const { node } = descriptor
    const size = node.is === "file" ? node.size : 0
    const at = offset + ([0, descriptor.at, size][whence] ?? Number.NaN)
    if (!(at >= 0)) throw new Errno(ERRNO.invalid)
    descriptor.at = at
    this.#view.setBigInt64(to, BigInt(at), true)
    return 0
  }

  /** Iterates over the buffers of a call until one is not used completely. */
  #each(vectors: number, count: number, to: number, use: (part: Uint8Array) => number): number {
    let total = 0
    for (let index = 0; index < count; index += 1) {
      const [at, length] = [0, 4].map((offset) => this.#view.getUint32(vectors + index * 8 + offset, true))
      this.#program.charge((length ?? 0) / 32)
      const used = use(this.#bytes(at ?? 0, length ?? 0))
      total += used
      if (used < (length ?? 0)) break
    }
    this.#view.setUint32(to, total, true)
    return 0
  }

  #read(fd: number, part: Uint8Array): number {
    if (fd === 0) {
      const chunk = this.#program.stdin.subarray(this.#stdinAt, this.#stdinAt + part.length)
      part.set(chunk)
      this.#stdinAt += chunk.length
      return chunk.length
    }
    const descriptor = this.#descriptor(fd)
    const node = fileOf(descriptor)
    const chunk = node.body.subarray(descriptor.at, Math.min(node.size, descriptor.at + part.length))
    part.set(chunk)
    descriptor.at += chunk.length
    return chunk.length
  }

  #write(fd: number, part: Uint8Array): number {
    if (fd === 1 || fd === 2) {
      this.#outputBytes += part.length
      if (this.#outputBytes > MAX_OUTPUT_BYTES) throw new Halt(`stopped after ${MAX_OUTPUT_BYTES} bytes of output`)
      this.#output[fd].push(part.slice())
      return part.length
    }
    const descriptor = this.#descriptor(fd)
    const node = fileOf(descriptor)
    if (descriptor.isAppending) descriptor.at = node.size
    this.#program.tree.write(node, descriptor.at, part)
    descriptor.at += part.length
    return part.length
  }
}

function fileOf({ node }: Descriptor): FileNode {
  if (node.is === "folder") throw new Errno(ERRNO.isFolder)
  return node
}
