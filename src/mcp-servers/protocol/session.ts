import type { Principal } from "../../access/principal.ts"
import { derivedBytes, type MasterKeys } from "../../secrets/master-key.ts"
import { type AssociatedData, openText, sealText } from "../../secrets/seal.ts"
import type { McpServerRow } from "../table.ts"

/**
 * Session ids. A client gets the id of the server's session encrypted, bound to its key and to the server's present
 * configuration: another key, or new headers, cannot continue it. Nothing is stored.
 */

/**
 * Id of the session of a client of an earlier revision with a server of revision 2026-07-28, which has none. It cannot
 * collide with a server's id, which has no spaces.
 */
export const STATELESS_SESSION = "no session"

const PURPOSE = "mcp-session"
/** Longer ids of a server are rejected: they are sent in a header. */
const MAX_ID_LENGTH = 1_024
const VISIBLE = /^[\x21-\x7e]+$/

type Holder = { server: Pick<McpServerRow, "id" | "workspaceId" | "version">; principal: Pick<Principal, "keyHash"> }

function sessionAad({ server, principal }: Holder): AssociatedData {
  const { id: ownerId, workspaceId, version } = server
  return { kind: "mcp-session", ownerId, workspaceId, name: principal.keyHash, version }
}

async function sessionKey(master: string): Promise<CryptoKey> {
  return crypto.subtle.importKey("raw", await derivedBytes(master, PURPOSE), "AES-GCM", false, ["encrypt", "decrypt"])
}

/** Undefined for an invalid id. */
export async function sealSessionId(id: string, holder: Holder, { current }: MasterKeys): Promise<string | undefined> {
  if (id !== STATELESS_SESSION && (id.length > MAX_ID_LENGTH || !VISIBLE.test(id))) return undefined
  return sealText(await sessionKey(current), sessionAad(holder), id)
}

/** The server's id; undefined for a session of another key or server, or of an earlier version of the server. */
export async function openSessionId(
  sealed: string,
  holder: Holder,
  { current, previous }: MasterKeys,
): Promise<string | undefined> {
  if (sealed.length > 2 * MAX_ID_LENGTH) return undefined
  for (const master of previous === undefined ? [current] : [current, previous]) {
    const id = await openText(await sessionKey(master), sessionAad(holder), sealed)
    if (id !== undefined) return id
  }
  return undefined
}
