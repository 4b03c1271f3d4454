/** Patterns of postal addresses by country, in RE2 syntax, and literals of which every match contains one. */
import type { Literal } from "../prefilter/aho-corasick.ts"
import { CAPITAL, LETTERS } from "./letters.ts"

/** `tail`: what may follow; patterns with the same tail share its steps. */
type Pattern = { source: string; tail?: string; literals: readonly Literal[] }

const anyOf = (alternatives: readonly string[]) =>
  `(?:${alternatives.map((word) => word.replaceAll(".", "\\.")).join("|")})`
const split = (list: string) => list.split("|")
const plain = (texts: readonly string[]): Literal[] => texts.map((text) => ({ text }))
const atStart = (texts: readonly string[]): Literal[] => texts.map((text) => ({ text, wordStart: true }))

const WORD = `${CAPITAL}[${LETTERS}'’-]*`
const CITY = `${WORD}(?:[ -](?:am|an der|de|do|da|del|la|le|les|sur|${WORD})){0,3}`
const POSTCODE = "(?:(?:D|A|B|F|I|L|CH)-)?(?:\\d{4} ?[A-Z]{2}|\\d{4,6}|\\d{2}-\\d{3}|\\d{4,5}-\\d{3})"
/** Postal code and city. */
const PLACE = `${POSTCODE},? ${CITY}(?: \\([A-Z]{2}\\))?`
const TAIL = `(?:,? ${PLACE}|, ${CITY}, ${POSTCODE})?`
const HOUSE_NUMBER = "\\d{1,4}(?: ?[a-zA-Z]\\b)?(?:[-/]\\d{1,4})?"

const STREET_KINDS = split(
  "Street|St|Avenue|Ave|Road|Rd|Boulevard|Blvd|Lane|Ln|Drive|Dr|Court|Ct|Place|Pl|Square|Sq|Terrace|Way|Parkway|Pkwy|Highway|Hwy|" +
    "Circle|Close|Crescent|Gardens|Grove|Mews|Row|Parade|Rise|Walk|Quay|Esplanade|Trail|Turnpike|Loop|Alley|Plaza|Hill|View",
)
const KIND = `(?:${STREET_KINDS.join("|")})\\b\\.?(?: (?:NE|NW|SE|SW|N|S|E|W)\\b)?`
const UNIT = "(?:Flat|Apt|Apartment|Suite|Ste|Unit|Floor|#)"
const REGION =
  "(?:[A-Z]{2},? \\d{5}(?:-\\d{4})?|[A-Z]{1,2}\\d[A-Z0-9]? ?\\d[A-Z]{2}|(?:[A-Z]{2} )?[A-Z]\\d[A-Z] ?\\d[A-Z]\\d|(?:NSW|VIC|QLD|WA|SA|TAS|ACT|NT) \\d{4}|\\d{6})\\b"
const ENGLISH_CITY = `, ${WORD}(?: ${WORD}){0,2}(?: \\d{1,2}\\b)?`
const ENGLISH_TAIL = `(?:,? ${UNIT}\\.? ?\\w{1,6})?(?:${ENGLISH_CITY}){0,2}(?:,? ${REGION})?`
const HOUSES = split("Cottage|House|Farm|Lodge|Hall|Manor|Barn")
const SMALL_KINDS = split("street|avenue|road|lane|blvd|boulevard")

