import * as z from "zod"
import { DATA_REGIONS } from "../support/regions.ts"
import { nameText, PageQuery, uuidParam } from "../http/schema.ts"
import { Patterns } from "../support/text/wildcard.ts"

const MAX_KEY_LENGTH = 16_384
const MAX_ENTRIES = 1_000

const name = nameText(128)
const key = z
  .string({ error: "must be the provider's key, a string" })
  .trim()
  .regex(/^[\x20-\x7e]+$/, "must be printable ASCII on one line: it is sent in a header")
  .max(MAX_KEY_LENGTH, `must be at most ${MAX_KEY_LENGTH} characters`)
  .meta({ description: "The provider's key. Write-only: stored encrypted, never returned." })
const flag = z.boolean()

function list(entry: z.ZodType<string>, rule: string) {
  return z
    .array(entry, { error: `must be an array of ${rule}, or null for all` })
    .min(1, "must not be empty; null allows all")
    .max(MAX_ENTRIES, `must be at most ${MAX_ENTRIES} entries`)
}

const HASH = /^[0-9a-f]{64}$/
const fields = {
  name: name.nullish(),
  disabled: flag.optional(),
  is_byok_only: flag
    .optional()
    .meta({ description: "The gateway's own key for this provider is never used. Not with is_fallback." }),
  is_fallback: flag.optional().meta({ description: "Tried after the gateway's own key." }),
  is_required: flag.optional().meta({ description: "As is_byok_only, for the models that this credential covers." }),
  sort_order: z.int().min(0).max(1_000_000).optional().meta({
    description:
      "Tried in this order, lowest first; equal ones share the calls. If omitted at creation: after the last.",
  }),
  declared_zdr: flag
    .nullish()
    .meta({ description: "Whether this account has zero data retention; null: as the provider." }),
  declared_region: z
    .enum(DATA_REGIONS, { error: `accepts ${DATA_REGIONS.join(", ")} or null` })
    .nullish()
    .meta({ description: "Region in which this account processes requests; null and global: as the provider." }),
  allowed_api_key_hashes: list(
    z.string().regex(HASH, "must be 64 hex digits, as GET /keys lists them"),
    "hashes of API keys",
  ).nullish(),
  allowed_models: Patterns.min(1, "must not be empty; null allows all")
    .nullish()
    .meta({ description: "Models, `*` for anything: `author/*`." }),
  allowed_user_ids: list(z.string().min(1).max(256), "ids of users").nullish(),
  allow_unknown: flag.optional().meta({
    description:
      "For this request only: accepts models that the catalogue does not have and users that are not members. Otherwise they are rejected with 400.",
  }),
}

export const NewByok = z
  .strictObject({
    provider: z.string({ error: "is required: the slug of a provider, such as openai" }).min(1).max(63),
    key,
    workspace_id: uuidParam("a workspace").optional(),
    ...fields,
  })
  .meta({ id: "NewByokCredential" })
export type NewByok = z.infer<typeof NewByok>

export const ByokChange = z.strictObject({ ...fields, key: key.optional() }).meta({ id: "ByokCredentialChange" })
export type ByokChange = z.infer<typeof ByokChange>

const strings = z.array(z.string()).nullable()
export const Byok = z
  .object({
    id: z.uuid(),
    workspace_id: z.string().nullable(),
    name: z.string().nullable(),
    label: z.string().meta({ description: "The masked key." }),
    provider: z.string(),
    disabled: z.boolean(),
    is_byok_only: z.boolean(),
    is_fallback: z.boolean(),
    is_required: z.boolean(),
    declared_zdr: z.boolean().nullable(),
    declared_region: z.enum(DATA_REGIONS).nullable(),
    sort_order: z.int().meta({
      description: "Tried in this order, lowest first, among those of one provider; equal ones share the calls.",
    }),
    allowed_api_key_hashes: strings,
    allowed_models: strings,
    allowed_user_ids: strings,
    created_at: z.iso.datetime(),
  })
  .meta({ id: "ByokCredential" })

export const ByokQuery = PageQuery.extend({
  workspace_id: uuidParam("a workspace").optional(),
  provider: z.string().min(1).max(63).optional().meta({ description: "The slug of a provider." }),
})
