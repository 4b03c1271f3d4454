import type { MatchRange } from "../detector.ts"

/** Names in scripts without capital letters: a title, a label or a phrase decides. */
type ScriptName = {
  /** In RE2 syntax; `literals`: each match contains one. */
  source: string
  literals: readonly string[]
  /** The same with the name in the group `name`. */
  pattern: RegExp
  /** Words that are no name after such a title. */
  exclude?: RegExp
}

const KOREAN_FAMILY =
  "[김이박최정강조윤장임한오서신권황안송전홍유고문양손배백허남심노하곽성차주우구민류나진지엄채원천방공현함변염여추도소석선설마길연위표명기반라왕금옥육인맹제모탁국]"
const KOREAN_NAME = `${KOREAN_FAMILY}[가-힣]{2}`
const KOREAN_TITLES =
  "님 씨 과장 부장 대리 사원 팀장 차장 대표 선생님 교수 박사 변호사 간호사 원장 실장 주임 매니저 기자 의원 선수 감독 작가".split(
    " ",
  )
const KOREAN_LABELS =
  "이름 성함 성명 담당자 작성자 예금주 보낸사람 보낸 사람 받는사람 받는 사람 받는 분 수신인 발신인 수령인 신청인 환자명 고객명 환자 학생".replace(
    /(보낸|받는) (사람|분)/g,
    "$1_$2",
  )
const KOREAN_LABEL = `(?:${KOREAN_LABELS.split(" ").join("|").replaceAll("_", " ")})`
const KOREAN_COPULA = "(?:입니다|이에요|예요|이라고|라고|이고|이며|인데요)"
const KOREAN_OTHER =
  /^(?:연락처|전화번|휴대|핸드폰|문의처|고객센|주문|배송|이용자|선생|주문자|신청자|구매자|임차인|임대인|조합원|전문가|지원자|참가자|관리자|담당자|소비자|여러분|고객사|신규|기존|전체|우리|한국|서울|부산|인사|영업|마케팅|개발|총무|재무|기획|홍보|구매|생산|연구|교육|공무원|회사원|직장인|대학생|고등학|주부|여성|남성|외국인|한국인|미성년|성인)/u
/** Last syllables of nouns that no given name has. */
const KOREAN_NOUN_END = /[날글말불음솜]$/u

const HINDI_WORD = "[\\p{Devanagari}]{2,16}"
const HINDI_GIVEN =
  "राजेश अमित सुनीता प्रिया राहुल संजय विजय अनिल सुनील मनोज विकास दीपक रवि अजय अर्जुन रोहित विशाल आशीष नितिन सचिन पंकज मुकेश सुरेश रमेश महेश दिनेश राकेश नरेश गणेश अनीता पूजा नेहा कविता गीता सीता रेखा मीना सरिता ममता ज्योति स्वाति अंजलि दिव्या रश्मि शालिनी मोहन राम श्याम कृष्ण हरि अशोक प्रकाश संतोष राजू".split(
    " ",
  )
const HINDI_FAMILY =
  "शर्मा वर्मा कुमार सिंह गुप्ता यादव मिश्रा पाण्डेय पांडे तिवारी चौधरी जैन पटेल शाह मेहता अग्रवाल चौहान राजपूत ठाकुर जोशी नायर रेड्डी राव देसाई कपूर खन्ना मल्होत्रा चोपड़ा भट्ट सक्सेना श्रीवास्तव त्रिपाठी द्विवेदी दुबे शुक्ला कुमारी देवी खान अंसारी".split(
    " ",
  )
const HINDI_TITLES = "श्री श्रीमती सुश्री डॉ डॉ. डॉक्टर प्रोफेसर प्रिय".split(" ")
const HINDI_OTHER = /^(?:ग्राहक|को|की|का|के|ने|से|है|हैं|क्या|और|में|पर|सूची)(?=\s|$)/u
const HINDI_PARTICLE = / (?:को|की|का|के|ने|से|है|हैं|हूँ|हूं|और|में|पर|जी|भी|नहीं|या|साहब|तक|द्वारा)$/u

const HEBREW_GIVEN =
  "דוד|משה|יוסף|יעקב|אברהם|יצחק|דניאל|יונתן|אורי|איתי|עומר|נועם|אלון|רון|גיל|עידו|תומר|יואב|אמיר|אבי|שרה|רחל|לאה|רבקה|מרים|נועה|תמר|יעל|מיכל|שירה|מאיה|רוני|ענת|דנה|הילה|אורית|ליאת|ורד"
const HEBREW_FAMILY =
  "כהן|לוי|מזרחי|פרץ|ביטון|דהן|אברהם|פרידמן|אזולאי|מלכה|כץ|גולן|שפירא|רוזנברג|ברק|שלום|חדד|עמר|סבג|בן דוד|גבאי|אוחיון|שמעוני|רוזן|לביא|הראל|ויס|קליין|שטרן|גולדברג"
