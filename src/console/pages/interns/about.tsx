import { useState } from "preact/hooks"
import type { Intern } from "../../api/account-types.ts"
import { may } from "../../state/session.ts"
import { Button } from "../../ui/button.tsx"
import { Money, Time } from "../../ui/values.tsx"
import { CloneDialog } from "./clone-dialog.tsx"
import { TermsDialog } from "./terms-dialog.tsx"

export function About({ intern }: { intern: Intern }) {
  const [isEditing, setEditing] = useState(false)
  const [isCloning, setCloning] = useState(false)
  return (
    <div class="stack">
      {intern.limit !== undefined && may("interns:write") && (
        <div class="row">
          <Button icon="wrench" onClick={() => setEditing(true)}>
            Edit budget and tools
          </Button>
          <Button icon="copy" onClick={() => setCloning(true)}>
            Clone
          </Button>
        </div>
      )}
      <Facts intern={intern} />
      {isCloning && <CloneDialog intern={intern} onClose={() => setCloning(false)} />}
      {isEditing && <TermsDialog intern={intern} onClose={() => setEditing(false)} />}
    </div>
  )
}

function Facts({ intern }: { intern: Intern }) {
  return (
    <dl class="facts">
      <dt>Id</dt>
      <dd>
        <code>{intern.id}</code>
      </dd>
      <dt>Model</dt>
      <dd>{intern.model ?? "default of the workspace"}</dd>
      {intern.usage !== undefined && (
        <>
          <dt>Spent</dt>
          <dd>
            <Money value={intern.usage} /> total, <Money value={intern.usage_daily ?? 0} /> today
          </dd>
        </>
      )}
      {intern.limit !== undefined && (
        <>
          <dt>Budget</dt>
          <dd>
            <Budget limit={intern.limit} remaining={intern.limit_remaining} period={intern.limit_reset ?? "total"} />
          </dd>
          <dt>Budget a day</dt>
          <dd>
            <Budget limit={intern.daily_limit} remaining={intern.daily_limit_remaining} period="daily" />
          </dd>
        </>
      )}
      {intern.mcp_tools && (
        <>
          <dt>MCP tools</dt>
          <dd>{intern.mcp_tools.join(", ")}</dd>
        </>
      )}
      <dt>Hostname</dt>
      <dd>{intern.hostname ?? <span class="faint">none yet</span>}</dd>
      <dt>Description</dt>
      <dd>{intern.description ?? <span class="faint">–</span>}</dd>
      <dt>Instructions</dt>
      <dd class="instructions">{intern.instructions ?? <span class="faint">–</span>}</dd>
      <dt>Created</dt>
      <dd>
        <Time at={intern.created_at} />
      </dd>
      <dt>Its calls</dt>
      <dd>
        <a href={`/calls?q=${encodeURIComponent(intern.name)}`}>calls with its key</a>
      </dd>
    </dl>
  )
}

type Limit = { limit: number | null | undefined; remaining: number | null | undefined; period: string }

function Budget({ limit, remaining, period }: Limit) {
  if (limit === null || limit === undefined) return <span class="faint">none</span>
  return (
    <>
      <Money value={remaining ?? 0} /> left of <Money value={limit} />, {period}
    </>
  )
}
