import { type ComponentType, Fragment } from "preact"
import { useEffect, useRef, useState } from "preact/hooks"
import { ApiError } from "./api/client.ts"
import { loadedPage, entryOf, loadPage, pageOf, type Route } from "./routes.ts"
import { Frame } from "./shell/frame.tsx"
import { Help } from "./shell/help.tsx"
import { openDialog } from "./shell/keyboard.ts"
import { Page } from "./shell/page.tsx"
import { Palette } from "./shell/palette.tsx"
import { SignIn, SignInAgain } from "./shell/sign-in.tsx"
import type { PageProps, Params } from "./state/paths.ts"
import { path } from "./state/router.ts"
import { hasEnded, identityOf, loadSession, may, session, sessionError, signOut } from "./state/session.ts"
import { Button } from "./ui/button.tsx"
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
    <Fragment key={identityOf(session.value)}>
      <Frame>
        <ErrorBoundary resetKey={path.value}>
          <AllowedPage />
        </ErrorBoundary>
      </Frame>
      {openDialog.value === "palette" && <Palette />}
      {openDialog.value === "help" && <Help />}
      {hasEnded.value && <SignInAgain />}
    </Fragment>
  )
}

/** A link may lead to a page that the key of the session cannot use. */
function AllowedPage() {
  const entry = entryOf(path.value)
  const isForAny = pageOf(path.value)?.route.forAnyKey ?? false
  if (entry?.area === undefined || isForAny || may(entry.area)) return <CurrentPage />
  return (
    <Page title={entry.label}>
      <Empty title={`You cannot open ${entry.label}`}>
        <p>Only management keys and administrators of the organization can.</p>
        <Button onClick={() => signOut()}>Sign in with another key</Button>
      </Empty>
    </Page>
  )
}

type Shown = { route: Route; params: Params; Component: ComponentType<PageProps> }

/**
 * The previous page stays, with its object, until the next one is loaded. A page that is already loaded is in the first
 * frame. Each object has a new instance of its page, so that dialogs and texts of one never apply to another.
 */
function CurrentPage() {
  const shown = useRef<Shown | undefined>(undefined)
  const [, setArrived] = useState<Route>()
  const [error, setError] = useState<ApiError>()
  const found = pageOf(path.value)
  const route = found?.route
  const Component = route && loadedPage(route)
  if (found && route && Component) shown.current = { route, params: found.params, Component }
  useEffect(() => {
    let isGone = false
    setError(undefined)
    // It may have been loaded since the lookup.
    if (!route || shown.current?.route === route) return undefined
    loadPage(route).then(
      () => !isGone && setArrived(route),
      () => !isGone && setError(loadError()),
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
  if (error)
    return (
      <Page title={entryOf(path.value)?.label ?? "Page"}>
        <ErrorPanel error={error} retry={() => location.reload()} action="Reload the page" />
      </Page>
    )
  if (!shown.current) return null
  const { route: of, params, Component: Shown } = shown.current
  return <Shown key={of.opensRows ? "" : JSON.stringify(params)} params={params} />
}

/** After a deploy, a page's file no longer exists: file names contain their digest. */
function loadError(): ApiError {
  const message = "This page could not be loaded: the gateway has a new version, or cannot be reached. Reload the page."
  return new ApiError(message, { status: 0, requestId: null })
}
