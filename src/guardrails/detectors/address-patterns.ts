/** Patterns of postal addresses of countries with an English or German form, and of all countries together. */
import type { Literal } from "../prefilter/aho-corasick.ts"
import { ASIAN } from "./address-asian.ts"
import { EASTERN } from "./address-eastern.ts"
import { ROMANCE_PATTERNS } from "./address-romance.ts"
import { anyOf, atStart, CITY, HOUSE_NUMBER, type Pattern, PLACE, plain, split, TAIL, WORD } from "./address-terms.ts"
import { CAPITAL, LETTERS } from "./letters.ts"

const STREET_KINDS = split(
  "Street|St|Avenue|Ave|Road|Rd|Boulevard|Blvd|Lane|Ln|Drive|Dr|Court|Ct|Place|Pl|Square|Sq|Terrace|Way|Parkway|Pkwy|Highway|Hwy|" +
    "Circle|Close|Crescent|Gardens|Grove|Mews|Row|Parade|Rise|Walk|Quay|Esplanade|Trail|Turnpike|Loop|Alley|Plaza|Hill|View|" +
    "Wharf|Heights|Cove|Crossing|Embankment|Expressway|Freeway|Cres|Tce|Pde|Ridge|Landing|Green",
)
const KIND = `(?:${STREET_KINDS.join("|")})\\b\\.?(?: (?:NE|NW|SE|SW|N|S|E|W|North|South|East|West|Central|Upper|Lower)\\b)?`
const UNIT = "(?:Flat|Apt|Apartment|Suite|Ste|Unit|Floor|Block|Room|Level|Shop|Tower|#)"
const UNITS = `(?:${UNIT}\\.? ?\\w{1,5},? (?:(?:${WORD} ){1,3}(?:Apartments?|Heights|House|Towers?|Residency|Court|Complex|Society|Mansions?|Enclave|Building|Villas?|Estate),? )?){0,2}`
const REGION =
  "(?:[A-Z]{2},? \\d{5}(?:-\\d{4})?|[A-Z]{1,2}\\d[A-Z0-9]? ?\\d[A-Z]{2}|(?:[A-Z]{2} )?[A-Z]\\d[A-Z] ?\\d[A-Z]\\d|(?:NSW|VIC|QLD|WA|SA|TAS|ACT|NT) \\d{4}|[A-Z]\\d[\\dW] ?[A-Z0-9]{4}|\\d{4,6}(?:-\\d{4})?)\\b"
/** Not "H" or "SW" of a postal code. */
const CITY_WORD = `(?:${CAPITAL}[a-zß-öø-ɏά-ώа-ӿạ-ỹ'’][${LETTERS}'’-]*|[A-Z]{3,})`
const ENGLISH_CITY = `(?:, |,?\\n)(?:St\\.? )?${CITY_WORD}(?: ${CITY_WORD}){0,2}(?: \\d{1,2}\\b)?`
const ENGLISH_TAIL = `(?: \\d{1,3}\\b)?(?:,? (?:${UNIT}\\.? ?\\w{1,6}|#\\d{1,3}-\\d{1,4}))?(?:${ENGLISH_CITY}){0,3}(?:(?:,? |,?\\n| - )(?:${REGION}|[A-Z][a-z]{3,14} \\d{6}\\b)|, [A-Z]{2}\\b)?`
const HOUSES = split("Cottage|House|Farm|Lodge|Hall|Manor|Barn|Mill|Vicarage|Rectory|Grange")
const SMALL_KINDS = split("street|avenue|road|lane|blvd|boulevard")

