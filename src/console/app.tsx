import type { ComponentType } from "preact"
import { useEffect, useRef, useState } from "preact/hooks"
import { ApiError } from "./api/client.ts"
import { arrivedPage, loadPage, pageOf, type Route } from "./routes.ts"
import { Frame } from "./shell/frame.tsx"
import { Help } from "./shell/help.tsx"
import { openDialog } from "./shell/keyboard.ts"
import { Page } from "./shell/page.tsx"
import { Palette } from "./shell/palette.tsx"
import { SignIn } from "./shell/sign-in.tsx"
import { matchPath, type PageProps } from "./state/paths.ts"
import { path } from "./state/router.ts"
import { loadSession, session, sessionError } from "./state/session.ts"
import { Empty, ErrorBoundary, ErrorPanel } from "./ui/states.tsx"

export function App() {
  if (sessionError.value && !session.value)
    return (
      <main class="sign-in">
        <ErrorPanel error={sessionError.value} retry={() => void loadSession()} />
      </main>
    )
  if (session.value === undefined) return null
  if (session.value === null) return <SignIn />
  return (
    <>
      <Frame>
        <ErrorBoundary resetKey={path.value}>
          <CurrentPage />
        </ErrorBoundary>
      </Frame>
      {openDialog.value === "palette" && <Palette />}
      {openDialog.value === "help" && <Help />}
    </>
  )
}

type Shown = { route: Route; Component: ComponentType<PageProps> }

/** The previous page stays until the next one is loaded. A page that is already loaded is in the first frame. */
function CurrentPage() {
  const shown = useRef<Shown | undefined>(undefined)
  const [, setArrived] = useState<Route>()
  const [error, setError] = useState<ApiError>()
  const found = pageOf(path.value)
  const route = found?.route
  const Component = route && arrivedPage(route)
  if (route && Component) shown.current = { route, Component }
  useEffect(() => {
    let isGone = false
    setError(undefined)
    // It may have been loaded since the lookup.
    if (!route || shown.current?.route === route) return undefined
    loadPage(route).then(
      () => !isGone && setArrived(route),
      () => !isGone && setError(newVersionError()),
    )
    return () => {
      isGone = true
    }
  }, [route])
  if (!found)
    return (
      <Page title="Not found">
        <Empty title={`There is no page at ${path.value}`}>
          <p>
            Open the <a href="/">overview</a>, or press <kbd>Ctrl</kbd> <kbd>K</kbd> to search.
          </p>
        </Empty>
      </Page>
    )
  if (error) return <ErrorPanel error={error} retry={() => location.reload()} />
  if (!shown.current) return null
  const { route: of, Component: Shown } = shown.current
  const isSame = of === found.route || of.load === found.route.load
  return <Shown params={isSame ? found.params : (matchPath(of.pattern, path.value) ?? {})} />
}

/** After a deploy, a page's file no longer exists: file names contain their digest. */
function newVersionError(): ApiError {
  return new ApiError("This page could not be loaded. The gateway may have a new version: reload the page.", {
    status: 0,
    requestId: null,
  })
}
