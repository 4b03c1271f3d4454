import { useState } from "preact/hooks"
import { api } from "../../../api/client.ts"
import type { InternSchedule } from "../../../api/account-types.ts"
import { invalidate } from "../../../api/query.ts"
import { toast } from "../../../state/toasts.ts"
import { Dialog, FormEnd } from "../../../ui/dialog.tsx"
import { Select, TextArea, TextField } from "../../../ui/field.tsx"
import { useSubmit } from "../../../ui/hooks/use-submit.ts"

type Props = { path: string; schedule: InternSchedule | undefined; onClose: () => void }

const ownZone = () => Intl.DateTimeFormat().resolvedOptions().timeZone

export function ScheduleDialog({ path, schedule, onClose }: Props) {
  const [cron, setCron] = useState(schedule?.cron ?? "0 9 * * 1-5")
  const [timezone, setTimezone] = useState(schedule?.timezone ?? ownZone())
  const [prompt, setPrompt] = useState(schedule?.prompt ?? "")
  const [session, setSession] = useState<string>(schedule?.session ?? "new")
  const [limit, setLimit] = useState(schedule?.daily_limit_usd?.toString() ?? "")
  const { busy, error, submit } = useSubmit(async () => {
    const body = { cron, timezone, prompt, session, daily_limit_usd: limit === "" ? null : Number(limit) }
    if (schedule) await api(`${path}/${schedule.id}`, { method: "PATCH", body })
    else await api(path, { method: "POST", body })
    invalidate(path)
    toast("good", schedule ? "The schedule is saved" : "The schedule is on")
    onClose()
  })
  return (
    <Dialog title={schedule ? "Edit the schedule" : "New schedule"} onClose={onClose} staysOpen={busy}>
      <form class="stack" onSubmit={submit}>
        <TextArea label="Prompt" rows={3} value={prompt} onChange={setPrompt} placeholder="Summarize the open issues" />
        <div class="pair">
          <TextField
            label="When"
            hint="Minute, hour, day, month, weekday: 0 9 * * 1-5 is 9:00 on weekdays."
            value={cron}
            onChange={setCron}
            code
            required
          />
          <TextField label="Time zone" value={timezone} onChange={setTimezone} required />
        </div>
        <div class="pair">
          <Select
            label="Session"
            value={session}
            onChange={setSession}
            options={[
              { value: "new", label: "A new one for each run" },
              { value: "same", label: "The same one for all runs" },
            ]}
          />
          <TextField
            label="Daily limit, USD"
            hint="Empty: only the budgets of the intern apply."
            type="number"
            min={0}
            step="any"
            value={limit}
            onChange={setLimit}
          />
        </div>
        <FormEnd
          fault={error?.message}
          busy={busy}
          action={schedule ? "Save" : "Create the schedule"}
          disabled={prompt.trim() === "" || cron.trim() === ""}
          onClose={onClose}
        />
      </form>
    </Dialog>
  )
}