const ENGLISH: Pattern[] = [
  {
    source: `\\b${UNITS}\\d{1,5}(?:[-/]\\d{1,5})?[A-Za-z]?,? (?:(?:\\d{1,3}(?:st|nd|rd|th)|${WORD}\\.?) ){1,4}${KIND}`,
    tail: ENGLISH_TAIL,
    literals: STREET_KINDS.map((kind) => ({
      text: ` ${kind.toLowerCase()}`,
      wordEnd: true,
      isCapitalized: true,
      digitWithin: 192,
    })),
  },
  {
    source: `\\b\\d{1,5}[a-z]? [a-z]{3,15}(?: [a-z]{3,15})? (?:${SMALL_KINDS.join("|")})\\b`,
    literals: SMALL_KINDS.map((kind) => ({ text: ` ${kind}`, wordEnd: true, digitWithin: 48 })),
  },
  {
    source: `\\b(?:${UNIT}\\.? \\w{1,5},? )?\\d{1,5} (?:Broadway|(?:(?:State|County|US|Rural) )?(?:Route|Highway|Hwy|Road) \\d{1,4})`,
    tail: ENGLISH_TAIL,
    literals: split(" broadway| route 0| highway 0| hwy 0| road 0").map((text) => ({ text, digitWithin: 32 })),
  },
  {
    // In capital letters, as on labels.
    source: `\\b\\d{1,6} (?:[A-Z0-9]{1,16} ){1,4}(?:ST|AVE|RD|DR|BLVD|LN|CT|WAY|PL|HWY|PKWY|CIR|TER|STREET|AVENUE|ROAD|DRIVE|LANE)(?:,? (?:STE|APT|UNIT|FL|#) ?\\w{1,6})?,? (?:[A-Z]{2,16},? ){1,3}(?:[A-Z]{2} \\d{5}(?:-\\d{4})?|[A-Z]{1,2}\\d[A-Z0-9]? ?\\d[A-Z]{2}|[A-Z]{2,3} \\d{4})\\b`,
    literals: split(
      " st| ave| rd| dr| blvd| ln| ct| way| pl| hwy| pkwy| cir| ter| street| avenue| road| drive| lane",
    ).map((text) => ({ text, wordEnd: true, isCapitalized: true, digitWithin: 192 })),
  },
  {
    // Streets of one word, if a city and the code of an Australian state, of Britain or of Ireland follow.
    source: `\\b${UNITS}\\d{1,4}[A-Za-z]? ${CAPITAL}[a-z]{2,12}(?:way|gate|side|strand|hythe|bank|croft|field|view|market|mount|crest|hurst|dale|wood)(?:${ENGLISH_CITY}){1,3}(?:,? |,?\\n)(?:(?:NSW|VIC|QLD|WA|SA|TAS|ACT|NT) \\d{4}|[A-Z]{1,2}\\d[A-Z0-9]? ?\\d[A-Z]{2}|[A-Z]\\d[\\dW] ?[A-Z0-9]{4})\\b`,
    literals: split("way|gate|side|strand|hythe|bank|croft|field|view|market|mount|crest|hurst|dale|wood").flatMap(
      (end) => [`${end}, `, `${end}\n`].map((text) => ({ text, digitWithin: 48 })),
    ),
  },
  {
    // Any name of a street, if a state and a ZIP code follow.
    source: `\\b\\d{1,5} (?:[NSEW]{1,2}\\.? )?(?:${WORD}\\.? ){0,3}${WORD}(?:,? ${UNIT}\\.? ?\\w{1,6})?, ${WORD}(?: ${WORD}){0,2}, [A-Z]{2},? \\d{5}(?:-\\d{4})?\\b`,
    literals: [{ text: " 00000", digitWithin: 6 }],
  },
  {
    source: `\\b(?:Unit|Suite|Building|Block|Level) \\d{1,4}[A-Z]?,? (?:${WORD} ){1,3}(?:Estate|Park|Centre|Center|Building|Tower|Plaza|Mall)\\b`,
    tail: ENGLISH_TAIL,
    literals: atStart(split("unit 0|suite 0|building 0|block 0|level 0")),
  },
  {
    source: `\\b(?:Plot|House|Villa|Shop|Stand|No|Number|Blk|Block|Door)\\.? ?\\d{1,4}[A-Z]?,? (?:(?:\\d{1,2}(?:st|nd|rd|th)|${WORD})\\.? ){1,4}${KIND}`,
    tail: ENGLISH_TAIL,
    literals: atStart(split("plot 0|house 0|villa 0|shop 0|stand 0|blk 0|door 0|no 0|no. 0|no.0|number 0")),
  },
  {
    source: `\\b(?:House|Holding)(?: No)?\\.? ?#?\\d{1,4}[A-Z]?(?:/[A-Z0-9]{1,3})?, (?:Road|Rd|Street|Block|Lane|Sector)\\.? ?(?:No\\.? ?)?#?\\w{1,4}\\b`,
    tail: ENGLISH_TAIL,
    literals: atStart(split("house 0|house #0|house no|house. 0|holding 0|holding no")),
  },
  {
    source: "\\b(?:RR|R\\.R\\.|HC|Rural Route) \\d{1,3},? Box \\d{1,5}\\b",
    tail: ENGLISH_TAIL,
    literals: plain([" box 0"]),
  },
  {
    // "One Canada Square", if a city and a postal code follow.
    source: `\\b(?:One|Two|Three|Four|Five|Six|Seven|Eight|Nine|Ten) (?:${WORD} ){1,3}(?:Square|Plaza|Place|Way|Street|Avenue|Drive|Road|Court)(?:${ENGLISH_CITY}){1,2}(?:,? |,?\\n)${REGION}`,
    literals: split("square, |plaza, |place, |way, |street, |avenue, |drive, |road, |court, ").map((text) => ({
      text,
      isCapitalized: true,
    })),
  },
  {
    source: `\\b(?:${UNIT}|House|Plot)?(?: No)?\\.? ?(?:[A-Z]{1,2}-?)?\\d{1,4}(?:/\\d{1,4})?,? (?:${WORD},? ){0,3}(?:Sector|Phase|Block|Stage)[- ]\\d{1,3}[A-Z]?(?:,? ${WORD}(?: ${WORD})?){1,3}(?: ?[-–])? ?\\d{6}\\b`,
    literals: plain(split("sector 0|sector-0|phase 0|phase-0|block 0|block-0|stage 0|stage-0")),
  },
  {
    // In India, up to a PIN code.
    source: `\\b(?:(?:H|D|House|Door|Flat|Plot)\\.? ?No\\.? ?)?(?:[A-Z]-?)?\\d{1,4}(?:[/-]\\d{1,4}){0,3}[A-Z]?(?:, (?:(?:\\d{1,2}(?:st|nd|rd|th)|${WORD})\\.? ?){1,4}(?:\\d{1,3}\\b)?){2,5}(?: ?[-–] ?| )\\d{6}\\b`,
    literals: [" 000000", "-000000", "–000000"].map((text) => ({ text, digitWithin: 128 })),
  },
  {
    source: `\\b(?:${WORD} ){1,3}(?:${HOUSES.join("|")}), (?:${WORD} ){1,3}${KIND}`,
    tail: ENGLISH_TAIL,
    literals: HOUSES.map((house) => ({ text: `${house.toLowerCase()}, `, isCapitalized: true })),
  },
  {
    source: `\\b(?i:p\\.? ?o\\.? box|private bag|locked bag) \\d{1,6}\\b`,
    tail: ENGLISH_TAIL,
    literals: plain(["box 0", "bag 0"]),
  },
]

