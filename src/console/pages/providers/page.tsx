import { Page } from "../../shell/page.tsx"

export default function ProvidersPage() {
  return <Page title="Providers">…</Page>
}
