/** Regions of processing. `global`: not confined to one. */
export const DATA_REGIONS = ["global", "europe", "us"] as const
export type DataRegion = (typeof DATA_REGIONS)[number]
