import { Icon, type IconName } from "./icon.tsx"

export type ChipKind =
  | "model"
  | "provider"
  | "key"
  | "workspace"
  | "member"
  | "end_user"
  | "call"
  | "guardrail"
  | "intern"
  | "app"
  | "preset"

const ICONS: Record<ChipKind, IconName> = {
  model: "models",
  provider: "providers",
  key: "keys",
  workspace: "workspace",
  member: "person",
  end_user: "person",
  call: "calls",
  guardrail: "guardrails",
  intern: "interns",
  app: "app",
  preset: "presets",
}

const encodePath = (id: string) => id.split("/").map(encodeURIComponent).join("/")

const HREFS: Record<ChipKind, (id: string) => string> = {
  model: (id) => `/models/${encodePath(id)}`,
  provider: (id) => `/providers/${encodePath(id)}`,
  key: (id) => `/keys/${id}`,
  workspace: (id) => `/team?tab=workspaces&workspace=${encodeURIComponent(id)}`,
  member: (id) => `/team?member=${encodeURIComponent(id)}`,
  end_user: (id) => `/calls?user=${encodeURIComponent(id)}`,
  call: (id) => `/calls/${id}`,
  guardrail: (id) => `/guardrails/${id}`,
  intern: (id) => `/interns/${id}`,
  app: (id) => `/calls?app=${encodeURIComponent(id)}`,
  preset: (id) => `/presets/${encodeURIComponent(id)}`,
}

export function hrefOf(kind: ChipKind, id: string): string {
  return HREFS[kind](id)
}

/** A gateway object: consistent look, and a link to its page. */
export function Chip({ kind, id, label }: { kind: ChipKind; id: string | null | undefined; label?: string }) {
  if (id === null || id === undefined || id === "") return <span class="faint">–</span>
  return (
    <a class="chip" href={hrefOf(kind, id)} title={label === undefined || label === id ? id : `${label} (${id})`}>
      <Icon name={ICONS[kind]} size={14} />
      <span dir="auto">{label ?? id}</span>
    </a>
  )
}
