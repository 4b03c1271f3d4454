/** One attempt at a provider. `status`: its HTTP status, null without a response. */
export type Attempt = {
  provider: string
  model: string
  status: number | null
  latencyMs: number
  isByok?: boolean
}
