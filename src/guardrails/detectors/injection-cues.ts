/** Cue words of each kind of obfuscation. A text is decoded in that way only near one of its cue words. */
export const CUES = {
  turned: [
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
  rotated: ["rot13", "rot-13", "rot 13", "vtaber", "ehyrf", "cebzcg", "vafgehpgvba"],
  shifted: ["caesar", "each letter", "every letter", "letters back", "letters forward", "shifted by"],
  joined: ["concat", "a+b", "a + b", '" + "', '"+"', "together", "join", "unisci", "junta", "zusammen", "ghép", "जोड़"],
  packed: ["base64", "base 64", "b64", "atob", "binary", "hex", "decod"],
} as const satisfies Readonly<Record<string, readonly string[]>>

export type Disguise = keyof typeof CUES

const escaped = (literal: string) => literal.replaceAll(/[+.*?^$(){}|[\]\\]/g, "\\$&")

/** One pattern for the cues of each disguise. */
export const CUE_PATTERNS = Object.fromEntries(
  Object.entries(CUES).map(([disguise, cues]) => [disguise, new RegExp(cues.map(escaped).join("|"), "gi")]),
) as Readonly<Record<Disguise, RegExp>>
