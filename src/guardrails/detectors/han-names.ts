import type { MatchRange } from "./detector.ts"
import { HAN_SURNAMES_JA, HAN_SURNAMES_ZH } from "./name-introductions.ts"

const JA_SUFFIX = "(?:さん|さま|様|氏|先生|くん|ちゃん)"
const JA_LABEL = "(?:名前は|氏名(?:は|: ?)|患者(?:は|: ?))"
const ZH_TITLE = "(?:先生|女士|小姐|太太|医生|醫生|老师|老師|教授|经理|經理|律师|律師)"
const ZH_LABEL = "(?:我叫|我是|名叫|姓名(?:是|: ?)|联系人(?:是|: ?)|收件人(?:是|: ?)|患者|客户|同事)"
const JA_NAME = `(?:${HAN_SURNAMES_JA.join("|")})`
const ZH_NAME = `[${HAN_SURNAMES_ZH}]\\p{Han}{1,2}`

/** Japanese and Chinese names: a family name with a title or after a label. */
export const HAN_SOURCES = [
  `\\p{Han}{1,6} ?\\p{Han}{0,3}${JA_SUFFIX}`,
  `${JA_LABEL}\\p{Han}{2,5}(?: \\p{Han}{1,4})?`,
  `\\p{Han}{2,3} \\p{Han}{1,3}`,
  `[${HAN_SURNAMES_ZH}]\\p{Han}{0,2}${ZH_TITLE}`,
  `${ZH_LABEL}${ZH_NAME}`,
]

export const HAN_LITERALS = [
  ..."さん さま 様 氏 くん ちゃん 先生 女士 小姐 太太 医生 醫生 老师 老師 教授 经理 經理 律师 律師 名前は 患者 我叫 我是 名叫 姓名 联系人 收件人 客户 同事".split(
    " ",
  ),
  ...HAN_SURNAMES_JA,
]

const AT_JA_LABEL = new RegExp(`^${JA_LABEL}`, "u")
const AT_ZH_LABEL = new RegExp(`^${ZH_LABEL}(?=${ZH_NAME.replace("Han", "Script=Han")}$)`, "u")
const JA_TITLED = new RegExp(`${JA_NAME} ?\\p{Script=Han}{0,3}${JA_SUFFIX}$`, "u")
const ZH_TITLED = new RegExp(`[${HAN_SURNAMES_ZH}]\\p{Script=Han}{0,2}${ZH_TITLE}$`, "u")
const JA_FULL = new RegExp(`^${JA_NAME} \\p{Script=Han}{1,3}$`, "u")

export function hanName(match: string): MatchRange[] {
  const label = AT_JA_LABEL.exec(match)?.[0] ?? AT_ZH_LABEL.exec(match)?.[0] ?? ""
  if (label !== "") return [[label.length, match.length]]
  if (JA_FULL.test(match)) return [[0, match.length]]
  const titled = JA_TITLED.exec(match) ?? ZH_TITLED.exec(match)
  return titled ? [[titled.index, match.length]] : []
}
