import { useState } from "preact/hooks"
import { api } from "../../api/client.ts"
import type { ContentTest } from "../../api/account-types.ts"
import { useQuery } from "../../api/query.ts"
import type { CallStory } from "../../api/types.ts"
import { may } from "../../state/session.ts"
import { Segmented } from "../../ui/button.tsx"
import { Json } from "../../ui/text/code.tsx"
import { LateMarkdown } from "../../ui/text/late-markdown.tsx"
import { type Mark, Marked } from "../../ui/text/marked.tsx"
import { messagesIn, textOf } from "./content.ts"

/** The logged request and response, as a conversation or as JSON. */
export function LoggedContent({ story }: { story: CallStory }) {
  const [view, setView] = useState<"conversation" | "raw">("conversation")
  if (!story.content)
    return (
      <section class="stack tight">
        <h3>Content</h3>
        <p class="quiet">
          Not logged. Turn on content logging of the{" "}
          <a href={`/team?tab=workspaces&workspace=${story.workspace_id}`}>workspace</a> to keep requests and responses
          of later calls.
        </p>
      </section>
    )
  return (
    <section class="stack tight">
      <div class="row between">
        <h3>Content</h3>
        <Segmented
          label="View"
          value={view}
          onChange={setView}
          options={[
            { value: "conversation", label: "Conversation" },
            { value: "raw", label: "JSON" },
          ]}
        />
      </div>
      {view === "raw" ? (
        <Json value={story.content} label="Content" />
      ) : (
        <>
          {messagesIn(story).map((message, index) => (
            <div key={index} class="message">
              <span class="small quiet">{message.role ?? "message"}</span>
              <div class="message-text" dir="auto">
                <WithFindings story={story} text={textOf(message.content)} />
              </div>
            </div>
          ))}
          <div class="message">
            <span class="small quiet">assistant</span>
            <LateMarkdown text={story.content.output.completion ?? ""} />
          </div>
        </>
      )}
    </section>
  )
}

/** The labels that replace redacted text, such as `[EMAIL]`. */
const LABEL = /\[[A-Z][A-Z0-9 _-]+\]/g

/** Findings of the call's guardrails in its text by their present rules, and the labels of redacted text. */
function WithFindings({ story, text }: { story: CallStory; text: string }) {
  const ids = may("guardrails:read") ? story.guardrails.map(({ id }) => id) : []
  const found = useQuery(ids.length === 0 ? null : `findings ${story.id} ${text}`, async () => {
    const tests = ids.map((guardrail_id) =>
      api<{ data: ContentTest }>("/guardrails/test", { method: "POST", body: { guardrail_id, text } }),
    )
    return (await Promise.all(tests)).flatMap(({ data }) => data.matches)
  })
  const wasRedacted = story.guardrails.some(({ action }) => action === "redact")
  const labels = wasRedacted ? [...text.matchAll(LABEL)].map(toMark) : []
  return <Marked text={text} matches={[...(found.data ?? []), ...labels]} />
}

function toMark({ 0: label, index }: RegExpExecArray): Mark {
  return { start: index, end: index + label.length, pattern: "removed by a guardrail", action: "redact" }
}
