import * as z from "zod"
import { PageQuery, queryIntegerOr, uuidParam } from "../http/schema.ts"
import { MAX_HOST_LENGTH, readHost } from "./hosts.ts"

const MAX_NAME_LENGTH = 255
const MAX_VALUE_LENGTH = 65_536
const MAX_HOSTS = 100
const MAX_COPIED = 100

const NAME = /^(?!.*__)[a-z]([a-z0-9_]*[a-z0-9])?$/
const nameRule =
  "must be lowercase letters, digits and single underscores, beginning with a letter and not ending with an underscore"
const SecretName = z
  .string({ error: nameRule })
  .regex(NAME, nameRule)
  .max(MAX_NAME_LENGTH, `must be at most ${MAX_NAME_LENGTH} characters`)

export const SecretPath = z.object({ name: SecretName })
export const InternPath = z.object({ internId: uuidParam("an intern") })
export const InternSecretPath = InternPath.extend({ name: SecretName })

const Host = z
  .string({ error: "must be a hostname, a string" })
  .transform((text, context): string => {
    const read = readHost(text)
    if ("host" in read) return read.host
    context.addIssue({ code: "custom", message: read.fault })
    return z.NEVER
  })
  .meta({ type: "string", minLength: 1, maxLength: MAX_HOST_LENGTH })

const hostsRule = `must be an array of 1 to ${MAX_HOSTS} hostnames`
export const NewSecret = z
  .strictObject({
    hosts: z
      .array(Host, { error: hostsRule })
      .min(1, hostsRule)
      .max(MAX_HOSTS, hostsRule)
      .transform((hosts) => [...new Set(hosts)])
      .meta({
        description:
          "Hosts that the value may be sent to: exactly these, no subdomain and no parent. Stored in lower case.",
      }),
    value: z
      .string({ error: "must be a string" })
      .min(1, "must not be empty")
      .max(MAX_VALUE_LENGTH, `must be at most ${MAX_VALUE_LENGTH} characters`)
      // Ill-formed Unicode has no UTF-8 encoding: different values would be stored as the same bytes.
      .refine((value) => value.isWellFormed(), "must be well-formed Unicode, without halves of surrogate pairs")
      .meta({ description: "Write-only: stored encrypted, never returned." }),
  })
  .meta({ id: "NewVaultSecret" })

const namesRule = `must be an array of 1 to ${MAX_COPIED} names of secrets`
export const CopyRequest = z
  .strictObject({
    names: z
      .array(SecretName, { error: namesRule })
      .min(1, namesRule)
      .max(MAX_COPIED, namesRule)
      .refine((names) => new Set(names).size === names.length, "must name each secret once"),
  })
  .meta({ id: "VaultSecretCopy" })

export const SecretQuery = PageQuery.extend({
  limit: queryIntegerOr(100, 1, 100, "must be an integer from 1 to 100"),
  offset: queryIntegerOr(0, 0, 10_000, "must be an integer from 0 to 10000"),
})
export type SecretQuery = z.infer<typeof SecretQuery>

export const SecretMetadata = z
  .object({
    name: z.string(),
    hosts: z.array(z.string()).nullable().meta({ description: "null: a record from before hosts were required." }),
    fingerprint: z
      .string()
      .nullable()
      .meta({ description: "`sha256:` and hex. Equal in one vault for equal values; not comparable across vaults." }),
    created_at: z.iso.datetime(),
  })
  .meta({ id: "VaultSecret" })

export const OneSecret = z.object({ data: SecretMetadata }).meta({ id: "VaultSecretAnswer" })
export const CopiedSecrets = z.object({ data: z.array(SecretMetadata) }).meta({ id: "VaultSecretsCopied" })
export const SecretList = z
  .object({
    data: z.array(SecretMetadata),
    has_more: z.boolean().meta({ description: "The next page starts at `offset` plus the length of this one." }),
    total_count: z.int(),
  })
  .meta({ id: "VaultSecretList" })

export const DaemonSecrets = z
  .object({
    status: z
      .enum(["provisioning", "running"])
      .meta({ description: "Status of the intern: while it is provisioned, its daemon applies the change." }),
    data: z.array(
      z.object({
        name: z.string(),
        hosts: z.array(z.string()),
        placeholder: z.string().meta({ description: "What the agent sends instead of the value." }),
      }),
    ),
  })
  .meta({ id: "DaemonSecrets" })
