import "./styles/index.css"
import { render } from "preact"
import { App } from "./app.tsx"
import { loadSession } from "./state/session.ts"

const root = document.querySelector("#app")
if (root) render(<App />, root)
void loadSession()
