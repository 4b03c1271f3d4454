import { type ErrorMetadata, type ErrorName, GatewayError } from "../../errors/errors.ts"
import type { HomeFile, HomePage } from "../embedded/home.ts"
import type { RunContext } from "../../policy/run-context.ts"
import type { InternHostKind } from "../kinds.ts"
import type { ApprovalMode, StartedBy } from "../run/run.ts"
import type { SessionOrigin, SessionRecord, StoredEntry } from "../run/transcript.ts"
import type { InternWebhook } from "../webhook.ts"
import type { Schedule, ScheduleChange } from "../schedule.ts"

/**
 * Owner of an intern, host of its agent, and the URL of this gateway for that host. Passed with every call that may be
 * the first one of its object. `apiBase` includes the path of the API, without a trailing slash.
 */
export type InternIdentity = {
  id: string
  organizationId: string
  workspaceId: string
  host: InternHostKind
  apiBase: string
}
export const IDENTITY_HEADER = "x-intern-place"
/** Header with the provision for which a client was admitted (grantOf in tokens.ts). */
export const CLIENT_HEADER = "x-intern-client"

/** The last message of a validated chat request, for the intern's object. */
export type ChatCall = {
  session: string | null
  mode: ApprovalMode
  /** No client reads the response: the turn runs by itself. */
  isBackground?: boolean
  /** Origin of a session that this call starts. */
  origin?: SessionOrigin
  schedule?: StartedBy
} & ({ is: "prompt"; text: string } | { is: "answer"; question: string; content: string })

type RpcRejection = { code: ErrorName; message: string; metadata: ErrorMetadata; headers: Record<string, string> }

const REJECTED = "x-intern-refused"

/** Encodes an error as a response, since error classes do not survive an RPC. */
export function toRejection(error: GatewayError): Response {
  const { code, message, metadata = {}, headers = {} } = error
  const rejection: RpcRejection = { code, message, metadata, headers }
  return Response.json(rejection, { headers: { [REJECTED]: "1" } })
}

/** Returns the response of an intern's object, or throws the error that it encodes. */
export async function throwIfRejected(response: Response): Promise<Response> {
  if (!response.headers.has(REJECTED)) return response
  const { code, message, metadata, headers } = await response.json<RpcRejection>()
  throw new GatewayError(code, message, { metadata, headers })
}

export type SessionPosition = Pick<SessionRecord, "id" | "updatedAt">

/** A session with its run in progress. `acp`: the agent's id of the session. */
export type SessionState = { record: SessionRecord; acp: string | null; run: { questionId: string | null } | null }

/** A standing answer for a session. */
export type SessionPermission = { operation: string; decision: "allow" | "reject" }

/** Initial content of an intern. `isLast`: this is the last part. */
export type InitialContent = { files: HomeFile[]; schedules: Schedule[]; isLast: boolean }

/** The methods of an intern's Durable Object that routes call; chats and sockets go through `fetch`. */
export interface InternRpc extends Rpc.DurableObjectBranded {
  fetch(request: Request): Promise<Response>
  provision(scope: InternIdentity): void
  suspend(): Promise<void>
  destroy(scope: InternIdentity, isLossAcknowledged: boolean): void
  isDaemonAttached(scope: InternIdentity): boolean
  revoke(scope: InternIdentity): void
  containerEnded(exitCode: number): Promise<void>
  vaultChanged(): void
  sessions(limit: number, before?: SessionPosition, origin?: string): SessionState[]
  transcript(
    session: string,
    after: number,
    limit: number,
  ): { session: SessionState; entries: StoredEntry[] } | undefined
  stopSession(session: string): boolean
  deleteSession(session: string): "deleted" | "unknown" | "busy"
  permissions(session: string): SessionPermission[] | undefined
  revokePermissions(session: string, operation: string | null): number | undefined
  schedules(): Schedule[]
  addSchedule(identity: InternIdentity, schedule: Schedule): Schedule | "too many"
  changeSchedule(id: string, change: ScheduleChange): Schedule | undefined
  deleteSchedule(id: string): boolean
  runSchedule(id: string): Promise<Schedule | undefined>
  runContext(): RunContext
  webhook(): InternWebhook | undefined
  setWebhook(identity: InternIdentity, target: Pick<InternWebhook, "url" | "sealedSecret"> | null): void
  files(): { path: string; bytes: number }[]
  readFile(path: string): Uint8Array | undefined
  writeFile(path: string, content: Uint8Array): string | undefined
  deleteFile(path: string): boolean
  homePage(after: string): HomePage
  hasInitialContent(): boolean
  storeInitialContent(identity: InternIdentity, part: InitialContent): string | undefined
}
