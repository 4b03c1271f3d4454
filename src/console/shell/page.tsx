import type { ComponentChildren } from "preact"
import { useEffect } from "preact/hooks"

type Props = {
  title: string
  /** Breadcrumbs: links to the parent pages. */
  crumb?: ComponentChildren
  /** Controls of the page, right of the title. */
  controls?: ComponentChildren
  /** The content fills the page to its edges and scrolls by itself. */
  flush?: boolean
  children: ComponentChildren
}

/** Consistent layout: title, controls, content. */
export function Page({ title, crumb, controls, flush, children }: Props) {
  useEffect(() => {
    document.title = `${title} · Gateway`
  }, [title])
  return (
    <div class="page">
      <header>
        <h1>
          {crumb && <span class="crumb">{crumb} / </span>}
          <bdi>{title}</bdi>
        </h1>
        {controls && <div class="row end">{controls}</div>}
      </header>
      {/* Focusable, so that the keyboard can scroll it. */}
      <div
        class={`content ${flush ? "flush" : ""}`}
        tabIndex={flush ? -1 : 0}
        role="region"
        aria-label={`${title} content`}
      >
        {children}
      </div>
    </div>
  )
}
