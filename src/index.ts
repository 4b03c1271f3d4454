import { app } from "./app.ts"
import type { Env } from "./env.ts"
import { consumeBroadcasts } from "./observability/delivery/consume.ts"
import type { BroadcastMessage } from "./observability/delivery/message.ts"
import { runSchedule } from "./schedule.ts"

export { Intern } from "../durable-objects/intern.ts"
export { Ledger } from "../durable-objects/ledger.ts"

export default {
  fetch: app.fetch,
  queue: (batch, env) => consumeBroadcasts(batch, env),
  scheduled: (controller, env) => runSchedule(controller.cron, env, controller.scheduledTime),
} satisfies ExportedHandler<Env, BroadcastMessage>
