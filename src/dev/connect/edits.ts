import { type ClientName, type Connection, NotEditable, setupOf } from "../../connect/clients.ts"
import { Failure } from "../failure.ts"
import { readText } from "./files.ts"

export type Edited = { path: string; before: string | undefined; text: string }

/** The files of a client as they would be. Throws if one of them cannot be edited safely. */
export function editFiles(client: ClientName, connection: Connection): Edited[] {
  return setupOf(client, connection).files.map(({ path, edit }) => {
    const before = readText(path)
    try {
      return { path, before, text: edit(before) }
    } catch (thrown) {
      if (!(thrown instanceof NotEditable)) throw thrown
      throw new Failure(`${thrown.message} Add the settings by hand: --print, or the page of the link, shows them.`)
    }
  })
}
