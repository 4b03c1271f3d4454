import type { PipelineStage } from "../formats/pipeline-stage.ts"
import type { Json } from "../support/text/json.ts"
import type { StreamCheck } from "./checks/stream-check.ts"
import type { ResponseFilter } from "./content/response-filter.ts"

/** Content filters of one call, with their findings. */
export type Screening = {
  /** The filtered request. Rejects with an error if something is blocked or could not be checked. */
  request: <T extends object>(request: T) => Promise<T>
  /**
   * The filtered result of a tool that the gateway ran: the model and the client receive the same. Rejects like
   * `request`.
   */
  toolResult: <T extends Json>(result: T) => Promise<T>
  /** Whether responses are screened or passed through. */
  readsOutput: boolean
  /** Filter for a response that streams as chat. `check`: reads what the filter released. */
  responseFilter: (check?: StreamCheck) => ResponseFilter
  /** Filters a complete response. Rejects with the block error like `request`. */
  response: (result: Json) => Promise<Json>
  /**
   * The filtered text of a provider's error; undefined if a filter blocks it or it could not be checked. Does not block
   * the response: another provider may still return one.
   */
  providerMessage: (text: string) => string | undefined
  stages: () => PipelineStage[]
}
