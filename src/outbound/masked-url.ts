import { GatewayError } from "../errors/errors.ts"
import { isMask, toMask } from "../support/text/mask.ts"

/** Parts of the name of a query parameter whose value is a credential; `code` is that of Azure Functions. */
const SECRET_TERMS = new Set(
  "key apikey token secret password passwd pwd pass sig signature auth authorization credential credentials code jwt sas session".split(
    " ",
  ),
)
const RANDOM = /^[\w-]{20,}$/
const MIXED = [/[a-z]/, /[A-Z]/, /\d/]
const HEX = /^(?=.*\d)(?=.*[a-f])[\da-f]{32,}$/i
const PARTS = /^([a-z]+:\/\/)(?:([^/?#@]*)@)?([^/?#]*)([^?#]*)(\?[^#]*)?(.*)$/is

/** Webhook URLs often have a token in the path. A UUID with dashes is an id, not a token. */
const looksRandom = (text: string) => (RANDOM.test(text) && MIXED.every((kind) => kind.test(text))) || HEX.test(text)

function isSecretName(name: string): boolean {
  const parts = name.replaceAll(/([a-z\d])([A-Z])/g, "$1 $2").toLowerCase()
  return parts.split(/[^a-z\d]+/).some((part) => SECRET_TERMS.has(part))
}

const PARAMETER = /([?&])([^=&]*)=([^&]*)/g

const isSecretValue = (name: string, value: string) => value !== "" && (isSecretName(name) || looksRandom(value))

/** A URL for display: its credentials masked, everything else as it was set. */
export function maskUrl(text: string): string {
  const [, scheme = "", user, host = "", path = "", query = "", fragment = ""] = PARTS.exec(text) ?? []
  if (scheme === "") return text
  const maskedPath = path.split("/").map((part) => (looksRandom(part) ? toMask(part) : part))
  return [
    scheme,
    ...(user === undefined ? [] : ["...@"]),
    host,
    maskedPath.join("/"),
    query.replaceAll(PARAMETER, (all, separator: string, name: string, value: string) =>
      isSecretValue(name, value) ? `${separator}${name}=${toMask(value)}` : all,
    ),
    fragment,
  ].join("")
}

/** The credentials in a URL, which its server must not return to clients. */
export function secretsInUrl(text: string): string[] {
  const [, , , , path = "", query = ""] = PARTS.exec(text) ?? []
  const values = [...query.matchAll(PARAMETER)].flatMap(([, , name = "", value = ""]) =>
    isSecretValue(name, value) ? [value] : [],
  )
  return [...path.split("/").filter(looksRandom), ...values]
}

/** The URL after a change: the masked form keeps the stored one. */
export function keptUrl(sent: string, stored: string | undefined): string {
  return stored !== undefined && sent === maskUrl(stored) ? stored : sent
}

/** Throws 400 for the masked form of a URL, or a part of one. `field`: its name in the message. */
export function requireUnmaskedUrl(field: string, text: string): void {
  const [, , user, , path = "", query = ""] = PARTS.exec(text) ?? []
  const values = [...path.split("/"), ...query.split("&").map((part) => part.slice(part.indexOf("=") + 1))]
  if (user !== "..." && !values.some(isMask)) return
  throw new GatewayError("invalid_request", `${field}: is masked. Send the complete URL.`)
}
