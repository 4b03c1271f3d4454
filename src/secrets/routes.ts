import { createRoute } from "@hono/zod-openapi"
import * as z from "zod"
import { entryOf } from "../audit/actor.ts"
import { requireOperator } from "../access/guards.ts"
import { acceptJson, newRouter } from "../http/router.ts"
import { failures, jsonBody, ok } from "../http/schema.ts"
import { rewrap, type WrappedKey } from "./data-key.ts"
import { masterIdOf, type MasterKeys, masterKeysOf } from "./master-key.ts"
import { countDataKeys, listDataKeys, replaceDataKeys } from "./store.ts"

/** Each is a statement of one batch. */
const MAX_KEYS = 100

const Rotation = z
  .object({
    rewrapped: z.int().meta({ description: "Data keys that this call has sealed under MASTER_KEY." }),
    remaining: z
      .int()
      .meta({ description: "Keys that are still under MASTER_KEY_PREVIOUS: repeat the call until this is 0." }),
    unreadable: z.int().meta({
      description: "Keys that neither decrypts: an older master key was removed too soon, or the row was changed.",
    }),
  })
  .meta({ id: "SecretRotation" })

const rotate = createRoute({
  method: "post",
  path: "/secrets/rotate",
  operationId: "rotateSecrets",
  tags: ["Secrets"],
  summary: "Rotate data keys",
  description:
    "Seals them with the current master key; values sealed with them do not change. Only for the deployment's bootstrap management key.",
  middleware: [requireOperator, acceptJson(65_536)] as const,
  request: {
    body: jsonBody(
      z.strictObject({
        limit: z
          .int("must be an integer")
          .min(1, `must be from 1 to ${MAX_KEYS}`)
          .max(MAX_KEYS, `must be from 1 to ${MAX_KEYS}`)
          .default(MAX_KEYS),
      }),
    ),
  },
  responses: {
    200: ok(z.object({ data: Rotation })),
    ...failures("invalid_request", "unauthenticated", "forbidden", "internal"),
  },
})

type Rewrapped = { before: WrappedKey; after: WrappedKey }

/**
 * Rewraps up to `limit` data keys that the previous master key encrypted. `previousId` is empty without a previous key.
 * Keys that cannot be decrypted are skipped and counted as `broken`: if listed each time, they would keep the rotation
 * from ending.
 */
async function rewrapSome(
  db: D1Database,
  { previousId, masters, limit }: { previousId: string; masters: MasterKeys; limit: number },
): Promise<{ keys: Rewrapped[]; broken: number }> {
  const keys: Rewrapped[] = []
  let broken = 0
  let after = ""
  while (previousId !== "" && keys.length < limit) {
    const page = await listDataKeys(db, previousId, { after, limit: limit - keys.length })
    const results = await Promise.all(page.map(async (before) => ({ before, after: await rewrap(before, masters) })))
    for (const { before, after: rewrapped } of results) {
      if (rewrapped) keys.push({ before, after: rewrapped })
      else broken += 1
    }
    const last = page.at(-1)
    if (!last) break
    after = last.id
  }
  return { keys, broken }
}

export const secrets = newRouter().openapi(rotate, async (c) => {
  const db = c.env.DB
  const masters = masterKeysOf(c.env)
  const { current, previous } = masters
  const currentId = await masterIdOf(current)
  const previousId = previous === undefined || previous === current ? "" : await masterIdOf(previous)
  const { keys, broken } = await rewrapSome(db, { previousId, masters, limit: c.req.valid("json").limit })
  const changed = { fields: ["data_keys"], values: { data_keys: keys.length } }
  const entry = entryOf(c, { action: "master_key.rotate", resourceId: currentId, workspaceId: null, changed })
  const rewrapped = keys.length === 0 ? 0 : await replaceDataKeys(db, keys, Date.now(), entry)
  const counts = await countDataKeys(db, currentId, previousId)
  const remaining = Math.max(0, counts.previous - broken)
  const data = { rewrapped, remaining, unreadable: counts.neither + broken }
  return c.json({ data }, 200)
})
