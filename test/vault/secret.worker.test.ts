import { env } from "cloudflare:workers"
import * as fc from "fast-check"
import { expect, test } from "vitest"
import { newDataKey, openSigningKey, rewrap } from "../../src/secrets/data-key.ts"
import { fingerprintOf, placeholderOf } from "../../src/vault/secret.ts"

const masters = { current: env.MASTER_KEY ?? "", previous: undefined }
const next = { current: btoa("n".repeat(32)), previous: masters.current }

async function newVault() {
  const wrapped = await newDataKey({ id: crypto.randomUUID(), workspaceId: "w" }, masters)
  const keyFor = async (purpose: string, by = wrapped, from: typeof next | typeof masters = masters) => {
    const key = await openSigningKey(by, purpose, from)
    if (!key) throw new Error("It does not open.")
    return key
  }
  const moved = await rewrap(wrapped, next)
  if (!moved) throw new Error("It cannot be moved.")
  return {
    fingerprints: await keyFor("vault-fingerprints"),
    afterTurn: await keyFor("vault-fingerprints", moved, { ...next, previous: undefined }),
    placeholders: await keyFor("vault-placeholders"),
  }
}

const text = fc.string({ unit: "binary", minLength: 1, maxLength: 40 })
const name = fc.stringMatching(/^[a-z][a-z0-9]{0,6}(_[a-z0-9]{1,6}){0,2}$/)

test("fingerprints are equal exactly for equal values in one vault, under any master key", async () => {
  const [one, other] = [await newVault(), await newVault()]
  await fc.assert(
    fc.asyncProperty(text, text, async (a, b) => {
      const mine = await fingerprintOf(one.fingerprints, a)
      expect(mine).toMatch(/^sha256:[0-9a-f]{64}$/)
      expect(mine === (await fingerprintOf(one.fingerprints, b))).toBe(a === b)
      expect(await fingerprintOf(one.afterTurn, a)).toBe(mine)
      expect(await fingerprintOf(other.fingerprints, a)).not.toBe(mine)
      expect(await fingerprintOf(one.placeholders, a)).not.toBe(mine)
    }),
  )
})

test("no placeholder contains another, and each is a valid header value", async () => {
  const { placeholders } = await newVault()
  await fc.assert(
    fc.asyncProperty(fc.uniqueArray(name, { minLength: 2, maxLength: 5 }), async (names) => {
      const made = await Promise.all(names.map((each) => placeholderOf(placeholders, each)))
      for (const one of made) {
        expect(one).toMatch(/^[a-z0-9_-]+$/)
        expect(made.filter((other) => other.includes(one))).toEqual([one])
      }
    }),
  )
})
