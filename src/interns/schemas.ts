import * as z from "zod"
import { LimitReset, limitInput } from "../keys/schemas.ts"
import { mcpToolsInput, mcpToolsOutput } from "../support/mcp-tools.ts"
import { homeFilesInput } from "./home-files.ts"
import { INTERN_HOSTS, INTERN_STATUSES } from "./kinds.ts"
import { queryIntegerOr, textIn, uuidParam } from "../http/schema.ts"

const NAME = /^[a-z][a-z0-9]*(-[a-z0-9]+)*$/
const MODEL = /^[A-Za-z0-9~._:@+-]+\/[A-Za-z0-9~._:@+-]+$/

const name = z
  .string()
  .min(2, "must be 2 to 17 characters")
  .max(17, "must be 2 to 17 characters")
  .regex(NAME, "must be lowercase letters, digits and single hyphens, and begin with a letter")
const description = z.string().max(2_000, "must be at most 2000 characters").nullable()
const instructions = z.string().max(100_000, "must be at most 100000 characters").nullable()
const model = z
  .string()
  .min(1, "must be 1 to 200 characters")
  .max(200, "must be 1 to 200 characters")
  .regex(MODEL, "must be a model as author/slug")
  .nullable()

const terms = {
  limit: limitInput.nullish().meta({
    description:
      "USD that the intern may spend in total, or until `limit_reset`. Limits of the key that created it also apply. Null: no separate limit.",
  }),
  limit_reset: LimitReset.nullish().meta({ description: "When `limit` resets, UTC. Null: never." }),
  daily_limit: limitInput.nullish().meta({ description: "USD per UTC day, in addition to `limit`. Null: none." }),
  mcp_tools: mcpToolsInput.meta({
    description:
      "Tools of MCP servers that the intern may call: `server/tool` or `server/*`. Only tools of the key that created it. Null: none.",
  }),
}

export const NewIntern = z
  .strictObject({
    name,
    description: description.optional(),
    instructions: instructions.optional(),
    model: model.optional(),
    provision: z.boolean().default(false),
    vault_id: z
      .uuid("must be the UUID of a vault of another intern of this workspace")
      .toLowerCase()
      .optional()
      .meta({ description: "Vault of another intern of the workspace to use." }),
    workspace_id: uuidParam("the key's workspace").optional(),
    host: z
      .enum(INTERN_HOSTS, { error: `accepts ${INTERN_HOSTS.join(", ")}` })
      .optional()
      .meta({ description: "Where its agent runs. Default: that of the cloned intern or of the deployment." }),
    clone_of: z
      .uuid("must be the UUID of an intern of this workspace")
      .toLowerCase()
      .optional()
      .meta({
        description:
          "The intern to copy description, model, instructions, limits, `mcp_tools`, schedules and files from, unless " +
          "this request sets them. Requires control of that intern. Secrets, sessions, usage and the " +
          "webhook are not copied.",
      }),
    files: homeFilesInput.optional(),
    ...terms,
  })
  .meta({ id: "NewIntern" })
export type NewIntern = z.infer<typeof NewIntern>

export const InternChange = z
  .strictObject({
    name: name.optional(),
    description: description.optional(),
    instructions: instructions.optional(),
    model: model.optional(),
    ...terms,
  })
  .meta({ id: "InternChange" })
export type InternChange = z.infer<typeof InternChange>

export const InternDeletion = z
  .strictObject({ acknowledge_workspace_loss: z.boolean().default(false) })
  .meta({ id: "InternDeletion" })

/** For operations without a body: any field is rejected. */
export const NoFields = z.strictObject({})

export const JoinTokenRequest = z
  .strictObject({
    replace: z
      .boolean()
      .default(false)
      .meta({ description: "Create the token although a daemon is attached, which is then disconnected permanently." }),
  })
  .meta({ id: "JoinTokenRequest" })

