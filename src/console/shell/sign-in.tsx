import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks"
import { ApiError } from "../api/client.ts"
import { path, query } from "../state/router.ts"
import { signIn, signInProvider } from "../state/session.ts"
import { Button } from "../ui/button.tsx"
import { useModal } from "../ui/dialog.tsx"
import { TextField } from "../ui/field.tsx"
import { Mark } from "./mark.tsx"

/** Messages for failed sign-ins with the identity provider, by the reason in the URL. */
const REJECTIONS: Readonly<Record<string, string>> = {
  not_member: "You are not a member of an organization here. Ask an administrator to add your email in Team.",
  disabled: "An administrator has disabled your access to the console. Ask them to enable your key in Keys.",
  expired: "The sign-in took too long, or began in another browser. Try again.",
  cancelled: "The sign-in was cancelled.",
  unverified: "The identity provider does not confirm your email address. Confirm it there, or ask its administrator.",
  provider: "The identity provider did not answer as expected. The gateway's log has the reason.",
}

export function SignIn() {
  return (
    <main class="sign-in">
      <Card />
    </main>
  )
}

/** Covers the page when its session has ended, and keeps it for the same user. */
export function SignInAgain() {
  const element = useModal()
  return (
    <dialog
      ref={element}
      class="sign-in again"
      aria-label="Sign in again"
      onCancel={(event) => event.preventDefault()}
      // Browsers close a dialog at the second Escape.
      onClose={() => element.current?.showModal()}
    >
      <Card note="Your session has ended. Sign in again: the page keeps what you entered." />
    </dialog>
  )
}

function Card({ note }: { note?: string }) {
  const provider = useProvider()
  if (provider === undefined) return null
  return (
    <div class="card">
      <h1>
        <Mark /> Sign in
      </h1>
      {note !== undefined && <p role="status">{note}</p>}
      <Rejection />
      {provider !== null && (
        <>
          <a class="button primary" href={signInUrl()} {...(note !== undefined && { target: "_blank" })}>
            Continue with {provider}
          </a>
          <p class="or">
            <span>or with an API key</span>
          </p>
        </>
      )}
      <KeyForm isFirst={provider === null} />
    </div>
  )
}

const PROVIDER_MS = 1_000

/** Undefined for at most a second. While it loads, and if it fails, signing in with a key is possible. */
function useProvider(): string | null | undefined {
  const [provider, setProvider] = useState<string | null>()
  useEffect(() => {
    const timer = setTimeout(() => setProvider((known) => known ?? null), PROVIDER_MS)
    signInProvider().then(setProvider, () => setProvider(null))
    return () => clearTimeout(timer)
  }, [])
  return provider
}

/** The requested page is shown after the sign-in. */
function signInUrl(): string {
  const values = new URLSearchParams(query.value)
  values.delete("sign_in")
  const search = values.toString()
  const page = search === "" ? path.value : `${path.value}?${search}`
  return `/console/sign-in/oidc?${new URLSearchParams({ return_to: page }).toString()}`
}

function Rejection() {
  const reason = query.value.get("sign_in")
  if (reason === null) return null
  return (
    <p class="refusal" role="alert">
      {REJECTIONS[reason] ?? "The sign-in failed. Try again."}
    </p>
  )
}

function KeyForm({ isFirst }: { isFirst: boolean }) {
  const [key, setKey] = useState("")
  const [busy, setBusy] = useState(false)
  const [fault, setFault] = useState<string>()
  const submit = async (event: Event) => {
    event.preventDefault()
    setBusy(true)
    setFault(undefined)
    try {
      await signIn(key.trim())
    } catch (thrown) {
      setFault(ApiError.fromThrown(thrown).message)
      setBusy(false)
    }
  }
  const form = useRef<HTMLFormElement>(null)
  // The attribute has no effect once the page has focus.
  useLayoutEffect(() => {
    if (isFirst) form.current?.querySelector("input")?.focus()
  }, [])
  return (
    <form ref={form} onSubmit={(event) => void submit(event)}>
      <TextField
        label="API key"
        type="password"
        value={key}
        onChange={setKey}
        required
        spellcheck={false}
        placeholder="sk-gw-v1-…"
        autocomplete="current-password"
        fault={fault}
        hint={
          <>
            <code>npm start</code> prints one. A management key sees the organization, any other key its own calls and
            limits.
          </>
        }
      />
      <Button type="submit" kind={isFirst ? "primary" : "plain"} busy={busy} disabled={key.trim() === ""}>
        {busy ? "Signing in…" : "Sign in"}
      </Button>
      <p class="small quiet">
        The key is exchanged for a session of 12 hours. Scripts of this page cannot read it afterwards.
      </p>
    </form>
  )
}
