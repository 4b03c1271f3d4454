import { decodeHTMLStrict } from "entities"

/** Elements to drop: scripts, styles, navigation and hidden elements. */
const DROPPED =
  "script, style, noscript, template, svg, math, nav, iframe, object, canvas, select, button, [hidden], [aria-hidden=true]"
const BLOCKS =
  "p, div, section, article, main, header, footer, aside, figure, figcaption, blockquote, ul, ol, dl, table, form, pre, hr, address, details, summary"
const LINES = "br, tr, dt, dd"

/** Marks line breaks of the output while those of the source are collapsed. Removed from documents. */
const BREAK = "\u0001"
/** Marks significant spaces, as in indented code. */
const SPACE = "\u0002"
/** Mark the start and the end of a link. */
const LINK = "\u0003"
const LINK_END = "\u0004"
const MARKS = new RegExp(`[${BREAK}${SPACE}${LINK}${LINK_END}]`, "g")
const MAX_TITLE = 1_000
/** Characters of all URLs of links: each is resolved against that of the page, which is long on some pages. */
const MAX_LINKS = 1_000_000

/** Converts a page to text: its title, headings with #, lists with -, links as [text](url). */
export async function htmlToText(html: string, baseUrl: string): Promise<{ title: string; text: string }> {
  let title = ""
  const links = { left: MAX_LINKS }
  const source = new Response(html.replaceAll(MARKS, ""), {
    headers: { "content-type": "text/html; charset=utf-8" },
  })
  const rewriter = new HTMLRewriter()
    .on("title", {
      text: (chunk) => {
        title += chunk.text.slice(0, MAX_TITLE - title.length)
      },
      element: (element) => void element.remove(),
    })
    .on(DROPPED, { element: (element) => void element.remove() })
    .on(BLOCKS, { element: (element) => void element.before(BREAK + BREAK).after(BREAK + BREAK) })
    .on(LINES, { element: (element) => void element.before(BREAK) })
    .on("li", { element: (element) => void element.before(`${BREAK}- `) })
    .on("td, th", { element: (element) => void element.before(" | ") })
    .on("pre", {
      text: (chunk) => void chunk.replace(asTyped(chunk.text), { html: true }),
    })
    .on("a[href]", { element: (element) => link(element, baseUrl, links) })
  for (const level of [1, 2, 3, 4, 5, 6]) {
    rewriter.on(`h${level}`, {
      element: (element) =>
        void element.before(`${BREAK}${BREAK}${"#".repeat(level)} `, { html: true }).after(BREAK + BREAK),
    })
  }
  const marked = await rewriter
    .on("*", { element: (element) => void element.removeAndKeepContent() })
    .onDocument({ comments: (comment) => void comment.remove() })
    .transform(source)
    .text()
  return { title: collapseWhitespace(decode(title)), text: toLines(marked) }
}

/** Attribute values are raw: they are decoded with the rest of the text. */
function link(element: Element, baseUrl: string, links: { left: number }): void {
  if (links.left <= 0) return
  const url = URL.parse(decodeHTMLStrict(element.getAttribute("href") ?? ""), baseUrl)
  if (!url || (url.protocol !== "http:" && url.protocol !== "https:")) return
  const isOfThisPage = url.hash !== "" && url.href.replace(url.hash, "") === baseUrl
  if (isOfThisPage) return
  links.left -= url.href.length
  if (links.left >= 0) element.before(`${LINK}[`).after(`](${url.href})${LINK_END}`)
}

function asTyped(text: string): string {
  return text
    .replaceAll("\n", BREAK)
    .replaceAll("\t", SPACE + SPACE)
    .replaceAll(" ", SPACE)
}

const INVISIBLE = /[\u00ad\u200c\u200d]/g
const SPACES = /[\u00a0\u2002\u2003\u2009]/g

/** Invisible characters would only cost tokens. */
function decode(text: string): string {
  return decodeHTMLStrict(text).replace(INVISIBLE, "").replace(SPACES, " ")
}

function collapseWhitespace(text: string): string {
  return text.replace(/\s+/g, " ").trim()
}

/** Ends at the next mark, so that the time is linear in any text. */
const EMPTY_LINK = new RegExp(`${LINK}\\[\\s*\\]\\([^${LINK}${LINK_END}]*\\)${LINK_END}`, "g")

function toLines(marked: string): string {
  const lines = marked.replace(/^\s*<!doctype[^>]*>/i, "").split(BREAK)
  return decode(lines.map(collapseWhitespace).join("\n").replaceAll(SPACE, " "))
    .replace(EMPTY_LINK, "")
    .replaceAll(MARKS, "")
    .replace(/\n(?:[ \t]*\n)+/g, "\n\n")
    .replace(/^(?:[ \t]*\n)+/, "")
    .trimEnd()
}
