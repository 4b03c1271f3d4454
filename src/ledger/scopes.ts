export function workspaceScope(workspaceId: string): string {
  return `workspace:${workspaceId}`
}

/** Scope of the runs of an intern's schedule. */
export function scheduleScope(scheduleId: string): string {
  return `schedule:${scheduleId}`
}

/** Scope of an end user under a guardrail that counts each of them; `user` is empty for requests that name none. */
export function endUserScope(guardrailId: string, user: string): string {
  return `guardrail:${guardrailId}:end_user:${user}`
}

/** Scope of a metadata value under a guardrail that counts each of them; empty for requests without the field. */
export function metadataScope(guardrailId: string, value: string): string {
  return `guardrail:${guardrailId}:metadata:${value}`
}

/**
 * Whether requests name the subject of a scope: an end user or a metadata value. The ledger keeps counters of these
 * scopes until their windows end, and reconciles and alerts only the others.
 */
export function isNamedByRequests(scope: string): boolean {
  return REQUEST_SCOPE.test(scope)
}

const REQUEST_SCOPE = /^guardrail:[^:]+:(?:end_user|metadata):/

export type ScopeKind = "balance" | "key" | "budget" | "guardrail" | "provider" | "schedule"

export type GuardrailSubject = "key" | "member" | "end_user" | "metadata"

const SUBJECTS: Record<string, GuardrailSubject> = {
  key: "key",
  user: "member",
  end_user: "end_user",
  metadata: "metadata",
}

/** The kind of subject that the budget of a guardrail counts; null for other scopes. */
export function guardrailSubject(scope: string): GuardrailSubject | null {
  const [name, , subject = ""] = scope.split(":")
  return name === "guardrail" ? (SUBJECTS[subject] ?? null) : null
}

/**
 * The kind of a scope and the id of its record: a key, a workspace, a guardrail, a provider or a schedule.
 */
export function parseScope(scope: string): { kind: ScopeKind; id: string } {
  const [name, id = ""] = scope.split(":")
  if (name === "key") return { kind: "key", id }
  if (name === "workspace") return { kind: "budget", id }
  if (name === "provider" || name === "guardrail" || name === "schedule") return { kind: name, id }
  return { kind: "balance", id }
}
