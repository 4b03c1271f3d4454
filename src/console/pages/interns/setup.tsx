import { useState } from "preact/hooks"
import { api, ApiError } from "../../api/client.ts"
import type { Intern } from "../../api/account-types.ts"
import { toast } from "../../state/toasts.ts"
import { Button } from "../../ui/button.tsx"
import { Code } from "../../ui/text/code.tsx"
import { Select } from "../../ui/field.tsx"

const AGENTS = ["opencode", "qwen", "gemini", "codex", "claude"]

/** Instructions to connect a machine as host of an intern. */
export function Setup({ intern }: { intern: Intern }) {
  const [token, setToken] = useState<string>()
  const [agent, setAgent] = useState("opencode")
  const [isTaken, setTaken] = useState(false)
  const mint = async (replace: boolean) => {
    try {
      const path = `/interns/${intern.id}/daemon/token`
      const created = await api<{ token: string }>(path, { method: "POST", body: { replace } })
      setToken(created.token)
      setTaken(false)
      toast("good", "Join token created")
    } catch (thrown) {
      const { status, message } = ApiError.fromThrown(thrown)
      // A failed connection is no reason to disconnect a daemon.
      setTaken(status === 409)
      toast("bad", message)
    }
  }
  const command = [
    `npm run daemon -- --url ${location.origin} --intern ${intern.id} \\`,
    `  --token-stdin --agent ${agent} <<< '${token ?? "JOIN_TOKEN"}'`,
  ].join("\n")
  return (
    <div class="stack">
      <h2>Run it on your own machine</h2>
      <p class="quiet">
        The daemon connects to this gateway, starts the agent in its folder, and sends its requests through the gateway.
        A new token disconnects the machine that joined with the former one.
      </p>
      <div class="row fields">
        <Select
          label="Agent"
          options={AGENTS.map((value) => ({ value, label: value }))}
          value={agent}
          onChange={setAgent}
        />
        <Button kind="primary" onClick={() => mint(false)}>
          Create a join token
        </Button>
        {isTaken && (
          <Button kind="danger" onClick={() => mint(true)}>
            Replace the attached daemon
          </Button>
        )}
      </div>
      <Code label="Join command" text={command} />
      {token === undefined ? (
        <p class="quiet">The command is complete once a token is created.</p>
      ) : (
        <p class="quiet">The token is shown only now. It lets its holder use the intern's key and secrets.</p>
      )}
    </div>
  )
}
