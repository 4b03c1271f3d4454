import { Cron } from "croner"

/** Runs `run` at the times of each cron expression, in UTC. A run that is still going is not started a second time. */
export function keepSchedule(
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
