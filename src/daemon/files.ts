import { randomUUID } from "node:crypto"
import { type FileHandle, open, rename, rm } from "node:fs/promises"

/**
 * Replaces a file atomically: a reader sees the old text or the new one. The folder belongs to the agent and the daemon
 * may be root, so a link in place of the file is replaced and not followed.
 */
export async function replaceFile(file: string, text: string, owner: number | undefined): Promise<void> {
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
