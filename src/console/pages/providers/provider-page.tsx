import { Page } from "../../shell/page.tsx"

export default function ProviderPage() {
  return <Page title="Provider">…</Page>
}
