/** Why something failed: the name in the table of errors, and the message, cut. */
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
  /** Which of the gateway's keys of the provider was sent, from 1; absent where it has one. */
  keyNumber?: number
  /** Whether a stored response answered; absent where the response cache was not used. */
  cache?: "hit" | "miss"
  /** Absent where the provider accepted the call. */
  error?: Failure
}
