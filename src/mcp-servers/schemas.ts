import * as z from "zod"
import { PageQuery, textIn, nameText, uuidParam } from "../http/schema.ts"
import { isNanoPrecise, NANO_PRECISE } from "../money/money.ts"
import { KINDS } from "../observability/kinds.ts"
import { McpServerSlug, TOOL_NAME } from "../support/mcp-tools.ts"

const MAX_TOOLS = 500
const MAX_PRICE_USD = 1_000
const MAX_URL_LENGTH = 2_048
const MAX_SECONDS = 600
export const DEFAULT_TIMEOUT_SECONDS = 60

const name = nameText(128)
const tool = z
  .string({ error: "must be a string" })
  .regex(TOOL_NAME, "must be the name of a tool: 1 to 128 printable ASCII characters without spaces")
const priceRule = `must be a number of USD from 0 to ${MAX_PRICE_USD}`
const price = z
  .number({ error: priceRule })
  .min(0, priceRule)
  .max(MAX_PRICE_USD, priceRule)
  .refine(isNanoPrecise, NANO_PRECISE)
const timeoutRule = `must be an integer from 1 to ${MAX_SECONDS}`
const workspaceId = uuidParam("a workspace").optional()

const fields = {
  headers: KINDS.webhook.config.shape.headers
    .unwrap()
    .nullish()
    .meta({ description: "Sent with every request, such as Authorization. Kept sealed; values are returned masked." }),
  allowed_tools: z
    .array(tool, { error: "must be an array of names of tools, or null for all" })
    .max(MAX_TOOLS, `must be at most ${MAX_TOOLS} tools`)
    .nullish()
    .meta({ description: "Tools of the server that keys may be allowed to call; null for all." }),
  price_per_call_usd: price.optional().meta({ description: "Price of one tool call. Default 0." }),
  tool_prices_usd: z
    .record(tool, price, { error: "must be an object of names of tools and prices" })
    .refine((prices) => Object.keys(prices).length <= MAX_TOOLS, `must be at most ${MAX_TOOLS} tools`)
    .optional()
    .meta({ description: "Prices of individual tools, which override `price_per_call_usd`." }),
  timeout_seconds: z
    .int(timeoutRule)
    .min(1, timeoutRule)
    .max(MAX_SECONDS, timeoutRule)
    .optional()
    .meta({ description: `Total timeout of a request. Default ${DEFAULT_TIMEOUT_SECONDS}.` }),
  enabled: z.boolean({ error: "must be true or false" }).optional(),
}

const url = z.string({ error: "must be a string" }).max(MAX_URL_LENGTH, `must be at most ${MAX_URL_LENGTH} characters`)

export const NewMcpServer = z
  .strictObject({ slug: McpServerSlug, name, url, workspace_id: workspaceId, ...fields })
  .meta({ id: "NewMcpServer" })
export const McpServerChange = z
  .strictObject({ name: name.optional(), url: url.optional(), ...fields })
  .meta({ id: "McpServerChange" })
export type McpServerFields = z.infer<typeof McpServerChange>

export const McpServerPath = z.object({ slug: McpServerSlug })
export const McpWorkspaceQuery = z.object({ workspace_id: workspaceId })
export const McpServersQuery = PageQuery.extend({ workspace_id: workspaceId, q: textIn("slug, name or host") })

export const McpServer = z
  .object({
    id: z.uuid(),
    workspace_id: z.uuid(),
    slug: z.string().meta({ description: "Names it in `/mcp/{server}` and in `mcp_tools` of keys." }),
    name: z.string(),
    url: z.string().meta({ description: "Credentials in it are masked. A change that sends it back keeps them." }),
    headers: z.record(z.string(), z.string()).meta({ description: "Masked." }),
    allowed_tools: z.array(z.string()).nullable(),
    price_per_call_usd: z.number(),
    tool_prices_usd: z.record(z.string(), z.number()),
    timeout_seconds: z.int(),
    enabled: z.boolean(),
    created_at: z.iso.datetime(),
    updated_at: z.iso.datetime().nullable(),
  })
  .meta({ id: "McpServer" })
