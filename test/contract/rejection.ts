import { expect } from "vitest"
import * as z from "zod"

const Envelope = z.strictObject({
  error: z.strictObject({
    code: z.int(),
    message: z.string().min(6),
    metadata: z.looseObject({ reason: z.string().optional(), retryable: z.boolean().optional() }).optional(),
  }),
})

/** An error of this status, in the envelope and nothing else. */
export async function expectRejection(status: number, answer: Promise<Response>, about = "") {
  const response = await answer
  const text = await response.text()
  expect(response.status, `${about} ${text}`).toBe(status)
  const { error } = Envelope.parse(JSON.parse(text))
  expect(error.code, about).toBe(status)
  return error
}
