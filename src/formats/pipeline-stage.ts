/** One stage of the pipeline, written by the code that ran. */
export type PipelineStage = {
  type: "guardrail" | "plugin" | "server_tools" | "response_healing" | "context_compression"
  name: string
  summary: string
  guardrail_id?: string
  guardrail_scope?: string
  data?: Record<string, unknown>
  cost_usd?: number
}

/** What plugins and variants made of a request, for those who ask how it was routed. */
export type PreparationReport = {
  /** As the caller wrote it. */
  requestedModel: string
  strategy?: string
  stages: readonly PipelineStage[]
}
