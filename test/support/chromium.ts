import { existsSync } from "node:fs"
import { type Browser, chromium } from "playwright-core"

const executablePath = "/usr/bin/chromium"
export const hasChromium = existsSync(executablePath)
if (!hasChromium)
  console.warn(`${executablePath} is missing: the console is not tried. Install it with: apt-get install -y chromium`)

/**
 * The address bar renders its popups in processes of their own, more than half of the CPU of a visit. The switch replaces
 * that of Playwright, so the features that it disables are repeated where they matter here.
 */
const DISABLED_FEATURES = [
  "WebUIOmniboxPopup",
  "WebUIOmniboxAimPopup",
  "WebUIOmniboxFullPopup",
  "AimEnabled",
  "HttpsUpgrades",
  "HttpsFirstBalancedModeAutoEnable",
  "MediaRouter",
  "NetworkTimeServiceQuerying",
  "OptimizationHints",
  "PaintHolding",
  "PreconnectToSearch",
  "ThirdPartyStoragePartitioning",
]

export const launchChromium = (): Promise<Browser> =>
  chromium.launch({ executablePath, args: ["--no-sandbox", `--disable-features=${DISABLED_FEATURES.join(",")}`] })
