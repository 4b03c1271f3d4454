import type { Endpoint } from "../../api/types.ts"
import { differencesOf } from "./endpoint-facts.ts"
import { Chip } from "../../ui/chip.tsx"
import type { ProviderListing } from "./page.tsx"

/** Differences between the endpoints of a model: regions, precision, tools, caching and parameters. */
export function Differences({
  endpoints,
  providers,
}: {
  endpoints: readonly Endpoint[]
  providers: readonly ProviderListing[]
}) {
  const rows = differencesOf(endpoints, providers)
  if (rows.length === 0) return null
  return (
    <section class="stack tight">
      <h2>Regions and quirks</h2>
      <ul class="differences" aria-label="Regions and quirks of the endpoints">
        {rows.map(({ endpoint, regions, quirks, missing }) => (
          <li key={endpoint.name}>
            <Chip kind="provider" id={endpoint.tag} label={endpoint.provider_name} />
            <div class="stack tight">
              <span>{regions === null ? <span class="quiet">regions not stated</span> : regions}</span>
              {quirks.length > 0 && <span>{quirks.join(" · ")}</span>}
              {missing.length > 0 && (
                <span class="row tight">
                  <span class="quiet">does not take</span>
                  {missing.map((name) => (
                    <span key={name} class="tag mono">
                      {name}
                    </span>
                  ))}
                </span>
              )}
            </div>
          </li>
        ))}
      </ul>
    </section>
  )
}
