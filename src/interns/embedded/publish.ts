import type { Env } from "../../config/env.ts"
import { toFilename } from "../../files/file.ts"
import { storeFile, newRow } from "../../files/upload/store-file.ts"
import type { FileRow } from "../../files/table.ts"
import { inspect } from "../../files/upload/upload.ts"
import type { InternRow } from "../table.ts"
import { actorOfIntern } from "./actor.ts"

/** Saves a file of an intern as a file of its workspace, where clients can download it. */
export async function publishFile(env: Env, intern: InternRow, path: string, content: Uint8Array): Promise<FileRow> {
  const inspected = await inspect(new Blob([content]).stream(), path)
  const scope = { organizationId: intern.organizationId, workspaceId: intern.workspaceId }
  const made = { source: "intern", internId: intern.id, keyHash: intern.createdByKey } as const
  const row = newRow(scope, { filename: toFilename(path), mimeType: "", ...made })
  return storeFile(env, { actor: actorOfIntern(intern), row, content: inspected.content, mimeType: inspected.mimeType })
}
