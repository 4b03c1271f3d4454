import type { ProviderFormat } from "../formats/provider-format.ts"
import type { Cloud } from "./cloud/cloud.ts"
import { PROVIDER_NAMES } from "./names.ts"
import { keyHeaderOf, type Provider, type Quirks } from "./provider.ts"

/** A built-in provider, which only needs its secret. */
export type BuiltInProvider = {
  slug: string
  name: string
  /** null if every account has a separate URL, which the operator sets. */
  baseUrl: string | null
  /** Variable of its key. For `X_API_KEY`, the variable `X_BASE_URL` replaces `baseUrl`. */
  secret: `${string}_API_KEY`
  /** A self-hosted server, which only needs a base URL. */
  keyless: boolean
  /** Other names of the variable, used by the vendor's tools and other gateways. The first that is set wins. */
  aliases: readonly string[]
  /** For providers with a URL per account: the variables with its part, and the base URL with `*` for their value. */
  addresses: readonly (readonly [variables: readonly string[], template: string])[]
  format: ProviderFormat
  /** Needs more than a header with a key. */
  cloud?: Cloud["kind"]
  /** Variables that go with its key. */
  settings: readonly string[]
  /** Also supports the Responses format. */
  responses: boolean
  completions?: NonNullable<Provider["completions"]>
  /** How the key is sent. */
  keyHeader: string
  quirks: Quirks
  batches?: NonNullable<Provider["batches"]>
  /** ISO 3166-1 alpha-2; null if uncertain. */
  headquarters: string | null
  privacyPolicyUrl: string | null
  termsOfServiceUrl: string | null
  statusPageUrl: string | null
}

type More = {
  headquarters?: string
  quirks?: Quirks
  privacy?: string
  terms?: string
  status?: string
  format?: ProviderFormat
  responses?: true
  completions?: NonNullable<Provider["completions"]>
  keyHeader?: string
  keyless?: true
  aliases?: readonly string[]
  addresses?: BuiltInProvider["addresses"]
  cloud?: Cloud["kind"]
  settings?: readonly string[]
  batches?: NonNullable<Provider["batches"]>
}

export function row(
  slug: keyof typeof PROVIDER_NAMES,
  baseUrl: string | null,
  { format = "openai", keyHeader = keyHeaderOf(format), ...more }: More = {},
) {
  return {
    slug,
    name: PROVIDER_NAMES[slug],
    baseUrl,
    secret: `${slug.toUpperCase().replaceAll("-", "_")}_API_KEY`,
    keyless: more.keyless ?? false,
    aliases: more.aliases ?? [],
    addresses: more.addresses ?? [],
    settings: more.settings ?? [],
    ...(more.cloud && { cloud: more.cloud }),
    format,
    responses: more.responses ?? false,
    ...(more.completions && { completions: more.completions }),
    keyHeader,
    quirks: more.quirks ?? {},
    ...(more.batches && { batches: more.batches }),
    headquarters: more.headquarters ?? null,
    privacyPolicyUrl: more.privacy ?? null,
    termsOfServiceUrl: more.terms ?? null,
    statusPageUrl: more.status ?? null,
  } satisfies BuiltInProvider
}
