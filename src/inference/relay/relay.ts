import { relayDocument } from "./document.ts"
import { relayEvents } from "./events.ts"
import type { RelayJob, Reply } from "./job.ts"

/** Step 6: sends the upstream response to the client, as server-sent events or as one document. */
export function relay(job: RelayJob): Reply {
  return job.call.request.upstream.streamed ? relayEvents(job) : relayDocument(job)
}
