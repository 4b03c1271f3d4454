import type { Endpoint } from "../../api/types.ts"

type Listing = { slug: string; headquarters: string | null; datacenters: string[] | null }

type Compared = Pick<
  Endpoint,
  "tag" | "quantization" | "supported_parameters" | "supports_implicit_caching" | "supports_tool_choice"
>

export type Difference<T> = {
  endpoint: T
  /** Data centers; without them, the country of the company. Null if the catalogue has neither. */
  regions: string | null
  quirks: string[]
  /** Parameters that another endpoint of the model takes, and this one does not. */
  missing: string[]
}

function regionsOf({ datacenters, headquarters }: Listing): string | null {
  if (datacenters !== null && datacenters.length > 0) return `served from ${datacenters.join(", ")}`
  return headquarters === null ? null : `company in ${headquarters}`
}

function quirksOf({ quantization, supports_implicit_caching: caches, supports_tool_choice: choice }: Compared) {
  const rejected = Object.entries(choice).flatMap(([name, isSupported]) => (isSupported ? [] : [name]))
  return [
    ...(quantization === null || quantization === "unknown" ? [] : [`weights in ${quantization}`]),
    ...(caches ? ["caches prompts by itself"] : []),
    ...(rejected.length > 0 && rejected.length < 4 ? [`no tool_choice ${rejected.join(", ")}`] : []),
    ...(rejected.length === 4 ? ["no tool_choice"] : []),
  ]
}

export function differencesOf<T extends Compared>(
  endpoints: readonly T[],
  providers: readonly Listing[],
): Difference<T>[] {
  const bySlug = new Map(providers.map((provider) => [provider.slug, provider]))
  const parameters = [...new Set(endpoints.flatMap(({ supported_parameters: names }) => names))].toSorted()
  return endpoints.map((endpoint) => {
    const listing = bySlug.get(endpoint.tag)
    const taken = new Set(endpoint.supported_parameters)
    return {
      endpoint,
      regions: listing ? regionsOf(listing) : null,
      quirks: quirksOf(endpoint),
      missing: parameters.filter((name) => !taken.has(name)),
    }
  })
}
