/** Kinds of alerts, in API values. */
export const ALERT_KINDS = [
  "limit_threshold",
  "limit_refused",
  "provider_outage",
  "destination_failing",
  "unusual_spend",
] as const
export type AlertKind = (typeof ALERT_KINDS)[number]

export const CHANNEL_TYPES = ["webhook", "slack", "email"] as const
export type ChannelType = (typeof CHANNEL_TYPES)[number]

/** A recorded alert. `data` has the fields of the API. Instants are epoch milliseconds. */
export type Alert = {
  id: string
  organizationId: string
  /** Null for alerts about the complete organization. */
  workspaceId: string | null
  kind: AlertKind
  message: string
  data: Readonly<Record<string, unknown>>
  createdAt: number
}
