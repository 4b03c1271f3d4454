/**
 * `npm run guardrails:score [tuning]`: precision and recall of the detectors on labelled lines that they were not tuned
 * with, or, with the mistakes, on those that they were tuned with; then of the shipped detector of prompt injections on
 * prompts that nothing was fitted to.
 */
import { reportBlind, reportInjections, scoreSecrets } from "./labelled/measure.ts"
import { PERSONAL_DATA, scorePersonalData } from "./labelled/personal-data.ts"

const half = process.argv[2] === "tuning" ? "tuning" : "unseen"
const personalData = PERSONAL_DATA.map((slug) => scorePersonalData(slug, half))
const secrets = scoreSecrets(half)
const injections = reportInjections(half)
const reports = [...personalData.flatMap((one) => one.reports), secrets.report, ...injections.reports, ...reportBlind()]
for (const report of reports) console.info(report)
const mistakes = [...personalData.flatMap((one) => one.mistakes), ...secrets.mistakes, ...injections.mistakes]
if (half === "tuning") for (const mistake of mistakes) console.info(`  ${mistake}`)
