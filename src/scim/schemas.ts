import * as z from "zod"
import type { Env } from "../config/env.ts"
import type { DirectoryRow } from "./table.ts"
import type { Clause } from "./protocol/filter.ts"
import { nameText, uuidParam } from "../http/schema.ts"

const name = nameText(100).meta({ description: "A name to recognize it by: Okta, Entra, …" })

const pull = {
  url: z
    .url("must be the URL of a SCIM 2.0 service, such as https://directory.example.com/scim/v2")
    .max(1_000, "must have at most 1000 characters"),
  token: z
    .string({ error: "is required: the bearer token of that service" })
    .min(1, "must be the bearer token of that service")
    .max(4_096, "must have at most 4096 characters")
    .regex(/^[\x21-\x7e]+$/, "must be a bearer token, without spaces"),
}

export const NewDirectory = z
  .strictObject({
    name,
    pull: z
      .strictObject(pull)
      .optional()
      .meta({ description: "Where sync jobs read users and groups; without it, the directory pushes them." }),
  })
  .meta({ id: "NewScimDirectory" })

export const DirectoryChange = z
  .strictObject({
    name: name.optional(),
    pull: z
      .strictObject({ url: pull.url.optional(), token: pull.token })
      .optional()
      .meta({ description: "The new token of a pulled directory, and its new URL. A new URL needs the token too." }),
  })
  .refine((change) => Object.values(change).some((value) => value !== undefined), "must have name or pull")
  .meta({ id: "ScimDirectoryChange", minProperties: 1 })

/** A week, in seconds. */
const MAX_KEPT_SECONDS = 604_800

export const TokenRotation = z
  .strictObject({
    keep_previous_seconds: z
      .int("must be a whole number of seconds")
      .min(0, "must be from 0 to 604800")
      .max(MAX_KEPT_SECONDS, "must be from 0 to 604800")
      .optional()
      .meta({ description: "How long the former token stays valid: 0 (default) to 604800, a week." }),
  })
  .meta({ id: "ScimTokenRotation" })

export const Directory = z
  .object({
    id: z.uuid(),
    name: z.string(),
    base_url: z.url().nullable().meta({ description: "SCIM 2.0 base URL that the directory pushes to." }),
    pull: z
      .object({ url: z.string(), label: z.string() })
      .nullable()
      .meta({ description: "Where sync jobs read it, with its masked token." }),
    previous_token_expires_at: z.iso
      .datetime()
      .nullable()
      .meta({ description: "Until when the former token is valid; null after that." }),
    created_at: z.iso.datetime(),
  })
  .meta({ id: "ScimDirectory" })

export const CreatedDirectory = Directory.extend({
  token: z
    .string()
    .nullable()
    .meta({ description: "Bearer token for its pushes, in this response only. Null for a pulled directory." }),
}).meta({ id: "CreatedScimDirectory" })

export const Directories = z
  .object({ data: z.array(Directory), total_count: z.int() })
  .meta({ id: "ScimDirectoryList" })

export const DirectoryPath = z.object({ id: uuidParam("a directory") })

/** Hono's generics of the service that directories push to. */
export type ScimApp = {
  Bindings: Env
  Variables: {
    requestId: string
    directory: DirectoryRow
    /** The URL of the service, as in this request. */
    base: string
  }
}

/** Condition, order and page of a list, in SQL. */
export type ResourcePage = { condition: Clause; order: string; limit: number; offset: number }
