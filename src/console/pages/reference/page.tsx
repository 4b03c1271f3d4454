import { Page } from "../../shell/page.tsx"

export default function ReferencePage() {
  return <Page title="API reference">…</Page>
}
