import { createRoute } from "@hono/zod-openapi"
import * as z from "zod"
import { entryOf } from "../audit/actor.ts"
import { requireOperator } from "../access/guards.ts"
import { acceptJson, newRouter } from "../http/router.ts"
import { failures, jsonBody, ok } from "../http/schema.ts"
import { rewrap } from "./data-key.ts"
import { masterIdOf, mastersOf } from "./master-key.ts"
import { countDataKeys, listDataKeys, replaceDataKeys } from "./store.ts"

/** Each is a statement of one batch. */
const MOST_KEYS = 100

const Rotation = z
  .object({
    rewrapped: z.int().meta({ description: "Data keys that this call has put under MASTER_KEY." }),
    remaining: z.int().meta({ description: "Those that are still under MASTER_KEY_PREVIOUS: ask again until 0." }),
    unreadable: z.int().meta({ description: "Those that neither opens: an older master key was taken away too soon." }),
  })
  .meta({ id: "SecretRotation" })

const rotate = createRoute({
  method: "post",
  path: "/secrets/rotate",
  operationId: "rotateSecrets",
  tags: ["Secrets"],
  summary: "Rotate data keys",
  description:
    "Seals them with the current master key; what they seal stays as it is. For the deployment's bootstrap management key only.",
  middleware: [requireOperator, acceptJson(65_536)] as const,
  request: {
    body: jsonBody(
      z.strictObject({
        limit: z
          .int("must be an integer")
          .min(1, `must be from 1 to ${MOST_KEYS}`)
          .max(MOST_KEYS, `must be from 1 to ${MOST_KEYS}`)
          .default(MOST_KEYS),
      }),
    ),
  },
  responses: {
    200: ok(z.object({ data: Rotation })),
    ...failures("invalid_request", "unauthenticated", "forbidden", "internal"),
  },
})

export const secrets = newRouter().openapi(rotate, async (c) => {
  const db = c.env.DB
  const masters = mastersOf(c.env)
  const { current, previous } = masters
  const currentId = await masterIdOf(current)
  const previousId = previous === undefined || previous === current ? "" : await masterIdOf(previous)
  const stale = previousId === "" ? [] : await listDataKeys(db, previousId, c.req.valid("json").limit)
  const wrapped = await Promise.all(stale.map(async (before) => ({ before, after: await rewrap(before, masters) })))
  const keys = wrapped.flatMap(({ before, after }) => (after ? [{ before, after }] : []))
  const changed = { fields: ["data_keys"], values: { data_keys: keys.length } }
  const entry = entryOf(c, { action: "master_key.rotate", resourceId: currentId, workspaceId: null, changed })
  const rewrapped = keys.length === 0 ? 0 : await replaceDataKeys(db, keys, Date.now(), entry)
  const { previous: remaining, neither: unreadable } = await countDataKeys(db, currentId, previousId)
  return c.json({ data: { rewrapped, remaining, unreadable } }, 200)
})
