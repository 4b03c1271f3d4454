import { useState } from "preact/hooks"
import { Button } from "../button.tsx"
import { copyText } from "../hooks/copy.ts"

const COPIED_MS = 1_500

export function CopyButton({ text, label = "Copy" }: { text: string; label?: string }) {
  const [isCopied, setCopied] = useState(false)
  const copy = async () => {
    if (!(await copyText(text))) return
    setCopied(true)
    setTimeout(() => setCopied(false), COPIED_MS)
  }
  return (
    <Button
      size="small"
      kind="quiet"
      icon={isCopied ? "check" : "copy"}
      label={isCopied ? "Copied" : label}
      onClick={() => copy()}
    />
  )
}

/** Code or JSON as text, with a copy button. */
export function Code({ text, label, wrap = false }: { text: string; label?: string; wrap?: boolean }) {
  return (
    <div class="code">
      <pre class={wrap ? "wrap" : ""} tabIndex={0} role="region" aria-label={label ?? "Code"}>
        <code>{text}</code>
      </pre>
      <div class="copy">
        <CopyButton text={text} />
      </div>
    </div>
  )
}

export function Json({ value, label }: { value: unknown; label?: string }) {
  return <Code text={JSON.stringify(value, null, 2)} label={label ?? "JSON"} />
}
