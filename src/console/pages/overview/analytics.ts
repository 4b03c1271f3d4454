import { api } from "../../api/client.ts"
import { type Query, useQuery } from "../../api/query.ts"
import { session, workspaceId } from "../../state/session.ts"
import type { Range } from "../../ui/charts/range.tsx"
import type { Metric, Row } from "./series.ts"

export type Dimension =
  | "model"
  | "requested_model"
  | "provider"
  | "workspace_id"
  | "api_key_hash"
  | "user_id"
  | "app"
  | "external_user"
  | "api_type"
export type AnalyticsQuery = {
  metrics: readonly Metric[]
  dimensions?: readonly Dimension[]
  granularity?: "minute" | "hour" | "day"
  time_range: { start: string; end: string }
  filters?: readonly { field: Dimension; operator: "eq"; value: string }[]
  order_by?: { field: Metric | "date"; direction: "asc" | "desc" }
  limit?: number
}

type AnalyticsResponse = { data: { data: Row[]; metadata: { truncated: boolean } } }

export function rangeOf({ from, to }: Pick<Range, "from" | "to">): AnalyticsQuery["time_range"] {
  return { start: new Date(from).toISOString(), end: new Date(to).toISOString() }
}

/** For the chosen workspace; if grouped by workspace, for the organization. A plain key sees only its own calls. */
function inWorkspace(body: AnalyticsQuery): { path: string; body: AnalyticsQuery } {
  if (session.value?.kind !== "management") return { path: "/key/analytics/query", body }
  const workspace = workspaceId.value
  if (workspace === null || body.dimensions?.includes("workspace_id")) return { path: "/analytics/query", body }
  const filter = { field: "workspace_id", operator: "eq", value: workspace } as const
  return { path: "/analytics/query", body: { ...body, filters: [...(body.filters ?? []), filter] } }
}

/** Totals of the complete range, computed by the server. */
export function useAnalytics(query: AnalyticsQuery | null): Query<readonly Row[]> {
  const call = query && inWorkspace(query)
  return useQuery(call && `${call.path} ${JSON.stringify(call.body)}`, async () => {
    if (!call) return []
    const { data } = await api<AnalyticsResponse>(call.path, { method: "POST", body: call.body })
    return data.data
  })
}

/** All steps of the range: a step without calls is zero, not omitted. */
export function stepsOf({ from, to }: Range, stepMs: number): number[] {
  const first = Math.floor(from / stepMs) * stepMs
  return Array.from({ length: Math.max(1, Math.ceil((to - first) / stepMs)) }, (_, index) => first + index * stepMs)
}

export function download(name: string, text: string, type: string): void {
  const url = URL.createObjectURL(new Blob([text], { type }))
  const link = document.createElement("a")
  link.href = url
  link.download = name
  link.click()
  URL.revokeObjectURL(url)
}
