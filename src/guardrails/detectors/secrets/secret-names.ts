const ENGLISH_PASSWORD_TERMS = ["pass(?:[_-]?(?:word|phrase)|wd|code|wort)?", "pwd", "pw", "psk", "mdp", "creds"]
/** Words for a password in other languages, without most endings. */
const FOREIGN_PASSWORD_TERMS = (
  "kennwort|zugangscode|code d'accès|código de acceso|wachtwoord|contrase[ñn]a|senha|palavra-passe|mot de passe|motdepasse|has[łl][oa]|hesl[oa]|lozinka|zaporka|parol[aăe]|" +
  "[şs]ifre|l[öo]senord|passord|adgangskode|salasana|parool|jelsz[óo]|slapta[žz]od|kata sandi|kata laluan|mật khẩu|парол|лозинк|" +
  "κωδικός πρόσβασης|συνθηματικό|סיסמ[אה]|पासवर्ड|পাসওয়ার্ড|รหัสผ่าน|كلمة المرور|كلمة السر|رمز عبور|گذرواژه|" +
  "contrasenya|wagwoord|lykilorð"
).split("|")
const PASSWORD_TERMS = [...ENGLISH_PASSWORD_TERMS, ...FOREIGN_PASSWORD_TERMS]
/** Words for a key in other languages, without most endings. */
const FOREIGN_KEY_TERMS =
  "schlüssel|geheimnis|clave|clé|chave|chiave|sleutel|klucz|anahtar|токен|ключ|nøgle|nyckel|nøkkel|klíč|kulcs|jeton|κλειδί|avain|cheia|kunci|مفتاح|מפתח|कुंजी".split(
    "|",
  )
/** Words for other secret values. */
const KEY_TERMS = [
  "_pat",
  "salt",
  "secret",
  "token",
  "key",
  "credential",
  "auth(?:orization)?",
  "sig(?:nature)?",
  "dsn",
  ...FOREIGN_KEY_TERMS,
]
/** As `identifier=value` only: cookies of web frameworks. */
export const SESSION_COOKIES =
  "(?i:jsessionid|phpsessid|asp\\.net_sessionid|aspsessionid[a-z]{8}|connect\\.sid|sessionid|session_token|laravel_session|_\\w{2,24}_session)=[\\w%.+/-]{16,}"
/** Terms in scripts without spaces. */
const UNSPACED_PASSWORD_TERMS = "密码|密碼|口令|パスワード|パスコード|暗証番号|비밀번호|패스워드|암호|비번".split("|")
const UNSPACED_KEY_TERMS = "密钥|密鑰|秘钥|令牌|私钥|キー|トークン|シークレット|秘密鍵|비밀 ?키|토큰|시크릿|키".split(
  "|",
)
const UNSPACED_TERMS = [...UNSPACED_PASSWORD_TERMS, ...UNSPACED_KEY_TERMS]

/** Sorted, so that RE2 shares the steps of common beginnings. */
const NAME_TERMS = [...PASSWORD_TERMS, ...KEY_TERMS].toSorted()
const anyOf = (alternatives: readonly string[]) => `(?:${alternatives.join("|")})`

const GAP = "[\\s\"'`\\\\=:<>(),|\\[\\]{}*~：，＝—–«»“”„‘’「」是为為は-]"
/** "Is" in several languages. */
export const COPULAS =
  "is|was|are|ist|lautet|heißt|war|est|es|era|è|é|to|jest|это|là|है|هي|هو|היא|הוא|är|er|je|adalah|ialah|είναι|este|esta|on|yra|vale|vaut|será|sarà|reads|contains|shows|says|equals|it's now"
