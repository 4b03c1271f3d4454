import { Page } from "../../shell/page.tsx"

export default function ModelPage() {
  return <Page title="Model">…</Page>
}
