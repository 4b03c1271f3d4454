import { consumeAlerts } from "../alerts/consume.ts"
import type { Env } from "../config/env.ts"
import type { AlertMessage, BroadcastMessage, CallMessage } from "../config/messages.ts"
import { requireJurisdiction } from "../organizations/jurisdiction.ts"
import { consumeBroadcasts } from "../observability/delivery/consume.ts"

/** Exported calls and alerts share a queue. */
export async function consumeQueue({ queue, messages }: MessageBatch<BroadcastMessage>, env: Env): Promise<void> {
  await requireJurisdiction(env)
  const alerts = messages.filter((message): message is Message<AlertMessage> => message.body.kind === "alert")
  const calls = messages.filter((message): message is Message<CallMessage> => message.body.kind !== "alert")
  await Promise.all([consumeAlerts(alerts, env), consumeBroadcasts({ queue, messages: calls }, env)])
}
