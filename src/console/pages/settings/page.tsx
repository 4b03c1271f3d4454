import "./settings.css"
import { Page } from "../../shell/page.tsx"
import { currentTab, Tabs } from "../../ui/tabs.tsx"
import { Alerts } from "./alerts.tsx"
import { Audit } from "./audit.tsx"
import { Destinations } from "./destinations.tsx"
import { Directories } from "./directories.tsx"
import { Files } from "./files.tsx"

const TABS = [
  { id: "destinations", label: "Destinations" },
  { id: "alerts", label: "Alerts" },
  { id: "directories", label: "Directories" },
  { id: "audit", label: "Audit log" },
  { id: "files", label: "Files and exports" },
]

export default function SettingsPage() {
  const tab = currentTab(TABS)
  return (
    <Page title="Settings">
      <div class="stack">
        <Tabs label="Settings" tabs={TABS} />
        {tab === "destinations" && <Destinations />}
        {tab === "alerts" && <Alerts />}
        {tab === "directories" && <Directories />}
        {tab === "audit" && <Audit />}
        {tab === "files" && <Files />}
      </div>
    </Page>
  )
}
