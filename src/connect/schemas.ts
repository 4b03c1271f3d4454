import * as z from "zod"
import { oneOf } from "../http/schema.ts"
import { CLIENTS } from "./clients.ts"

const TOKEN_RULE = "must be the part of the link after #: 43 letters, digits, _ and -"

const CLIENT = "The coding tool that the link configures."

export const ConnectToken = z.string({ error: TOKEN_RULE }).regex(/^[\w-]{43}$/, TOKEN_RULE)

export const NewConnectLink = z
  .strictObject({
    client: oneOf(CLIENTS).meta({ description: CLIENT }),
    key: z.string().min(1, "must not be empty").max(8_192, "must be at most 8192 characters").meta({
      description: "The secret of the API key that the link hands over; the gateway does not store it in clear.",
    }),
    model: z
      .string()
      .min(1, "must not be empty")
      .max(256, "must be at most 256 characters")
      .nullish()
      .meta({ description: "A model that the key may call. Null for the first one of the client's vendor." }),
  })
  .meta({ id: "NewConnectLink" })

export const ConnectLink = z
  .object({
    id: z.uuid().meta({ description: "Id of the link in the audit log." }),
    client: z.enum(CLIENTS).meta({ description: CLIENT }),
    model: z.string().nullable(),
    key_hash: z.string().meta({ description: "Hash of the API key that the link hands over." }),
    url: z.string().meta({
      description:
        "The link, at the origin of this request. The part after # is the token, which is in no other response.",
    }),
    command: z.string().meta({ description: "Redeems the link and writes the configuration, on macOS and Linux." }),
    expires_at: z.string(),
  })
  .meta({ id: "ConnectLink" })

export const Redemption = z
  .strictObject({ token: ConnectToken.meta({ description: "The part of the link after #." }) })
  .meta({ id: "ConnectLinkRedemption" })

export const RedeemedLink = z
  .object({
    client: z.enum(CLIENTS).meta({ description: CLIENT }),
    api_key: z.string().meta({ description: "The secret of the API key." }),
    base_url: z.string().meta({ description: "Base URL of the API, at the origin of this request. Ends in /api/v1." }),
    model: z.string().meta({ description: "The model to configure." }),
    models: z.array(z.string()).meta({ description: "Text models that the key may call, `model` first, at most 200." }),
  })
  .meta({ id: "RedeemedConnectLink" })
export type RedeemedLink = z.infer<typeof RedeemedLink>
