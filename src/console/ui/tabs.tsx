import { query, withQuery } from "../state/router.ts"

export type Tab = { id: string; label: string }

/** The tab of the URL, `?tab=`; the first one by default. */
export function currentTab(tabs: readonly Tab[]): string {
  const chosen = query.value.get("tab")
  return tabs.some(({ id }) => id === chosen) ? (chosen ?? "") : (tabs[0]?.id ?? "")
}

export function Tabs({ label, tabs }: { label: string; tabs: readonly Tab[] }) {
  const current = currentTab(tabs)
  return (
    <nav class="tabs" aria-label={label}>
      {tabs.map(({ id, label: text }, index) => (
        <a
          key={id}
          href={withQuery({ tab: index === 0 ? null : id })}
          aria-current={id === current ? "true" : undefined}
        >
          {text}
        </a>
      ))}
    </nav>
  )
}
