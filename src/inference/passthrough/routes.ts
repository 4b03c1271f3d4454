import { createRoute } from "@hono/zod-openapi"
import * as z from "zod"
import { newRouter } from "../../http/router.ts"
import { failures } from "../../http/schema.ts"
import { METHODS, ServiceSlug } from "../../passthrough/schemas.ts"
import { incomingCall } from "../context.ts"
import { forward } from "./forward.ts"

const tags = ["Passthrough"]
const params = z.object({
  service: ServiceSlug.meta({ description: "Slug of a registered service." }),
  path: z.string().meta({ description: "Path at the service; it may have slashes.", example: "v1" }),
})

const FAILURES = failures(
  "invalid_request",
  "unauthenticated",
  "payment_required",
  "forbidden",
  "not_found",
  "timeout",
  "payload_too_large",
  "rate_limited",
  "internal",
  "provider_failed",
)

const TITLES = {
  GET: "Read from a service",
  POST: "Post to a service",
  PUT: "Put to a service",
  PATCH: "Patch at a service",
  DELETE: "Delete at a service",
} as const

export const passthrough = newRouter({ relaysText: true })

for (const method of METHODS) {
  const route = createRoute({
    method: method.toLowerCase() as Lowercase<typeof method>,
    path: "/passthrough/{service}/{path}",
    operationId: `${method.toLowerCase()}Passthrough`,
    tags,
    summary: TITLES[method],
    description:
      "Forwards the request with the secrets of the service's record to a path that its rules allow, at the price of the rule. The response is the service's own; 401 and 403 of the service are 502. A response with a status of 400 or more costs nothing.",
    request: { params },
    responses: {
      200: {
        description: "The response of the service, with its status.",
        content: { "*/*": { schema: z.unknown() } },
      },
      ...FAILURES,
    },
  })
  const deep = createRoute({ ...route, path: "/passthrough/{service}/{path{.+}}", hide: true })
  passthrough.openapi(route, async (c) => forward(incomingCall(c), c.req.valid("param").service))
  passthrough.openapi(deep, async (c) => forward(incomingCall(c), c.req.valid("param").service))
}
