/**
 * `npm run guardrails:score [tuning]`: precision and recall of the detectors on eight sets of lines, whose mistakes they
 * have seen; on labelled lines that they were not tuned with, or, with the mistakes, on those that they were tuned with;
 * and of the shipped detector of prompt injections on prompts that nothing was fitted to.
 */
import { detectorLines, LINE_SETS, scoreLines } from "./labelled/detector-lines.ts"
import { reportBlind, reportInjections, scoreSecrets } from "./labelled/measure.ts"
import { PERSONAL_DATA, scorePersonalData } from "./labelled/personal-data.ts"

const half = process.argv[2] === "tuning" ? "tuning" : "unseen"
const personalData = PERSONAL_DATA.map((slug) => scorePersonalData(slug, half))
const secrets = scoreSecrets(half)
const injections = reportInjections(half)
const lines = ["secrets" as const, ...PERSONAL_DATA].flatMap((slug) =>
  LINE_SETS.filter((set) => detectorLines(set).some(({ labels }) => labels.some((label) => label.slug === slug))).map(
    (set) => scoreLines(slug, [set]),
  ),
)
const reports = [
  ...lines.map((one) => one.report),
  ...personalData.flatMap((one) => one.reports),
  secrets.report,
  ...injections.reports,
  ...reportBlind(),
]
for (const report of reports) console.info(report)
const mistakes = [
  ...lines.flatMap((one) => one.mistakes),
  ...personalData.flatMap((one) => one.mistakes),
  ...secrets.mistakes,
  ...injections.mistakes,
]
if (half === "tuning") for (const mistake of mistakes) console.info(`  ${mistake}`)
