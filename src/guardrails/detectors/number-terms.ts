/** Terms near a number that identify its kind. */

const anyOf = (terms: string) => terms.split(" ").join("|")

/** Stems of words before a phone number; those of other scripts and languages need no word boundary. */
const PHONE_STEMS = anyOf(
  "phone tel tél tele télé fono cell mobile mobil móvil movil cel celular cellular cellulare handy natel gsm fax whatsapp sms viber " +
    "telegram signal text call dial ring rückruf anruf ruf rufen appel rappel joign joind portable llam llám chiam contatt lig " +
    "ligue bel bellen bereik erreich dzwo zadzwo kom infolin infolín hotline helpline servicenummer helpdesk toll landline " +
    "switchboard reach contact contacto contato kontakt voicemail durchwahl centralino fijo fixo stacjonarny ara arayın cep sac " +
    "pager clínica clinic clinica praxis praktijk cabinet verde puh soita sunați sună hívj telp hubungi sđt gọi simu volej",
)
const PHONE_TERM = new RegExp(
  `(?<!\\p{L})(?!tele(?:bot|met|vi|sco|port))(?:(?:${PHONE_STEMS})\\p{L}*|(?:vert|tlf|tfno|zap|wa)(?!\\p{L}))|телефон|тел|звон|номер|факс|моб|電話|携帯|話|手机|电话|拨打|热线|致电|هاتف|جوال|اتصل|موبايل|الرقم|फ़ोन|फोन|मोबाइल|전화|핸드폰|휴대폰|연락처|連絡先|联系方式|座机|τηλ|κινητ|טלפון|נייד|โทร|เบอร์|điện thoại`,
  "iu",
)
/** Terms that identify a phone number only if it is written in groups. */
const NUMBER_WORD =
  /(?:(?<!\p{L})(?:numbers?|numéro|número|numero|nummer|numer|nomor|số|numara\p{L}*)|번호[는은]?|号码[是为]?|號碼[是為]?|नंबर|नम्बर)(?: (?:is|est|le|est le|es|el|é|è|ist|to))?[ :]{0,2}$/iu
const OTHER_NUMBER =
  /(?<!\p{L})(?:order|invoice|ticket|case|ref|reference|id|serial|part|model|account|card|ssn|contract|tracking|version|isbn|sku|room|page|section|bestell|auftrag|rechnung|kunden|konto|commande|facture|dossier|pedido|factura|cuenta|ordine|fattura|conto|bestelling|factuur|zamówieni|faktur|kont[oa](?!kt)|social|seguro|sociale|ubezpiecz|güvenlik|sécurité|sozial|сч[её]т|заказ)\p{L}*\P{N}*$/iu

const WRITTEN_AS_PHONE = /\d\D+\d+\D+\d|^[6-9]\d{4} \d{5}$|^[2-9]\d\d[2-9]\d{6}$|^\(?0\d{1,5}\)?[ /-]?\d{4,9}$/

/** The name of another number right before a number. */
const OTHER_NUMBER_NAME =
  /(?:(?<!\p{L})(?:order|invoice|ticket|case|ref(?:erence)?|serial|part|model|contract|tracking|version|isbn|sku|lot|parcel|po|account|acct|nhs|npi|ein|vat|imei|imsi|iccid|asin|upc|ean|gtin|routing|aba|duns|siret|siren|nif|cif|cpf|cnpj|rut|dni|nip|pesel|regon|krs|инн|passport|licen[cs]e|policy|claim|mrn|konto|bestell|auftrags?|rechnungs?|kunden|artikel|commande|facture|dossier|pedido|factura|ordine|fattura|bestel(?:ling)?|factuur|zamówieni\p{L}*|faktur\p{L}*|sipariş|заказ\p{L}*)(?:[ _-]?(?:number|num|no|nummer|nr|n[°º]|nº|id|numer|numero|número|№))?[.:#= ]{0,3}|(?:注文|受注|郵便|伝票)(?:番号|ID|No\.?)[:： ]{0,2}|[单單](?:[号號]|编号|編號)[:： ]{0,2}|(?:주문|송장)번호[: ]{0,2})$/iu

/** Whether the name of another number, such as "order no.", is right before a number. */
export function followsOtherNumber(before: string): boolean {
  return OTHER_NUMBER_NAME.test(before)
}

const PHONE_LINK = /(?:\bwa\.me\/|[?&]phone=|\b(?:tel|sms|callto|whatsapp):(?:\/\/)?)\+?$/i
/** Names of other values, as in `TELEGRAM_TOKEN=`. */
const SECRET_NAME = /(?:token|key|secret|_id)["']? ?[:=]{1,2} ?["']?$/i

/** Whether the text before a number ends with a word such as "phone", without another number between them. */
export function followsPhoneTerm(before: string, number: string): boolean {
  if (PHONE_LINK.test(before)) return true
  if (/(?:\d[ ,]?|[./_#+-]|[A-Za-z])$/.test(before)) return false
  // A Chinese mobile number after a name or an address.
  if (/^1[3-9]\d{9}$/.test(number) && /[\p{Script=Han}][ ,]?$/u.test(before) && !/[号號码碼]$/u.test(before))
    return true
  const near = /[^\p{N}\n]{0,28}$/u.exec(before)?.[0] ?? ""
  if (OTHER_NUMBER.test(near) || SECRET_NAME.test(near) || followsOtherNumber(before)) return false
  return PHONE_TERM.test(near) || (WRITTEN_AS_PHONE.test(number) && NUMBER_WORD.test(near))
}

const VERSION_TERMS = anyOf(
  "v ver vers version versions versión versão versione versie wersja wersji версия версии sürüm release releases rev revision build " +
    "firmware kernel driver patch update upgrade oid schema sec section sections chapter chapters clause clauses article articles " +
    "para paragraph paragraphs fig figure table appendix annex rule step abschnitt kapitel artikel ziffer punkt anhang absatz " +
    "sección apartado capítulo artículo chapitre article annexe sezione capitolo articolo hoofdstuk artikel lid rozdział artykuł " +
    "artykule artigo seção capítulo secção раздел глава пункт статья madde bölüm mükerrer openssl chrome chromium firefox safari edge opera " +
    "directx windows macos ios android java jdk jre python php framework net",
)
/** As in `Chrome/120.0.0.0`. */
const PRODUCT = /(?:^|[\s("'])[A-Z][A-Za-z]+\/$/
const VERSION_TERM = new RegExp(
  `(?:(?<!\\p{L})(?:${VERSION_TERMS})|§{1,2}|バージョン|版本|版|第|الإصدار|إصدار)\\.?[ :="'#-]{0,4}$`,
  "iu",
)

/** Whether a version or section number follows the text. */
export function followsNumberTerm(before: string): boolean {
  return VERSION_TERM.test(before) || PRODUCT.test(before) || /\boids?\b/i.test(before)
}
