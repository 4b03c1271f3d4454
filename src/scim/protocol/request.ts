import type { originOf } from "../../audit/actor.ts"
import { type AuditEntry, type FieldChanges, newEntry } from "../../audit/entry.ts"
import type { DirectoryId } from "../directory.ts"
import type { DirectoryRow } from "../table.ts"
import { type Fields, toCondition, toOrder } from "./filter.ts"
import type { Operation } from "./patch.ts"
import type { ResourcePage } from "../schemas.ts"
import { versionTag } from "../resources/user.ts"
import { isUnchanged, readListQuery } from "./protocol.ts"

/** A request for users or groups: a single request, a search, or an operation of a bulk. */
export type ScimRequest = {
  db: D1Database
  directory: DirectoryRow
  /** The URL of the service, as in the request. */
  base: string
  origin: ReturnType<typeof originOf>
  /** Id of the resource; empty if the path has none. */
  id: string
  headers: Headers
  query: URLSearchParams
  body: (maxBytes: number) => Promise<Record<string, unknown>>
}

/** The operations on a resource type. */
export type Verbs = Readonly<
  Record<"list" | "create" | "read" | "replace" | "remove", (request: ScimRequest) => Promise<Response>> & {
    patch: (request: ScimRequest, operations: readonly Operation[]) => Promise<Response>
    maxBodyBytes: number
  }
>

export function directoryOf({ directory }: ScimRequest): DirectoryId {
  return { id: directory.id, organizationId: directory.organization_id }
}

/** An entry of the audit log, with the directory as the actor. */
export function entryOf(
  { directory, origin }: ScimRequest,
  action: `scim_${string}.${string}`,
  resourceId: string,
  changed: FieldChanges,
): AuditEntry {
  const { organization_id: organizationId, token_hash: keyHash, name } = directory
  const actor = { organizationId, keyHash, label: `scim: ${name}`, creatorUserId: null, ...origin }
  return newEntry(actor, { action, resourceId, workspaceId: null, changed })
}

/** The page of a list. `startIndex`: from 1. */
export function pageOf({ query }: ScimRequest, fields: Fields): { page: ResourcePage; startIndex: number } {
  const listQuery = readListQuery(query)
  const page = {
    condition: toCondition(listQuery.filter, fields),
    order: toOrder(listQuery.sortBy, listQuery.descending, fields),
    limit: listQuery.count,
    offset: listQuery.startIndex - 1,
  }
  return { page, startIndex: listQuery.startIndex }
}

/** The 304 response to a read whose If-None-Match has the current version; undefined otherwise. */
export function notModified({ headers }: ScimRequest, version: number): Response | undefined {
  if (!isUnchanged(headers, version)) return undefined
  return new Response(null, { status: 304, headers: { etag: versionTag(version) } })
}
