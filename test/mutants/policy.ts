import type { Mutant } from "./mutant.ts"

const CACHE = "src/access/policy-cache.ts"
const CHANGES = "src/access/policy-changes.ts"
const STORE = "src/access/policy-changes-store.ts"
const TEST = "test/access/policy-cache.worker.test.ts"

/** Faults with which a changed or revoked key would stay in use. */
export const policyMutants: readonly Mutant[] = [
  {
    name: "changes of an organization invalidate nothing",
    file: CHANGES,
    from: `revision >= (this.#byOrganization.get(organizationId) ?? 0)`,
    to: `true`,
    test: TEST,
  },
  {
    name: "changes count as known that came after the start of a read",
    file: CHANGES,
    from: `|| this.#knownAt > Date.now())) this.#knownAt = now`,
    to: `|| this.#knownAt > Date.now())) this.#knownAt = now + 3_000`,
    test: TEST,
  },
  {
    name: "an old entry is valid without a look at the changes",
    file: CACHE,
    from: `(isYoung || !this.#changes.isStale(now))`,
    to: `true`,
    test: TEST,
  },
  {
    name: "changes beyond the first thousand are not read",
    file: CHANGES,
    from: `const isLast = rows.length < MAX_CHANGES`,
    to: `const isLast = true`,
    test: TEST,
  },
  {
    name: "a restored database goes unnoticed",
    file: CHANGES,
    from: `if (rows.length === 0 && revision > 0) return this.#startAgain(now)`,
    to: ``,
    test: TEST,
  },
  {
    name: "entries of a restored database stay valid",
    file: CHANGES,
    from: `readAt > this.#restoredAt`,
    to: `readAt > 0`,
    test: TEST,
  },
  {
    name: "an entry is young after the clock was set back",
    file: CACHE,
    from: `validUntil > now && validUntil <= now + CHANGE_DELAY_MS`,
    to: `validUntil > now`,
    test: TEST,
  },
  {
    name: "the changes are read from the second one on",
    file: STORE,
    from: `WHERE revision >= ?`,
    to: `WHERE revision >= ? + 2`,
    test: TEST,
  },
]
