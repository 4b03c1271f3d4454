import { useState } from "preact/hooks"
import type { Intern } from "../../api/account-types.ts"
import { api, ApiError } from "../../api/client.ts"
import { invalidate, useQuery } from "../../api/query.ts"
import { plural } from "../../format/number.ts"
import { may } from "../../state/session.ts"
import { attempt } from "../../state/toasts.ts"
import { Button } from "../../ui/button.tsx"
import { Code } from "../../ui/text/code.tsx"
import { ConfirmDialog } from "../../ui/dialog.tsx"
import { TextField } from "../../ui/field.tsx"
import { ErrorPanel, Loaded } from "../../ui/states.tsx"
import { Status } from "../../ui/status.tsx"
import { useSubmit } from "../../ui/hooks/use-submit.ts"
import { Time } from "../../ui/values.tsx"

type Webhook = {
  url: string
  backlog: number
  last_error: string | null
  last_error_at: string | null
  last_success_at: string | null
}

async function readWebhook(path: string): Promise<{ webhook: Webhook | null }> {
  try {
    return { webhook: await api<Webhook>(path) }
  } catch (thrown) {
    if (thrown instanceof ApiError && thrown.status === 404) return { webhook: null }
    throw thrown
  }
}

/** The receiver of events: questions that are opened or closed, and turns that end. */
export function Events({ intern }: { intern: Intern }) {
  const path = `/interns/${intern.id}/webhook`
  const query = useQuery(path, () => readWebhook(path))
  const [secret, setSecret] = useState<string>()
  const [isDeleting, setDeleting] = useState(false)
  const remove = async () => {
    await attempt(() => api(path, { method: "DELETE" }), "The webhook is deleted")
    setSecret(undefined)
    invalidate(path)
  }
  return (
    <div class="stack">
      <p class="quiet">
        A webhook receives questions that are opened or closed, and turns that end, signed and in order.
      </p>
      <Loaded query={query} lines={3}>
        {({ webhook }) => (
          <>
            {webhook && <Deliveries webhook={webhook} />}
            {secret !== undefined && (
              <div class="notice good">
                <strong>The signing secret is shown only now.</strong>
                <Code label="Signing secret" text={secret} wrap />
              </div>
            )}
            {may("interns:write") && (
              <UrlForm
                key={webhook?.url ?? ""}
                path={path}
                url={webhook?.url ?? ""}
                onSet={(made) => {
                  setSecret(made)
                  invalidate(path)
                }}
                onDelete={webhook ? () => setDeleting(true) : undefined}
              />
            )}
          </>
        )}
      </Loaded>
      {isDeleting && (
        <ConfirmDialog
          title="Delete the webhook?"
          action="Delete"
          onConfirm={remove}
          onClose={() => setDeleting(false)}
        >
          <p>Events that were not delivered yet are dropped.</p>
        </ConfirmDialog>
      )}
    </div>
  )
}

function Deliveries({ webhook }: { webhook: Webhook }) {
  const { backlog, last_error: error, last_error_at: failedAt, last_success_at: sentAt } = webhook
  const isFailing = failedAt !== null && (sentAt === null || failedAt > sentAt)
  return (
    <dl class="facts">
      <dt>State</dt>
      <dd>
        <Status tone={isFailing ? "bad" : backlog > 0 ? "warn" : sentAt === null ? "off" : "good"}>
          {isFailing
            ? "failing"
            : backlog > 0
              ? `${plural(backlog, "event")} queued`
              : sentAt === null
                ? "nothing sent yet"
                : "delivering"}
        </Status>
      </dd>
      <dt>Sent last</dt>
      <dd>
        <Time at={sentAt} />
      </dd>
      {error !== null && (
        <>
          <dt>Last error</dt>
          <dd>
            {error} <Time at={failedAt} />
          </dd>
        </>
      )}
    </dl>
  )
}

type FormProps = { path: string; url: string; onSet: (secret: string) => void; onDelete: (() => void) | undefined }

function UrlForm({ path, url: stored, onSet, onDelete }: FormProps) {
  const [url, setUrl] = useState(stored)
  const { busy, error, submit } = useSubmit(async () => {
    const made = await api<{ signing_secret: string }>(path, { method: "PUT", body: { url } })
    onSet(made.signing_secret)
  })
  return (
    <form class="stack" onSubmit={submit}>
      <TextField
        label="URL of the webhook"
        hint={stored === "" ? "Public https URL." : "Setting it again replaces the signing secret."}
        value={url}
        onChange={setUrl}
        required
      />
      {error && <ErrorPanel error={error} />}
      <div class="row">
        <Button type="submit" kind="primary" busy={busy} disabled={url === ""}>
          Set the webhook
        </Button>
        {onDelete && (
          <Button kind="danger" onClick={onDelete}>
            Delete the webhook
          </Button>
        )}
      </div>
    </form>
  )
}
