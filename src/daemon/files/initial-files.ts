import { randomUUID } from "node:crypto"
import { existsSync, lstatSync } from "node:fs"
import { lchown, mkdir, rename, rm, writeFile } from "node:fs/promises"
import path from "node:path"
import { isObject, objectsOf } from "../../support/text/json.ts"
import type { Folder } from "./folder.ts"

type Source = {
  url: string | undefined
  joinToken: string
  /** The agent's user, if it differs from the daemon's. */
  owner: number | undefined
  log: (text: string) => void
}

const TIMEOUT_MS = 30_000
/** The gateway keeps the text of AGENTS.md and sends it with the instructions. */
const WRITTEN_BY_DAEMON = "AGENTS.md"

/**
 * Fills the agent's folder with the initial files of its intern before the first start. They are written to a temporary
 * folder that replaces it at once, so an existing folder is complete. A folder that already belongs to the agent's user
 * stays unchanged, because its links could lead elsewhere.
 */
export async function storeInitialFiles({ dir, work }: Folder, { url, joinToken, owner, log }: Source): Promise<void> {
  if (url === undefined || existsSync(work)) return
  await mkdir(dir, { recursive: true, mode: 0o700 })
  if (owner !== undefined && lstatSync(dir).uid === owner) return
  const part = path.join(dir, `work.${randomUUID()}.part`)
  try {
    await mkdir(part, { mode: 0o700 })
    for (let after: string | null = ""; after !== null;) {
      const page: Page = await readPage(url, joinToken, after)
      for (const file of page.files) {
        await put(part, file, owner).catch((thrown: unknown) => log(`a file was not written: ${String(thrown)}`))
      }
      after = page.next
    }
    if (owner !== undefined) await lchown(part, owner, owner)
    await rename(part, work)
  } finally {
    await rm(part, { recursive: true, force: true })
  }
}

type InitialFile = { path: string; content: Buffer; mode: number }
type Page = { files: InitialFile[]; next: string | null }

async function readPage(url: string, joinToken: string, after: string): Promise<Page> {
  const query = after === "" ? "" : `?${new URLSearchParams({ after }).toString()}`
  const response = await fetch(`${url}${query}`, {
    headers: { authorization: `Bearer ${joinToken}` },
    redirect: "manual",
    signal: AbortSignal.timeout(TIMEOUT_MS),
  })
  if (!response.ok) throw new Error(`The gateway returned ${response.status} for the files.`)
  const body: unknown = await response.json()
  const page = isObject(body) ? body : {}
  const files = objectsOf(page["data"]).map((file) => ({
    path: String(file["path"]),
    content: Buffer.from(String(file["content"]), "base64url"),
    mode: typeof file["mode"] === "number" ? file["mode"] & 0o777 : 0o644,
  }))
  return { files, next: typeof page["next"] === "string" ? page["next"] : null }
}

async function put(root: string, file: InitialFile, owner: number | undefined): Promise<void> {
  if (file.path === WRITTEN_BY_DAEMON) return
  const target = path.join(root, file.path)
  if (!target.startsWith(`${root}${path.sep}`)) throw new Error(`${file.path}: is not below the agent's folder.`)
  const folders = file.path.split("/").slice(0, -1)
  for (let depth = 1; depth <= folders.length; depth++) {
    const folder = path.join(root, ...folders.slice(0, depth))
    if (existsSync(folder)) continue
    await mkdir(folder, { mode: 0o700 })
    if (owner !== undefined) await lchown(folder, owner, owner)
  }
  await writeFile(target, file.content, { flag: "wx", mode: file.mode | 0o600 })
  if (owner !== undefined) await lchown(target, owner, owner)
}
