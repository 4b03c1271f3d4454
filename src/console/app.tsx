import type { ComponentType } from "preact"
import { useEffect, useState } from "preact/hooks"
import { ApiError } from "./api/client.ts"
import { type Route, routes } from "./routes.ts"
import { Frame } from "./shell/frame.tsx"
import { Help } from "./shell/help.tsx"
import { openDialog } from "./shell/keyboard.ts"
import { Page } from "./shell/page.tsx"
import { Palette } from "./shell/palette.tsx"
import { SignIn } from "./shell/sign-in.tsx"
import { matchPath, type PageProps, type Params, path } from "./state/router.ts"
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

function findRoute(pathname: string): { route: Route; params: Params } | undefined {
  for (const route of routes) {
    const params = matchPath(route.pattern, pathname)
    if (params) return { route, params }
  }
  return undefined
}

/** Begins to load the page of the URL while the session is read: the two do not need each other. */
export function preloadPage(): void {
  findRoute(path.value)
    ?.route.load()
    .catch(() => {
      // The page reports it when it is shown.
    })
}

type Shown = { route: Route; Component: ComponentType<PageProps> }

/** The page before stays until the next one has arrived. */
function CurrentPage() {
  const [shown, setShown] = useState<Shown>()
  const [error, setError] = useState<ApiError>()
  const found = findRoute(path.value)
  const route = found?.route
  useEffect(() => {
    let isGone = false
    setError(undefined)
    route?.load().then(
      (module) => !isGone && setShown({ route, Component: module.default }),
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
  if (!shown) return null
  const isSame = shown.route === found.route || shown.route.load === found.route.load
  return <shown.Component params={isSame ? found.params : (matchPath(shown.route.pattern, path.value) ?? {})} />
}

/** A page's file is gone after a deploy: the names of files have their digest. */
function newVersionError(): ApiError {
  return new ApiError("This page could not be loaded. The gateway may have a new version: reload the page.", {
    status: 0,
    requestId: null,
  })
}
