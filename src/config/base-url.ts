import * as z from "zod"
import type { ProviderFormat } from "../formats/provider-format.ts"

export const BASE_URL_RULE =
  "must be an http or https URL without credentials, query or fragment, such as https://api.example.com/v1"

/** A base URL as operators write it: a path after `/v1` is removed. */
export const BaseUrl = z
  .string({ error: BASE_URL_RULE })
  .refine(isPlainUrl, { error: BASE_URL_RULE })
  .transform((text) =>
    text
      .replace(/\/+$/, "")
      .replace(/\/(?:chat\/completions|responses|messages)$/, "")
      .replace(/\/+$/, ""),
  )

function isPlainUrl(text: string): boolean {
  const url = URL.parse(text)
  if (!url || (url.protocol !== "http:" && url.protocol !== "https:")) return false
  return url.username === "" && url.password === "" && !/[?#\s]/.test(text)
}

/** Clients of the messages format add `/v1` themselves, so their base URLs are without it. */
export function forFormat(baseUrl: string, format: ProviderFormat): string {
  return format === "anthropic" && new URL(baseUrl).pathname === "/" ? `${baseUrl}/v1` : baseUrl
}
