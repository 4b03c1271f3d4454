import { Page } from "../../shell/page.tsx"

export default function ModelsPage() {
  return <Page title="Models">…</Page>
}
