import * as z from "zod"
import { decodeBase64 } from "../support/text/encoding.ts"
import { foldersOf, HOME, type HomeFile, resolvePath } from "./embedded/home.ts"

const MAX_FILES = 100
const MAX_BYTES = 512 * 1024

const HomeFileInput = z
  .strictObject({
    path: z
      .string()
      .min(1, "must not be empty")
      .max(1_024, "must be at most 1024 characters")
      .meta({ description: "Relative to the folder in which the agent works, such as `AGENTS.md`." }),
    content: z.string(),
    encoding: z
      .enum(["utf-8", "base64"], { error: "accepts utf-8, base64" })
      .default("utf-8")
      .meta({ description: "Of `content`." }),
  })
  .meta({ id: "InternHomeFile" })
type HomeFileInput = z.infer<typeof HomeFileInput>

export const homeFilesInput = z
  .array(HomeFileInput)
  .max(MAX_FILES, `must be at most ${MAX_FILES} files`)
  .superRefine((files, context) => {
    const fault = fieldError(files)
    if (fault) context.addIssue({ code: "custom", path: fault.path, message: fault.message })
  })
  .meta({
    description: `Files that its folder has before the first start: \`AGENTS.md\`, \`skills/*/SKILL.md\` and others. At most ${MAX_FILES}, and ${MAX_BYTES} bytes in all.`,
  })

type Fault = { path: (string | number)[]; message: string }

/** The first invalid file; undefined if all are valid. */
function fieldError(files: readonly HomeFileInput[]): Fault | undefined {
  const found = new Map<string, number>()
  let bytes = 0
  for (const [index, file] of files.entries()) {
    const path = resolvePath(file.path)
    if (path === undefined || path === HOME) {
      return { path: [index, "path"], message: "must be of a file below the folder of the agent" }
    }
    if (found.has(path)) return { path: [index, "path"], message: "must not repeat the path of another file" }
    const body = bytesOf(file)
    if (!body) return { path: [index, "content"], message: "must be base64, according to encoding" }
    bytes += body.byteLength
    found.set(path, index)
  }
  if (bytes > MAX_BYTES) return { path: [], message: `must be at most ${MAX_BYTES} bytes in all` }
  for (const [path, index] of found) {
    if (foldersOf(path).some((folder) => found.has(folder))) {
      return { path: [index, "path"], message: "must not be below the path of another file" }
    }
  }
  return undefined
}

function bytesOf({ content, encoding }: HomeFileInput): Uint8Array | undefined {
  return encoding === "base64" ? decodeBase64(content) : new TextEncoder().encode(content)
}

/** Validated files as an intern's object stores them. */
export function toHomeFiles(files: readonly HomeFileInput[] = []): HomeFile[] {
  return files.map((file) => ({
    path: resolvePath(file.path) ?? HOME,
    body: bytesOf(file) ?? new Uint8Array(0),
    mode: 0o644,
  }))
}
