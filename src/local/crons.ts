import { Cron } from "croner"

/** Calls `run` at the times of each cron expression, in UTC. Runs do not overlap. */
export function runCronTriggers(
  crons: readonly string[],
  run: (cron: string, scheduledTime: Date) => Promise<unknown>,
): { stop: () => void } {
  const jobs = crons.map(
    (cron) =>
      new Cron(cron, { timezone: "UTC", protect: true, catch: true }, async () => {
        await run(cron, new Date())
      }),
  )
  return { stop: () => jobs.forEach((job) => job.stop()) }
}
