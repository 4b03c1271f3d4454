import * as z from "zod"
import { url } from "../../config/variable.ts"
import { CHECK_NAME, CHECK_NAME_RULE } from "./name.ts"

export const CHECK_FORMATS = ["webhook", "openai", "lakera", "litellm"] as const
const MAX_TIMEOUT_MS = 30_000
const timeoutRule = `must be from 50 to ${MAX_TIMEOUT_MS}`
/** Headers that the request to a check sets itself, or that HTTP does not allow to set. */
const RESERVED_HEADERS = /^(?:content-type|content-length|host|connection|transfer-encoding)$/i

const headerName = z
  .string()
  .regex(/^[A-Za-z0-9-]{1,64}$/, "must be the name of a header")
  .refine((name) => !RESERVED_HEADERS.test(name), "must not be a header that the gateway sets")
const headerValue = z.string().regex(/^[\t\x20-\x7e]{1,4096}$/, "must be printable ASCII")

export const ContentCheckShape = z.strictObject({
  name: z.string({ error: CHECK_NAME_RULE }).regex(CHECK_NAME, CHECK_NAME_RULE),
  url: url("https://guard.example.com/check"),
  format: z.enum(CHECK_FORMATS, { error: `accepts ${CHECK_FORMATS.join(", ")}` }).default("webhook"),
  headers: z.record(headerName, headerValue).default({}),
  parameters: z.record(z.string(), z.unknown(), { error: "must be an object" }).default({}),
  timeout_ms: z.int(timeoutRule).min(50, timeoutRule).max(MAX_TIMEOUT_MS, timeoutRule).default(5_000),
  if_unavailable: z.enum(["block", "allow"], { error: "accepts block, allow" }).default("block"),
})

/** A service of the operator that judges texts. `parameters` are added to the body of each request to it. */
export type ContentCheck = z.infer<typeof ContentCheckShape>
export type ContentChecks = ReadonlyMap<string, ContentCheck>