/** Words between a name and its value: also the schemes of the Authorization header, types, and calls with a default. */
const LINK_TERMS = anyOf(
  (
    `${COPULAS}|value|from|default|string|str|bearer|basic|token|bot|apikey|ssws|api|geniekey|negotiate|splunk|key|password|now|new|login|` +
    "should|be|has|the|as|set|some|byte|still|currently|noch|jetzt|ahora|buffer\\.from|bytes\\.fromhex|b64decode|string\\?|\\?\\?|\\?:|&str|&'static str|[bfnru$@]"
  ).split("|"),
)
const COPULA = `(?:${COPULAS}|to jest|=|:|[-=]?>|→)`
/** Requires a digit or a symbol: after a name such as "key", most plain words are no value. */
const VALUE = "[^\\s\"'`<>]*[\\d!#$%&*@^?][^\\s\"'`<>]*"
/** Directly after a name, letters may be a password or a key too. */
const LETTERS_VALUE = "[A-Za-z/+_-]{8,}"
const DIRECT_GAP = "[\"'`]?\\]? ?(?:[=:：]|=>|:=|, ?|は|是|为) ?[\"'`«“„「]?"
/** A word between a name and its value. */
const WORD = '[^\\s"`<>=,;:!?{}|/\\[\\]]{1,16}'

const OPENING = "(?:[\"'`“„「]|« ?)?"
/** Endings of cases in other alphabets. */
const ENDING = "[à-ɏа-ӿ]{0,4}"

/** A name, the link to its value, and the value. Case-insensitive. */
export const NAME_VALUE_SOURCES: readonly string[] = [
  // One pattern for all shapes, so that they share the steps of the names.
  `${anyOf(NAME_TERMS)}${ENDING}${anyOf([
    `[\\w.-]{0,24}${GAP}{1,12}(?:${LINK_TERMS}${GAP}{1,6}){0,3}${VALUE}`,
    `[\\w-]{0,24}(?: ${WORD},?){1,6}:? ?${COPULA} ?${OPENING}${VALUE}`,
    `[\\w-]{0,24}${DIRECT_GAP}${LETTERS_VALUE}`,
  ])}`,
  `${anyOf(PASSWORD_TERMS.toSorted())}${ENDING}(?: ${WORD}){1,3} ${VALUE}`,
  `${anyOf(UNSPACED_TERMS)}[^\\x00-\\x7f]{0,4}[ :=]{0,3}["'\`]?[A-Za-z0-9#$%&*@^!+_-][!-~]{5,}`,
]

/** The same with capture groups: name, gap, value. */
export const NAME_VALUE_PATTERNS: readonly RegExp[] = [
  `(${anyOf(NAME_TERMS)}${ENDING}[\\w.-]{0,24})(${GAP}{1,12}(?:${LINK_TERMS}${GAP}{1,6}){0,3})(${VALUE})`,
  `(${anyOf(NAME_TERMS)}${ENDING}[\\w-]{0,24})((?: ${WORD},?){1,6}?:? ?${COPULA} ?${OPENING})(${VALUE})`,
  `(${anyOf(NAME_TERMS)}[\\w-]{0,24})(${DIRECT_GAP})(${LETTERS_VALUE})(?=[\\s"'\`,;)}\\]]|[^\\p{ASCII}]|$)`,
  `(${anyOf(PASSWORD_TERMS.toSorted())}${ENDING})((?: ${WORD}){1,3}? )(${VALUE})`,
  `(${anyOf(UNSPACED_TERMS)})([^\\x00-\\x7f]{0,4}[ :=]{0,3}["'\`]?)([A-Za-z0-9#$%&*@^!+_-][!-~]{5,})`,
].map((source) => new RegExp(source, "iuy"))

/** "The password for staging Koala!88-Trip", without "is". */
export const UNLINKED_PASSWORD = NAME_VALUE_PATTERNS[3]

export const SECRET_NAMES = new RegExp(anyOf([...NAME_TERMS, ...UNSPACED_TERMS]), "giu")

