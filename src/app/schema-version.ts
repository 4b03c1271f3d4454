/** The newest file of `d1-migrations`, which this release needs. A test compares it with that folder. */
export const LATEST_MIGRATION = "0058_guardrails_of_former_members.sql"
