import * as z from "zod"
import { nameText } from "../http/schema.ts"
import { isNanoPrecise, NANO_PRECISE } from "../money/money.ts"

export const NewOrganization = z
  .strictObject({
    name: nameText(128),
    starting_balance_usd: z
      .number({ error: "must be a number of USD" })
      .min(0, "must be from 0 to 1000000")
      .max(1_000_000, "must be from 0 to 1000000")
      .refine(isNanoPrecise, NANO_PRECISE)
      .default(0),
    owner_email: z.email("must be an email address").max(254).optional(),
  })
  .meta({ id: "NewOrganization" })
export type NewOrganization = z.infer<typeof NewOrganization>

export const OrganizationChange = z
  .strictObject({
    interns_programme: z
      .boolean()
      .optional()
      .meta({ description: "Without it, routes of interns and vaults return 404." }),
    vault_writes: z.boolean().optional().meta({ description: "Without it, vaults are read-only." }),
  })
  .meta({ id: "OrganizationChange" })
export type OrganizationChange = z.infer<typeof OrganizationChange>

export const OrganizationRights = z
  .object({ id: z.uuid(), interns_programme: z.boolean(), vault_writes: z.boolean() })
  .meta({ id: "OrganizationRights" })

export const Organization = z
  .object({
    id: z.uuid(),
    name: z.string(),
    workspace_id: z.uuid(),
    owner_user_id: z.string(),
    management_key: z.string().meta({ description: "Shown once." }),
    api_key: z.string().meta({ description: "Shown once." }),
  })
  .meta({ id: "Organization" })
