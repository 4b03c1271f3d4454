/**
 * `npm run guardrails:score [tuning]`: precision and recall of the detectors on labelled lines of families that they
 * were not tuned with, or, with the mistakes, of those that they were tuned with.
 */
import { reportInjections, scoreSecrets } from "./labelled/measure.ts"

const half = process.argv[2] === "tuning" ? "tuning" : "unseen"
const secrets = scoreSecrets(half)
const injections = reportInjections(half)
for (const report of [secrets.report, ...injections.reports]) console.info(report)
if (half === "tuning") for (const mistake of [...secrets.mistakes, ...injections.mistakes]) console.info(`  ${mistake}`)
