/** A failure: its name in the error table, and the truncated message. */
export type Failure = { code: string; message: string }

const MAX_MESSAGE_LENGTH = 300

export function toFailure({ code, message }: Failure): Failure {
  return { code, message: message.slice(0, MAX_MESSAGE_LENGTH) }
}

/** One attempt at a provider. `status`: its HTTP status, null without a response. */
export type Attempt = {
  provider: string
  model: string
  status: number | null
  latencyMs: number
  isByok?: boolean
  /** Number of the gateway's key that was sent, from 1; absent if the provider has only one. */
  keyNumber?: number
  /** Result of the response cache; absent if the cache was not used. */
  cache?: "hit" | "miss"
  /** Absent if the provider accepted the call. */
  error?: Failure
}
