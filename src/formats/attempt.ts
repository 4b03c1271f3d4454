/** One attempt at a provider, in order; `status` is the provider's HTTP status, null when it never answered. */
export type Attempt = {
  provider: string
  model: string
  status: number | null
  latencyMs: number
  isByok?: boolean
}