const usd = z.number().min(0)
const shownTo = "Only for keys that may manage the intern, and its own key."
/** Absent in records of interns that the principal does not control; usage also if the ledger cannot be read. */
const keyFields = {
  limit: usd
    .nullable()
    .optional()
    .meta({ description: `USD. ${shownTo}` }),
  limit_reset: LimitReset.nullable().optional(),
  limit_remaining: usd.nullable().optional().meta({ description: "USD left of `limit`; null without one." }),
  daily_limit: usd.nullable().optional().meta({ description: "USD per UTC day." }),
  daily_limit_remaining: usd
    .nullable()
    .optional()
    .meta({ description: "USD left of `daily_limit` today; null without one." }),
  mcp_tools: mcpToolsOutput.optional(),
  usage: usd.optional().meta({ description: `USD that the intern has spent. ${shownTo}` }),
  usage_daily: usd.optional().meta({ description: "USD since UTC midnight." }),
}

export const Intern = z
  .object({
    id: z.uuid(),
    name: z.string(),
    description: z.string().nullable(),
    instructions: z.string().nullable(),
    model: z.string().nullable().meta({ description: "As configured; null for the default of the gateway." }),
    running_model: z.string().nullable().meta({
      description:
        "The model that the agent was provisioned with. A change of `model` takes effect at the next provision.",
    }),
    host: z.enum(INTERN_HOSTS).meta({ description: "Where its agent runs." }),
    status: z.enum(INTERN_STATUSES),
    hostname: z.string().nullable(),
    progress: z.object({ step_label: z.string(), step_number: z.int().min(1), total_steps: z.int().min(1) }).nullable(),
    last_failure_message: z.string().nullable(),
    vault_id: z.uuid().nullable(),
    attached_vault_id: z.uuid().nullable(),
    workspace_id: z.uuid(),
    created_at: z.string(),
    updated_at: z.string(),
    ...keyFields,
  })
  .meta({ id: "Intern" })
export type Intern = z.infer<typeof Intern>

const MAX_STATUSES = 8
/** Statuses that @openrouter/sdk spells in another way. */
const CLIENT_SPELLINGS = new Map([["awaiting_slack_install", "awaiting_vendor_install"]])
const ONE_STATUS = [...INTERN_STATUSES, ...CLIENT_SPELLINGS.keys()].join("|")
const STATUS_LIST = `^(${ONE_STATUS})(,(${ONE_STATUS}))*$`
const pageSize = "must be an integer from 1 to 500"
export const InternQuery = z.object({
  limit: queryIntegerOr(50, 1, 500, pageSize),
  starting_after: z.string().min(1, "must be the next_cursor of a previous page").max(512).optional(),
  status: z
    .string()
    .transform((rule) => [...new Set(rule.split(",").map((status) => CLIENT_SPELLINGS.get(status) ?? status))])
    .pipe(
      z
        .array(z.enum(INTERN_STATUSES, { error: `accepts ${INTERN_STATUSES.join(", ")}` }))
        .max(MAX_STATUSES, `must be at most ${MAX_STATUSES} statuses`),
    )
    .optional()
    .meta({ description: "Statuses, separated by commas.", pattern: STATUS_LIST }),
  workspace_id: uuidParam("the key's workspace").optional(),
  q: textIn("name or description"),
})
export type InternQuery = z.infer<typeof InternQuery>

export const InternList = z
  .object({
    data: z.array(Intern),
    has_more: z.boolean(),
    total_count: z.int(),
    next_cursor: z.string().optional(),
  })
  .meta({ id: "InternList" })

export const DaemonAccess = z
  .object({ origin: z.url(), token: z.string().meta({ description: "Opens the agent until the next provision." }) })
  .meta({ id: "InternDaemonAccess" })

export const JoinToken = z
  .object({ token: z.string().meta({ description: "Shown once." }), url: z.url() })
  .meta({ id: "InternJoinToken" })
