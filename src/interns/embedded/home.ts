/** Working folder of the intern's shell. Files outside of it exist for one command only. */
export const HOME = "/home/intern"
export const MAX_FILE_BYTES = 1024 * 1024

/** A file with its absolute path. */
export type HomeFile = { path: string; body: Uint8Array; mode: number }
/** `next`: `after` of the next page; null for the last one. */
export type HomePage = { files: HomeFile[]; next: string | null }

/** The absolute path; undefined if it is invalid or outside the intern's folder. */
export function resolvePath(path: string): string | undefined {
  if (path.includes("\0")) return undefined
  const parts: string[] = []
  for (const part of (path.startsWith("/") ? path : `${HOME}/${path}`).split("/")) {
    if (part === "..") parts.pop()
    else if (part !== "" && part !== ".") parts.push(part)
  }
  const absolute = `/${parts.join("/")}`
  return absolute === HOME || absolute.startsWith(`${HOME}/`) ? absolute : undefined
}

/** All parent folders of a path, the outermost first. */
export function foldersOf(path: string): string[] {
  const parts = path.split("/")
  return parts.slice(1, -1).map((_, index) => parts.slice(0, index + 2).join("/"))
}
