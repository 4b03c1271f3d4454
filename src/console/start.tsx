import { render } from "preact"
import { refreshShown } from "./api/cache.ts"
import { App } from "./app.tsx"
import { loadSession } from "./state/session.ts"

document.addEventListener("visibilitychange", () => {
  if (!document.hidden) refreshShown()
})

const root = document.querySelector("#app")
void loadSession()
if (root) render(<App />, root)
