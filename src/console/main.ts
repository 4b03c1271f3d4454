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
void import("./start.tsx")
