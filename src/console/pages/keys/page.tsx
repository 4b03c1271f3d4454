import { Page } from "../../shell/page.tsx"

export default function KeysPage() {
  return <Page title="Keys">…</Page>
}
