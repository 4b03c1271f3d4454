import { render } from "preact"
import { App } from "./app.tsx"
import { loadSession } from "./state/session.ts"

const root = document.querySelector("#app")
void loadSession()
if (root) render(<App />, root)
