import { execFile } from "node:child_process"
import { randomUUID } from "node:crypto"
import { chown, mkdir, rename, rm } from "node:fs/promises"
import path from "node:path"
import { promisify } from "node:util"
import { createFolderBelow, replaceFile, writeBelow } from "./files.ts"

/** Folders of an intern's agent: `work` is its project, `home` has its settings and sessions. */
export type Folder = { dir: string; work: string; home: string }

export function folderIn(dir: string): Folder {
  return { dir, work: path.join(dir, "work"), home: path.join(dir, "home") }
}

type VisibleSecret = { name: string; hosts: readonly string[]; placeholder: string }

/** Creates missing folders, writes the files, and keeps all others. `owner`: the user of the agent if it is another. */
export async function prepare(
  { dir, work, home }: Folder,
  files: Record<string, string>,
  owner: number | undefined,
): Promise<void> {
  const folders = [work, home, path.join(home, "tmp"), ...Object.keys(files).map((file) => path.dirname(file))]
  await mkdir(dir, { recursive: true, mode: 0o700 })
  if (owner === undefined) {
    for (const folder of folders) await mkdir(folder, { recursive: true, mode: 0o700 })
    for (const [file, text] of Object.entries(files)) await replaceFile(file, text)
    return
  }
  await chown(dir, owner, owner)
  for (const folder of folders) await createFolderBelow(dir, folder, owner)
  for (const [file, text] of Object.entries(files)) await writeBelow(dir, file, text, owner)
}

/** AGENTS.md: the intern's instructions and the placeholders of its secrets. */
export function agentsFile({ work }: Folder, instructions: string | null, secrets: readonly VisibleSecret[]) {
  const result = secrets.map(
    ({ name, hosts, placeholder }) => `- \`$${name.toUpperCase()}\` (\`${placeholder}\`): ${hosts.join(", ")}`,
  )
  const vault = [
    "## Secrets",
    "",
    "These environment variables hold placeholders. Send one in a request header, by https, to a host beside it, and the",
    "value takes its place on the way. Nowhere else does it become a value: not in a body, a URL or a file.",
    "A secret that is added while you work is in this file, in the JSON file `$INTERN_SECRETS_FILE`, and in the",
    "environment of the next bash or zsh command.",
    "",
    ...result,
  ]
  const parts = [instructions ?? "", secrets.length > 0 ? vault.join("\n") : ""].filter((part) => part !== "")
  return { [path.join(work, "AGENTS.md")]: parts.join("\n\n") + (parts.length > 0 ? "\n" : "") }
}

const run = promisify(execFile)

/** Archives the folder if there is an archive, and deletes it after the archive is complete. */
export async function destroy({ dir }: Folder, archiveDir: string | undefined, internId: string): Promise<void> {
  if (archiveDir !== undefined) {
    await mkdir(archiveDir, { recursive: true })
    const file = path.join(archiveDir, `intern-${internId}-${Date.now()}.tar.gz`)
    const unfinished = `${file}.${randomUUID()}.part`
    try {
      await run("tar", ["-czf", unfinished, "-C", path.dirname(dir), path.basename(dir)])
      await rename(unfinished, file)
    } finally {
      await rm(unfinished, { force: true })
    }
  }
  await rm(dir, { recursive: true, force: true })
}
