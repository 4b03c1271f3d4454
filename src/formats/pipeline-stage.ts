/** One stage of the pipeline, as routing metadata reports it. */
export type PipelineStage = {
  type: "guardrail" | "plugin" | "server_tools" | "response_healing" | "context_compression"
  name: string
  summary: string
  guardrail_id?: string
  guardrail_scope?: string
  data?: Record<string, unknown>
  cost_usd?: number
}

/** What plugins and variants changed, for routing metadata. */
export type PreparationReport = {
  /** As the client named it. */
  requestedModel: string
  strategy?: string
  stages: readonly PipelineStage[]
}
