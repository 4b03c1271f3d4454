import { Component, type ComponentChildren } from "preact"
import { useEffect, useState } from "preact/hooks"
import { ApiError } from "../api/client.ts"
import type { Query } from "../api/query.ts"
import { now, relative } from "../format/time.ts"
import { setQuery } from "../state/router.ts"
import { Button } from "./button.tsx"
import { copyText } from "./hooks/copy.ts"

const SKELETON_AFTER_MS = 300
const WIDTHS = ["62%", "84%", "45%", "71%", "56%", "78%"]

/** `table`: rows with the height and the lines of a table. */
type Shape = "lines" | "table"

/** Placeholder in the shape of what loads. Hidden for the first 300 ms, in which most responses arrive. */
export function Skeleton({ lines = 6, shape = "lines" }: { lines?: number; shape?: Shape }) {
  const [isLate, setLate] = useState(false)
  useEffect(() => {
    const timer = setTimeout(() => setLate(true), SKELETON_AFTER_MS)
    return () => clearTimeout(timer)
  }, [])
  return (
    <div class={shape === "table" ? "skeleton-rows" : "stack"} role="status" aria-label="Loading">
      {isLate &&
        Array.from({ length: lines }, (_, index) => (
          <div key={index}>
            <span class="skeleton" style={{ width: WIDTHS[index % WIDTHS.length] }} />
          </div>
        ))}
    </div>
  )
}

/** Empty state, with the next step. */
export function Empty({ title, children }: { title: string; children?: ComponentChildren }) {
  return (
    <div class="empty">
      <h2>{title}</h2>
      {children}
    </div>
  )
}

/** A list without matches for the filter. */
export function NoMatch({ what, text }: { what: string; text: string }) {
  return (
    <Empty title={`No ${what} matches “${text}”`}>
      <p>
        <Button onClick={() => setQuery({ q: null })}>Clear the filter</Button>
      </p>
    </Empty>
  )
}

/** `children`: further buttons. */
type ErrorProps = { error: ApiError; retry?: () => void; action?: string; children?: ComponentChildren }

/** Statuses of requests that are rejected again if nothing else changes. */
const FINAL = new Set([400, 403, 404])

export function ErrorPanel({ error, retry, action = "Try again", children }: ErrorProps) {
  const facts = [
    error.message,
    error.requestId && `Request ${error.requestId}`,
    error.status > 0 && `Status ${error.status}`,
  ]
  return (
    <div class="notice bad" role="alert">
      <strong>{error.message}</strong>
      {error.requestId && <span class="mono small quiet">{error.requestId}</span>}
      <div class="row">
        {retry && !FINAL.has(error.status) && (
          <Button size="small" onClick={retry}>
            {action}
          </Button>
        )}
        {children}
        <Button size="small" kind="quiet" icon="copy" onClick={() => copyText(facts.filter(Boolean).join("\n"))}>
          Copy details
        </Button>
      </div>
    </div>
  )
}

const STALE_MS = 120_000

/** The data of a query, or its state. After a failed refresh, the data stays with its age. */
export function Loaded<T>(props: {
  query: Query<T>
  lines?: number
  shape?: Shape
  children: (data: T) => ComponentChildren
}) {
  const { data, error, isLoading, updatedAt, refresh } = props.query
  if (data === undefined) {
    if (error && !isLoading) return <ErrorPanel error={error} retry={refresh} />
    return <Skeleton lines={props.lines ?? (props.shape === "table" ? 12 : 6)} shape={props.shape ?? "lines"} />
  }
  const isStale = error !== undefined && now.value - updatedAt > STALE_MS
  return (
    <>
      {isStale && (
        <div class="notice warn row between">
          <span>
            These data are from {relative(updatedAt, now.value)}: {error.message}
          </span>
          <Button size="small" onClick={refresh}>
            Try again
          </Button>
        </div>
      )}
      {props.children(data)}
    </>
  )
}

/** Keeps the frame if a page throws. */
export class ErrorBoundary extends Component<
  { children: ComponentChildren; resetKey: string },
  { error?: Error | undefined }
> {
  override state: { error?: Error | undefined } = {}

  static override getDerivedStateFromError(error: Error) {
    return { error }
  }

  override componentDidUpdate(previous: Readonly<{ resetKey: string }>) {
    if (previous.resetKey !== this.props.resetKey && this.state.error) this.setState({ error: undefined })
  }

  override render() {
    if (!this.state.error) return this.props.children
    return (
      <div class="empty">
        <h2>This page failed</h2>
        <ErrorPanel error={ApiError.fromThrown(this.state.error)} retry={() => this.setState({ error: undefined })} />
      </div>
    )
  }
}
