/** The newest file of `d1-migrations`, which this release needs. A test compares it with that folder. */
export const LATEST_MIGRATION = "0064_byok_regions.sql"
