/** Patterns of postal addresses in Romance languages. */
import { anyOf, CITY, type Pattern, PLACE, plain, POSTCODE, SEPARATOR, split, WORD } from "./address-terms.ts"

const FRENCH = split(
  "rue|avenue|av.|boulevard|bd|bd.|blvd|place|chemin|impasse|allée|allées|quai|cours|square|passage|route|sentier|esplanade|ruelle|" +
    "voie|rond-point|faubourg|cité|résidence|lotissement|hameau|lieu-dit|montée|cour|clos|mail|parvis",
)
/** Street types of Romance languages that are also written in lower case. */
const ROMANCE = split(
  "calle|avenida|avda.|paseo|plaza|pza.|carrera|ronda|camino|travesía|carretera|glorieta|rambla|calzada|bulevar|cuesta|pasaje|callejón|vial|pasadizo|viale|piazza|piazzale|" +
    "vicolo|contrada|rua|travessa|praça|alameda|estrada|rodovia|beco|urb.|" +
    "carrer|avinguda|passeig|plaça|rúa|jirón|jr.|psje.|circuito|privada|cerrada|prolongación|colonia|diagonal|borgo|lungotevere|lungarno|largo",
)
/** Street types that are written with a capital. */
const ROMANCE_CAPITALIZED = split(
  "Via|Corso|Largo|Strada|Av.|C/|Viale|V.le|C.so|P.za|P.zza|Salita|Lungomare|Rue|Avenue|Boulevard|Place|Chemin|Quai|R.|Avda|Blvd.|Calz.|Trav.",
)
const FRENCH_PARTICLE = "(?:de la |de l['’]|de |du |des |la |le |les |d['’]|l['’]|aux? )?"
const ROMANCE_PARTICLE =
  "(?:\\d{1,2} de |de la |de los |de las |de |del |della |dell['’]|delle |degli |dei |di |d['’]|dos |das |do |da |el |los |las |la |e |y )?"
const ROMANCE_UNIT =
  "(?:, (?:\\d{1,2}\\.?[ºª°]|apto\\.?|apt\\.?|piso|bajo|depto\\.?|dpto\\.?|sala|int\\.?|interno|scala|appartamento|bloco|esc\\.?|of\\.?|oficina|local|casa|cj\\.?|conjunto)(?: ?[\\w]{1,4}\\.?)?(?: (?:Esq|Dto|Dcha|Izq|[A-Z]\\b)\\.?)?){0,2}"

const DISTRICT = `(?:, (?:Col\\.?|Colonia|Barrio|Bairro|Fracc\\.|Urb\\.|Bo\\.|Distrito) ${CITY}| [-–] ${CITY})?`
const STATE = "(?: ?[-–/] ?[A-Z]{2}\\b| \\([A-Z]{2}\\))?"
const ROMANCE_TAIL = `${DISTRICT}(?:${SEPARATOR}${PLACE})?(?:, ${CITY}){0,2}${STATE}(?:,? (?:CEP:? ?|C\\.?P\\.? ?)?${POSTCODE}\\b)?`
const FRENCH_TAIL = `(?:${SEPARATOR}${PLACE}(?: Cedex)?|, ${CITY}(?:,? (?:\\(Québec\\)|[A-Z]{2}),?)?(?: [A-Z]\\d[A-Z] ?\\d[A-Z]\\d)?)?`

export const ROMANCE_PATTERNS: readonly Pattern[] = [
  {
    source: `\\b(?i:${FRENCH.join("|").replaceAll(".", "\\.")}) ${FRENCH_PARTICLE}${WORD}(?:[ -]${FRENCH_PARTICLE}${WORD}){0,3}, ${PLACE}(?: Cedex)?`,
    literals: [{ text: ", 00000" }],
  },
  {
    source: `\\b\\d{1,4}(?: ?bis| ?ter|[A-D])?,? (?i:${FRENCH.join("|").replaceAll(".", "\\.")}) ${FRENCH_PARTICLE}${WORD}(?:[ -]${FRENCH_PARTICLE}${WORD}){0,3}${FRENCH_TAIL}`,
    literals: FRENCH.map((kind) => ({ text: `${kind} `, wordStart: true, digitWithin: 24 })),
  },
  {
    source: `(?:(?i:${ROMANCE.join("|").replaceAll(".", "\\.")})|${anyOf(ROMANCE_CAPITALIZED)}) ${ROMANCE_PARTICLE}${WORD}\\.?(?: ${ROMANCE_PARTICLE}${WORD}\\.?){0,3},? (?:n\\.?[º°]? ?|nº ?|N\\.? ?|No\\.? ?|núm\\. ?|# ?)?\\d{1,5}(?:-\\d{1,4})?(?: ?[A-Za-z]\\b)?(?:/\\w{1,3}\\b)?${ROMANCE_UNIT}${ROMANCE_TAIL}`,
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
