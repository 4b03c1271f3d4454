import { withParams } from "../../api/client.ts"
import { useGet } from "../../api/query.ts"
import type { ApiKey, CallPage, List } from "../../api/types.ts"
import { may, workspaceId } from "../../state/session.ts"
import { signal } from "@preact/signals"
import { Button } from "../../ui/button.tsx"
import { Code } from "../../ui/text/code.tsx"
import { BASE_URL, BaseUrl, FirstCall } from "../../ui/first-call.tsx"
import { Icon } from "../../ui/icon.tsx"

const NAME = "console.guide"
const isHidden = signal(localStorage.getItem(NAME) === "hidden")
/** Recent calls that are checked, instead of all. */
const LAST_CALLS = 20

/** From an empty gateway to a client that uses it. */
export function FirstRun() {
  if (isHidden.value) return null
  return may("keys:read") ? <Steps /> : <FirstCallOfKey />
}

function useLastCalls(): { isKnown: boolean; hasAnswer: boolean } {
  const { data } = useGet<CallPage>(withParams("/calls", { limit: LAST_CALLS }))
  return { isKnown: data !== undefined, hasAnswer: data?.data.some(({ outcome }) => outcome === "ok") ?? false }
}

/** For a user who got a key, and cannot create another. */
function FirstCallOfKey() {
  const { isKnown, hasAnswer } = useLastCalls()
  if (!isKnown || hasAnswer) return null
  return (
    <section class="guide" aria-label="First steps">
      <Header title="Make a call" />
      <p class="quiet">
        Every client of the OpenAI API works with the base URL and this key. The <a href="/playground">playground</a>{" "}
        works without a client.
      </p>
      <BaseUrl />
      <FirstCall />
    </section>
  )
}

function Header({ title }: { title: string }) {
  return (
    <header class="row between">
      <h2>{title}</h2>
      <Button
        size="small"
        kind="quiet"
        onClick={() => {
          isHidden.value = true
          localStorage.setItem(NAME, "hidden")
        }}
      >
        Hide
      </Button>
    </header>
  )
}

/** Completed steps are detected. */
function Steps() {
  const calls = useLastCalls()
  const credentials = useGet<List<unknown>>(withParams("/byok", { workspace_id: workspaceId.value, limit: 1 }))
  const keys = useGet<List<ApiKey>>(withParams("/keys", { workspace_id: workspaceId.value, limit: 3 }))
  if (!calls.isKnown || !credentials.data || !keys.data) return null
  // `npm start` creates two keys: a third is the first of a person.
  const steps = [
    {
      title: "Make a call",
      isDone: calls.hasAnswer,
      href: "/playground",
      action: "Open the playground",
      text: "In the playground, or with the command below.",
    },
    {
      title: "Add a provider",
      isDone: credentials.data.data.length > 0,
      href: "/providers?new=1",
      action: "Add a provider",
      text: "Paste a key of OpenAI, Anthropic or another provider; it is tested at once.",
    },
    {
      title: "Create a key",
      isDone: keys.data.data.length > 2,
      href: "/keys?new=1",
      action: "Create a key",
      text: "One key for each app or person, each with its own limit.",
    },
  ]
  const done = steps.filter(({ isDone }) => isDone).length
  // The dialog of a new key shows how to connect a client.
  if (done === steps.length) return null
  return (
    <section class="guide" aria-label="First steps">
      <Header title="First steps" />
      <ol>
        {steps.map(({ title, isDone, href, action, text }, index) => (
          <li key={title} class={isDone ? "done" : ""}>
            <span class="step" aria-hidden="true">
              {isDone ? <Icon name="check" size={14} /> : index + 1}
            </span>
            <span class="grow">
              <strong>{title}</strong>
              {isDone ? <span class="visually-hidden"> (done)</span> : <span class="quiet">{text}</span>}
            </span>
            {!isDone && (
              <Button
                size="small"
                kind={index === steps.findIndex((step) => !step.isDone) ? "primary" : "plain"}
                href={href}
              >
                {action}
              </Button>
            )}
          </li>
        ))}
        <li>
          <span class="step" aria-hidden="true">
            4
          </span>
          <span class="grow">
            <strong>Connect a client</strong>
            <span class="quiet">
              Every client of the OpenAI API works: give it the base URL and a key. For coding tools, the dialog of a
              new key makes a link that writes their settings.
            </span>
          </span>
        </li>
      </ol>
      <BaseUrl />
      {calls.hasAnswer ? (
        <Code
          label="Environment of a client"
          text={`export OPENAI_BASE_URL=${BASE_URL}\nexport OPENAI_API_KEY=sk-gw-v1-…`}
        />
      ) : (
        <FirstCall />
      )}
    </section>
  )
}
