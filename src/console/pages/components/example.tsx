import type { ComponentChildren } from "preact"

export function Example({ title, children }: { title: string; children: ComponentChildren }) {
  return (
    <section class="stack tight">
      <h2>{title}</h2>
      {children}
    </section>
  )
}
