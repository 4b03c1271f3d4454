export function workspaceScope(workspaceId: string): string {
  return `workspace:${workspaceId}`
}

export type ScopeKind = "balance" | "key" | "budget" | "guardrail" | "provider"

/** What a scope of the ledger counts, and the id of the record whose limit it is: a key, a workspace, a guardrail or a provider. */
export function parseScope(scope: string): { kind: ScopeKind; id: string } {
  const [name, id = ""] = scope.split(":")
  if (name === "key") return { kind: "key", id }
  if (name === "workspace") return { kind: "budget", id }
  if (name === "provider") return { kind: "provider", id }
  return name === "guardrail" ? { kind: "guardrail", id } : { kind: "balance", id }
}
