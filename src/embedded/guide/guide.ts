import MiniSearch from "minisearch"
import { documents } from "./documents.ts"
import { type Section, toSections } from "./sections.ts"

/** `embedded/guide`: answers questions about this gateway from its documentation, without a model. */

export type GuideAnswer = {
  /** Markdown. */
  text: string
  /** Sections that the answer is from, best first. */
  sources: readonly string[]
}

type Index = { search: MiniSearch<Section>; byId: ReadonlyMap<string, Section> }

let index: Index | undefined

function indexOf(): Index {
  if (index) return index
  const sections = documents.flatMap(({ path, text }) => toSections(path, text))
  const byId = new Map(sections.map((section) => [section.id, section]))
  const search = new MiniSearch<Section>({
    fields: ["title", "above", "body"],
    extractField: (section, field) =>
      field === "above" ? section.titles.join(" ") : String(Reflect.get(section, field) ?? ""),
    processTerm: (term) => (COMMON_TERMS.has(term.toLowerCase()) ? null : stem(term.toLowerCase())),
    searchOptions: {
      boost: { title: 4, above: 2 },
      prefix: (term) => term.length > 3,
      fuzzy: 0.15,
      combineWith: "OR",
      boostDocument,
    },
  })
  search.addAll([...byId.values()])
  index = { search, byId }
  return index
}

/** Pages for contributors rank after those for users. */
const FOR_CONTRIBUTORS = /^docs\/(?:adding|architecture)\.md/
const boostDocument = (id: unknown) => (FOR_CONTRIBUTORS.test(String(id)) ? 0.3 : 1)

const COMMON_TERMS = new Set(
  `a an and are be by can could do does for from have how i if in is it me my of on or our please should that the there this
   to use want what when where which who why will with would you your tell show explain gateway`.split(/\s+/),
)

/** Enough for English plurals and verb forms. */
function stem(term: string): string {
  return term.length > 4 ? term.replace(/(?:ing|ed|es|s)$/, "") : term
}

const SELF_DESCRIPTION =
  "_I am `embedded/guide`: a search over this gateway's documentation, not a language model. I know nothing else._"
const MAX_LENGTH = 1_600
const MAX_SEE_ALSO = 3

/** The section that matches a question best, with links to the next ones. */
export function guide(question: string): GuideAnswer {
  const { search, byId } = indexOf()
  const found = search.search(question.slice(-1_000)).flatMap(({ id }) => byId.get(String(id)) ?? [])
  const [best, ...others] = found
  if (!best) return noResultAnswer()
  const more = others.filter(({ title }) => title !== best.title).slice(0, MAX_SEE_ALSO)
  const text = [
    `**${best.titles.join(" › ")}**`,
    shorten(best.body),
    `Source: ${best.id}`,
    ...(more.length > 0 ? [`See also:\n${more.map(({ title, id }) => `- ${title}: ${id}`).join("\n")}`] : []),
    SELF_DESCRIPTION,
  ].join("\n\n")
  return { text, sources: [best, ...more].map(({ id }) => id) }
}

function noResultAnswer(): GuideAnswer {
  const topics = documents.map(({ path }) => `- ${path}`).join("\n")
  const text = `I found nothing about that in this gateway's documentation. It covers:\n\n${topics}\n\nTry: "How do I add my OpenAI key?"`
  return { text: `${text}\n\n${SELF_DESCRIPTION}`, sources: [] }
}

/** Cut at a blank line outside of code, so that no table, list or code block is broken. */
function shorten(body: string): string {
  if (body.length <= MAX_LENGTH) return body
  const lines: string[] = []
  let length = 0
  let isCode = false
  for (const block of body.split("\n\n")) {
    if (!isCode && length > 0 && length + block.length > MAX_LENGTH) return `${lines.join("\n\n")}\n\n…`
    lines.push(block)
    length += block.length
    isCode = (block.match(/^\s*```/gm)?.length ?? 0) % 2 === 1 ? !isCode : isCode
  }
  return lines.join("\n\n")
}
