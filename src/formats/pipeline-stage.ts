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

/** Changes by plugins and variants, for routing metadata. */
export type PreparationReport = {
  /** Model name from the client's request. */
  requestedModel: string
  strategy?: string
  stages: readonly PipelineStage[]
}
