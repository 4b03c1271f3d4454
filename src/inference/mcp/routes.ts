import { createRoute } from "@hono/zod-openapi"
import * as z from "zod"
import { GatewayError } from "../../errors/errors.ts"
import { acceptJson, newRouter } from "../../http/router.ts"
import { failures, json, jsonBody } from "../../http/schema.ts"
import { isRequest, VERSION_WITHOUT_HEADER } from "../../mcp-servers/message.ts"
import { McpServerPath } from "../../mcp-servers/schemas.ts"
import { incomingCall } from "../context.ts"
import { connect } from "./connection.ts"
import { acceptedBy, respondOneWay, respondToBatch, respondToDelete, respondToRequest } from "./respond.ts"

const MAX_BODY_BYTES = 4 * 1024 * 1024
const MAX_BATCH = 20

const tags = ["MCP"]
const params = z.object({ server: McpServerPath.shape.slug.meta({ description: "Slug of a registered server." }) })
const Message = z
  .looseObject({
    jsonrpc: z.literal("2.0", { error: 'must be "2.0"' }),
    id: z.union([z.string(), z.number()], { error: "must be a string or a number" }).optional(),
    method: z.string({ error: "must be a string" }).optional(),
  })
  .meta({ id: "McpMessage", description: "A message of JSON-RPC 2.0." })
const Body = z
  .union([
    Message,
    z.array(Message).min(1, "must not be empty").max(MAX_BATCH, `must be at most ${MAX_BATCH} messages`),
  ])
  .meta({ id: "McpBody" })

const FAILURES = failures("invalid_request", "unauthenticated", "forbidden", "not_found", "internal", "provider_failed")

const header = (name: string, description: string) => ({
  name,
  in: "header" as const,
  required: false,
  description,
  schema: { type: "string" as const },
})
const HEADERS = [
  header("MCP-Protocol-Version", "Revision of the protocol: 2025-11-25, 2025-06-18 or 2025-03-26, the default."),
  header("Mcp-Session-Id", "The session, as the response to `initialize` named it. It belongs to this key."),
]

const send = createRoute({
  method: "post",
  path: "/mcp/{server}",
  operationId: "sendMcpMessage",
  tags,
  summary: "Send a message to an MCP server",
  description:
    "Streamable HTTP transport of the Model Context Protocol. Each `tools/call` is a call of its own, with the price of " +
    "the server's record. Refusals by a permission, a limit or a guardrail are JSON-RPC errors with status 200.",
  middleware: [acceptJson(MAX_BODY_BYTES)] as const,
  parameters: HEADERS,
  request: { params, body: jsonBody(Body) },
  responses: {
    200: {
      description: "The response, or a stream of events that ends with it.",
      content: { ...json(Body), "text/event-stream": { schema: Message } },
    },
    202: { description: "A notification or a response was accepted." },
    ...FAILURES,
    ...failures("payload_too_large", "unsupported_media_type"),
  },
})

const end = createRoute({
  method: "delete",
  path: "/mcp/{server}",
  operationId: "endMcpSession",
  tags,
  summary: "End a session of an MCP server",
  parameters: HEADERS,
  request: { params },
  responses: { 204: { description: "The session is over." }, ...FAILURES },
})

export const mcpGateway = newRouter()
  .openapi(send, async (c) => {
    const connection = await connect(incomingCall(c), c.req.valid("param").server)
    const accepted = acceptedBy(c.req.header("accept") ?? null)
    const body = c.req.valid("json")
    if (Array.isArray(body)) {
      if (connection.version !== VERSION_WITHOUT_HEADER) {
        throw new GatewayError("invalid_request", "Batches are of revision 2025-03-26. Send one message at a time.")
      }
      return respondToBatch(body, connection)
    }
    return isRequest(body) ? respondToRequest(body, connection, accepted) : respondOneWay(body, connection)
  })
  .openapi(end, async (c) => {
    const connection = await connect(incomingCall(c), c.req.valid("param").server)
    if (connection.upstream.sessionId === undefined) {
      throw new GatewayError("invalid_request", "Mcp-Session-Id: is required.")
    }
    return respondToDelete(connection)
  })
