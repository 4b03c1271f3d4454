import { BATCH_PRICE_PERCENT, PROVIDER_NAMES } from "../../providers/names.ts"

type Named = { slug: string; name: string }

const builtIn: readonly Named[] = Object.entries(PROVIDER_NAMES).map(([slug, name]) => ({ slug, name }))

/** The provider's name in calls, also if only keys of a workspace reach it. */
export const providerName = (slug: string): string => builtIn.find((one) => one.slug === slug)?.name ?? slug

/** A provider by slug or name: calls have the name, everything else the slug. */
export function findProvider(wanted: string, listed: readonly Named[]): Named {
  const isNamed = ({ slug, name }: Named) => slug === wanted || name === wanted
  return listed.find(isNamed) ?? builtIn.find(isNamed) ?? { slug: wanted, name: wanted }
}

/** Built-in providers with batches, whether or not this deployment has them. */
export const batchProviders = Object.entries(BATCH_PRICE_PERCENT).map(([slug, percent]) => ({
  slug,
  name: providerName(slug),
  percent,
}))
