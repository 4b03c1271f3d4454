import { useState } from "preact/hooks"
import { api, ApiError } from "../../api/client.ts"
import { invalidate } from "../../api/query.ts"
import type { Intern } from "../../api/account-types.ts"
import { toast } from "../../state/toasts.ts"
import { Dialog, FormEnd } from "../../ui/dialog.tsx"
import { Select, TextArea, TextField } from "../../ui/field.tsx"

const RESETS = [
  { value: "", label: "never: lifetime limit" },
  { value: "daily", label: "daily, 00:00 UTC" },
  { value: "weekly", label: "weekly, Monday 00:00 UTC" },
  { value: "monthly", label: "monthly, the 1st, 00:00 UTC" },
]

const toText = (amount: number | null | undefined) => (amount === null || amount === undefined ? "" : String(amount))
const toAmount = (text: string) => (text.trim() === "" ? null : Number(text))

/** Budget and MCP tools of an intern; changes take effect at once. */
export function TermsDialog({ intern, onClose }: { intern: Intern; onClose: () => void }) {
  const [limit, setLimit] = useState(toText(intern.limit))
  const [reset, setReset] = useState<string>(intern.limit_reset ?? "")
  const [daily, setDaily] = useState(toText(intern.daily_limit))
  const [tools, setTools] = useState((intern.mcp_tools ?? []).join("\n"))
  const [fault, setFault] = useState<string>()
  const [busy, setBusy] = useState(false)
  const save = async (event: Event) => {
    event.preventDefault()
    setBusy(true)
    const names = tools.split(/[\s,]+/).filter((name) => name !== "")
    const body = {
      limit: toAmount(limit),
      limit_reset: toAmount(limit) === null || reset === "" ? null : reset,
      daily_limit: toAmount(daily),
      mcp_tools: names.length === 0 ? null : names,
    }
    try {
      await api(`/interns/${intern.id}`, { method: "PATCH", body })
      toast("good", "Budget and tools are saved")
      invalidate("/interns")
      onClose()
    } catch (thrown) {
      setFault(ApiError.fromThrown(thrown).message)
      setBusy(false)
    }
  }
  return (
    <Dialog title="Budget and tools" onClose={onClose}>
      <form class="stack" onSubmit={(event) => void save(event)}>
        <TextField
          label="Budget, USD"
          type="number"
          min={0}
          step="any"
          placeholder="none of its own"
          hint="Limits of the key that created it apply as well."
          value={limit}
          onChange={setLimit}
          autoFocus
        />
        {limit !== "" && <Select label="Budget resets" options={RESETS} value={reset} onChange={setReset} />}
        <TextField
          label="Daily budget, USD"
          type="number"
          min={0}
          step="any"
          placeholder="none of its own"
          value={daily}
          onChange={setDaily}
        />
        <TextArea
          label="MCP tools"
          hint="One per line: server/tool, or server/* for all tools of a server."
          placeholder="search/query"
          rows={3}
          code
          value={tools}
          onChange={setTools}
        />
        <FormEnd fault={fault} action="Save" busy={busy} onClose={onClose} />
      </form>
    </Dialog>
  )
}
