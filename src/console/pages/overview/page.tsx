import { Page } from "../../shell/page.tsx"

export default function OverviewPage() {
  return <Page title="Overview">…</Page>
}
