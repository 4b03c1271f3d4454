/** The log line of an inference call: only metadata, never a prompt, a response or a key. */
export type CallLine = {
  level: "info" | "warning"
  message: "call"
  request_id: string
  status: number
  /** Masked. */
  key?: string
  model?: string
  provider?: string | null
  streamed?: boolean
  duration_ms?: number
  first_token_ms?: number | null
  prompt_tokens?: number
  completion_tokens?: number
  /** USD. */
  cost?: string
  generation_id?: string
  /** For a call that did not complete: how it ended, or the error code. */
  ending?: string
  /** Each failed attempt as `provider status`. */
  failed_attempts?: string[]
  /** The message of a call that was rejected before dispatch. */
  error?: string
  path?: string
}
