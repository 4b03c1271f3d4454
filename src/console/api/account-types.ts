import type * as z from "zod"
import type { AuditRecord as AuditSchema } from "../../audit/schemas.ts"
import type { PermissionDetails } from "../../interns/run/permission-details.ts"
import type {
  ContentTestResponse,
  Guardrail as GuardrailSchema,
  KeyAssignment as KeyAssignmentSchema,
  MemberAssignment as MemberAssignmentSchema,
} from "../../guardrails/schemas.ts"
import type { Intern as InternSchema } from "../../interns/schemas.ts"
import type { DesignatedPreset, Preset as PresetSchema, PresetVersion as VersionSchema } from "../../presets/schemas.ts"

/** Shapes of the API, derived from the schemas that validate its responses. */
export type Guardrail = z.infer<typeof GuardrailSchema>
export type ContentTest = z.infer<typeof ContentTestResponse>["data"]
export type KeyAssignment = z.infer<typeof KeyAssignmentSchema>
export type MemberAssignment = z.infer<typeof MemberAssignmentSchema>
export type Preset = z.infer<typeof PresetSchema>
export type PresetWithVersion = z.infer<typeof DesignatedPreset>
export type PresetVersion = z.infer<typeof VersionSchema>
export type Intern = z.infer<typeof InternSchema>
export type AuditRecord = z.infer<typeof AuditSchema>

/** A SCIM directory. Its schemas are next to types of the Worker's bindings, which the console cannot import. */
export type Directory = {
  id: string
  name: string
  base_url: string | null
  pull: { url: string; label: string } | null
  previous_token_expires_at: string | null
  created_at: string
}
export type CreatedDirectory = Directory & { token: string | null }

/** A question of an intern, as GET /questions lists it. */
export type OpenQuestion = {
  id: string
  intern: { id: string; name: string }
  session_id: string
  created_at: string
  deadline: string
  question: Question
}
export type Field = { name: string; title?: string; description?: string; required?: boolean; options?: string[] }
export type Question =
  | ({
      kind: "permission"
      operation: string | null
      options: string[]
    } & PermissionDetails)
  | { kind: "elicitation"; message: string; fields: Field[] }

/** A stored conversation with an intern. */
export type InternSession = {
  id: string
  title: string
  origin: string
  status: "running" | "waiting" | "idle"
  open_question_id: string | null
  turns: number
  usage: { total_tokens: number; cost?: number | undefined } | null
  last_error: { reason: string; message: string } | null
  created_at: string
  updated_at: string
}

/** One step of a session; which fields it has depends on its kind. */
export type TranscriptEntry = PermissionDetails & {
  n: number
  at: string
  kind: "prompt" | "text" | "reasoning" | "tool_call" | "question" | "answer" | "end"
  text?: string
  /** For a tool call. */
  id?: string
  title?: string
  status?: string
  question?: Question
  content?: string
  usage?: { cost?: number }
  error?: { message: string }
}
export type TranscriptPage = { data: TranscriptEntry[]; has_more: boolean; session: InternSession }

export type InternSchedule = {
  id: string
  cron: string
  timezone: string
  prompt: string
  session: "new" | "same"
  enabled: boolean
  daily_limit_usd: number | null
  next_run_at: string | null
  last_run_at: string | null
  last_session_id: string | null
  last_error: string | null
}
