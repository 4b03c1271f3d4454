import * as errors from "@openrouter/sdk/models/errors"
import { beforeAll, expect, inject, test } from "vitest"
import { newOrganization, openrouter, type Organization } from "./world.ts"

let organization: Organization

beforeAll(async () => {
  organization = await newOrganization()
})

const refused = async (pending: Promise<unknown>, kind: new (...args: never[]) => Error) =>
  expect(pending).rejects.toBeInstanceOf(kind)
const bodyOf = (content: string | Uint8Array<ArrayBuffer>, fileName = "notes.md") => ({
  requestBody: { file: { fileName, content: new Blob([content]) } },
})

test("the client uploads, retrieves, lists over all pages and deletes files", async () => {
  const { files } = openrouter(organization.apiKey)
  const made = await files.upload(bodyOf("# Notes"))
  expect(made).toMatchObject({ filename: "notes.md", mimeType: "text/markdown", sizeBytes: 7, downloadable: false })
  const id = "id" in made ? made.id : ""
  expect(await files.retrieve({ fileId: id })).toEqual(made)
  await files.upload(bodyOf("more"))
  await files.upload(bodyOf("and more"))
  const names: number[] = []
  for await (const page of await files.list({ limit: 2 })) {
    const listed = page.result as { data: { sizeBytes: number }[] }
    names.push(...listed.data.map(({ sizeBytes }) => sizeBytes))
  }
  expect(names).toEqual([7, 4, 8])
  expect(await files.delete({ fileId: id })).toMatchObject({ id, type: "file_deleted" })
})

test("each failure is the client's error class for its status", async () => {
  const { files } = openrouter(organization.apiKey)
  const unauthorized = openrouter("sk-wrong").files
  await refused(files.upload(bodyOf("")), errors.BadRequestResponseError)
  await refused(unauthorized.upload(bodyOf("x")), errors.UnauthorizedResponseError)
  await refused(files.upload({ ...bodyOf("x"), provider: "openai" }), errors.ForbiddenResponseError)
  await refused(files.list({ beforeId: "x" }), errors.BadRequestResponseError)
  await refused(files.list({ provider: "anthropic" }), errors.ForbiddenResponseError)
  for (const [by, kind] of [
    [files, errors.NotFoundResponseError],
    [unauthorized, errors.UnauthorizedResponseError],
  ] as const) {
    await refused(by.retrieve({ fileId: "nothing" }), kind)
    await refused(by.delete({ fileId: "nothing" }), kind)
    await refused(by.download({ fileId: "nothing" }), kind)
  }
  const made = await files.upload(bodyOf("mine"))
  await refused(files.download({ fileId: "id" in made ? made.id : "" }), errors.BadRequestResponseError)
  const large = new Uint8Array(101 * 1024 * 1024).fill(97)
  await refused(files.upload(bodyOf(large)), errors.PayloadTooLargeResponseError)
})

test("an export is read with the client", async () => {
  const { chat } = openrouter(organization.apiKey)
  await chat.send({ chatRequest: { model: "sim/echo", messages: [{ role: "user", content: "Hello" }] } })
  const create = async () => {
    const response = await fetch(`${inject("gateway").url}/exports`, {
      method: "POST",
      headers: { authorization: `Bearer ${organization.managementKey}`, "content-type": "application/json" },
      body: JSON.stringify({ from: "2020-01-01T00:00:00Z" }),
    })
    expect(response.status).toBe(201)
    const { id } = (await response.json()) as { id: string }
    const bytes = await openrouter(organization.managementKey).files.download({ fileId: id })
    return await new Response(bytes as ReadableStream).text()
  }
  await expect.poll(create, { timeout: 60_000, interval: 500 }).toContain("sim/echo")
})
