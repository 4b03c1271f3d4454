import type * as z from "zod"
import type {
  Call as CallSchema,
  CallList as CallListSchema,
  CallStory as CallStorySchema,
} from "../../calls/schemas.ts"
import type { ApiKey as ApiKeySchema, CurrentKey as CurrentKeySchema } from "../../keys/schemas.ts"
import type { LimitInForce as LimitSchema } from "../../calls/limit-schemas.ts"
import type {
  Model as ModelSchema,
  OverrideBody as EndpointOverrideSchema,
  PublicEndpoint as EndpointSchema,
} from "../../models/schemas.ts"
import type { OrganizationMember as MemberSchema } from "../../members/schemas.ts"
import type { Byok as ByokSchema } from "../../byok/schemas.ts"
import type { Workspace as WorkspaceSchema } from "../../workspaces/schemas.ts"

import type { BatchRecord as BatchSchema } from "../../batches/schemas.ts"
import type { FileRecord as FileSchema } from "../../files/schemas.ts"
import type { Service as ServiceSchema } from "../../passthrough/schemas.ts"
import type { McpServer as McpServerSchema } from "../../mcp-servers/schemas.ts"

/** Shapes of the API, derived from the schemas that validate its responses. */
export type ApiKey = z.infer<typeof ApiKeySchema>
export type CurrentKey = z.infer<typeof CurrentKeySchema>
export type Model = z.infer<typeof ModelSchema>
export type Endpoint = z.infer<typeof EndpointSchema>
export type EndpointOverride = z.input<typeof EndpointOverrideSchema>
export type ByokCredential = z.infer<typeof ByokSchema>
export type Workspace = z.infer<typeof WorkspaceSchema>
export type McpServer = z.infer<typeof McpServerSchema>
export type PassthroughService = z.infer<typeof ServiceSchema>
export type Batch = z.infer<typeof BatchSchema>
export type StoredFile = z.infer<typeof FileSchema>
export type OrganizationMember = z.infer<typeof MemberSchema>
export type List<T> = { data: T[]; total_count?: number }

export type Session = {
  kind: "management" | "workspace"
  key: { hash: string; name: string; label: string }
  workspace: { id: string; slug: string; name: string } | null
  organization: { id: string; name: string } | null
  /** The user who signed in with the identity provider; null for a sign-in with a key. */
  user: { id: string; email: string; first_name: string | null; last_name: string | null } | null
  may: string[]
  expires_at: string
}

/** One step of the ladder of limits of a key. */
export type Limit = z.infer<typeof LimitSchema>

export type Call = z.infer<typeof CallSchema>
export type CallStory = z.infer<typeof CallStorySchema>
export type CallPage = z.infer<typeof CallListSchema>
