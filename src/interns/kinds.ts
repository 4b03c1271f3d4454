export const INTERN_STATUSES = [
  "awaiting_vendor_install",
  "queued",
  "provisioning",
  "running",
  "failed",
  "stopped",
  "destroying",
  "destroy_failed",
] as const

export type InternStatus = (typeof INTERN_STATUSES)[number]

/** Hosts for the agent of an intern. */
export const INTERN_HOSTS = ["embedded", "daemon", "cloudflare-container"] as const

export type InternHostKind = (typeof INTERN_HOSTS)[number]
