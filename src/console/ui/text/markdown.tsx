import type { Token, Tokens } from "marked"
import { Component, type ComponentChildren } from "preact"
import { useRef, useState } from "preact/hooks"
import { Button } from "../button.tsx"
import { Code } from "./code.tsx"
import { lex, type Lexed, lexMore } from "./markdown-blocks.ts"

/**
 * Markdown of a model, which may be hostile. Tokens become elements of this page and never HTML from a string: tags in
 * the text are shown as text, links keep to known schemes, and images load on a click. `isGrowing`: more text comes,
 * many times a second; then only the end of it is read and drawn again.
 */
export function Markdown({ text, isGrowing = false }: { text: string; isGrowing?: boolean }) {
  const blocks = useBlocks(text, isGrowing)
  const hasDefinitions = blocks.some(({ type }) => type === "def")
  return (
    <div class="prose" dir="auto">
      {blocks.map((token, index) => (
        <StableBlock key={index} token={token} hasDefinitions={hasDefinitions} />
      ))}
    </div>
  )
}

function useBlocks(text: string, isGrowing: boolean): readonly Token[] {
  const latest = useRef<{ lexed: Lexed; source: string; isGrowing: boolean }>(null)
  const before = latest.current
  if (before?.source === text && before.isGrowing === isGrowing) return before.lexed.blocks
  const lexed = isGrowing && before ? lexMore(before.lexed, text) : lex(text)
  latest.current = { lexed, source: text, isGrowing }
  return lexed.blocks
}

type StableProps = { token: Token; hasDefinitions: boolean }

/** Renders a block again only if its text or its link definitions changed. */
class StableBlock extends Component<StableProps> {
  override shouldComponentUpdate({ token, hasDefinitions }: Readonly<StableProps>): boolean {
    const { token: before } = this.props
    if (token === before) return false
    return token.raw !== before.raw || token.type !== before.type || hasDefinitions
  }

  override render() {
    return <Block token={this.props.token} />
  }
}

function Block({ token }: { token: Token }): ComponentChildren {
  switch (token.type) {
    case "heading": {
      const { depth, tokens } = token as Tokens.Heading
      // A page has one h1; headings of a response start at a lower level.
      const Tag = (["h3", "h4", "h5", "h6", "h6", "h6"] as const)[depth - 1] ?? "h6"
      return (
        <Tag>
          <Inline tokens={tokens} />
        </Tag>
      )
    }
    case "paragraph":
      return (
        <p>
          <Inline tokens={token.tokens} />
        </p>
      )
    case "code":
      return <Code text={(token as Tokens.Code).text} label={(token as Tokens.Code).lang ?? "Code"} />
    case "blockquote":
      return (
        <blockquote>
          <Blocks tokens={token.tokens} />
        </blockquote>
      )
    case "list":
      return <List list={token as Tokens.List} />
    case "table":
      return <DataTable table={token as Tokens.Table} />
    case "hr":
      return <hr />
    case "space":
    case "def":
      return null
    case "text":
      return token.tokens ? <Inline tokens={token.tokens} /> : decode(token.raw)
    default:
      return <p>{token.raw}</p>
  }
}

function Blocks({ tokens }: { tokens: Token[] | undefined }) {
  return (
    <>
      {(tokens ?? []).map((token, index) => (
        <Block key={index} token={token} />
      ))}
    </>
  )
}

function List({ list }: { list: Tokens.List }) {
  const items = list.items.map((item, index) => (
    <li key={index}>
      <div class="prose-tight">
        {item.task && <input type="checkbox" checked={item.checked ?? false} disabled aria-label="Task" />}
        <Blocks tokens={item.tokens} />
      </div>
    </li>
  ))
  return list.ordered ? <ol start={typeof list.start === "number" ? list.start : 1}>{items}</ol> : <ul>{items}</ul>
}

/** Larger tables would freeze the page. */
const MAX_ROWS = 500

function DataTable({ table: { header, rows } }: { table: Tokens.Table }) {
  return (
    <div class="table-scroll" tabIndex={0} role="region" aria-label="Table">
      <table>
        <thead>
          <tr>
            {header.map((cell, index) => (
              <th key={index} scope="col">
                <Inline tokens={cell.tokens} />
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.slice(0, MAX_ROWS).map((row, index) => (
            <tr key={index}>
              {row.map((cell, column) => (
                <td key={column}>
                  <Inline tokens={cell.tokens} />
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      {rows.length > MAX_ROWS && <p class="quiet small">{rows.length - MAX_ROWS} more rows are not shown.</p>}
    </div>
  )
}

function Inline({ tokens }: { tokens: Token[] | undefined }) {
  return (
    <>
      {(tokens ?? []).map((token, index) => (
        <Span key={index} token={token} />
      ))}
    </>
  )
}

function Span({ token }: { token: Token }): ComponentChildren {
  switch (token.type) {
    case "strong":
      return (
        <strong>
          <Inline tokens={token.tokens} />
        </strong>
      )
    case "em":
      return (
        <em>
          <Inline tokens={token.tokens} />
        </em>
      )
    case "del":
      return (
        <del>
          <Inline tokens={token.tokens} />
        </del>
      )
    case "codespan":
      return <code>{(token as Tokens.Codespan).text}</code>
    case "br":
      return <br />
    case "link":
      return <Link href={(token as Tokens.Link).href}>{<Inline tokens={token.tokens} />}</Link>
    case "image":
      return <Image href={(token as Tokens.Image).href} text={(token as Tokens.Image).text} />
    case "escape":
      return (token as Tokens.Escape).text
    case "text":
      return token.tokens ? <Inline tokens={token.tokens} /> : decode(token.raw)
    default:
      return token.raw
  }
}

/** The URL of a safe link; undefined for javascript:, data: and invalid URLs. */
function safeUrl(href: string): URL | undefined {
  try {
    const url = new URL(href)
    return ["http:", "https:", "mailto:"].includes(url.protocol) ? url : undefined
  } catch {
    return undefined
  }
}

function Link({ href, children }: { href: string; children: ComponentChildren }) {
  const url = safeUrl(href)
  if (!url) return <span title={href}>{children}</span>
  return (
    <>
      <a href={url.href} target="_blank" rel="noopener noreferrer nofollow ugc">
        {children}
      </a>{" "}
      <span class="host">({url.host || url.pathname})</span>
    </>
  )
}

const INLINE_IMAGE = /^data:image\/(?:png|jpe?g|gif|webp);base64,/

function Image({ href, text }: { href: string; text: string }) {
  const [isShown, setShown] = useState(false)
  const url = safeUrl(href)
  const isInline = INLINE_IMAGE.test(href)
  // The content security policy blocks images of other hosts: such an image is shown as a link.
  if (!isInline) return url ? <Link href={url.href}>{text || "image"}</Link> : <span>{text || "image"}</span>
  if (isShown)
    return (
      <span class="image">
        <img src={href} alt={text} />
      </span>
    )
  return (
    <Button size="small" onClick={() => setShown(true)}>
      Show image{text === "" ? "" : `: ${text}`}
    </Button>
  )
}

const ENTITIES: Record<string, string> = {
  amp: "&",
  lt: "<",
  gt: ">",
  quot: '"',
  apos: "'",
  nbsp: "\u00A0",
  "#39": "'",
}

/** Decodes entities in Markdown text to characters, never to markup. */
function decode(text: string): string {
  return text.replaceAll(/&(#39|[a-z]{2,4});/g, (entity, name: string) => ENTITIES[name] ?? entity)
}
