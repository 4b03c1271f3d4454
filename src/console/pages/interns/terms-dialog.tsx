import { useState } from "preact/hooks"
import { changesOf } from "../../api/changes.ts"
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

type Terms = { limit: string; reset: string; daily: string; tools: string }

const termsOf = (intern: Intern): Terms => ({
  limit: toText(intern.limit),
  reset: intern.limit_reset ?? "",
  daily: toText(intern.daily_limit),
  tools: (intern.mcp_tools ?? []).join("\n"),
})

function toBody({ limit, reset, daily, tools }: Terms) {
  const names = tools.split(/[\s,]+/).filter((name) => name !== "")
  return {
    limit: toAmount(limit),
    limit_reset: toAmount(limit) === null || reset === "" ? null : reset,
    daily_limit: toAmount(daily),
    mcp_tools: names.length === 0 ? null : names,
  }
}

/** Budget and MCP tools of an intern; changes take effect at once. */
export function TermsDialog({ intern, onClose }: { intern: Intern; onClose: () => void }) {
  const [shown] = useState(() => termsOf(intern))
  const [terms, setTerms] = useState(shown)
  const { limit, reset, daily, tools } = terms
  const set = (field: keyof Terms) => (value: string) => setTerms((before) => ({ ...before, [field]: value }))
  const [fault, setFault] = useState<string>()
  const [busy, setBusy] = useState(false)
  const save = async (event: Event) => {
    event.preventDefault()
    setBusy(true)
    try {
      await api(`/interns/${intern.id}`, { method: "PATCH", body: changesOf(toBody(shown), toBody(terms)) })
      toast("good", "Budget and tools are saved")
      invalidate("/interns")
      onClose()
    } catch (thrown) {
      setFault(ApiError.fromThrown(thrown).message)
      setBusy(false)
    }
  }
  return (
    <Dialog title="Budget and tools" onClose={onClose} staysOpen={busy}>
      <form class="stack" onSubmit={(event) => void save(event)}>
        <TextField
          label="Budget, USD"
          type="number"
          min={0}
          step="any"
          placeholder="none"
          hint="Limits of the key that created it apply as well."
          value={limit}
          onChange={set("limit")}
          autoFocus
        />
        {limit !== "" && <Select label="Budget resets" options={RESETS} value={reset} onChange={set("reset")} />}
        <TextField
          label="Daily budget, USD"
          type="number"
          min={0}
          step="any"
          placeholder="none"
          value={daily}
          onChange={set("daily")}
        />
        <TextArea
          label="MCP tools"
          hint="One per line: server/tool, or server/* for all tools of a server."
          placeholder="search/query"
          rows={3}
          code
          value={tools}
          onChange={set("tools")}
        />
        <FormEnd fault={fault} action="Save" busy={busy} onClose={onClose} />
      </form>
    </Dialog>
  )
}
