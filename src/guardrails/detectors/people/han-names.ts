import type { MatchRange } from "../detector.ts"
import { HAN_SURNAMES_JA, HAN_SURNAMES_ZH } from "./name-introductions.ts"

const JA_SUFFIX = "(?:さん|さま|様|氏|先生|くん|ちゃん|殿|部長|課長|社長|係長|店長|医師|弁護士|監督|選手)"
const JA_LABEL =
  "(?:名前は|氏名(?:は|: ?)|患者(?:は|: ?)|(?:お?名前|ご?担当者?|作成者|送信者|受取人|申請者|署名|宛名|お客様名)(?:は|: ?))"
const ZH_TITLE = "(?:先生|女士|小姐|太太|医生|醫生|老师|老師|教授|经理|經理|律师|律師|主任|同学|师傅|博士|总监)"
const ZH_LABEL =
  "(?:我叫|我是|名叫|请联系|請聯繫|转告|抄送|收件人|收货人|收貨人|寄件人|联系人|聯絡人|(?:姓名|名字|联系人|聯絡人|收件人|寄件人|负责人|申请人|签名|作者|甲方|乙方)(?:是|: ?)|患者|病人|客户|同事)"
const JA_NAME = `(?:${HAN_SURNAMES_JA.join("|")})`
const ZH_COMPOUND = "欧阳|歐陽|司马|司馬|上官|诸葛|諸葛|皇甫|尉迟|公孙|慕容|令狐|司徒|夏侯|端木|东方|南宫|宇文|长孙"
const ZH_NAME = `(?:(?:${ZH_COMPOUND})\\p{Han}{1,2}|[${HAN_SURNAMES_ZH}]\\p{Han}{1,2})`

/** Japanese and Chinese names: a family name with a title or after a label. */
export const HAN_SOURCES = [
  `\\p{Han}{1,6} ?\\p{Han}{0,3}${JA_SUFFIX}`,
  `${JA_LABEL}\\p{Han}{2,5}(?: \\p{Han}{1,4})?`,
  `\\p{Han}{2,3} \\p{Han}{1,3}`,
  `[${HAN_SURNAMES_ZH}]\\p{Han}{0,2}${ZH_TITLE}`,
  `${ZH_LABEL}${ZH_NAME}`,
  // Before a mobile number.
  `${ZH_NAME}[ ,]{0,2}1[3-9]\\d{9}`,
  `${JA_NAME}\\p{Han}{0,3}(?:と申します|といいます|と言います)`,
]

export const HAN_LITERALS = [
  ..."さん さま 様 氏 くん ちゃん 先生 女士 小姐 太太 医生 醫生 老师 老師 教授 经理 經理 律师 律師 名前は 患者 我叫 我是 名叫 请联系 請聯繫 转告 抄送 姓名 联系人 收件人 客户 同事 殿 部長 課長 社長 係長 主任 店長 医師 弁護士 監督 選手 と申します といいます と言います 名字 聯絡人 寄件人 负责人 申请人 签名 作者 甲方 乙方 收货人 收貨人 病人 同学 师傅 博士 总监 氏名 名前: 担当 作成者 送信者 受取人 申請者 署名 宛名 お客様名".split(
    " ",
  ),
  ...HAN_SURNAMES_JA,
  "00000000000",
]

/** Other words that begin with a family name, such as "programmer" and "immediately". */
const ZH_NOT_NAMES = new RegExp(
  "^(?:程[序度式]|高[中级級职職校管铁鐵层層端]|江[苏蘇西南]|钟[表头頭]|石油|史[学學料]|何[时時地况況]|于[昨今是上此]|马[上路虎]|" +
    "任[何务務职職意]|方[面向案便式法]|金[融牌额額属屬]|白[领領天]|安[全装裝排]|严[重格]|黄[金山色]|余[额下]|周[一二三四五六日末期边]|" +
    "夏[天季]|雷达|龙头|林业|谢谢|许[多可]|苏州|陈[述列]|张贴|王牌|杜绝|郑[州重]|范[围文例]|段落|毛[病利]|黎明|贺[卡词]|顾[客问]|" +
    "陶瓷|付[款费]|熊猫|沈阳|董事|肖像|韩[国语]|罗[列马]|胡说|孙子|叶子|田[径野]|白天|常[用见规务]|万[一元]|温[州度]|文[科件档])",
  "u",
)
/** After a name of two characters, the beginning of the next word. */
const ZH_TAIL = /[的了说說和投在是要问問来來去已将將也都今昨刚剛于把被给給对對向与與跟想请請反表提打回收发發]$/u

const AT_JA_LABEL = new RegExp(`^${JA_LABEL}`, "u")
const AT_ZH_LABEL = new RegExp(`^${ZH_LABEL}(?=${ZH_NAME.replaceAll("{Han", "{Script=Han")}$)`, "u")
const JA_TITLED = new RegExp(`${JA_NAME} ?\\p{Script=Han}{0,3}${JA_SUFFIX}$`, "u")
const ZH_TITLED = new RegExp(`[${HAN_SURNAMES_ZH}]\\p{Script=Han}{0,2}${ZH_TITLE}$`, "u")
const JA_INTRODUCED = new RegExp(`(${JA_NAME}\\p{Script=Han}{0,3})(?:と申します|といいます|と言います)$`, "u")
const JA_START = new RegExp(`^${JA_NAME}`, "u")
const JA_FULL = new RegExp(`^${JA_NAME} \\p{Script=Han}{1,3}$`, "u")

export function hanName(match: string): MatchRange[] {
  const name = /^(\p{Script=Han}+)[ ,]{0,2}\d+$/u.exec(match)?.[1]
  if (name !== undefined) return ZH_NOT_NAMES.test(name) ? [] : [[0, name.length]]
  const japanese = AT_JA_LABEL.exec(match)?.[0]
  if (japanese !== undefined) return japaneseName(match, japanese.length)
  const introduced = JA_INTRODUCED.exec(match)
  if (introduced) return [[introduced.index, introduced.index + (introduced[1]?.length ?? 0)]]
  const label = AT_ZH_LABEL.exec(match)?.[0]
  if (label !== undefined) return chineseName(match, label.length)
  if (JA_FULL.test(match)) return [[0, match.length]]
  const titled = JA_TITLED.exec(match)
  if (titled && !/[的是了在]/u.test(titled[0])) return [[titled.index, match.length]]
  const addressed = ZH_TITLED.exec(match)
  if (!addressed || ZH_NOT_NAMES.test(addressed[0]) || addressed[0].includes("的")) return []
  return [[addressed.index, match.length]]
}

/** After "in charge:" a department may follow instead of a name. */
function japaneseName(match: string, from: number): MatchRange[] {
  const isClear = /^(?:名前は|氏名|患者)/u.test(match)
  return isClear || JA_START.test(match.slice(from)) ? [[from, match.length]] : []
}

function chineseName(match: string, from: number): MatchRange[] {
  const name = match.slice(from)
  if (ZH_NOT_NAMES.test(name)) return []
  return [[from, match.length - (name.length > 2 && ZH_TAIL.test(name) ? 1 : 0)]]
}