/** Suffixes of identifiers that mention a secret without holding one: `token_count`, `keyboard`. */
const METADATA_SUFFIXES = new Set(
  (
    "id ids name names count counts length len size type types limit limits url uri endpoint file files path paths dir " +
    "expiry expires expiration ttl field fields column board word words frame frames pair press event ring store vault " +
    "hint policy policies reset label index usage used budget window version algorithm alg manager provider handler " +
    "service class input output rotation set map values format prompt completion max min total cached created public " +
    "error errors validator schema regex pattern prefix suffix ref selector required enabled change strength"
  ).split(" "),
)
const DATA_TERMS =
  "public publishable idempotency csrf xsrf next page cursor pagination continuation first last special input output prompt completion " +
  "reasoning max min total cached checksum etag integrity"
/** Words before `key` that make it a name of data. */
const DATA_KEY_PREFIXES = new Set(
  (
    `${DATA_TERMS} primary foreign cache sort partition object dict hash row map translation query index natural composite unique config ` +
    "redis bucket routing message item group shard range react lookup parent child host monkey hot short shortcut legend answer music " +
    "piano registry author git commit content image build lock"
  ).split(" "),
)
/** The same for `token`. */
const DATA_TOKEN_PREFIXES = new Set(`${DATA_TERMS} stop eos bos pad unk mask`.split(" "))

export type NameKind = "password" | "secret" | "key"

/** Words that do not describe a key. */
const FILLER_TERMS = new Set(
  "the a an my our your his their this that is and or of for with to in on new old use using ma mi la el le der die das mein meine mijn mój мой minha".split(
    " ",
  ),
)

const PASSWORD_NAME = new RegExp(
  `${anyOf(ENGLISH_PASSWORD_TERMS)}s?$|${anyOf(FOREIGN_PASSWORD_TERMS)}\\p{L}{0,3}$|${UNSPACED_PASSWORD_TERMS.join("|")}`,
  "iu",
)
const KEY_NAME = new RegExp(
  `(?:${KEY_TERMS.join("|")})s?$|^pat$|(?:${FOREIGN_KEY_TERMS.join("|")})\\p{L}{0,3}$|${UNSPACED_KEY_TERMS.join("|")}`,
  "iu",
)
const BARE_KEY_NAME = /^keys?$/i
/** Words that only end like the name of a secret. */
const OTHER_WORD =
  /(?:monkey|turkey|donkey|hockey|jockey|whiskey|compass|bypass|surpass|trespass|overpass|underpass|encompass)s?$/i

/** Splits an identifier in snake, kebab or camel case. */
function partsOf(name: string): string[] {
  const spaced = name.replaceAll(/([a-z\d])([A-Z])/g, "$1 $2").replaceAll(/([A-Z])([A-Z][a-z])/g, "$1 $2")
  return spaced
    .toLowerCase()
    .split(/[^\p{L}\p{M}\d]+/u)
    .filter((word) => word !== "")
}

/** The kind of secret that a name denotes; undefined for other names. */
export function kindOf(name: string): NameKind | undefined {
  if (OTHER_WORD.test(name)) return undefined
  const parts = partsOf(name)
  while (parts.length > 1 && /^(?:\d+|[a-z])$/.test(parts.at(-1) ?? "")) parts.pop()
  const last = parts.at(-1) ?? ""
  const before = parts.slice(0, -1).filter((word) => !FILLER_TERMS.has(word))
  // Ids of AWS and Google service account keys appear together with the keys.
  if (last === "id" && before.at(-1) === "key" && before.length > 1) return "secret"
  if (last === "data" && before.at(-1) === "key") return "secret"
  if ((last === "base" || last === "salt") && before.some((word) => KEY_NAME.test(word))) return "secret"
  if (METADATA_SUFFIXES.has(last)) return undefined
  if (PASSWORD_NAME.test(name)) return "password"
  if (!KEY_NAME.test(last))
    return before.some((word) => KEY_NAME.test(word)) && last === "base64" ? "secret" : undefined
  const dataPrefixes = last.startsWith("key") ? DATA_KEY_PREFIXES : DATA_TOKEN_PREFIXES
  if (before.some((word) => dataPrefixes.has(word))) return undefined
  return BARE_KEY_NAME.test(last) && before.length === 0 ? "key" : "secret"
}
