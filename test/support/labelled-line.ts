export type LabelledLine = { text: string; labels: { slug: string; start: number; end: number }[] }

/** `{{slug|the text to find}}`; a `~` keeps secret scanners from reporting an invented key. */
export function toLine(written: string): LabelledLine {
  const labels: LabelledLine["labels"] = []
  let text = ""
  for (const part of written.split(/(\{\{[a-z-]+\|.*?\}\}(?!\}))/)) {
    const [, slug, value] = /^\{\{([a-z-]+)\|(.*)\}\}$/.exec(part) ?? []
    if (slug === undefined || value === undefined) text += part
    else {
      const found = slug === "secrets" ? value.replace("~", "") : value
      labels.push({ slug, start: text.length, end: text.length + found.length })
      text += found
    }
  }
  return { text, labels }
}
