import { GatewayError } from "../errors/errors.ts"
import { type AppliedGuardrails, isConfinedToRegions } from "../guardrails/applied.ts"
import type { Screening } from "../guardrails/screening.ts"
import { plainEndpoint } from "../models/plain-endpoint.ts"
import type { Provider } from "../providers/provider.ts"
import { readAtMost } from "../support/bytes.ts"
import { isObject, objectsOf } from "../support/text/json.ts"
import { kindOf } from "./kind.ts"

/** Guardrails of a key for files that are stored at a provider. */

/** Files that content filters read are buffered completely. */
const MAX_READ_BYTES = 10 * 1024 * 1024
/** Rules about providers and retention. Files belong to no model. */
const RULES = /^(?:allowed_providers|ignored_providers|enforce_zdr_\w+)$/

/** Throws 403 if a guardrail excludes the provider, or requires that it retains nothing. */
export function requireStorageAllowed(guardrails: AppliedGuardrails | null, provider: Provider): void {
  const { slug } = provider
  const endpoint = plainEndpoint(slug, `${slug}/files`, false)
  const filters = guardrails?.routeFilters() ?? []
  const rejecting = filters.filter(
    ({ rule, keeps }) => RULES.test(rule?.field ?? "") && !keeps(endpoint, provider, null),
  )
  const fields = rejecting.flatMap(({ rule }) => rule?.field ?? [])
  const names = rejecting.map(({ name }) => name)
  if (isConfinedToRegions(guardrails)) {
    fields.push("allowed_data_regions")
    names.push("files of a provider belong to no region (allowed_data_regions)")
  }
  if (names.length === 0) return
  throw new GatewayError("forbidden", `A guardrail rejects the files of ${provider.name}: ${names.join("; ")}.`, {
    metadata: { reason: "guardrail", patterns: [...new Set(fields)] },
  })
}

/** The form for the provider after the content filters. Throws if one blocks the file or cannot read it. */
export async function screenUpload(
  body: ReadableStream<Uint8Array>,
  contentType: string,
  screening: Screening,
): Promise<FormData> {
  const bytes = await readAtMost(body, MAX_READ_BYTES)
  if (!bytes) {
    const rule = `file: a guardrail of this key filters files, which must be at most ${MAX_READ_BYTES} bytes then.`
    throw new GatewayError("payload_too_large", rule)
  }
  const form = await new Response(bytes, { headers: { "content-type": contentType } }).formData().catch(() => undefined)
  if (!form) throw new GatewayError("invalid_request", "file: the form data is incomplete.")
  const screened = new FormData()
  for (const [name, value] of form) {
    if (typeof value === "string") screened.append(name, await screenSent(value, screening))
    else screened.append(name, await screenFile(value, screening), await screenSent(value.name, screening))
  }
  return screened
}

async function screenFile(file: File, screening: Screening): Promise<Blob> {
  const text = textOf(new Uint8Array(await file.arrayBuffer()))
  return text === undefined ? file : new Blob([await screenSent(text, screening)], { type: file.type })
}

async function screenSent(text: string, screening: Screening): Promise<string> {
  const { messages } = await screening.request({ messages: [{ role: "user", content: text }] })
  return messages[0]?.content ?? ""
}

/** A downloaded file after the content filters of responses. */
export async function screenDownload(
  body: ReadableStream<Uint8Array> | null,
  screening: Screening,
): Promise<Uint8Array | string> {
  const bytes = body ? await readAtMost(body, MAX_READ_BYTES) : new Uint8Array()
  if (!bytes) throw uncheckedFileError(`it has more than ${MAX_READ_BYTES} bytes`)
  const text = textOf(bytes)
  if (text === undefined) return bytes
  const { choices } = await screening.response({ choices: [{ message: { content: text } }] })
  const [choice] = objectsOf(choices)
  return isObject(choice?.["message"]) ? String(choice["message"]["content"]) : ""
}

/** Undefined for binary files, which are not scanned. Throws if the file may be text that filters cannot read. */
function textOf(bytes: Uint8Array): string | undefined {
  const kind = kindOf(bytes)
  if (kind === "text") {
    try {
      return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes)
    } catch {
      throw uncheckedFileError("its text is not UTF-8")
    }
  }
  if (kind !== undefined) return undefined
  throw uncheckedFileError("its type is unknown")
}

function uncheckedFileError(why: string): GatewayError {
  const rule = `file: a guardrail of this key filters files, and this one cannot be checked: ${why}.`
  return new GatewayError("forbidden", rule, { metadata: { reason: "guardrail_unchecked" } })
}
