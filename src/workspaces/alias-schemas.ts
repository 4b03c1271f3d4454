import * as z from "zod"
import { allowUnknown } from "../money/over-budget.ts"

export const MAX_ALIASES = 50
const MAX_ARMS = 10
const MAX_KEYS = 100
const REGIONS = ["global", "europe", "us"] as const
const weightRule = "must be a number above 0, at most 1000000"
const tokensRule = "must be a whole number of tokens"

const arm = z
  .strictObject({
    model: z
      .string({ error: "must be a model, author/slug" })
      .min(1, "must not be empty")
      .max(256, "must be at most 256 characters")
      .meta({ description: "Model, optionally with variants and @preset/slug. Not resolved as an alias again." }),
    weight: z
      .number({ error: weightRule })
      .gt(0, weightRule)
      .max(1_000_000, weightRule)
      .default(1)
      .meta({ description: "Share among the arms whose conditions hold." }),
    regions: z
      .array(z.enum(REGIONS, { error: `accepts ${REGIONS.join(", ")}` }))
      .min(1, "must not be empty")
      .optional()
      .meta({ description: "Only for calls at the hostnames of these regions." }),
    key_hashes: z
      .array(z.string().regex(/^[0-9a-f]{64}$/, "must be 64 hex digits, as GET /keys lists them"))
      .min(1, "must not be empty")
      .max(MAX_KEYS, `must be at most ${MAX_KEYS}`)
      .optional()
      .meta({ description: "Only for calls of these keys." }),
    min_prompt_tokens: z.int({ error: tokensRule }).min(0, tokensRule).optional(),
    max_prompt_tokens: z.int({ error: tokensRule }).min(0, tokensRule).optional(),
  })
  .meta({ id: "AliasArm" })

type Lengths = { min_prompt_tokens?: number | undefined; max_prompt_tokens?: number | undefined }

/** Checks that each arm accepts at least one prompt length. */
export function checkLengths(arms: readonly Lengths[], context: z.RefinementCtx): void {
  for (const [at, { min_prompt_tokens: min = 0, max_prompt_tokens: max = Infinity }] of arms.entries()) {
    if (min <= max) continue
    context.addIssue({
      code: "custom",
      path: [at, "max_prompt_tokens"],
      message: "must be at least min_prompt_tokens",
    })
  }
}

/** Conditions that a stored arm may name; unknown ones, of a later release, are ignored. */
export function isRegion(name: string): name is (typeof REGIONS)[number] {
  return REGIONS.some((region) => region === name)
}

const name = z
  .string()
  .regex(
    /^[A-Za-z0-9][A-Za-z0-9._-]*(\/[A-Za-z0-9][A-Za-z0-9._-]*)?$/,
    "must be a name such as team/fast: letters, digits, '.', '_', '-' and at most one '/', sent as %2F",
  )
  .max(128, "must be at most 128 characters")

export const WorkspaceAliases = z.object({
  workspaceRef: z.string().min(1).max(128).meta({ description: "The workspace's id or slug." }),
})
export const AliasPath = WorkspaceAliases.extend({ name })

export const AliasInput = z
  .strictObject({
    description: z.string().max(2_000, "must be at most 2000 characters").nullish(),
    arms: z
      .array(arm, { error: "must be an array of arms" })
      .min(1, "must have at least one arm")
      .max(MAX_ARMS, `must be at most ${MAX_ARMS} arms`)
      .superRefine(checkLengths),
    allow_unknown: allowUnknown,
  })
  .meta({ id: "AliasInput" })

const Alias = z
  .object({ name: z.string(), workspace_id: z.uuid(), description: z.string().nullable(), arms: z.array(arm) })
  .meta({ id: "Alias" })
export const AliasResponse = z.object({ data: Alias }).meta({ id: "AliasResponse" })
export const AliasList = z.object({ data: z.array(Alias) }).meta({ id: "AliasList" })
export const AliasDeleted = z.object({ deleted: z.literal(true) }).meta({ id: "AliasDeleted" })
