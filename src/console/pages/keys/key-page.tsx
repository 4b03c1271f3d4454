import { Page } from "../../shell/page.tsx"

export default function KeyPage() {
  return <Page title="Key">…</Page>
}