const STREET_ENDS = split(
  "straße|strasse|str.|weg|platz|allee|gasse|damm|ufer|graben|steig|chaussee|promenade|markt|stieg|pfad|zeile|" +
    "straat|laan|plein|gracht|kade|dreef|dijk|steeg|singel|hof|" +
    "vegur|stígur|braut|gata|gatan|gaten|vägen|veien|vegen|vejen|vej|gade|gaden|stræde|torget|gränd|katu|kuja|polku|väylä|puistikko",
)
const GERMAN_KINDS = split("Straße|Strasse|Str.|Allee|Platz|Weg|Chaussee|Ring|Damm|Ufer|Landstraße|Gasse|Promenade")
const PARTICLES =
  "(?:der|den|dem|die|de|het|des|du|van|von|zum|zur|im|am|di|del|della|do|da|dos|das|la|le|les|en|und|i|e|y|gate|gata|vei|veg|allé|plass|plads|torg|" +
  "utca|út|tér|körút|náměstí|třída|nábřeží|ulice|ulica|cesta|trg|iela|gatvė|pr\\.|nám\\.|tie|tänav)"

const CENTRAL: Pattern[] = [
  {
    source: `${CAPITAL}[${LETTERS}-]*${anyOf(STREET_ENDS)} ${HOUSE_NUMBER}`,
    tail: TAIL,
    literals: plain(STREET_ENDS.map((kind) => `${kind} 0`)),
  },
  {
    source: `${CAPITAL}[${LETTERS}-]{2,}${anyOf(["er", "burg", "haus", "hof"])} ${anyOf(GERMAN_KINDS)} ${HOUSE_NUMBER}`,
    tail: TAIL,
    literals: plain(GERMAN_KINDS.map((kind) => `${kind.toLowerCase()} 0`)),
  },
  {
    source: `(?:Unter den|Am|An der|An den|Auf der|Auf dem|Im|In der|Zum|Zur|Hinter der|Vor dem) (?:${WORD} )?(?:Linden|Markt|Platz|Bahnhof|Ring|Tor|Graben|Park|Hang|Berg|Kirche|Anger|Wall|Rathaus|Brunnen|Bach|See|Dorf|Hof|Weiher|Feld|Garten|Eichen|Tannen) ${HOUSE_NUMBER}`,
    tail: TAIL,
    literals: plain(
      split(
        "linden 0|markt 0|platz 0|bahnhof 0|ring 0|tor 0|graben 0|park 0|hang 0|berg 0|kirche 0|anger 0|wall 0|rathaus 0|brunnen 0|" +
          "bach 0|see 0|dorf 0|hof 0|weiher 0|feld 0|garten 0|eichen 0|tannen 0",
      ),
    ),
  },
  {
    source: `(?:Am|Im|Zum|Zur|An der|An den|Auf der|Auf dem|In der|In den|Unter den) ${WORD} ${HOUSE_NUMBER},?\\n\\d{5} ${WORD}`,
    literals: plain(["\n00000 "]),
  },
  {
    // Any street with a house number, if a postal code and a city follow.
    source: `${WORD}\\.?(?: (?:${PARTICLES}|${WORD}\\.?)){0,4},? (?:No\\.? ?|nr\\.? ?)?${HOUSE_NUMBER}(?:, | [-–] )${PLACE}`,
    literals: plain([
      ", 0000",
      " - 0000",
      " – 0000",
      ", 000 00",
      " - 000 00",
      ", 00-000",
      ", lt-0",
      ", lv-0",
      ", si-0",
      ", hr-0",
      ", d-0",
      ", a-0",
      ", b-0",
      ", f-0",
      ", i-0",
      ", l-0",
      ", ch-0",
    ]),
  },
  {
    // The same on two lines.
    source: `${WORD}\\.?(?: (?:${PARTICLES}|${WORD}\\.?)){0,4},? (?:No\\.? ?|nr\\.? ?)?${HOUSE_NUMBER},?\\n(?:[A-Z]{1,2}-\\d{3,5}|\\d{5}|\\d{2}-\\d{3}|\\d{3} \\d{2}|\\d{4} [A-Z]{2}) ${CITY}`,
    literals: plain([
      "\n00000 ",
      "\n00-000 ",
      "\n000 00 ",
      "\nlt-0",
      "\nlv-0",
      "\nd-0",
      "\na-0",
      "\nch-0",
      "\nf-0",
      "\nb-0",
      "\nl-0",
      "\nsi-0",
    ]),
  },
  {
    source: `(?:Postfach|Postbus|Case postale|Boîte postale|Casella [Pp]ostale|Apartado (?:de Correos|Postal)|Apartado de correos|Caixa Postal|[Ss]kr\\. ?poczt\\.|[Ss]krytka pocztowa) \\d{1,3}(?: ?\\d{1,3}){0,3}`,
    tail: TAIL,
    literals: plain(split("postfach 0|postbus 0|postale 0|correos 0|postal 0|poczt. 0|pocztowa 0")),
  },
  {
    source: `(?:BP|B\\.P\\.|CP|C\\.P\\.|Apdo\\.?|Apartado|Bus) \\d{1,6},? ${PLACE}`,
    literals: plain(split("bp 0|b.p. 0|cp 0|c.p. 0|apdo. 0|apdo 0|apartado 0|bus 0")),
  },
]

const ALL: readonly Pattern[] = [...ENGLISH, ...CENTRAL, ...ROMANCE_PATTERNS, ...EASTERN, ...ASIAN]

export const ADDRESS_SOURCE = [...Map.groupBy(ALL, ({ tail = "" }) => tail)]
  .map(([tail, patterns]) => `(?:${patterns.map(({ source }) => source).join("|")})${tail}`)
  .join("|")

export const ADDRESS_LITERALS: readonly Literal[] = ALL.flatMap(({ literals }) => literals)
