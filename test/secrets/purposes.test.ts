import { createHmac } from "node:crypto"
import { readdirSync, readFileSync } from "node:fs"
import path from "node:path"
import * as fc from "fast-check"
import { describe, expect, test } from "vitest"
import { makerOf, readJobId, requireVisibleJob, toJobId } from "../../src/inference/media/video-jobs.ts"
import { derivedBytes, signingKey } from "../../src/secrets/master-key.ts"
import { shortSignature, userPseudonym } from "../../src/secrets/signature.ts"
import { toBase64Url } from "../../src/support/text/encoding.ts"

const MASTER = masterOf(1)
const OTHER = masterOf(2)

function masterOf(byte: number): string {
  return btoa(String.fromCharCode(...new Uint8Array(32).fill(byte)))
}

const root = path.join(import.meta.dirname, "../..")
const sources = ["src", "durable-objects"].flatMap((folder) =>
  readdirSync(path.join(root, folder), { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".ts"))
    .map((file) => ({ file: `${folder}/${file}`, text: readFileSync(path.join(root, folder, file), "utf8") })),
)

/** The purposes in calls that derive a key from the master key. */
function purposesOf(text: string): string[] {
  const calls = /\b(?:signingKey|derivedBytes|shortSignature|purposeOf)\(([^()]*(?:\([^()]*\)[^()]*)*)\)/g
  const constants = Object.fromEntries(
    [...text.matchAll(/const ([A-Z_]+) = "([^"]+)"/g)].map(([, name = "", value = ""]) => [name, value]),
  )
  return [...text.matchAll(calls)].flatMap(([, parameters = ""]) => [
    ...[...parameters.matchAll(/["`]([a-z-]+)(?::[^"`]*)?["`]/g)].map(([, purpose = ""]) => purpose),
    ...[...parameters.matchAll(/\b([A-Z][A-Z_]+)\b/g)].flatMap(([, name = ""]) => constants[name] ?? []),
  ])
}

describe("a purpose of the master key", () => {
  const found = sources.flatMap(({ file, text }) =>
    [...new Set(purposesOf(text))].map((purpose) => [purpose, file] as const),
  )

  test("is used by one file", () => {
    const names = found.map(([purpose]) => purpose).toSorted()
    expect(names).toEqual([...new Set(names)])
    for (const purpose of ["data-keys", "master-key-id", "oauth-signing", "console-session", "intern-access"]) {
      expect(names).toContain(purpose)
    }
    for (const purpose of ["video-job", "user-pseudonym"]) expect(names).toContain(purpose)
  })

  test("derives a key that differs from the master key and other purposes", async () => {
    const names = [...new Set(found.map(([purpose]) => purpose)), "auth-session", "auth-form"]
    const keys = await Promise.all(names.map(async (purpose) => toBase64Url(await derivedBytes(MASTER, purpose))))
    expect(new Set([...keys, toBase64Url(new Uint8Array(32).fill(1))]).size).toBe(names.length + 1)
    const signatures = await Promise.all(names.map((purpose) => shortSignature(MASTER, purpose, "text")))
    expect(new Set(signatures).size).toBe(names.length)
  })

  test("derives keys that cannot be exported", async () => {
    const key = await signingKey(MASTER, "video-job")
    expect(key.extractable).toBe(false)
    await expect(crypto.subtle.exportKey("raw", key)).rejects.toThrow()
  })

  test("only the master key's module imports its bytes", () => {
    const readers = sources.filter(({ text }) => /\bMASTER_KEY\b/.test(text)).map(({ file }) => file)
    const signers = sources.filter(({ file, text }) => readers.includes(file) && /subtle\.|createHmac/.test(text))
    expect(signers.map(({ file }) => file)).toEqual(["src/secrets/master-key.ts"])
  })
})

describe("the pseudonym of a user", () => {
  test("is stable in an organization, differs between organizations and master keys, and is not the id", async () => {
    await fc.assert(
      fc.asyncProperty(fc.string(), fc.string({ minLength: 1 }), async (organization, user) => {
        const pseudonym = await userPseudonym(MASTER, organization, user)
        expect(pseudonym).toMatch(/^[0-9a-f]{32}$/)
        expect(await userPseudonym(MASTER, organization, user)).toBe(pseudonym)
        expect(await userPseudonym(MASTER, `${organization}x`, user)).not.toBe(pseudonym)
        expect(await userPseudonym(OTHER, organization, user)).not.toBe(pseudonym)
        expect(await userPseudonym(MASTER, organization + user, "")).not.toBe(pseudonym)
      }),
    )
  })
})

describe("the id of a video job", () => {
  const order = { provider: "sim", upstreamId: "v-1", workspaceId: "w-1", credentialId: null, maker: null }
  const masters = { current: MASTER, previous: undefined }

  test("is valid only in its workspace, also after a rotation of the master key", async () => {
    const id = await toJobId(order, MASTER)
    expect(await readJobId(id, "w-1", masters)).toEqual(order)
    expect(await readJobId(id, "w-1", { current: OTHER, previous: MASTER })).toEqual(order)
    await expect(readJobId(id, "w-2", masters)).rejects.toThrow("no video")
    await expect(readJobId(id, "w-1", { current: OTHER, previous: undefined })).rejects.toThrow("no video")
  })

  test("of a key that sees only what it made is hidden from other such keys", async () => {
    const scopes = [
      { internId: null, onlyKey: "a".repeat(64) },
      { internId: null, onlyKey: "b".repeat(64) },
      { internId: "i-1", onlyKey: null },
      { internId: "i-2", onlyKey: null },
    ]
    for (const [at, app] of scopes.entries()) {
      const other = scopes[(at + 1) % scopes.length] as (typeof scopes)[number]
      const credentialId = at % 2 === 0 ? null : "c-1"
      const id = await toJobId({ ...order, credentialId, maker: makerOf(app) }, MASTER)
      const job = await readJobId(id, "w-1", masters)
      expect(job).toMatchObject({ provider: "sim", upstreamId: "v-1", credentialId })
      expect(() => requireVisibleJob(job, app)).not.toThrow()
      expect(() => requireVisibleJob(job, { internId: null, onlyKey: null })).not.toThrow()
      expect(() => requireVisibleJob(job, other)).toThrow("no video")
      expect(() => requireVisibleJob(order, app)).toThrow("no video")
    }
  })

  test("cannot be forged with a pseudonym, which a client may learn from its own provider", async () => {
    const result = toBase64Url(new TextEncoder().encode(JSON.stringify(["sim", "v-1"])))
    for (const text of [`video:w-1:${result}`, JSON.stringify(["w-1", result]), result]) {
      const forged = `vid_${result}_${await userPseudonym(MASTER, "o", text)}`
      await expect(readJobId(forged, "w-1", masters)).rejects.toThrow("no video")
    }
  })

  test("of a release before 0.3 is still valid, only in its workspace", async () => {
    const result = toBase64Url(new TextEncoder().encode(JSON.stringify(["sim", "v-1"])))
    const signature = createHmac("sha256", `pseudonym:${MASTER}`).update(`video:w-1:${result}`).digest("hex")
    const id = `vid_${result}_${signature.slice(0, 32)}`
    expect(await readJobId(id, "w-1", masters)).toEqual(order)
    await expect(readJobId(id, "w-2", masters)).rejects.toThrow("no video")
  })
})
