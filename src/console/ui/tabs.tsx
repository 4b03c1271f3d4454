import { useEffect, useRef } from "preact/hooks"
import { path, query } from "../state/router.ts"

export type Tab = { id: string; label: string }

/** The tab of the URL, `?tab=`; the first one by default. */
export function currentTab(tabs: readonly Tab[]): string {
  const chosen = query.value.get("tab")
  return tabs.some(({ id }) => id === chosen) ? (chosen ?? "") : (tabs[0]?.id ?? "")
}

export function Tabs({ label, tabs }: { label: string; tabs: readonly Tab[] }) {
  const current = currentTab(tabs)
  const element = useRef<HTMLElement>(null)
  // On a narrow screen the tabs scroll: keep the selected one in view.
  useEffect(() => {
    element.current?.querySelector("[aria-current]")?.scrollIntoView({ block: "nearest", inline: "nearest" })
  }, [current])
  return (
    <nav ref={element} class="tabs" aria-label={label}>
      {tabs.map(({ id, label: text }, index) => (
        <a
          key={id}
          // Filters of one tab do not apply to another.
          href={index === 0 ? path.value : `${path.value}?tab=${id}`}
          aria-current={id === current ? "true" : undefined}
        >
          {text}
        </a>
      ))}
    </nav>
  )
}
