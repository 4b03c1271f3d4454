/** One line of the log for each inference call: metadata alone, never a prompt, an answer or a key. */
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
  /** Where it did not complete: how it ended, or the code of the error. */
  ending?: string
  /** Each failed attempt as `provider status`. */
  failed_attempts?: string[]
  /** The message of a call that was refused before a provider was asked. */
  error?: string
  path?: string
}
