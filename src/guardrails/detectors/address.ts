import type { PatternDetector } from "./detector.ts"
import { lazyProgram } from "../content/patterns/program.ts"
import { ADDRESS_LITERALS, ADDRESS_SOURCE } from "./address-patterns.ts"

/** Words after a number that make a measure or a count of "24 Hour Drive" and "5 mile road". */
const MEASURES =
  /^\d+(?:st|nd|rd|th)? (?:hours?|minutes?|days?|weeks?|months?|years?|miles?|km|kilomet\w+|met(?:er|re)s?|feet|foot|star|way|pieces?|lane|door|speed|point|page|bit|inch|man|person|people|new|old|open|dirt|closed|different|other|major|busy|of|on|in|to|from|more|times)\b/i
/** Words before a number and a year that make no address of "May 5, 2024 Berlin". */
const NUMBERED =
  /^(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec|January|February|March|April|June|July|August|September|October|November|December|Version|Chapter|Section|Article|Order|Invoice|Page|Table|Figure|Room|Step|Part|Windows|Python|Kapitel|Abschnitt|Seite|Artikel|Rechnung|Januar|Februar|März|Mai|Juni|Juli|Oktober|Dezember)\b/

export const address: PatternDetector = {
  name: "address",
  engine: "pii",
  label: "[ADDRESS]",
  program: lazyProgram(ADDRESS_SOURCE),
  limit: 192,
  maxLead: 192,
  triggers: { literals: ADDRESS_LITERALS },
  refine(match, before) {
    const isPart = /[\p{Script=Latin}\p{Script=Cyrillic}\p{Script=Arabic}\p{N}_]$/u.test(before)
    return isPart || MEASURES.test(match) || NUMBERED.test(match) ? [] : [[0, match.length]]
  },
}