const ENGLISH: Pattern[] = [
  {
    source: `\\b(?:${UNIT}\\.? \\w{1,5},? )?\\d{1,5}(?:[-/]\\d{1,5})?[A-Za-z]?,? (?:(?:\\d{1,3}(?:st|nd|rd|th)|${WORD}\\.?) ){1,4}${KIND}`,
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
    "straat|laan|plein|gracht|kade|dreef|dijk|steeg",
)
const GERMAN_KINDS = split("Straße|Strasse|Str.|Allee|Platz|Weg|Chaussee|Ring|Damm|Ufer|Landstraße|Gasse|Promenade")
const PARTICLES =
  "(?:der|den|dem|die|de|het|des|du|van|von|zum|zur|im|am|di|del|della|do|da|dos|das|la|le|les|en|und|i|e|y)"

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
    // Any street with a house number, if a postal code and a city follow.
    source: `${WORD}\\.?(?: (?:${PARTICLES}|${WORD}\\.?)){0,4},? (?:No\\.? ?|nr\\.? ?)?${HOUSE_NUMBER}, ${PLACE}`,
    literals: plain([", 0000", ", 00-000", ", d-0", ", a-0", ", b-0", ", f-0", ", i-0", ", l-0", ", ch-0"]),
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

const FRENCH = split(
  "rue|avenue|av.|boulevard|bd|bd.|blvd|place|chemin|impasse|allée|allées|quai|cours|square|passage|route|sentier|esplanade|ruelle|" +
    "voie|rond-point|faubourg|cité|résidence",
)
/** Street types of Romance languages that are also written in lower case. */
const ROMANCE = split(
  "calle|avenida|avda.|paseo|plaza|pza.|carrera|ronda|camino|travesía|carretera|glorieta|rambla|calzada|bulevar|cuesta|pasaje|callejón|vial|pasadizo|viale|piazza|piazzale|" +
    "vicolo|contrada|rua|travessa|praça|alameda|estrada|rodovia|beco|urb.",
)
/** Street types that are written with a capital. */
const ROMANCE_CAPITALIZED = split("Via|Corso|Largo|Strada|Av.|C/|Viale|Salita|Lungomare|Rue|Avenue|Boulevard|Place|R.")
const FRENCH_PARTICLE = "(?:de la |de l['’]|de |du |des |la |le |les |d['’]|l['’]|aux? )?"
const ROMANCE_PARTICLE =
  "(?:\\d{1,2} de |de la |de los |de las |de |del |della |dell['’]|delle |degli |dei |di |d['’]|dos |das |do |da |el |los |las |la |e |y )?"
const ROMANCE_UNIT =
  "(?:, (?:\\d{1,2}\\.?[ºª°]|apto\\.?|apt\\.?|piso|bajo|depto\\.?|dpto\\.?|sala|int\\.?|interno|scala|appartamento|bloco|esc\\.?)(?: ?[\\w]{1,4})?){0,2}"

const ROMANCE_PATTERNS: Pattern[] = [
  {
    source: `\\b(?i:${FRENCH.join("|").replaceAll(".", "\\.")}) ${FRENCH_PARTICLE}${WORD}(?:[ -]${FRENCH_PARTICLE}${WORD}){0,3}, ${PLACE}(?: Cedex)?`,
    literals: [{ text: ", 00000" }],
  },
  {
    source: `\\b\\d{1,4}(?: ?bis| ?ter|[A-D])?,? (?i:${FRENCH.join("|").replaceAll(".", "\\.")}) ${FRENCH_PARTICLE}${WORD}(?:[ -]${FRENCH_PARTICLE}${WORD}){0,3}(?:,? ${PLACE}(?: Cedex)?)?`,
    literals: FRENCH.map((kind) => ({ text: `${kind} `, wordStart: true, digitWithin: 24 })),
  },
  {
    source: `(?:(?i:${ROMANCE.join("|").replaceAll(".", "\\.")})|${anyOf(ROMANCE_CAPITALIZED)}) ${ROMANCE_PARTICLE}${WORD}\\.?(?: ${ROMANCE_PARTICLE}${WORD}\\.?){0,3},? (?:n\\.?[º°]? ?|nº ?|N\\.? ?|No\\.? ?|núm\\. ?|# ?)?\\d{1,5}(?:-\\d{1,4})?[A-Za-z]?\\b${ROMANCE_UNIT}(?:,? ${PLACE})?(?:, ${CITY})?(?:, ${POSTCODE}\\b)?(?: ?[-–/] ?[A-Z]{2}\\b| \\([A-Z]{2}\\))?`,
    literals: [
      ...ROMANCE.map((kind) => ({ text: `${kind} `, wordStart: true }) as const),
      ...ROMANCE_CAPITALIZED.map(
        (kind) => ({ text: `${kind.toLowerCase()} `, wordStart: true, isCapitalized: true }) as const,
      ),
    ],
  },
  {
    source: `(?:Carrera|Cra\\.?|Kr\\.?|Calle|Cl\\.?|Diagonal|Transversal) \\d{1,3}[A-Z]? ?(?:#|No\\.?|N°) ?\\d{1,3}[A-Z]? ?- ?\\d{1,3}(?:, ${CITY})?`,
    literals: plain(split("carrera 0|cra. 0|cra 0|kr 0|kr. 0|calle 0|cl 0|cl. 0|diagonal 0|transversal 0")),
  },
]

const POLISH = split("ul.|ulica|ulicy|ulicę|al.|aleja|aleje|alei|pl.|plac|placu|os.|osiedle|osiedlu|rondo|skwer|bulwar")
const TURKISH = split("Caddesi|Cad.|Cd.|Sokağı|Sokak|Sok.|Sk.|Bulvarı|Blv.|Mahallesi|Mah.")
const TURKISH_PART = `(?:${WORD} ){1,3}${anyOf(TURKISH)}`
const RUSSIAN_BEFORE = split(
  "ул.|улица|улице|пр.|пр-т|проспект|пер.|переулок|пл.|площадь|бульвар|б-р|шоссе|наб.|набережная",
)
const RUSSIAN_AFTER = split(
  "улица|ул.|проспект|пр.|пр-т|переулок|пер.|площадь|пл.|бульвар|б-р|шоссе|набережная|наб.|проезд",
)
const RUSSIAN_NUMBER =
  "(?:д\\. ?|дом )?\\d{1,4}(?: ?[а-я])?(?:/\\d{1,3})?(?:,? (?:корп\\.?|к\\.|стр\\.|строение|кв\\.|квартира|оф\\.|офис) ?\\d{1,4}){0,3}"

const EASTERN: Pattern[] = [
  {
    source: `(?i:${POLISH.join("|").replaceAll(".", "\\.")}) (?:\\d{1,2} )?${WORD}\\.?(?: (?:i |\\d{1,2} )?${WORD}\\.?){0,3} \\d{1,4}[a-zA-Z]?(?:/\\d{1,4}| m\\. ?\\d{1,4})?${TAIL}(?:, ${CITY})?`,
    literals: atStart(POLISH.map((kind) => `${kind} `)),
  },
  {
    source: `${TURKISH_PART}(?:,? ${TURKISH_PART})?,? ?(?:[Nn]o ?[:.]? ?)?\\d{1,4}(?:/\\d{1,4})?(?:,? ?(?:D|Daire|Kat) ?[:.]? ?\\d{1,3}){0,2}(?:,? ${WORD}(?:[ /]${WORD})?){0,2}`,
    literals: atStart(TURKISH.map((kind) => kind.replace("I", "ı").toLowerCase())),
  },
  {
    source: `(?:\\d{6},? )?(?:(?:г\\. ?)?${WORD}, )?(?:${anyOf(RUSSIAN_BEFORE)} ${WORD}(?: ${WORD}){0,2}|${WORD}(?:[ -]${WORD})? ${anyOf(RUSSIAN_AFTER)}),? ${RUSSIAN_NUMBER}(?:, \\d{6}(?:,? ${WORD})?)?(?:, (?:г\\. ?)?${WORD})?`,
    literals: plain([...new Set([...RUSSIAN_BEFORE, ...RUSSIAN_AFTER])]),
  },
  {
    source:
      "(?:〒? ?\\d{3}-\\d{4} ?)?(?:\\p{Han}{2,3}県|東京都|北海道|京都府|大阪府)[\\p{Han}\\p{Hiragana}\\p{Katakana}ー]{1,20}\\d{1,4}(?:(?:丁目|番地?|号|-)\\d{0,4}){0,4}(?:\\p{Han}{0,8}\\d{1,4}号室)?",
    literals: plain(["県", "東京都", "北海道", "京都府", "大阪府"]),
  },
  {
    source:
      "(?:\\p{Han}{2,4}省)?(?:\\p{Han}{2,6}[市州])?(?:\\p{Han}{1,6}[区县镇])?\\p{Han}{1,8}[路街道巷弄]\\d{1,5}[号弄](?:\\p{Han}{0,6}\\d{1,4}[号楼层室栋单元]{1,2}){0,4}",
    literals: plain(["路0", "街0", "道0", "巷0", "弄0"]),
  },
  {
    source:
      "(?:شارع|طريق|حي) \\p{Arabic}{2,14}(?: \\p{Arabic}{2,14}){0,2}،? (?:رقم )?\\d{1,5}(?:، ?\\p{Arabic}{2,14}(?: \\p{Arabic}{2,14})?){0,2}",
    literals: plain(["شارع", "طريق", "حي "]),
  },
]

const ALL: readonly Pattern[] = [...ENGLISH, ...CENTRAL, ...ROMANCE_PATTERNS, ...EASTERN]

export const ADDRESS_SOURCE = [...Map.groupBy(ALL, ({ tail = "" }) => tail)]
  .map(([tail, patterns]) => `(?:${patterns.map(({ source }) => source).join("|")})${tail}`)
  .join("|")

export const ADDRESS_LITERALS: readonly Literal[] = ALL.flatMap(({ literals }) => literals)
