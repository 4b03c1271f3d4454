import * as z from "zod"
import { toHost } from "../outbound/address.ts"

/** Where a list of domains applies: `example.com` and its subdomains, `*.example.com` its subdomains only. */
export type DomainRule = { host: string; subdomainsOnly: boolean; path: string }

const MAX_DOMAINS = 200
const RULE = "must be a domain without scheme or port, such as example.com, *.example.com or example.com/docs"

const Domain = z
  .string({ error: RULE })
  .max(300, RULE)
  .transform((text, context): DomainRule => {
    const rule = toRule(text.trim())
    if (rule) return rule
    context.addIssue({ code: "custom", message: RULE })
    return z.NEVER
  })

export const Domains = z
  .array(Domain, { error: "must be an array of domains" })
  .max(MAX_DOMAINS, `must be at most ${MAX_DOMAINS} domains`)

function toRule(text: string): DomainRule | undefined {
  const [, star, host = "", path = ""] = /^(\*\.)?([^/\s:@?#*]+)(\/[^\s?#*]*)?$/.exec(text) ?? []
  const url = host === "" ? null : URL.parse(`http://${host}`)
  if (!url) return undefined
  return { host: toHost(url.hostname), subdomainsOnly: star !== undefined, path: path.replace(/\/+$/, "") }
}

export function matchesDomain(url: URL, rule: DomainRule): boolean {
  const host = toHost(url.hostname)
  const isHost = host.endsWith(`.${rule.host}`) || (!rule.subdomainsOnly && host === rule.host)
  return isHost && (rule.path === "" || url.pathname === rule.path || url.pathname.startsWith(`${rule.path}/`))
}

export type DomainLists = { allowed: readonly DomainRule[]; blocked: readonly DomainRule[] }

export function isPermitted(url: URL, { allowed, blocked }: DomainLists): boolean {
  if (blocked.some((rule) => matchesDomain(url, rule))) return false
  return allowed.length === 0 || allowed.some((rule) => matchesDomain(url, rule))
}
