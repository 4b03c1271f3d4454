import * as z from "zod"

export const NewSession = z
  .strictObject({
    key: z
      .string({ error: "is required: an API key of this gateway" })
      .min(1, "must not be empty")
      .max(256, "must be at most 256 characters")
      .meta({ description: "An API key. It is not stored: the session keeps its hash.", examples: ["sk-gw-v1-..."] }),
  })
  .meta({ id: "NewConsoleSession" })

export const Session = z
  .object({
    kind: z
      .enum(["management", "workspace"])
      .meta({ description: "`management` for a management key, `workspace` for any other key." }),
    key: z.object({
      hash: z.string().meta({ description: "Id of the key: its SHA-256 in hex." }),
      name: z.string().meta({ description: "`bootstrap` for the deployment's own key." }),
      label: z.string().meta({ description: "The masked key." }),
    }),
    workspace: z
      .object({ id: z.string(), slug: z.string(), name: z.string() })
      .nullable()
      .meta({ description: "Workspace of the key. Null before the deployment has an organization." }),
    organization: z.object({ id: z.string(), name: z.string() }).nullable(),
    user: z
      .object({
        id: z.string(),
        email: z.string(),
        first_name: z.string().nullable(),
        last_name: z.string().nullable(),
      })
      .nullable()
      .meta({ description: "The member who signed in with the identity provider; null for a sign-in with a key." }),
    may: z.array(z.string()).meta({
      description:
        "Areas of the API that the key may use, as `<area>:read` and `<area>:write`, such as `keys:write`. An area is the first segment of a path; budgets and members of workspaces and organizations are `budgets` and `members`. `read` covers every GET route of an area, `write` every other route.",
      examples: [["calls:read", "chat:write", "keys:read", "keys:write"]],
    }),
    expires_at: z.iso.datetime().meta({ description: "End of the session: after 12 hours, or when the key expires." }),
  })
  .meta({ id: "ConsoleSession" })
