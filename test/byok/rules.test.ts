import * as fc from "fast-check"
import { describe, expect, test } from "vitest"
import { toMask } from "../../src/byok/credential.ts"
import { type ByokCredential, usableCredentials, credentialOrder } from "../../src/byok/usable-credentials.ts"
import { newMeter } from "../../src/formats/chat/meter.ts"
import { chargeFor } from "../../src/inference/accounting/charge.ts"
import { costFields } from "../../src/formats/usage.ts"
import { NO_TOKENS } from "../../src/money/money.ts"
import { plainCall } from "../../src/money/price-list.ts"

const PROVIDERS = ["openai", "anthropic"]
const MODELS = ["acme/one", "acme/two", "other/one"]
const subset = (values: readonly string[]) => fc.option(fc.subarray([...values], { minLength: 1 }))
const dataKey = { id: "w", workspaceId: "w", masterId: "m", wrapped: "x" }
const key: fc.Arbitrary<ByokCredential> = fc
  .record({
    id: fc.uuid(),
    provider: fc.constantFrom(...PROVIDERS),
    isByokOnly: fc.boolean(),
    isFallback: fc.boolean(),
    isRequired: fc.boolean(),
    allowedModels: subset([...MODELS, "acme/*", "*"]),
    allowedKeyHashes: subset(["a", "b"]),
    allowedUserIds: subset(["ada", "bob"]),
  })
  .map((one) => ({
    ...one,
    workspaceId: "w",
    version: "1",
    sealed: "x",
    declaredZdr: null,
    declaredRegion: null,
    sortOrder: 0,
    dataKey,
  }))
const keys = fc.array(key, { maxLength: 8 })

describe("the credentials for a provider", () => {
  test("include each that covers the model once, in order, and the gateway's key unless one forbids it", () => {
    fc.assert(
      fc.property(keys, fc.constantFrom(...PROVIDERS), fc.constantFrom(...MODELS), (all, provider, model) => {
        const { first, shared, last } = credentialOrder(provider, model, all)
        const [author = ""] = model.split("/")
        const covers = ({ allowedModels: names }: ByokCredential) =>
          names === null || [model, `${author}/*`, "*"].some((name) => names.includes(name))
        const ours = all.filter((one) => one.provider === provider)
        expect(first).toEqual(ours.filter((one) => covers(one) && !one.isFallback))
        expect(last).toEqual(ours.filter((one) => covers(one) && one.isFallback))
        const isForbidden = ours.some((one) => one.isByokOnly || (one.isRequired && covers(one)))
        expect(shared).toBe(!isForbidden)
      }),
    )
  })

  test("apply to the keys and users that they name, or to all if they name none", () => {
    fc.assert(
      fc.property(keys, fc.constantFrom("a", "b", "c"), fc.constantFrom("ada", "bob", null), (byok, keyHash, user) => {
        const mine = usableCredentials({ byok, keyHash, creatorUserId: user })
        for (const one of byok) {
          const isMine =
            (one.allowedKeyHashes === null || one.allowedKeyHashes.includes(keyHash)) &&
            (one.allowedUserIds === null || (user !== null && one.allowedUserIds.includes(user)))
          expect(mine.includes(one)).toBe(isMine)
        }
      }),
    )
  })
})

test("a BYOK call costs nothing and reports the cost at the gateway's price", () => {
  const count = fc.nat(1_000_000)
  const price = fc.nat(99_999).map((micro) => (micro / 1e9).toFixed(12))
  const input = fc.record({ prompt: count, completion: count, ownPrice: count, held: count, isReported: fc.boolean() })
  fc.assert(
    fc.property(input, price, price, ({ prompt, completion, held, isReported: reported }, forPrompt, forCompletion) => {
      const pricing = { prompt: forPrompt, completion: forCompletion }
      const reading = { ...newMeter(), tokens: reported ? { ...NO_TOKENS, prompt, completion } : null }
      const bounds = { promptEstimate: prompt, pieces: { images: 0 }, priced: plainCall() }
      const target = { endpoint: { pricing } } as never
      const shared = chargeFor(reading, { target, bounds, heldNano: held, isComplete: true })
      const owned = chargeFor(reading, {
        target: { endpoint: { pricing }, byok: {} } as never,
        bounds,
        heldNano: held,
        isComplete: true,
      })
      expect(owned.costNano).toBe(0)
      expect(owned.byok?.costNano).toBe(shared.costNano)
      expect(owned.tokens).toEqual(shared.tokens)
      expect(shared.byok).toBeNull()
      const { promptNano = -1, costNano = -1 } = owned.byok ?? {}
      expect(promptNano >= 0 && promptNano <= costNano).toBe(true)
      expect(costFields(owned)).toMatchObject({ cost: 0, is_byok: true })
      expect(costFields(shared)).toEqual({ cost: shared.costNano / 1e9, is_byok: false })
    }),
  )
})

test("a mask shows at most seven characters, and none of a short key", () => {
  fc.assert(
    fc.property(fc.stringMatching(/^[a-z0-9-]{1,60}$/), (secret) => {
      const shown = toMask(secret).split("...").join("").length
      expect(shown).toBe(secret.length < 20 ? 0 : 7)
    }),
  )
})
