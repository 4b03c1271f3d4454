/** How a scripted realtime model differs from a correct one. */
export type RealtimeFault = "refuse" | "silent" | "drop" | "stall" | "key-error" | "no-usage" | "endless"

export type RealtimeModel = { slug: string; name: string; description: string; fault?: RealtimeFault }

export const realtimeModels: readonly RealtimeModel[] = [
  { slug: "realtime", name: "Realtime", description: "Echoes its input as text, or answers with silent audio." },
  { slug: "realtime-refuse", name: "Realtime, refuses", description: "Refuses every session.", fault: "refuse" },
  { slug: "realtime-silent", name: "Realtime, silent", description: "Sends nothing.", fault: "silent" },
  { slug: "realtime-drop", name: "Realtime, drops", description: "Closes within a response.", fault: "drop" },
  { slug: "realtime-stall", name: "Realtime, stalls", description: "Stops within a response.", fault: "stall" },
  { slug: "realtime-key-error", name: "Realtime, key", description: "Quotes its key in an error.", fault: "key-error" },
  { slug: "realtime-no-usage", name: "Realtime, no usage", description: "Reports no usage.", fault: "no-usage" },
  { slug: "realtime-endless", name: "Realtime, endless", description: "Talks until it is stopped.", fault: "endless" },
]
