import type { ComponentChildren } from "preact"

export type Tone = "good" | "warn" | "bad" | "busy" | "off"

/** Shapes differ, so that the state is visible without color. */
const SHAPES = {
  good: <circle cx="5" cy="5" r="4" fill="currentColor" />,
  warn: <path d="M5 .8L9.600 9H.4z" fill="currentColor" />,
  bad: <path d="M1.500 1.500l7 7M8.500 1.500l-7 7" stroke="currentColor" stroke-width="2" stroke-linecap="round" />,
  busy: (
    <circle cx="5" cy="5" r="3.600" fill="none" stroke="currentColor" stroke-width="1.800" stroke-dasharray="3.500 2" />
  ),
  off: <path d="M1 5h8" stroke="currentColor" stroke-width="2" stroke-linecap="round" />,
}

export function Status({ tone, children, title }: { tone: Tone; children: ComponentChildren; title?: string }) {
  return (
    <span class={`status ${tone}`} title={title}>
      <svg width="10" height="10" viewBox="0 0 10 10" aria-hidden="true">
        {SHAPES[tone]}
      </svg>
      <span class="truncate" dir="auto">
        {children}
      </span>
    </span>
  )
}
