import { randomUUID } from "node:crypto"
import { constants, existsSync } from "node:fs"
import { type FileHandle, lstat, mkdir, open, realpath, rename, rm } from "node:fs/promises"
import path from "node:path"

const { O_DIRECTORY, O_NOFOLLOW, O_RDONLY } = constants

/** A folder that stays the same when its path is renamed or replaced by a link. */
type OpenFolder = { handle: FileHandle; path: string }

/**
 * Writes a file of an agent that runs as `owner`, and creates the folders between it and `root`. The daemon is root
 * then, and what is below `root` belongs to the agent: a link in place of the file is replaced, one in place of a folder
 * is an error, because it could lead to a folder of root.
 */
export async function writeBelow(root: string, file: string, text: string, owner: number): Promise<void> {
  const folder = await enterBelow(root, path.dirname(file), owner)
  try {
    await replaceFile(path.join(folder.path, path.basename(file)), text, owner)
  } finally {
    await folder.handle.close()
  }
}

/** Creates a folder, and those between it and `root`, as writeBelow does. */
export async function createFolderBelow(root: string, folder: string, owner: number): Promise<void> {
  const { handle } = await enterBelow(root, folder, owner)
  await handle.close()
}

async function enterBelow(root: string, target: string, owner: number): Promise<OpenFolder> {
  const parts = path.relative(root, target).split(path.sep).filter(Boolean)
  if (parts[0] === "..") throw new Error(`${target} is not in the agent's folder.`)
  let folder = await openFolder(await realpath(root), root)
  for (const part of parts) {
    const parent = folder
    try {
      folder = await enter(parent, part)
    } finally {
      await parent.handle.close()
    }
    await folder.handle.chown(owner, owner)
  }
  return folder
}

async function enter(folder: OpenFolder, name: string): Promise<OpenFolder> {
  const target = path.join(folder.path, name)
  await mkdir(target, { mode: 0o700 }).catch((thrown: NodeJS.ErrnoException) => {
    if (thrown.code !== "EEXIST") throw thrown
  })
  return openFolder(target, name)
}

async function openFolder(target: string, shown: string): Promise<OpenFolder> {
  const handle = await open(target, O_RDONLY | O_DIRECTORY | O_NOFOLLOW).catch(async (thrown: unknown) => {
    const found = await lstat(target).catch(() => undefined)
    if (found === undefined || found.isDirectory()) throw thrown
    throw new Error(`${shown} in the agent's folder is not a folder. Links are not followed: replace it by a folder.`)
  })
  // Linux. Elsewhere the path itself is used, which could be replaced in between.
  const descriptor = `/proc/self/fd/${handle.fd}`
  return { handle, path: existsSync(descriptor) ? descriptor : target }
}

/** Replaces a file atomically: a reader sees the old text or the new one. A link in its place is replaced. */
export async function replaceFile(file: string, text: string, owner?: number): Promise<void> {
  const part = `${file}.${randomUUID()}.part`
  let handle: FileHandle | undefined
  try {
    handle = await open(part, "wx", 0o600)
    await handle.writeFile(text)
    if (owner !== undefined) await handle.chown(owner, owner)
    await handle.close()
    handle = undefined
    await rename(part, file)
  } catch (thrown) {
    await handle?.close()
    await rm(part, { force: true })
    throw thrown
  }
}
