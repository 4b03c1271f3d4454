import type { ComponentChildren } from "preact"
import { useGet } from "../../api/query.ts"
import type { Call, CallStory } from "../../api/types.ts"
import { count } from "../../format/number.ts"
import { toast } from "../../state/toasts.ts"
import { Button } from "../../ui/button.tsx"
import { Chip } from "../../ui/chip.tsx"
import { CopyButton } from "../../ui/text/code.tsx"
import { copyText } from "../../ui/hooks/copy.ts"
import { Loaded } from "../../ui/states.tsx"
import { Status } from "../../ui/status.tsx"
import { Money, Time } from "../../ui/values.tsx"
import { describeOutcome, toneOf } from "./columns.tsx"
import { callHref } from "./filters.ts"
import { CallPath } from "./call-path.tsx"
import { LoggedContent } from "./logged-content.tsx"
import { Arithmetic, Held, timeLine } from "./story.tsx"

type Props = { id: string; rows: readonly Call[] }

export function Inspector({ id, rows }: Props) {
  const query = useGet<{ data: CallStory }>(`/calls/${id}`)
  const index = rows.findIndex((row) => row.id === id)
  const above = index > 0 ? rows[index - 1] : undefined
  const below = index === -1 ? undefined : rows[index + 1]
  return (
    <aside class="inspector" aria-label="Call">
      <header>
        <h2 class="mono truncate" title={id}>
          {id.slice(0, 17)}…
        </h2>
        <CopyButton text={id} label="Copy the id" />
        <span class="row tight nowrap end">
          <Button
            size="small"
            kind="quiet"
            icon="up"
            label="Call above"
            {...(above ? { href: callHref(above.id) } : { disabled: true })}
          />
          <Button
            size="small"
            kind="quiet"
            icon="down"
            label="Call below"
            {...(below ? { href: callHref(below.id) } : { disabled: true })}
          />
          <Button size="small" kind="quiet" icon="close" label="Close" href={callHref(null)} />
        </span>
      </header>
      <div class="inspector-body" tabIndex={0} role="region" aria-label="Details of the call">
        <Loaded query={query} lines={10}>
          {({ data }) => <Story story={data} />}
        </Loaded>
      </div>
    </aside>
  )
}

function Section({ title, children }: { title: string; children: ComponentChildren }) {
  return (
    <section class="stack tight">
      <h3>{title}</h3>
      {children}
    </section>
  )
}

function Story({ story }: { story: CallStory }) {
  const { tokens } = story
  return (
    <div class="stack wide">
      <div class="stack tight">
        <div class="row">
          <Status tone={toneOf(story)}>{describeOutcome(story)}</Status>
          <Chip kind="model" id={story.model} />
          <span class="end">
            <Money value={story.cost + story.byok_cost} />
          </span>
        </div>
        {story.error && (
          <div class="notice bad">
            <strong>{story.error.message}</strong>
            <span class="mono small quiet">{story.error.reason ?? story.error.code}</span>
          </div>
        )}
        <Actions story={story} />
      </div>
      <Section title="Path">
        <CallPath story={story} />
      </Section>
      <Section title="Cost">
        <Arithmetic story={story} />
        <Held story={story} />
      </Section>
      <Section title="Details">
        <dl class="facts">
          <dt>Time</dt>
          <dd>{timeLine(story)}</dd>
          <dt>Key</dt>
          <dd>
            <Chip kind="key" id={story.key.hash} label={story.key.name ?? story.key.label ?? "bootstrap"} />
          </dd>
          {story.requested_model !== story.model && (
            <>
              <dt>Requested model</dt>
              <dd>
                <Chip kind="model" id={story.requested_model} />
              </dd>
            </>
          )}
          <dt>Provider</dt>
          <dd>
            <Chip kind="provider" id={story.provider} />
          </dd>
          <dt>Tokens</dt>
          <dd>
            {Object.entries(story.tokens_by_kind)
              .map(([kind, units]) => `${count(units)} ${kind.replaceAll("_", " ")}`)
              .join(", ") || `${count(tokens.prompt)} → ${count(tokens.completion)}`}
            {story.endpoint.tokens_from === "estimate" && <span class="quiet"> (estimated)</span>}
          </dd>
          <dt>Kind of call</dt>
          <dd>
            {story.api_type}, {story.streamed ? "streamed" : "not streamed"}
          </dd>
          <dt>Finish reason</dt>
          <dd>{story.finish_reason ?? "none"}</dd>
          <dt>App</dt>
          <dd>
            <Chip kind="app" id={story.app} />
          </dd>
          <dt>User</dt>
          <dd>
            <Chip kind="end_user" id={story.user} />
          </dd>
          <dt>Request</dt>
          <dd class="mono small">{story.request_id}</dd>
        </dl>
      </Section>
      <LoggedContent story={story} />
      <SessionCalls story={story} />
    </div>
  )
}

function SessionCalls({ story }: { story: CallStory }) {
  if (story.session.length === 0) return null
  return (
    <Section title={`Other calls of the session ${story.session_id ?? ""}`}>
      <ul class="session-calls">
        {story.session.map((call) => (
          <li key={call.id}>
            <a href={callHref(call.id)} class="row nowrap">
              <Status tone={toneOf(call)}>{call.model}</Status>
              <span class="quiet end nowrap">
                <Money value={call.cost} /> · <Time at={call.created_at} />
              </span>
            </a>
          </li>
        ))}
      </ul>
    </Section>
  )
}

function Actions({ story }: { story: CallStory }) {
  const report = async () => {
    const lines = [
      `Call ${story.id}`,
      `Request ${story.request_id}`,
      `Model ${story.model}`,
      `Provider ${story.provider ?? "none"}`,
    ]
    const facts = [
      ...lines,
      `Status ${story.status} ${story.ending}`,
      `Time ${story.created_at}`,
      `Error ${story.error?.message ?? "none"}`,
      `Gateway ${GATEWAY_VERSION}`,
    ]
    if (await copyText(facts.join("\n"))) toast("good", "The report is copied.")
  }
  return (
    <div class="row">
      <Button size="small" icon="play" href={`/playground?call=${encodeURIComponent(story.id)}`}>
        Replay in the playground
      </Button>
      <Button size="small" kind="quiet" icon="copy" onClick={report}>
        Copy a report
      </Button>
    </div>
  )
}
