import { Page } from "../../shell/page.tsx"

export default function CallsPage() {
  return <Page title="Calls">…</Page>
}
