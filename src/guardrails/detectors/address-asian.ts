/** Patterns of postal addresses in languages of Asia. */
import { atStart, type Pattern, plain, split, TAIL, WORD } from "./address-terms.ts"

const KANA = "[\\p{Han}\\p{Hiragana}\\p{Katakana}ー]"
const PREFECTURE = "(?:\\p{Han}{2,3}県|東京都|北海道|京都府|大阪府)"
/** Blocks and numbers; a number alone is a quantity. */
const BLOCK =
  "\\d{1,4}(?:丁目|番地?|号|条|-\\d{1,4})(?:\\p{Han}?\\d{1,4}(?:丁目|番地?|号|条)?|-\\d{1,4}){0,4}(?:\\p{Han}{0,8}\\d{1,4}号室)?"

const hangul = (ends: string) => `[가-힣]{1,8}${ends}`
const KOREAN_REGION = `(?:${hangul("(?:시|도|군|구)")} ){1,3}(?:${hangul("(?:읍|면|동|가)")} )?`

const HINDI_STREETS = split("मार्ग|रोड|नगर|सड़क|गली|कॉलोनी|विहार|चौक|बाज़ार|पथ|मोहल्ला|सेक्टर|लेन|स्ट्रीट|पुरम|कुंज|मंडी|बाजार")
const HINDI_WORD = "[\\p{Devanagari}]{2,16}"
const ARABIC_WORD = "\\p{Arabic}{2,14}"
const HEBREW_WORD = "[א-ת][א-ת'\"-]+"
const MALAY = split("Jalan|Jln.|Jln|Jl.|Jl|Lorong|Persiaran|Lebuh|Gang|Gg.")
const MALAY_KIND = `(?:${MALAY.join("|").replaceAll(".", "\\.")})`

