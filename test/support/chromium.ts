import { existsSync } from "node:fs"
import { type Browser, chromium } from "playwright-core"

/** The shell without windows renders the same pages with 40 % less CPU; it is a package of its own. */
const executablePath = ["/usr/bin/chromium-headless-shell", "/usr/bin/chromium"].find((file) => existsSync(file))
export const hasChromium = executablePath !== undefined
if (!hasChromium)
  console.warn("Chromium is missing: the console is not tried. Install it with: apt-get install -y chromium")

/**
 * The address bar renders its popups in separate processes, which is more than half of the CPU of a visit. The switch
 * replaces that of Playwright, so the features that it disables are repeated if they matter here.
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

export function launchChromium(): Promise<Browser> {
  if (executablePath === undefined) throw new Error("Chromium is missing.")
  return chromium.launch({
    executablePath,
    args: ["--no-sandbox", `--disable-features=${DISABLED_FEATURES.join(",")}`],
  })
}
