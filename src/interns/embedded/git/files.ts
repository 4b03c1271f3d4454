import type { CommandContext } from "just-bash/browser"

type ShellFiles = CommandContext["fs"]

/** Adapts the shell's files to isomorphic-git: the promise API of Node's `fs`, with error codes. */
export function gitFiles(fs: ShellFiles) {
  // Git considers a file with equal size, second and inode unchanged, but a command may change files within a second.
  let unique = Math.floor(Math.random() * 2 ** 31)
  const stat = async (found: ReturnType<ShellFiles["stat"]>) => {
    const { isFile, isDirectory, isSymbolicLink, mode, size, mtime } = await withErrorCode(found)
    const mtimeMs = mtime.getTime()
    return {
      isFile: () => isFile,
      isDirectory: () => isDirectory,
      isSymbolicLink: () => isSymbolicLink,
      mode: (isFile ? 0o100_000 : 0) | mode,
      size,
      mtimeMs,
      ctimeMs: mtimeMs,
      ino: (unique += 1),
      dev: 0,
      uid: 0,
      gid: 0,
    }
  }
  const promises = {
    readFile: async (path: string, options?: { encoding?: string } | string) => {
      const bytes = await withErrorCode(fs.readFileBuffer(path))
      const encoding = typeof options === "string" ? options : options?.encoding
      return encoding === undefined ? bytes : new TextDecoder().decode(bytes)
    },
    // A Buffer may be a view of a larger one.
    writeFile: (path: string, content: Uint8Array | string) =>
      withErrorCode(fs.writeFile(path, typeof content === "string" ? content : new Uint8Array(content))),
    unlink: (path: string) => withErrorCode(fs.rm(path)),
    readdir: (path: string) => withErrorCode(fs.readdir(path)),
    mkdir: (path: string) => withErrorCode(fs.mkdir(path)),
    rmdir: (path: string) => withErrorCode(fs.rm(path)),
    stat: (path: string) => stat(fs.stat(path)),
    lstat: (path: string) => stat(fs.lstat(path)),
    readlink: (path: string) => withErrorCode(fs.readlink(path)),
    symlink: (target: string, path: string) => withErrorCode(fs.symlink(target, path)),
    chmod: (path: string, mode: number) => withErrorCode(fs.chmod(path, mode)),
  }
  return { promises }
}

export type GitFiles = ReturnType<typeof gitFiles>

/** Sets `code` from the message: errors of the shell's files start with it. */
async function withErrorCode<T>(work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (thrown) {
    const [, code] = /^(E[A-Z]+):/.exec(thrown instanceof Error ? thrown.message : "") ?? []
    throw Object.assign(new Error(thrown instanceof Error ? thrown.message : String(thrown)), { code: code ?? "EIO" })
  }
}
