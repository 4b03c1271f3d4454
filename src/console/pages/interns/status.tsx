import type { Intern } from "../../api/account-types.ts"
import { Status, type Tone } from "../../ui/status.tsx"

const TONES: Record<Intern["status"], Tone> = {
  awaiting_vendor_install: "busy",
  queued: "off",
  provisioning: "busy",
  running: "good",
  failed: "bad",
  stopped: "off",
  destroying: "busy",
  destroy_failed: "bad",
}

/** Status text; while the intern starts, the current step. */
export function InternStatus({ intern: { status, progress, last_failure_message: failure } }: { intern: Intern }) {
  const step = progress ? `${progress.step_label} (${progress.step_number} of ${progress.total_steps})` : undefined
  const text = step ?? (status === "queued" ? "not started" : status.replaceAll("_", " "))
  return (
    <Status tone={TONES[status]} {...(failure !== null && { title: failure })}>
      {text}
    </Status>
  )
}

export const isStarting = ({ status }: Intern) => TONES[status] === "busy"