const HEBREW_WORD = "[א-ת][א-ת'\"-]{1,14}"

/** "My name is" in more scripts. */
const INTRODUCTIONS = [
  "আমার নাম",
  "என் பெயர்",
  "నా పేరు",
  "ನನ್ನ ಹೆಸರು",
  "എന്റെ പേര്",
  "મારું નામ",
  "ਮੇਰਾ ਨਾਮ",
  "माझे नाव",
  "मेरो नाम",
  "මගේ නම",
  "მე მქვია",
  "ჩემი სახელია",
  "ბატონო",
  "ქალბატონო",
  "իմ անունը",
  "Իմ անունը",
  "ስሜ",
  "ខ្ញុំឈ្មោះ",
  "ຂ້ອຍຊື່",
  "نام من",
  "اسم من",
  "میرا نام",
]
/** Verbs at the end of such a sentence. */
const SENTENCE_ENDS = "છે|ਹੈ|आहे|हो|է|ነው|است|ہے"
const ANY_SCRIPT =
  "[\\p{Bengali}\\p{Tamil}\\p{Telugu}\\p{Kannada}\\p{Malayalam}\\p{Gujarati}\\p{Gurmukhi}\\p{Devanagari}\\p{Sinhala}\\p{Georgian}\\p{Armenian}\\p{Ethiopic}\\p{Khmer}\\p{Lao}\\p{Arabic}]{2,16}"
const THAI_TITLES = "คุณ|นางสาว|นาย|นาง|น\\.ส\\.|ดร\\.|ด\\.ช\\.|ด\\.ญ\\."
/** "You", and other words that begin like a title. */
const THAI_OTHER =
  /^(?:ภาพ|สมบัติ|ค่า|ต้อง|สามารถ|จะ|ได้|มี|เป็น|ไม่|อยาก|ควร|กำลัง|เคย|ยัง|ชอบ|คิด|รู้|ใช้|ทำ|ไป|มา|พูด|เห็น|และ|ที่|อยู่|ช่วย|แม่|พ่อ|ครู|หมอ|ยาย|ลุง|พี่|นี่|ลูกค้า|เลือก|เข้า|ส่ง|กด|ลอง|สร้าง|เปิด|ปิด|ถาม|บอก|ต่อ|ซื้อ|รับ|ติด|ลืม|เรียก|กรัฐ|ก|จ้าง|หน้า|แบบ|ทุน|พล|ร้อย|อำเภอ|แพทย์|ท้าย|ฟ้า|งาม|ประกัน|ตัว|ให้|หรือ|คือ|ของ|กับ|ใน|จาก|แล้ว|ก็|คง|เอง|ทั้ง|ด้วย|เพิ่ง|พร้อม|ขอ|หา|ดู|อ่าน|เขียน|ตั้ง|แก้|สั่ง|จ่าย|โอน|กรอก|ยืนยัน|ตอบ|เริ่ม|สนใจ|ประโยชน์|ธรรม|วุฒิ)/u

