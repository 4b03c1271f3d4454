/**
 * `npm run guardrails:score [tuning]`: precision and recall of the detectors on labelled lines of families that they
 * were not tuned with, or, with the mistakes, of those that they were tuned with.
 */
import { scoreSecrets } from "./labelled/measure.ts"

const half = process.argv[2] === "tuning" ? "tuning" : "unseen"
for (const { report, mistakes } of [scoreSecrets(half)]) {
  console.info(report)
  if (half === "tuning") for (const mistake of mistakes) console.info(`  ${mistake}`)
}
