import * as z from "zod"
import { oneOf, PageQuery, nameText, uuidParam } from "../http/schema.ts"
import { ALERT_KINDS, CHANNEL_TYPES } from "./alert.ts"

const MAX_THRESHOLDS = 10
const MAX_TEXT = 2_048
const MAX_RECIPIENTS = 20

const line = z
  .string({ error: "must be a string" })
  .trim()
  .min(1, "must not be empty")
  .max(MAX_TEXT, `must be at most ${MAX_TEXT} characters`)
  // Not a regex: its flag would appear in the OpenAPI document.
  .refine((value) => !/\p{Cc}/u.test(value), "must be on one line")
const name = nameText(128)
const address = z.email("must be an e-mail address")
const workspace = uuidParam("a workspace").optional()
const kinds = z
  .array(oneOf(ALERT_KINDS), { error: "must be an array of kinds, or null for all" })
  .min(1, "must not be empty; null sends every kind")
  .max(ALERT_KINDS.length)

export const MAILERS = ["resend", "postmark", "sendgrid", "mailgun"] as const

/** Configuration of each type. */
export const CONFIGS = {
  webhook: z.strictObject({
    url: line,
    signing_secret: z
      .string()
      .regex(/^whsec_[A-Za-z0-9+/]{32,128}={0,2}$/, "must be whsec_ and at least 24 bytes in base64")
      .optional(),
  }),
  slack: z.strictObject({ url: line }),
  email: z
    .strictObject({
      provider: oneOf(MAILERS),
      api_key: line,
      from: address,
      to: z
        .array(address)
        .min(1, "must not be empty")
        .max(MAX_RECIPIENTS, `must be at most ${MAX_RECIPIENTS} addresses`),
      domain: line
        .regex(/^[a-z0-9.-]{1,253}$/i, "must be a domain")
        .optional()
        .meta({ description: "The sending domain; Mailgun needs it." }),
      base_url: line
        .optional()
        .meta({ description: "Another address of the mail provider's API, such as its EU region." }),
    })
    .refine(({ provider, domain }) => provider !== "mailgun" || domain !== undefined, {
      path: ["domain"],
      message: "is required with mailgun",
    }),
} as const
/** Sealed fields of each type. The URL of a Slack webhook is its credential. */
export const CHANNEL_SECRETS: Record<keyof typeof CONFIGS, readonly string[]> = {
  webhook: ["signing_secret"],
  slack: ["url"],
  email: ["api_key"],
}
/** Shown in responses instead of a secret. A change that sends it back keeps the secret. */
export const MASK = "..."

export type ConfigOf<T extends keyof typeof CONFIGS> = z.infer<(typeof CONFIGS)[T]>

const config = z.record(z.string(), z.unknown(), { error: "must be an object: see its type" })

export const NewChannel = z
  .strictObject({
    type: z.enum(CHANNEL_TYPES, { error: `is required: one of ${CHANNEL_TYPES.join(", ")}` }),
    name,
    config: config.meta({
      description:
        "`webhook`: `url` and, optionally, `signing_secret`. `slack`: `url` of an incoming webhook. `email`: `provider` " +
        `(${MAILERS.join(", ")}), \`api_key\`, \`from\`, \`to\` and, where needed, \`domain\` and \`base_url\`.`,
    }),
    workspace_id: workspace.meta({ description: "If omitted, the default workspace." }),
    all_workspaces: z.boolean().optional().meta({ description: "Alerts of every workspace. Default: false." }),
    kinds: kinds.nullish().meta({ description: "Null for all." }),
    enabled: z.boolean().optional(),
  })
  .meta({ id: "NewAlertChannel" })

export const ChannelChange = z
  .strictObject({
    name: name.optional(),
    config: config.optional().meta({ description: "Replaces the configuration. Masked values keep the stored ones." }),
    all_workspaces: z.boolean().optional(),
    kinds: kinds.nullish(),
    enabled: z.boolean().optional(),
  })
  .meta({ id: "AlertChannelChange" })

const instant = z.iso.datetime().nullable()
export const Channel = z
  .object({
    id: z.uuid(),
    workspace_id: z.string(),
    all_workspaces: z.boolean(),
    type: z.enum(CHANNEL_TYPES),
    name: z.string(),
    enabled: z.boolean(),
    kinds: z.array(z.enum(ALERT_KINDS)).nullable(),
    config: z.record(z.string(), z.unknown()).meta({ description: "Secrets are masked." }),
    created_at: z.iso.datetime(),
    updated_at: z.iso.datetime(),
    last_success_at: instant,
    last_error_at: instant,
    last_error: z.string().nullable(),
  })
  .meta({ id: "AlertChannel" })

export const AlertRecord = z
  .object({
    id: z.uuid(),
    workspace_id: z.string().nullable().meta({ description: "Null for alerts about the complete organization." }),
    kind: z.enum(ALERT_KINDS),
    message: z.string(),
    data: z.record(z.string(), z.unknown()).meta({
      description:
        "Of a limit: `scope` (`balance`, `key`, `budget`, `guardrail`, `provider`, `schedule`), `id`, `name`, `interval`, `limit_usd`, `spent_usd` and " +
        "`threshold` in percent, or `needed_usd` of the rejected call. Otherwise the measured values.",
    }),
    created_at: z.iso.datetime(),
    deliveries: z.array(
      z.object({
        channel_id: z.string(),
        state: z.enum(["pending", "delivered", "failed"]),
        attempts: z.int(),
        last_error: z.string().nullable(),
      }),
    ),
  })
  .meta({ id: "Alert" })

export const ChannelsQuery = PageQuery.extend({
  workspace_id: workspace.meta({ description: "Only channels of this workspace. If omitted: of all." }),
})

export const AlertsQuery = PageQuery.extend({
  workspace_id: workspace,
  kind: oneOf(ALERT_KINDS).optional(),
})

const percent = "must be a whole number from 1 to 100"
export const Settings = z
  .strictObject({
    thresholds: z
      .array(z.int({ error: percent }).min(1, percent).max(100, percent), { error: "must be an array of percentages" })
      .max(MAX_THRESHOLDS, `must be at most ${MAX_THRESHOLDS} percentages`)
      .transform((percents) => [...new Set(percents)].toSorted((one, other) => one - other))
      .meta({ description: "Percent of a limit. Default: 50, 80 and 100. Empty: no alerts of thresholds." }),
    provider_outages: z.boolean(),
    failing_destinations: z.boolean(),
    unusual_spend: z.boolean(),
  })
  .meta({ id: "AlertSettings" })
export const SettingsChange = Settings.partial().meta({ id: "AlertSettingsChange" })
