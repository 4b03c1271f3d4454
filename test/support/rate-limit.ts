/** Limit of the rate limiter in the tests. It is lower than in wrangler.toml, because a test has to exceed it. */
export const RATE_LIMIT = 100
