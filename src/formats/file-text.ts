const MAX_NAME_LENGTH = 255

/** The text of a file for a model: between tags with its name, which the text cannot close. */
export function toFileText(name: string, text: string): string {
  const inside = text.replaceAll(/<(?=\/file>)/gi, "&lt;")
  return `<file name="${toAttribute(name)}">\n${inside}\n</file>`
}

function toAttribute(name: string): string {
  return name
    .slice(0, MAX_NAME_LENGTH)
    .replace(/\p{Cc}/gu, " ")
    .replaceAll("&", "&amp;")
    .replaceAll('"', "&quot;")
    .replaceAll("<", "&lt;")
}
