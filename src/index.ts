import { app } from "./app.ts"
import type { Env } from "./env.ts"
import { runSchedule } from "./schedule.ts"

export { Intern } from "../durable-objects/intern.ts"
export { Ledger } from "../durable-objects/ledger.ts"

export default {
  fetch: app.fetch,
  scheduled: (controller, env) => runSchedule(controller.cron, env, controller.scheduledTime),
} satisfies ExportedHandler<Env>
