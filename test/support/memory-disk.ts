import { accessSync, constants, existsSync, statfsSync } from "node:fs"

const MEMORY_DISK = "/dev/shm"
const LEAST_FREE_BYTES = 1e9

/** Puts the databases of a test run on a RAM disk if there is one, which halves their time. */
export function useMemoryDisk(): void {
  if (!existsSync(MEMORY_DISK)) return
  const { bavail, bsize } = statfsSync(MEMORY_DISK)
  if (bavail * bsize >= LEAST_FREE_BYTES && isWritable(MEMORY_DISK)) process.env["TMPDIR"] = MEMORY_DISK
}

function isWritable(folder: string): boolean {
  try {
    accessSync(folder, constants.W_OK)
    return true
  } catch {
    return false
  }
}
