import { type ClientName, type Connection, setupOf } from "../../connect/clients.ts"
import { NotEditable } from "../../connect/config-files.ts"
import { Failure } from "../failure.ts"
import { type FileEdit, readText } from "./files.ts"

/** The edited files of a client, not written yet. Throws if one of them cannot be edited safely. */
export function editFiles(client: ClientName, connection: Connection): FileEdit[] {
  return setupOf(client, connection).files.map(({ path, edit, settings }) => {
    const before = readText(path)
    try {
      const text = edit(before)
      return { path, before, text, settings: settings(text) }
    } catch (thrown) {
      if (!(thrown instanceof NotEditable)) throw thrown
      throw new Failure(`${thrown.message} Add the settings by hand: --print, or the page of the link, shows them.`)
    }
  })
}
