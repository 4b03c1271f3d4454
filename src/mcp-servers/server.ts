import type * as z from "zod"
import { GatewayError } from "../errors/errors.ts"
import { nanoToUsd, usdToNano } from "../money/money.ts"
import { maskUrl } from "../outbound/masked-url.ts"
import { isMask, toMask } from "../support/text/mask.ts"
import type { AssociatedData } from "../secrets/seal.ts"
import { toTimestamp } from "../support/time/time.ts"
import type { McpServer, McpServerFields } from "./schemas.ts"
import type { McpServerRow } from "./table.ts"

export type McpHeaders = Readonly<Record<string, string>>

/** Authenticated context of sealed headers. */
export function headersAad(row: Pick<McpServerRow, "id" | "workspaceId" | "version">): AssociatedData {
  return { kind: "mcp-server", ownerId: row.id, workspaceId: row.workspaceId, name: "headers", version: row.version }
}

/** The headers after a change: a returned mask keeps the value. */
export function mergeHeaders(before: McpHeaders, sent: McpHeaders): McpHeaders {
  return Object.fromEntries(
    Object.entries(sent).map(([name, value]) => {
      if (!isMask(value)) return [name, value]
      const previous = before[name]
      if (previous !== undefined) return [name, previous]
      throw new GatewayError("invalid_request", `headers.${name}: is masked. Send the value itself.`)
    }),
  )
}

type Columns = Partial<
  Pick<McpServerRow, "name" | "url" | "allowedTools" | "priceNano" | "toolPrices" | "timeoutMs" | "enabled">
>

/** The columns that a body sets; the headers are sealed separately. */
export function toColumns(input: McpServerFields): Columns {
  const { price_per_call_usd: price, tool_prices_usd: prices, timeout_seconds: seconds } = input
  return {
    ...(input.name !== undefined && { name: input.name }),
    ...(input.url !== undefined && { url: input.url }),
    ...(input.allowed_tools !== undefined && { allowedTools: input.allowed_tools }),
    ...(price !== undefined && { priceNano: usdToNano(price) }),
    ...(prices && {
      toolPrices: Object.fromEntries(Object.entries(prices).map(([tool, usd]) => [tool, usdToNano(usd)])),
    }),
    ...(seconds !== undefined && { timeoutMs: seconds * 1_000 }),
    ...(input.enabled !== undefined && { enabled: input.enabled }),
  }
}

/** Fields whose values the audit log records. The URL may contain a token. */
export const AUDITED_FIELDS = [
  "slug",
  "name",
  "allowed_tools",
  "price_per_call_usd",
  "tool_prices_usd",
  "timeout_seconds",
  "enabled",
]

/** Price of one call of a tool, in nano-USD. */
export function priceOf({ priceNano, toolPrices }: Pick<McpServerRow, "priceNano" | "toolPrices">, tool: string) {
  return Object.hasOwn(toolPrices, tool) ? (toolPrices[tool] ?? priceNano) : priceNano
}

export function toMcpServer(row: McpServerRow, headers: McpHeaders): z.infer<typeof McpServer> {
  const prices = Object.entries(row.toolPrices).map(([tool, nano]) => [tool, nanoToUsd(nano)])
  return {
    id: row.id,
    workspace_id: row.workspaceId,
    slug: row.slug,
    name: row.name,
    url: maskUrl(row.url),
    headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, toMask(value)])),
    allowed_tools: row.allowedTools,
    price_per_call_usd: nanoToUsd(row.priceNano),
    tool_prices_usd: Object.fromEntries(prices),
    timeout_seconds: row.timeoutMs / 1_000,
    enabled: row.enabled,
    created_at: toTimestamp(row.createdAt),
    updated_at: row.updatedAt === null ? null : toTimestamp(row.updatedAt),
  }
}
