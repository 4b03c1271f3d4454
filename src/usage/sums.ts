/** Nano-USD in the windows that contain an instant. */
export type WindowSums = Record<`${"total" | "daily" | "weekly" | "monthly"}_${"spent" | "byok"}`, number>
