/** Words that hint at an encoding. A text is decoded in that way only near one of its hints. */
export const ENCODING_HINTS = {
  reversed: [
    "backward",
    "revers",
    "snoitcurtsni",
    "tpmorp",
    "rückwärts",
    "achterstevoren",
    "al revés",
    "l'envers",
    "al contrario",
    "al rovescio",
    "ao contrário",
    "de trás para",
    "wspak",
    "od tyłu",
    "задом наперёд",
    "задом наперед",
    "tersten",
    "ngược",
    "倒着",
    "倒過來",
    "逆さ",
    "逆から",
    "거꾸로",
    "उल्टा",
    "بالمقلوب",
  ],
  rot13: ["rot13", "rot-13", "rot 13", "vtaber", "ehyrf", "cebzcg", "vafgehpgvba"],
  caesar: ["caesar", "each letter", "every letter", "letters back", "letters forward", "shifted by"],
  concatenated: [
    "concat",
    "a+b",
    "a + b",
    '" + "',
    '"+"',
    "together",
    "join",
    "unisci",
    "junta",
    "zusammen",
    "ghép",
    "जोड़",
  ],
  encoded: ["base64", "base 64", "b64", "atob", "binary", "hex", "decod"],
} as const satisfies Readonly<Record<string, readonly string[]>>

export type Obfuscation = keyof typeof ENCODING_HINTS

const escapeRegex = (literal: string) => literal.replaceAll(/[+.*?^$(){}|[\]\\]/g, "\\$&")

/** One pattern for the hints of each obfuscation. */
export const HINT_PATTERNS = Object.fromEntries(
  Object.entries(ENCODING_HINTS).map(([obfuscation, hints]) => [
    obfuscation,
    new RegExp(hints.map(escapeRegex).join("|"), "gi"),
  ]),
) as Readonly<Record<Obfuscation, RegExp>>
