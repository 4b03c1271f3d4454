import { Page } from "../../shell/page.tsx"

export default function ComponentsPage() {
  return <Page title="Components">…</Page>
}