const NAMES: readonly ScriptName[] = [
  {
    source: `(?:${INTRODUCTIONS.join("|")}) ${ANY_SCRIPT}(?: ${ANY_SCRIPT}){0,2}`,
    literals: INTRODUCTIONS.map((opening) => `${opening} `),
    pattern: new RegExp(`^(?:${INTRODUCTIONS.join("|")}) (?<name>\\S+(?: (?!(?:${SENTENCE_ENDS})(?: |$))\\S+)?)`, "u"),
    exclude: new RegExp(`^(?:${SENTENCE_ENDS})(?= |$)`, "u"),
  },
  {
    source: `(?:${THAI_TITLES}) ?\\p{Thai}{2,20} \\p{Thai}{2,20}`,
    literals: ["คุณ", "นาย", "นาง", "น.ส.", "ดร.", "ด.ช.", "ด.ญ."],
    pattern: new RegExp(`^(?:${THAI_TITLES}) ?(?<name>.+)$`, "u"),
    exclude: THAI_OTHER,
  },
  {
    // Before a phone number, and after the number of a flat.
    source: `${KOREAN_NAME},? \\(?01[016789]`,
    literals: [" 00", " (00"],
    pattern: new RegExp(`^(?<name>${KOREAN_NAME}),? \\(?01\\d$`, "u"),
    exclude: KOREAN_OTHER,
  },
  {
    source: `\\d{1,4}호,? ${KOREAN_NAME}`,
    literals: ["호 ", "호, "],
    pattern: new RegExp(`^\\d{1,4}호,? (?<name>${KOREAN_NAME})$`, "u"),
    exclude: KOREAN_OTHER,
  },
  {
    source: `${KOREAN_NAME} ?(?:${KOREAN_TITLES.join("|")})`,
    literals: KOREAN_TITLES,
    pattern: new RegExp(`^(?<name>${KOREAN_NAME}) ?(?:${KOREAN_TITLES.join("|")})$`, "u"),
    exclude: KOREAN_OTHER,
  },
  {
    source: `${KOREAN_LABEL}: ?${KOREAN_NAME}[가-힣]{0,4}`,
    literals: KOREAN_LABELS.split(" ").map((label) => `${label.replace("_", " ")}:`),
    pattern: new RegExp(
      `^${KOREAN_LABEL}: ?(?<name>${KOREAN_NAME})(?:님|씨|이|가|은|는|을|를|의|에게|께|과|와|도)?$`,
      "u",
    ),
    exclude: KOREAN_OTHER,
  },
  {
    source: `(?:${KOREAN_LABEL}[은는이]|저는|나는|전|제가) ${KOREAN_NAME}${KOREAN_COPULA}`,
    literals: ["입니다", "이에요", "예요", "이라고", "라고", "이고", "이며", "인데요"],
    pattern: new RegExp(`^(?:${KOREAN_LABEL}[은는이]|저는|나는|전|제가) (?<name>${KOREAN_NAME})${KOREAN_COPULA}$`, "u"),
    exclude: KOREAN_OTHER,
  },
  {
    source: `(?:${HINDI_TITLES.join("|").replaceAll(".", "\\.")}) (?:(?:${HINDI_GIVEN.join("|")})(?: ${HINDI_WORD})?|${HINDI_WORD} (?:${HINDI_FAMILY.join("|")}))`,
    literals: HINDI_TITLES.map((title) => `${title} `),
    pattern: new RegExp(`^(?:${HINDI_TITLES.join("|").replaceAll(".", "\\.")}) (?<name>.+)$`, "u"),
  },
  {
    source: `मेरा नाम ${HINDI_WORD}(?: ${HINDI_WORD})? है`,
    literals: ["मेरा नाम "],
    pattern: /^मेरा नाम (?<name>.+) है$/u,
    exclude: HINDI_OTHER,
  },
  {
    source: `(?:${HINDI_GIVEN.join("|")}) (?:${HINDI_FAMILY.join("|")})`,
    literals: HINDI_FAMILY.map((name) => ` ${name}`),
    pattern: new RegExp(`^(?<name>(?:${HINDI_GIVEN.join("|")}) (?:${HINDI_FAMILY.join("|")}))$`, "u"),
  },
  {
    source: `(?:שמי|קוראים לי|מר|גב'|גברת|ד"ר|פרופ') ${HEBREW_WORD}(?: ${HEBREW_WORD})?`,
    literals: ["שמי ", "קוראים לי ", "מר ", "גב' ", "גברת ", 'ד"ר ', "פרופ' "],
    pattern: /^(?:שמי|קוראים לי|מר|גב'|גברת|ד"ר|פרופ') (?<name>.+)$/u,
    exclude: /^(?:הוא|היא|לא|מאוד|כל|את|אני)(?=\s|$)/u,
  },
  {
    source: `(?:${HEBREW_GIVEN}) (?:${HEBREW_FAMILY})`,
    literals: HEBREW_FAMILY.split("|").map((name) => ` ${name}`),
    pattern: new RegExp(`^(?<name>(?:${HEBREW_GIVEN}) (?:${HEBREW_FAMILY}))$`, "u"),
  },
  {
    source: "(?:ผม|ดิฉัน|ฉัน)ชื่อ ?\\p{Thai}{2,20}(?: \\p{Thai}{2,20})?",
    literals: ["ชื่อ"],
    pattern: /ชื่อ ?(?<name>.+)$/u,
    exclude: /^(?:อะไร|นี้|ผู้|ไฟล์)/u,
  },
]

export const SCRIPT_SOURCES: readonly string[] = NAMES.map(({ source }) => source)
export const SCRIPT_LITERALS: readonly string[] = [...new Set(NAMES.flatMap(({ literals }) => literals))]

export function isScriptName(codePoint: number): boolean {
  const isWestern = codePoint >= 0x530 && codePoint < 0x600
  const isEastern = codePoint >= 0x900 && codePoint < 0x1800
  return isWestern || isEastern || (codePoint >= 0xac00 && codePoint < 0xd7a4)
}

export function scriptName(match: string, before: string): MatchRange[] {
  // A name begins a word.
  if (/[\p{L}\p{M}]$/u.test(before)) return []
  for (const { pattern, exclude } of NAMES) {
    const found = pattern.exec(match)
    const name = found?.groups?.name
    if (!found || name === undefined || exclude?.test(name) || KOREAN_NOUN_END.test(name)) continue
    const from = found.index + found[0].indexOf(name)
    return [[from, from + name.replace(HINDI_PARTICLE, "").length]]
  }
  return []
}
