/** Passwords as options and arguments of commands, and in calls and statements that take one without a name. */

const QUOTE = "['\"]?"
/** A value up to a blank or a quotation mark. */
const VALUE = "[^\\s'\"`<>]{4,}"
/** Other options between a command and its password. */
const OPTIONS = "(?:[^\\n|;]{0,60} )?"

/** The value, in the last group, and everything before it. */
type CommandFormat = readonly [before: string, value?: string]

/** Regular expressions in RE2 syntax. */
const COMMANDS: readonly CommandFormat[] = [
  [`\\b(?:mysql|mariadb)[\\w-]* ${OPTIONS}-p${QUOTE}`],
  [`\\bsshpass -p ?${QUOTE}`],
  [`\\bnet user [\\w.-]+ ${QUOTE}`],
  [`\\bnet use [^\\n]{0,40}/user:\\S{1,32} ${QUOTE}`],
  [`\\b(?i:convertto-securestring) (?:-(?i:string) )?['"]`],
  [`\\bredis-cli ${OPTIONS}-a ${QUOTE}`],
  [`\\bmosquitto_(?:pub|sub|rr) ${OPTIONS}-P ${QUOTE}`],
  [`\\b(?:sqlcmd|unzip|zip|ncftp\\w*) ${OPTIONS}-P ?${QUOTE}`],
  [`\\bldap(?:search|modify|add|delete|whoami|passwd) ${OPTIONS}-w ${QUOTE}`],
  [`\\b(?:(?:docker|podman|oc|az|skopeo) login|mongo\\w*) ${OPTIONS}-p ${QUOTE}`],
  // Tokens of command-line tools, of Kubernetes clusters, and of network devices.
  ["\\b(?:login|authtoken|auth token|config set token) (?:--\\w+[ =])?", "[A-Za-z0-9_-]{32,}"],
  ["--token[ =]", "[a-z0-9]{6}\\.[a-z0-9]{16}\\b"],
  [`\\bsnmp(?:-server)? community ${QUOTE}`],
  [`\\bmessage-digest-key \\d{1,3} md5 (?:\\d )?`],
  [`\\b(?:secret|password) [0-9] `, "[^\\s'\"`<>]{8,}"],
  [`\\b7za? ${OPTIONS}-p${QUOTE}`],
  [`\\bwpa_passphrase \\S{1,32} ${QUOTE}`],
  [`\\bsnmp(?:walk|get|bulkwalk|set|table) ${OPTIONS}-c ?${QUOTE}`],
  [`\\b(?:isakmp key|enable (?:secret|password)|(?:tacacs|radius)-server ${OPTIONS}key) (?:0 )?${QUOTE}`],
  [`\\bopenssl ${OPTIONS}-k ${QUOTE}`],
  [`\\bhtpasswd -\\w*b\\w* \\S+ \\S+ ${QUOTE}`],
  [`\\b(?:smbclient|rpcclient|curlftpfs) ${OPTIONS}-U ?${QUOTE}[^\\s'"%]+%`],
  [`\\bsqlplus (?:-\\w+ )*[\\w.]+/`, "[^\\s'\"`<>/@]{4,}@"],
  [
    `\\becho (?:-n )?${QUOTE}`,
    `${VALUE}${QUOTE} ?\\| ?(?:sudo -S|passwd --stdin|cryptsetup|[^|\\n]{0,32}--password-stdin)`,
  ],
  [`\\becho (?:-n )?${QUOTE}[\\w.-]+:`, `${VALUE}${QUOTE} ?\\| ?chpasswd`],
  [`(?i:identified (?:with [\\w'"]+ )?by|with password) (?i:password )?['"]`],
  [`\\bauth ?= ?\\(['"][^'"\\n]{1,64}['"], ?['"]`],
  [
    `\\b(?:HTTPBasicAuth|BasicAuth|basic_auth|setBasicAuth|SetBasicAuth|UsernamePasswordCredentials|PasswordAuthentication)\\(['"][^'"\\n]{1,64}['"], ?['"]`,
  ],
]

export const COMMAND_SOURCES: readonly string[] = COMMANDS.map(([before, value = VALUE]) => before + value)

const COMMAND_PATTERNS = COMMANDS.map(
  ([before, value = VALUE]) =>
    new RegExp(`(${before.replaceAll("(?i:", "(?:")})(${value})`, before.includes("(?i:") ? "gi" : "g"),
)

/** The rest of a command after its value. */
const AFTER_VALUE = /(?:['"]? ?\|.*|@)$/

const LOGIN_SOURCE =
  "\\b(?:log-?ins?|basic auth|credentials?|creds|zugangsdaten|identifiants|credenciales|credenziali|inloggegevens)(?: [\\w'-]{1,12}){0,3}:? [\\w.@+-]{2,40} ?[/|:] ?"
/** As in "the login is admin / Koala-Trip-88!". */
export const LOGIN_PASSWORD = `(?i:${LOGIN_SOURCE})[^\\s'"\`<>]{8,64}`
const LOGIN_PASSWORDS = new RegExp(`(${LOGIN_SOURCE})([^\\s'"\`<>]{8,64})`, "gi")
/** Passwords after a user name. */
export function* loginPasswords(text: string): Generator<{ value: string; from: number }> {
  for (const { index, 1: before = "", 2: value = "" } of text.matchAll(LOGIN_PASSWORDS))
    yield { value: value.replace(/[.,;:)\]}]+$/, ""), from: index + before.length }
}

/** Each value after a command, with its place in the text. */
export function* commandValues(text: string): Generator<{ value: string; from: number }> {
  for (const pattern of COMMAND_PATTERNS)
    for (const { index, 1: before = "", 2: value = "" } of text.matchAll(pattern))
      yield { value: value.replace(AFTER_VALUE, "").replace(/[),;]+$/, ""), from: index + before.length }
}
