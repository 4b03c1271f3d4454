export type Mark = { start: number; end: number; pattern: string; action: string }

/** Text with the findings of guardrails marked, each with its rule and action. */
export function Marked({ text, matches }: { text: string; matches: readonly Mark[] }) {
  const parts = []
  let at = 0
  for (const { start, end, pattern, action } of matches.toSorted((a, b) => a.start - b.start)) {
    if (start < at || end > text.length) continue
    parts.push(text.slice(at, start))
    parts.push(
      <mark key={start} class={action} title={`${pattern}: ${action}`} aria-description={`${pattern}: ${action}`}>
        {text.slice(start, end)}
      </mark>,
    )
    at = end
  }
  return (
    <>
      {parts}
      {text.slice(at)}
    </>
  )
}