export const ASIAN: readonly Pattern[] = [
  {
    source: `(?:〒? ?\\d{3}-\\d{4}[ \\n]?)?${PREFECTURE}${KANA}{1,20}${BLOCK}(?: ${KANA}{2,16}[A-Z]? ?\\d{1,4}(?:F|階|号室))?`,
    literals: plain(["県", "東京都", "北海道", "京都府", "大阪府"]),
  },
  {
    // In Kyoto, relative to a crossing.
    source: `${PREFECTURE}${KANA}{1,24}(?:上る|下る|入る|東入|西入)${KANA}{0,10}\\d{1,4}(?:-\\d{1,4})?`,
    literals: plain(["上る", "下る", "入る", "東入", "西入"]),
  },
  {
    source: `〒 ?\\d{3}-\\d{4}[ \\n]?${KANA}{2,24}${BLOCK}`,
    literals: plain(["〒"]),
  },
  {
    source: `\\p{Han}{1,6}[市区町村]${KANA}{1,16}(?:\\d{1,3}条${KANA}{0,2})?\\d{1,3}(?:丁目|番地)(?:\\d{1,4}(?:番地?|号)?|-\\d{1,4}){0,4}`,
    literals: plain(["丁目", "番地"]),
  },
  {
    source:
      "(?:\\d{3,6} ?)?(?:\\p{Han}{2,4}省)?(?:\\p{Han}{2,6}[市州])?(?:\\p{Han}{1,6}[区區县縣镇鎮乡鄉])?\\p{Han}{1,8}[路街道巷弄](?:\\p{Han}段)?\\d{1,5}[号號弄](?:[\\p{Han}A-Z]{0,8}[0-9A-Z]{1,4}[号號楼樓层層室栋棟座单元之]{1,2}\\d{0,3}){0,4}",
    literals: plain(["路0", "街0", "道0", "巷0", "弄0", "段0"]),
  },
  {
    source: `${KOREAN_REGION}[가-힣0-9]{1,12}(?:로|길)(?: ?\\d{1,4}번길)? \\d{1,4}(?:-\\d{1,4})?(?:,? ?\\d{1,4}[동층호]){0,3}(?: ?\\([가-힣0-9, ]{2,20}\\))?`,
    literals: plain(["로 0", "길 0", "로0", "길0"]),
  },
  {
    source: `${KOREAN_REGION}${hangul("(?:동|리)")} \\d{1,4}(?:-\\d{1,4})?(?:번지)?(?:,? [가-힣A-Za-z0-9]{2,16})?(?:,? ?\\d{1,4}[동층호]){0,3}`,
    literals: plain(["동 0", "리 0"]),
  },
  {
    source: `(?:شارع|طريق|حي) ${ARABIC_WORD}(?: ${ARABIC_WORD}){0,2}،? (?:رقم )?\\d{1,5}(?:، ?${ARABIC_WORD}(?: ${ARABIC_WORD})?){0,2}(?: \\d{4,6})?`,
    literals: plain(["شارع", "طريق", "حي "]),
  },
  {
    source: `(?:\\d{1,5}(?:/\\d{1,4})?،? )?(?:شارع|طريق) ${ARABIC_WORD}(?: ${ARABIC_WORD}){0,2}(?:، ?${ARABIC_WORD}(?: ${ARABIC_WORD})?){1,3}(?: \\d{4,6})?`,
    literals: plain(["شارع", "طريق"]),
  },
  {
    source: `(?:רחוב|רח'|שדרות|שד'|דרך|סמטת) ${HEBREW_WORD}(?: ${HEBREW_WORD}){0,2} \\d{1,3}(?:/\\d{1,3})?(?:, ?דירה \\d{1,3})?(?:, ?${HEBREW_WORD}(?: ${HEBREW_WORD})?)?`,
    literals: plain(["רחוב ", "רח' ", "שדרות ", "שד' ", "דרך ", "סמטת "]),
  },
  {
    source: `(?:(?:फ्लैट|मकान|प्लॉट|घर|दुकान)(?: (?:नंबर|संख्या|नं\\.))? )?\\d{1,4}(?:/\\d{1,4})?,? (?:${HINDI_WORD},? ){1,3}(?:${HINDI_STREETS.join("|")})(?:, ?${HINDI_WORD}(?: ${HINDI_WORD})?){1,3}(?: ?[-–]? ?\\d{6})?`,
    literals: plain(HINDI_STREETS.map((kind) => ` ${kind}`)),
  },
  {
    // With a district or a lane instead of a road.
    source:
      "\\d{1,4}(?:/\\d{1,4})? (?:หมู่(?:ที่)? ?\\d{1,2} ?)?(?:(?:ซอย|ซ\\.|หมู่บ้าน|อาคาร|ตรอก) ?[\\p{Thai}0-9]{1,20} ?(?:\\d{1,3}(?:/\\d{1,3})? )?){0,2}(?:(?:แขวง|ตำบล|ต\\.) ?\\p{Thai}{2,20} ?)(?:(?:เขต|อำเภอ|อ\\.) ?\\p{Thai}{2,20} ?)?(?:(?:จังหวัด|จ\\.)? ?\\p{Thai}{2,16}ฯ?)?(?: \\d{5})?",
    literals: plain(["แขวง", "ตำบล", "ต."]),
  },
  {
    source:
      "\\d{1,4}(?:/\\d{1,4})? (?:หมู่ ?\\d{1,2} )?(?:ซอย ?[\\p{Thai}0-9]{1,20} )?(?:ถนน|ถ\\.) ?\\p{Thai}{2,20}(?: (?:แขวง|ตำบล|เขต|อำเภอ|จังหวัด|ต\\.|อ\\.|จ\\.)?\\p{Thai}{2,20}){0,4}(?: \\d{5})?",
    literals: plain(["ถนน", "ถ."]),
  },
  {
    source: `(?:No\\.? ?)?\\d{1,4}[A-Z]?,? ${MALAY_KIND} ${WORD}(?: ${WORD}| \\d{1,3}(?:/\\d{1,3})?\\b){0,3}`,
    tail: TAIL,
    literals: atStart(MALAY.map((kind) => `${kind.toLowerCase()} `)),
  },
  {
    source: `${MALAY_KIND} ${WORD}(?: ${WORD}){0,3},? (?:No|Nomor|Kav|Blok)?\\.? ?[A-Z]?\\d{1,4}[A-Z]?(?:,? R[TW]\\.? ?\\d{1,3}(?:/(?:RW\\.? ?)?\\d{1,3})?)?(?:, ${WORD}(?: ${WORD})?){0,2}(?: \\d{5}\\b)?`,
    literals: atStart(MALAY.map((kind) => `${kind.toLowerCase()} `)),
  },
  {
    source: `(?:Số )?\\d{1,4}[A-Z]?(?:/\\d{1,4})?,? (?:(?:[đĐ]ường|[pP]hố|[nN]gõ) )?${WORD}(?: ${WORD}){0,3}(?:, (?:Phường|Quận|Huyện|Xã|P\\.|Q\\.|Thị trấn) ?[A-Za-zÀ-ỹ0-9]+(?: ${WORD}){0,3}){1,2}(?:, (?:Thành phố |TP\\.? ?|Tỉnh )?${WORD}(?: ${WORD}){0,3})?`,
    literals: plain(split(", phường |, quận |, huyện |, xã |, p.|, q.|, thị trấn ")),
  },
]
