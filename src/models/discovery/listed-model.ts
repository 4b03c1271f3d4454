/** A model in a provider's list. */
export type ListedModel = {
  id: string
  /** Unix seconds. */
  created: number
  contextLength: number
  /** USD per token, if the list has prices in that unit. */
  pricing: { prompt: string; completion: string } | null
  /** Its name in the catalogue, if that is not derived from its id. */
  model?: string
}
