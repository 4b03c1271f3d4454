import { isArray, isObject, type Json } from "../../support/text/json.ts"

const REDACTED = "<redacted>"

/**
 * A tool as responses, destinations and keys that only call a preset see it: without the credentials of an MCP server.
 * They are in `authorization`, `headers` and often in the address. The Responses API redacts the same.
 */
export function withoutCredentials<Tool extends Json>(tool: Tool): Tool | Json {
  if (tool["type"] !== "mcp") return tool
  const { authorization: _, ...shown } = tool
  const { headers, server_url: url } = tool
  return {
    ...shown,
    ...(isObject(headers) && { headers: Object.fromEntries(Object.keys(headers).map((name) => [name, REDACTED])) }),
    ...(typeof url === "string" && { server_url: originOf(url) }),
  }
}

/** A request, response or configuration without the credentials in its `tools`. */
export function withoutToolCredentials(body: Json): Json {
  const { tools } = body
  if (!isArray(tools)) return body
  return { ...body, tools: tools.map((tool) => (isObject(tool) ? withoutCredentials(tool) : tool)) }
}

function originOf(url: string): string {
  const parsed = URL.parse(url)
  return parsed ? `${parsed.protocol}//${parsed.host}/${REDACTED}` : REDACTED
}
