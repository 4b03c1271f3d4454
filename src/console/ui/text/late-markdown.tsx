import type { ComponentProps, FunctionComponent } from "preact"
import { useEffect, useState } from "preact/hooks"
import type { Markdown } from "./markdown.tsx"

type Props = ComponentProps<typeof Markdown>

let loaded: FunctionComponent<Props> | undefined

/** Pages call it once they are idle, so that the code is loaded before the first response. */
export async function loadMarkdown(): Promise<void> {
  loaded = (await import("./markdown.tsx")).Markdown
}

/** Markdown, with its code loaded on demand; shows the plain text until then. */
export function LateMarkdown(props: Props) {
  const [Shown, setShown] = useState(() => loaded)
  useEffect(() => {
    if (Shown) return
    // If the code cannot be loaded, as after a deploy, the text stays plain.
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
