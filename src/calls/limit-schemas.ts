import * as z from "zod"

const usd = (description: string) => z.number().meta({ description })

export const LimitInForce = z
  .object({
    kind: z.enum(["balance", "key", "budget", "guardrail", "provider", "schedule"]),
    id: z.string().meta({
      description:
        "Id of the organization, key, workspace, guardrail or schedule with this limit; the slug of a provider.",
    }),
    name: z.string().nullable(),
    subject: z.enum(["key", "member", "end_user", "metadata"]).nullable().meta({
      description:
        "What the budget of a guardrail counts: this key, its member, an end user, or a value of a metadata field. Null for other limits.",
    }),
    limit: usd("USD. For the balance, the sum of credits."),
    spent: usd("USD in the current window."),
    held: usd("USD that is reserved for running calls."),
    left: usd("USD: limit - spent - held. Negative if more was spent than the limit now allows."),
    interval: z.enum(["daily", "weekly", "monthly"]).nullable().meta({ description: "Null: it never resets." }),
    resets_at: z.iso.datetime().nullable().meta({ description: "Start of the next window, in UTC." }),
    includes_byok: z.boolean().meta({ description: "Calls with BYOK credentials count too." }),
    binds: z.boolean().meta({
      description:
        "The limit with the least left, which stops the key first. Never one of a provider, which applies only to calls there.",
    }),
  })
  .meta({
    id: "LimitInForce",
    example: {
      kind: "key",
      id: "5f0c6a1e9b1d4c2f8a7e3d5b6c9f0a1e2d3c4b5a69788766554433221100ffee",
      name: "ci",
      subject: null,
      limit: 10,
      spent: 8.06,
      held: 0,
      left: 1.94,
      interval: "daily",
      resets_at: "2026-11-23T00:00:00.000Z",
      includes_byok: false,
      binds: true,
    },
  })

export const LimitsInForce = z.object({ data: z.array(LimitInForce) }).meta({ id: "LimitsInForce" })
