import * as fc from "fast-check"
import { describe, expect, test } from "vitest"
import { newDataKey, openDataKey, rewrap } from "../../src/secrets/data-key.ts"
import { type AssociatedData, open, openText, seal, sealText } from "../../src/secrets/seal.ts"
import { decodeBase64, toBase64Url } from "../../src/support/text/encoding.ts"
import { runs } from "../support/runs.ts"

const MASTER = masterOf(1)
const OTHER = masterOf(2)

function masterOf(byte: number): string {
  return btoa(String.fromCharCode(...new Uint8Array(32).fill(byte)))
}

const nonceOf = (sealed: string) => sealed.slice(0, 16)
const newKey = () => crypto.subtle.generateKey({ name: "AES-GCM", length: 256 }, false, ["encrypt", "decrypt"])
const aad = fc.record({
  kind: fc.string(),
  ownerId: fc.string(),
  workspaceId: fc.string(),
  name: fc.string(),
  version: fc.string(),
})
const bytes = fc.uint8Array({ maxLength: 200 }).map((array) => Uint8Array.from(array))

describe("a sealed value", () => {
  test("opens to the original value", async () => {
    const key = (await newKey()) as CryptoKey
    await fc.assert(
      fc.asyncProperty(aad, bytes, async (of, plain) => {
        expect(await open(key, of, await seal(key, of, plain))).toEqual(plain)
      }),
    )
    expect(await openText(key, ABOUT, await sealText(key, ABOUT, "sk-ключ"))).toBe("sk-ключ")
  })

  test("cannot be opened after any bit was changed", async () => {
    const key = (await newKey()) as CryptoKey
    const sealed = decodeBase64(await sealText(key, ABOUT, "a provider's key")) ?? new Uint8Array()
    await fc.assert(
      fc.asyncProperty(fc.nat(sealed.length * 8 - 1), async (bit) => {
        const changed = Uint8Array.from(sealed)
        changed[bit >> 3] = (changed[bit >> 3] ?? 0) ^ (1 << (bit & 7))
        expect(await open(key, ABOUT, toBase64Url(changed))).toBeUndefined()
      }),
      { numRuns: runs(2) },
    )
    for (let length = 0; length < sealed.length; length++) {
      expect(await open(key, ABOUT, toBase64Url(sealed.slice(0, length)))).toBeUndefined()
    }
  })

  test("cannot be opened for another owner or with another key", async () => {
    const key = (await newKey()) as CryptoKey
    await fc.assert(
      fc.asyncProperty(aad, aad, async (of, other) => {
        fc.pre(JSON.stringify(of) !== JSON.stringify(other))
        expect(await openText(key, other, await sealText(key, of, "secret"))).toBeUndefined()
      }),
    )
    for (const field of Object.keys(ABOUT) as (keyof AssociatedData)[]) {
      const sealed = await sealText(key, ABOUT, "secret")
      expect(await openText(key, { ...ABOUT, [field]: `${ABOUT[field]}x` }, sealed)).toBeUndefined()
    }
    expect(await openText((await newKey()) as CryptoKey, ABOUT, await sealText(key, ABOUT, "secret"))).toBeUndefined()
  })

  test("differs each time", async () => {
    const key = (await newKey()) as CryptoKey
    const all = await Promise.all(Array.from({ length: 50 }, () => sealText(key, ABOUT, "secret")))
    expect(new Set(all.map((one) => one.slice(0, 16))).size).toBe(50)
  })

  test("has a new nonce for every value, version and owner, also across data keys", async () => {
    const owner = { id: "w", workspaceId: "w" }
    const masters = { current: MASTER, previous: undefined }
    const nonces = new Set<string>()
    const count = runs(5)
    for (let at = 0; at < count; at++) {
      const wrapped = await newDataKey(owner, masters)
      const key = (await openDataKey(wrapped, masters)) as CryptoKey
      nonces.add(nonceOf(wrapped.wrapped))
      nonces.add(nonceOf((await rewrap(wrapped, masters))?.wrapped ?? ""))
      nonces.add(nonceOf(await sealText(key, ABOUT, "secret")))
      nonces.add(nonceOf(await sealText(key, { ...ABOUT, version: String(at) }, "secret")))
    }
    expect(nonces.size).toBe(count * 4)
  })

  test("cannot be opened with the nonce of another value of the same key", async () => {
    const key = (await newKey()) as CryptoKey
    const [one, other] = [await sealText(key, ABOUT, "one"), await sealText(key, ABOUT, "two")].map(
      (sealed) => decodeBase64(sealed) ?? new Uint8Array(),
    )
    const swapped = Uint8Array.from(one ?? [])
    swapped.set((other ?? new Uint8Array()).slice(0, 12))
    expect(await openText(key, ABOUT, toBase64Url(swapped))).toBeUndefined()
  })

  test("cannot be opened with another kind, owner, workspace, name or version", async () => {
    const key = (await newKey()) as CryptoKey
    const places = (["a", "b"] as const).flatMap((kind) =>
      ["o", "p"].flatMap((ownerId) =>
        ["v", "w"].flatMap((workspaceId) =>
          ["n", "m"].flatMap((name) => ["1", "2"].map((version) => ({ kind, ownerId, workspaceId, name, version }))),
        ),
      ),
    )
    const sealed = await Promise.all(places.map((identity) => sealText(key, identity, JSON.stringify(identity))))
    for (const [at, value] of sealed.entries()) {
      for (const [to, identity] of places.entries()) {
        expect(await openText(key, identity, value)).toBe(at === to ? JSON.stringify(identity) : undefined)
      }
    }
  })
})

describe("a data key", () => {
  const owner = { id: "w-1", workspaceId: "w-1" }
  const now = { current: MASTER, previous: undefined }

  test("opens only with its master key and for its workspace", async () => {
    const wrapped = await newDataKey(owner, now)
    expect(await openDataKey(wrapped, now)).toBeDefined()
    expect(await openDataKey(wrapped, { current: OTHER, previous: undefined })).toBeUndefined()
    expect(await openDataKey({ ...wrapped, id: "w-2" }, now)).toBeUndefined()
    expect(await openDataKey({ ...wrapped, workspaceId: "w-2" }, now)).toBeUndefined()
  })

  test("is rewrapped with a new master key, and opens values that it sealed before", async () => {
    const wrapped = await newDataKey(owner, now)
    const key = (await openDataKey(wrapped, now)) as CryptoKey
    const sealed = await sealText(key, ABOUT, "secret")
    const turning = { current: OTHER, previous: MASTER }
    const moved = await rewrap(wrapped, turning)
    expect(moved?.masterId).not.toBe(wrapped.masterId)
    for (const [stored, masters] of [
      [wrapped, turning],
      [moved ?? wrapped, turning],
      [moved ?? wrapped, { current: OTHER, previous: undefined }],
    ] as const) {
      expect(await openText((await openDataKey(stored, masters)) as CryptoKey, ABOUT, sealed)).toBe("secret")
    }
  })
})

const ABOUT: AssociatedData = { kind: "byok", ownerId: "o", workspaceId: "w", name: "openai", version: "1" }
