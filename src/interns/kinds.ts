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

/** Where an intern's agent runs. */
export const INTERN_HOSTS = ["embedded", "daemon", "cloudflare-container"] as const

export type InternHostKind = (typeof INTERN_HOSTS)[number]
