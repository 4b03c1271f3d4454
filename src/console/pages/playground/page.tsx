import { Page } from "../../shell/page.tsx"

export default function PlaygroundPage() {
  return <Page title="Playground">…</Page>
}
