import type { ProviderFormat } from "../formats/provider-format.ts"
import type { Cloud } from "./cloud/cloud.ts"
import { PROVIDER_NAMES } from "./names.ts"
import { keyHeaderOf, type Provider, type Quirks } from "./provider.ts"

/** A provider the gateway knows by heart: setting its secret is all it takes to use it. */
export type BuiltInProvider = {
  slug: string
  name: string
  /** null where every account has its own: the operator sets it. */
  baseUrl: string | null
  /** The variable that holds its key. `X_API_KEY` also makes `X_BASE_URL`, which replaces `baseUrl`. */
  secret: `${string}_API_KEY`
  /** A server of the operator's own: a base URL is enough. */
  keyless: boolean
  /** Other names of the variable, as the vendor's own tools and other gateways have it. The first that is set wins. */
  aliases: readonly string[]
  /** Where each account has its own address: the variables that name it, and the base URL with `*` for their value. */
  addresses: readonly (readonly [variables: readonly string[], template: string])[]
  format: ProviderFormat
  /** Needs more than a header with a key. */
  cloud?: Cloud["kind"]
  /** Variables that go with its key. */
  settings: readonly string[]
  /** Speaks the Responses wire as well. */
  responses: boolean
  /** How the key is sent. */
  keyHeader: string
  quirks: Quirks
  batches?: NonNullable<Provider["batches"]>
  /** ISO 3166-1 alpha-2, null where it is not certain. */
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
    keyHeader,
    quirks: more.quirks ?? {},
    ...(more.batches && { batches: more.batches }),
    headquarters: more.headquarters ?? null,
    privacyPolicyUrl: more.privacy ?? null,
    termsOfServiceUrl: more.terms ?? null,
    statusPageUrl: more.status ?? null,
  } satisfies BuiltInProvider
}
