/** Whether the digits have a valid Luhn check digit. */
export function passesLuhn(digits: string): boolean {
  let sum = 0
  for (let at = 0; at < digits.length; at++) {
    const digit = Number(digits[digits.length - 1 - at])
    const product = at % 2 === 1 ? digit * 2 : digit
    sum += product > 9 ? product - 9 : product
  }
  return sum % 10 === 0
}

/** Lengths by country. https://www.swift.com/resource/iban-registry-pdf */
const IBAN_LENGTHS: Readonly<Record<string, number>> = Object.fromEntries(
  (
    "AD24 AE23 AL28 AT20 AZ28 BA20 BE16 BG22 BH22 BR29 BY28 CH21 CR22 CY28 CZ24 DE22 DK18 DO28 EE20 EG29 ES24 FI18 FO18 " +
    "FR27 GB22 GE22 GI23 GL18 GR27 GT28 HR21 HU28 IE22 IL23 IQ23 IS26 IT27 JO30 KW30 KZ20 LB28 LC32 LI21 LT20 LU20 LV21 " +
    "LY25 MC27 MD24 ME22 MK19 MR27 MT31 MU30 NL18 NO15 PK24 PL28 PS29 PT25 QA29 RO24 RS22 SA24 SC31 SE24 SI19 SK24 SM27 " +
    "ST25 SV28 TL23 TN24 TR26 UA29 VA22 VG24 XK20"
  )
    .split(" ")
    .map((entry) => [entry.slice(0, 2), Number(entry.slice(2))]),
)

export const IBAN_COUNTRIES = Object.keys(IBAN_LENGTHS)

/** End of the IBAN, with or without spaces, at the start of a text; undefined if there is none. */
export function isIban(text: string): number | undefined {
  const length = IBAN_LENGTHS[text.slice(0, 2).toUpperCase()]
  if (length === undefined) return undefined
  let code = ""
  let end = 0
  for (; end < text.length && code.length < length; end++) {
    const char = text.charAt(end)
    if (char !== " " && char !== "-") code += char.toUpperCase()
  }
  const isCutShort = /^[A-Za-z0-9]/.test(text.slice(end))
  if (code.length < length || isCutShort) return undefined
  let rest = 0
  for (const char of code.slice(4) + code.slice(0, 4)) {
    const value = Number.parseInt(char, 36)
    rest = (rest * (value > 9 ? 100 : 10) + value) % 97
  }
  return rest === 1 ? end : undefined
}
