import * as errors from "@openrouter/sdk/models/errors"
import { expect, test } from "vitest"
import { newOrganization, openrouter } from "./world.ts"

const SECRET = { hosts: ["API.example.com"], value: "value-of-the-acceptance-test" }
const NOWHERE = "01900000-0000-7000-8000-000000000000"

test("the client stores, lists and deletes secrets of a workspace", async () => {
  const { vault } = openrouter((await newOrganization()).apiKey)
  const { data: made } = await vault.storeVaultSecret({ name: "token", vaultSecretWriteRequest: SECRET })
  expect(made).toEqual({
    name: "token",
    hosts: ["api.example.com"],
    fingerprint: expect.stringMatching(/^sha256:[0-9a-f]{64}$/),
    createdAt: expect.any(Date),
  })
  expect(await vault.listVaultSecrets({ limit: 1 })).toEqual({ data: [made], hasMore: false })
  expect(await vault.deleteVaultSecret({ name: "token" })).toBeUndefined()
  expect(await vault.listVaultSecrets()).toEqual({ data: [], hasMore: false })
})

test("each failure is the client's error class for its status", async () => {
  const { apiKey } = await newOrganization()
  const { vault } = openrouter(apiKey)
  const unauthorized = openrouter("sk-wrong").vault
  const refused = async (pending: Promise<unknown>, kind: new (...args: never[]) => Error) =>
    expect(pending).rejects.toBeInstanceOf(kind)
  const write = { name: "token", vaultSecretWriteRequest: SECRET }
  await refused(vault.storeVaultSecret({ ...write, name: "No" }), errors.BadRequestResponseError)
  const large = { ...SECRET, value: "x".repeat(1_048_577) }
  await refused(
    vault.storeVaultSecret({ ...write, vaultSecretWriteRequest: large }),
    errors.PayloadTooLargeResponseError,
  )
  await refused(vault.deleteVaultSecret({ name: "token" }), errors.NotFoundResponseError)
  await refused(unauthorized.listVaultSecrets(), errors.UnauthorizedResponseError)
  const unknownIntern = { internId: NOWHERE }
  await refused(vault.listInternVaultSecrets(unknownIntern), errors.NotFoundResponseError)
  await refused(vault.storeInternVaultSecret({ ...unknownIntern, ...write }), errors.NotFoundResponseError)
  await refused(vault.deleteInternVaultSecret({ ...unknownIntern, name: "token" }), errors.NotFoundResponseError)
  const copy = { ...unknownIntern, vaultSecretCopyRequest: { names: ["token"] } }
  await refused(vault.copyVaultSecretsToIntern(copy), errors.NotFoundResponseError)
})
