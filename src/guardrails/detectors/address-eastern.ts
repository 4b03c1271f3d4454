/** Patterns of postal addresses in Slavic languages, Turkish, Hungarian, Romanian and Greek. */
import { anyOf, atStart, type Pattern, plain, split, TAIL, WORD } from "./address-terms.ts"

const POLISH = split("ul.|ulica|ulicy|ulicę|al.|aleja|aleje|alei|pl.|plac|placu|os.|osiedle|osiedlu|rondo|skwer|bulwar")
const TURKISH = split("Caddesi|Cad.|Cd.|Sokağı|Sokak|Sok.|Sk.|Bulvarı|Blv.|Mahallesi|Mah.")
const TURKISH_PART = `(?:${WORD} ){1,3}${anyOf(TURKISH)}`
const RUSSIAN_BEFORE = split(
  "ул.|улица|улице|пр.|пр-т|проспект|пер.|переулок|пл.|площадь|бульвар|б-р|шоссе|наб.|набережная|" +
    "вул.|вулиця|вулиці|просп.|пров.|провулок|площа|бульв.|бул.|узвіз|бул|вул|ж.к.|жк|кв.|трг|булевар|тупик|мкр.|пр-кт",
)
const RUSSIAN_AFTER = split(
  "улица|ул.|проспект|пр.|пр-т|переулок|пер.|площадь|пл.|бульвар|б-р|шоссе|набережная|наб.|проезд",
)
const RUSSIAN_NUMBER =
  "(?:д\\. ?|дом |буд\\. ?|будинок |№ ?)?\\d{1,4}(?: ?[а-я])?(?:[/-]\\d{1,4})?(?:,? (?:корп\\.?|к\\.|стр\\.|строение|кв\\.|квартира|оф\\.|офис) ?\\d{1,4}){0,3}"

const ROMANIAN = split("Str.|Strada|Bd.|B-dul|Bulevardul|Calea|Aleea|Șos.|Șoseaua|Piața|Intrarea|Splaiul")
const GREEK = split("Οδός|οδός|Λεωφόρος|Λεωφ.|Πλατεία|Πλ.")

const BALTIC = split("iela|bulvāris|gatve|g.|gatvė|pr.|al.|mnt|tn|pst")

export const EASTERN: readonly Pattern[] = [
  {
    source: `${WORD}\\.?(?: ${WORD}){0,2} ${anyOf(BALTIC)} \\d{1,4}[A-Za-z]?(?:[-/]\\d{1,4})?`,
    tail: TAIL,
    literals: plain(BALTIC.map((kind) => ` ${kind} 0`)),
  },
  {
    source: `(?i:${POLISH.join("|").replaceAll(".", "\\.")}) (?:\\d{1,2} )?${WORD}\\.?(?: (?:i |\\d{1,2} )?${WORD}\\.?){0,3} \\d{1,4}[a-zA-Z]?(?:/\\d{1,4})?(?:,? (?:m|lok)\\. ?\\d{1,4})?`,
    tail: TAIL,
    literals: atStart(POLISH.map((kind) => `${kind} `)),
  },
  {
    source: `${TURKISH_PART}(?:,? ${TURKISH_PART})?,? ?(?:[Nn]o ?[:.]? ?)?\\d{1,4}(?:/\\d{1,4})?(?:,? ?(?:D|Daire|Kat) ?[:.]? ?\\d{1,3}){0,2}(?:,? (?:\\d{5} )?${WORD}(?:[ /]${WORD})?){0,2}`,
    literals: atStart(TURKISH.map((kind) => kind.replace("I", "ı").toLowerCase())),
  },
  {
    source: `(?:\\d{6},? )?(?:(?:[гм]\\. ?)?${WORD}, )?(?:${anyOf(RUSSIAN_BEFORE)} ${WORD}(?: ${WORD}){0,2}|${WORD}(?:[ -]${WORD})? ${anyOf(RUSSIAN_AFTER)}),? ${RUSSIAN_NUMBER}(?:, (?:бл|вх|ет|ап|кв|под|эт|подъезд|этаж)\\.? ?[0-9А-Яа-я]{1,4}){0,4}(?:,? \\d{4,6}(?:,? ${WORD})?)?(?:, (?:[гм]\\. ?)?${WORD})?(?:, \\d{5,6})?`,
    literals: plain([...new Set([...RUSSIAN_BEFORE, ...RUSSIAN_AFTER])]),
  },
  {
    source: `(?:\\d{4} ${WORD},? )?${WORD}(?: ${WORD}){0,2}(?: \\d{1,2}\\.)? (?:utca|út|útja|tér|tere|körút|krt\\.|u\\.|sétány|rakpart|köz|sor|fasor|dűlő) \\d{1,4}(?:[-/]\\w{1,3})?\\.?(?: (?:[IVX]{1,4}|\\d{1,2}|fszt|em)\\.?(?: ?em\\.?)?(?:/| )\\d{1,3}\\.?)?`,
    tail: TAIL,
    literals: plain(
      split(
        " utca 0| út 0| útja 0| tér 0| tere 0| körút 0| krt. 0| u. 0| sétány 0| rakpart 0| köz 0| sor 0| fasor 0| dűlő 0",
      ),
    ),
  },
  {
    source: `${anyOf(ROMANIAN)} ${WORD}(?: ${WORD}){0,3},? (?:nr\\.? ?)?\\d{1,4}[A-Z]?(?:, (?:bl|sc|et|ap|sector|sectorul)\\.? ?\\w{1,4}){0,5}`,
    tail: TAIL,
    literals: atStart(ROMANIAN.map((kind) => `${kind.toLowerCase()} `)),
  },
  {
    source: `${anyOf(GREEK)} ${WORD}(?: ${WORD}){0,2},? \\d{1,4}`,
    tail: TAIL,
    literals: atStart(GREEK.map((kind) => `${kind.toLowerCase()} `)),
  },
]
