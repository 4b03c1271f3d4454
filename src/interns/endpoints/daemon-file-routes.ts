import { createRoute } from "@hono/zod-openapi"
import * as z from "zod"
import { newRouter } from "../../http/router.ts"
import { failures, ok } from "../../http/schema.ts"
import { toBase64Url } from "../../support/text/encoding.ts"
import { HOME, type HomePage } from "../embedded/home.ts"
import { joinTokenIntern } from "../access/join-token.ts"
import { openIntern } from "../lifecycle/open-intern.ts"

const DaemonFiles = z
  .object({
    data: z.array(
      z.object({
        path: z.string().meta({ description: "Relative to the folder in which the agent works." }),
        content: z.string().meta({ description: "base64url." }),
        mode: z.int(),
      }),
    ),
    next: z.string().nullable().meta({ description: "`after` of the next page; null for the last one." }),
  })
  .meta({ id: "DaemonFiles" })

const read = createRoute({
  method: "get",
  path: "/interns/{internId}/daemon/files",
  operationId: "readDaemonFiles",
  tags: ["Interns"],
  summary: "Read the initial files of an agent",
  description: "About 1 MiB per page. For the daemon, with its join token. API keys are not accepted.",
  security: [{ joinToken: [] }],
  // An id that is not a UUID gets the same response as a wrong token.
  request: {
    params: z.object({ internId: z.string().max(64) }),
    query: z.object({ after: z.string().max(1_024).default("") }),
  },
  responses: {
    200: ok(DaemonFiles),
    ...failures("invalid_request", "unauthenticated", "forbidden", "rate_limited", "internal"),
  },
})

/** Accepts join tokens, not API keys. */
export const daemonFiles = newRouter().openapi(read, async (c) => {
  const { id } = await joinTokenIntern(c, c.req.valid("param").internId)
  const { after } = c.req.valid("query")
  const page: HomePage = await openIntern(c.env, id).homePage(after === "" ? "" : `${HOME}/${after}`)
  const data = page.files.map(({ path, body, mode }) => ({ path: relative(path), content: toBase64Url(body), mode }))
  return c.json({ data, next: page.next === null ? null : relative(page.next) }, 200, { "cache-control": "no-store" })
})

const relative = (path: string) => path.slice(HOME.length + 1)
