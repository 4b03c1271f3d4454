/** A part of a document under one heading. */
export type Section = {
  /** `docs/byok.md#rotate-a-key`. */
  id: string
  path: string
  /** The headings above it, outermost first. */
  titles: readonly string[]
  title: string
  /** Markdown. */
  body: string
}

const HEADING = /^(#{1,4}) +(.+)$/
const FENCE = /^\s*(?:```|~~~)/

/** A document split at its headings; sections without text are omitted. */
export function toSections(path: string, markdown: string): Section[] {
  const sections: Section[] = []
  const titles: string[] = []
  let lines: string[] = []
  let isCode = false
  const close = () => {
    const body = lines.join("\n").trim()
    const title = titles.findLast(Boolean) ?? path
    if (body !== "")
      sections.push({ id: `${path}#${slugOf(title)}`, path, titles: titles.filter(Boolean), title, body })
    lines = []
  }
  for (const line of markdown.replaceAll(/<!--.*?-->\n?/gs, "").split("\n")) {
    if (FENCE.test(line)) isCode = !isCode
    const [, marks, title] = (isCode ? null : HEADING.exec(line)) ?? []
    if (marks === undefined || title === undefined) {
      lines.push(line)
      continue
    }
    close()
    titles.length = marks.length - 1
    titles[marks.length - 1] = title
  }
  close()
  return sections
}

/** The anchor that GitHub generates for a heading. */
function slugOf(title: string): string {
  return title
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s-]/gu, "")
    .trim()
    .replaceAll(/\s+/g, "-")
}
