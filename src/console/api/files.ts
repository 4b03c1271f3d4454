import { workspaceId } from "../state/session.ts"
import { call, withParams } from "./client.ts"

/** A link cannot send the console's header, so the bytes are fetched. */
export async function downloadFile({ id, filename }: { id: string; filename: string }): Promise<void> {
  await download(withParams(`/files/${id}/content`, { workspace_id: workspaceId.value }), filename)
}

/** Saves the response of a path of the API. */
export async function download(path: string, filename: string): Promise<void> {
  const response = await call(path)
  const url = URL.createObjectURL(await response.blob())
  const link = document.createElement("a")
  link.href = url
  link.download = filename
  link.click()
  URL.revokeObjectURL(url)
}
