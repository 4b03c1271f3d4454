import { useState } from "preact/hooks"
import { ApiError } from "../api/client.ts"
import { signIn } from "../state/session.ts"
import { Button } from "../ui/button.tsx"
import { TextField } from "../ui/field.tsx"
import { Mark } from "./mark.tsx"

export function SignIn() {
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
      setFault(ApiError.of(thrown).message)
      setBusy(false)
    }
  }
  return (
    <main class="sign-in">
      <form onSubmit={(event) => void submit(event)}>
        <h1>
          <Mark /> Sign in
        </h1>
        <TextField
          label="API key"
          type="password"
          value={key}
          onChange={setKey}
          required
          autoFocus
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
        <Button type="submit" kind="primary" busy={busy} disabled={key.trim() === ""}>
          {busy ? "Signing in…" : "Sign in"}
        </Button>
        <p class="small quiet">
          The key is exchanged for a session of 12 hours. Scripts of this page cannot read it afterwards.
        </p>
      </form>
    </main>
  )
}
