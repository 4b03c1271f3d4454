import "./styles/index.css"
import { requestSession } from "./api/first-session.ts"
import { loadPage, pageOf } from "./routes.ts"

// The first script, and small: the session and the page's code load while the shell is compiled.
requestSession()
const first = pageOf(location.pathname)
if (first)
  loadPage(first.route).catch(() => {
    // The page reports it when it is shown.
  })
import("./start.tsx").catch(showFailure)

/** Without the shell's code, as after a lost connection. */
function showFailure(): void {
  const reload = document.createElement("button")
  reload.textContent = "Reload"
  reload.className = "button"
  reload.addEventListener("click", () => location.reload())
  const text = document.createElement("p")
  text.textContent = "The console could not be loaded. Check the connection."
  document.querySelector("#app")?.replaceChildren(text, reload)
}
