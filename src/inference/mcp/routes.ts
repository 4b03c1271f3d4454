import { createRoute } from "@hono/zod-openapi"
import * as z from "zod"
import { GatewayError } from "../../errors/errors.ts"
import { acceptJson, newRouter } from "../../http/router.ts"
import { ErrorEnvelope, failures, json, jsonBody, ok } from "../../http/schema.ts"
import {
  isRequest,
  isSessionVersion,
  SESSION_VERSIONS,
  VERSION_WITHOUT_HEADER,
} from "../../mcp-servers/protocol/message.ts"
import { McpServerPath } from "../../mcp-servers/schemas.ts"
import { incomingCall } from "../context.ts"
import { connect } from "./connection.ts"
import { readRevision, VERSION_HEADER } from "./revision.ts"
import { readAccept, respondOneWay, respondToBatch, respondToDelete, respondToRequest } from "./respond.ts"

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
  .union(
    [Message, z.array(Message).min(1, "must not be empty").max(MAX_BATCH, `must be at most ${MAX_BATCH} messages`)],
    { error: "must be a JSON-RPC message, or an array of them" },
  )
  .meta({ id: "McpBody" })

const McpRejection = z
  .object({
    jsonrpc: z.literal("2.0").meta({ description: "Version of JSON-RPC." }),
    id: z.union([z.string(), z.number()]).nullable().meta({ description: "Id of the request; null if it has none." }),
    error: z
      .object({
        code: z.int().meta({ description: "Error code of the protocol, such as -32601 or -32602." }),
        message: z.string().meta({ description: "Description of the error." }),
        data: z.record(z.string(), z.unknown()).optional().meta({ description: "Details, such as `supported`." }),
      })
      .meta({ description: "The JSON-RPC error." }),
  })
  .meta({ id: "McpRefusal", description: "Rejection of a request that violates revision 2026-07-28." })
const Failed = z.union([ErrorEnvelope, McpRejection]).meta({ id: "McpFailure" })

const FAILURES = failures("invalid_request", "unauthenticated", "forbidden", "not_found", "internal", "provider_failed")

const header = (name: string, description: string) => ({
  name,
  in: "header" as const,
  required: false,
  description,
  schema: { type: "string" as const },
})
const HEADERS = [
  header(
    "MCP-Protocol-Version",
    "Revision of the protocol: 2026-07-28, 2025-11-25, 2025-06-18 or 2025-03-26, the default.",
  ),
  header("Mcp-Session-Id", "Id of the session from the response to `initialize`. It belongs to this key."),
]
const REPEATED = [
  header("Mcp-Method", "The method of a request of revision 2026-07-28, as in its body."),
  header("Mcp-Name", "The name of the tool or prompt, or the URI of the resource, as in the body."),
]

const send = createRoute({
  method: "post",
  path: "/mcp/{server}",
  operationId: "sendMcpMessage",
  tags,
  summary: "Send a message to an MCP server",
  description:
    "Streamable HTTP transport of the Model Context Protocol. Each `tools/call` is a separate call, at the price in " +
    "the server's record. Rejections by a permission, a limit or a guardrail are JSON-RPC errors with status 200.",
  middleware: [acceptJson(MAX_BODY_BYTES)] as const,
  parameters: [...HEADERS, ...REPEATED],
  request: { params, body: jsonBody(Body) },
  responses: {
    200: {
      description: "The response, or a stream of events that ends with it.",
      content: { ...json(Body), "text/event-stream": { schema: Message } },
    },
    202: { description: "A notification or a response was accepted." },
    ...FAILURES,
    400: ok(Failed, "invalid request; a JSON-RPC error where revision 2026-07-28 requires one"),
    404: ok(Failed, "not found; a JSON-RPC error for a method, in revision 2026-07-28"),
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
  responses: { 204: { description: "The session has ended." }, ...FAILURES },
})

export const mcpGateway = newRouter({ relaysText: true })
  .openapi(send, async (c) => {
    const body = c.req.valid("json")
    const revision = readRevision(c.req.raw.headers, body)
    if ("rejection" in revision) return c.json(revision.rejection, 400)
    const connection = await connect(incomingCall(c), c.req.valid("param").server, revision.version)
    const accepted = readAccept(c.req.header("accept") ?? null)
    if (Array.isArray(body)) {
      if (connection.version !== VERSION_WITHOUT_HEADER) {
        throw new GatewayError(
          "invalid_request",
          "Batches exist only in revision 2025-03-26. Send one message at a time.",
        )
      }
      return respondToBatch(body, connection)
    }
    return isRequest(body) ? respondToRequest(body, connection, accepted) : respondOneWay(body, connection)
  })
  .openapi(end, async (c) => {
    const version = c.req.header(VERSION_HEADER)
    if (version !== undefined && !isSessionVersion(version)) {
      throw new GatewayError("invalid_request", `${VERSION_HEADER}: accepts ${SESSION_VERSIONS.join(", ")}.`)
    }
    const connection = await connect(incomingCall(c), c.req.valid("param").server, version)
    if (connection.upstream.sessionId === undefined) {
      throw new GatewayError("invalid_request", "Mcp-Session-Id: is required.")
    }
    return respondToDelete(connection)
  })
