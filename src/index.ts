import { handleRequest } from "./app/hot-path.ts"
import type { Env } from "./config/env.ts"
import type { BroadcastMessage } from "./config/messages.ts"
import { consumeQueue } from "./app/queue.ts"
import { runSchedule } from "./app/schedule.ts"
import { isShuttingDown, rejectDuringShutdown, SHUTDOWN, shutDown } from "./app/shutdown.ts"

export { Batch } from "../durable-objects/batch/batch.ts"
export { InternContainer } from "../durable-objects/container/container.ts"
export { Delivery } from "../durable-objects/delivery/delivery.ts"
export { Intern } from "../durable-objects/intern/intern.ts"
export { Realtime } from "../durable-objects/realtime/realtime.ts"
export { Ledger } from "../durable-objects/ledger/ledger.ts"

export default {
  fetch: (request: Request, env: Env, context: ExecutionContext) =>
    isShuttingDown() ? rejectDuringShutdown(request) : handleRequest(request, env, context),
  queue: (batch, env) => consumeQueue(batch, env),
  scheduled: ({ cron, scheduledTime }, env) => (cron === SHUTDOWN ? shutDown() : runSchedule(cron, env, scheduledTime)),
} satisfies ExportedHandler<Env, BroadcastMessage>
