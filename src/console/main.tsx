import "./styles/index.css"
import { render } from "preact"
import { App, preloadPage } from "./app.tsx"
import { loadSession } from "./state/session.ts"

const root = document.querySelector("#app")
void loadSession()
preloadPage()
if (root) render(<App />, root)
