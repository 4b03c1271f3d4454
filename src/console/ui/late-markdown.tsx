import type { ComponentProps, FunctionComponent } from "preact"
import { useEffect, useState } from "preact/hooks"
import type { Markdown } from "./markdown.tsx"

type Props = ComponentProps<typeof Markdown>

let loaded: FunctionComponent<Props> | undefined

/** Pages call it when they have settled: the code is there before the first answer is. */
export async function loadMarkdown(): Promise<void> {
  loaded = (await import("./markdown.tsx")).Markdown
}

/** Markdown, whose code is large and not needed to show a page. The text as it is until it has arrived. */
export function LateMarkdown(props: Props) {
  const [Shown, setShown] = useState(() => loaded)
  useEffect(() => {
    if (Shown) return
    // Without the code, as after a deploy, the text stays as it is.
    loadMarkdown().then(
      () => setShown(() => loaded),
      () => {},
    )
  }, [Shown])
  if (Shown) return <Shown {...props} />
  return (
    <div class="prose" dir="auto">
      <p class="as-it-is">{props.text}</p>
    </div>
  )
}
