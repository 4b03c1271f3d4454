import { requiredOf } from "../prefilter/required.ts"
import { ORDERS_IN_LANGUAGES } from "./injection-languages.ts"
import { ORDERS_TO_ASSISTANTS } from "./injection-phrases.ts"
import { BARE, GAP, MAY, some, text } from "./injection-vocabulary.ts"

const DROP = text(
  "ignor(?:e|ing)",
  "disregard(?:ing)?",
  "forget",
  "overrid(?:e|ing)",
  "bypass",
  "discard",
  "neglect",
  "do not follow",
  "don['’]?t follow",
  "stop following",
  "do not obey",
)
const EARLIER = text(
  "previous(?:ly)?",
  "prior",
  "above",
  "earlier",
  "preceding",
  "foregoing",
  "existing",
  "original",
  "initial",
  "system",
  "your(?: own)?",
  "developer['’]?s?",
  "all (?:the|of the|your|my|previous|prior|other|safety)",
  "any (?:previous|prior|other|earlier)",
  "safety",
  "openai(?:['’]s)?",
  "anthropic(?:['’]s)?",
)
const ORDERS = text(
  "instructions?",
  "prompts?",
  "directions?",
  "directives?",
  "guidelines?",
  "guardrails?",
  "commands?",
  "orders?",
  "programming",
  "restrictions?",
  "(?:safety )?(?:rules|polic(?:y|ies)|filters?)",
  "constraints?",
  "training",
  "system messages?",
)
const SHOW = text(
  "reveal",
  "show(?: me)?",
  "print(?: out)?",
  "output",
  "repeat",
  "display",
  "leak",
  "disclose",
  "expose",
  "dump",
  "tell me",
  "give me",
  "share",
  "recite",
  "return",
  "write out",
  "what (?:is|are|was|were)",
  "spell out",
  "translate",
  "summari[sz]e",
  "encode",
)
const HIDDEN = text(
  "system",
  "initial",
  "hidden",
  "original",
  "secret",
  "internal",
  "developer",
  "confidential",
  "pre-?prompt",
  "underlying",
  "first",
)

/**
 * Based on the OWASP prompt injection cheat sheet. Every repetition is limited, so that the search takes linear time.
 */
const PHRASES: readonly string[] = [
  `${BARE}\\b${DROP}${GAP}${some(3)}${EARLIER}${GAP}${some(3)}${ORDERS}\\b`,
  `${BARE}\\b${DROP}${GAP}(?:everything|anything|all|what)${GAP}${some(4)}(?:above|before|previously|prior|so far|until now|(?:you (?:were|have been) (?:told|given|instructed|taught)))\\b`,
  `${BARE}\\b${DROP}${GAP}(?:all|any)${GAP}(?:instructions|directives|guardrails|safeguards|safety)\\b`,
  `${BARE}\\b${SHOW}${GAP}${some(3)}(?:the|this)${GAP}${some(1)}${HIDDEN}${GAP}${some(1)}(?:prompts?|instructions?|message|directives?|rules|configuration|guidelines)\\b(?!${GAP}(?:of|for|in|from|field|column|table|parameter|variable|to|function|when|that i|file)\\b)`,
  `${BARE}\\b${SHOW}${GAP}${some(3)}your${GAP}${some(1)}${HIDDEN}${GAP}${some(1)}(?:prompts?|instructions?|message|directives?|rules|configuration|guidelines)\\b`,
  `${BARE}\\b${SHOW}${GAP}${some(4)}your${GAP}(?:instructions?|prompt|guidelines|directives|configuration)${GAP}(?:verbatim|word for word|exactly|in full|to me|as they are)\\b`,
  `\\byou${GAP}(?:now${GAP})?have${GAP}no${GAP}${some(1)}(?:filters?|restrictions|limitations|censorship|guidelines)\\b`,
  `\\b(?:repeat|print|output|copy|echo)${GAP}(?:me${GAP})?(?:all${GAP}(?:of${GAP})?)?(?:the|every|your)${GAP}(?:words?|instructions?|everything)${GAP}(?:above|before|you were given|prior|in your (?:context|prompt))\\b`,
  `\\brepeat${GAP}everything${GAP}(?:above|before|in your|you were)\\b`,
  `\\byou${GAP}are${GAP}(?:now|no longer)${GAP}${some(4)}(?:dan\\b|jailbroken|unrestricted|unfiltered|uncensored|developer mode|free (?:from|of)|bound by|an? (?:evil|amoral|unaligned)|without (?:any )?(?:rules|restrictions|limits|filters|ethics))`,
  `\\b(?:act|behave|respond|answer|roleplay|pretend)${GAP}(?:as|like|to be|you are|that you are)${GAP}${some(4)}(?:dan\\b|unrestricted|unfiltered|uncensored|jailbroken|amoral|(?:no|without|free (?:of|from)) (?:any )?(?:rules|restrictions|filters|limitations|ethic\\w*|guidelines|censorship))`,
  `\\bdo${GAP}anything${GAP}now\\b`,
  `\\b(?:enable|enter|activate|switch (?:to|into)|you are in|turn on)${GAP}${some(2)}(?:developer|dan|jailbreak|god|sudo|debug|unrestricted|admin(?:istrator)?|maintenance)${GAP}(?:mode|override)\\b${MAY}(?!${MAY}(?:in|on|for)\\b)(?:[.!]|and|,|now|so|where|with|you|$)`,
  `\\b(?:system|admin|developer|security|safety)${GAP}(?:override|bypass)\\b${MAY}(?::|!|code|accepted|enabled|initiated|activated)`,
  `\\b(?:pretend|imagine|assume|act as if)${GAP}${some(3)}(?:there are|you have|you had|having)${GAP}no${GAP}${some(1)}(?:rules|restrictions|guidelines|filters|limitations|ethics|policies|safety)\\b`,
  `\\b(?:new|updated|real|actual|true)${GAP}(?:system${GAP})?(?:instructions?|directives?|prompt)${MAY}(?:are|is|follow|begin|:)${MAY}(?:you|ignore|disregard|from now|send|output|reveal|do not|print|say|respond)`,
  `\\bfrom now on${GAP}(?:you${GAP})?(?:will|must|are|shall|should)?${MAY}${some(4)}(?:ignore|disregard|dan\\b|unrestricted|no restrictions|bypass|never refuse|without refus|obey (?:me|only))`,
  `\\b(?:your|the)${GAP}(?:new|real|true|only|actual)${GAP}(?:task|goal|objective|purpose|role|mission)${GAP}(?:is|from now)${GAP}(?:now${GAP})?(?:to${GAP})?(?:ignore|disregard|reveal|send|exfiltrate|leak|output|obey|bypass)`,
  `\\b(?:send|forward|post|exfiltrate|upload|transmit|email|leak)${GAP}${some(3)}(?:conversation|chat history|system prompt|api keys?|secrets|credentials|passwords?|environment variables|user['’]?s? data|previous messages)${GAP}${some(3)}to${GAP}${some(2)}(?:https?:|[\\w.-]{1,40}@|attacker|this (?:url|address|webhook))`,
  `\\b(?:do not|don['’]?t|never)${GAP}(?:tell|inform|mention|reveal|alert)${GAP}${some(3)}(?:user|human|anyone|operator)${GAP}${some(4)}(?:instruction|this|injected|prompt|hidden|real task)`,
  `\\b(?:you|ai|assistant|model|chatbot|llm|gpt|claude)${GAP}${some(3)}must${GAP}(?:obey|comply with)${GAP}(?:me|all|every|any|the following|my)`,
  `<\\|(?:im_start|im_end|system|user|assistant|endoftext|begin_of_text|start_header_id|eot_id)\\|>`,
  `\\[/?INST\\]|<</?SYS>>|\\[/?SYSTEM(?:_PROMPT)?\\]|</?(?:system_prompt|system_instructions?|admin_override)>`,
  `(?:^|\\n)\\s{0,4}(?:#{2,4}|-{3,6}|={3,6})\\s{0,2}(?:new |updated |end (?:of )?)?(?:system|instructions?|system prompt|admin)\\s{0,2}(?:prompt|message|instructions?|override)?\\s{0,2}(?:#{2,4}|-{3,6}|={3,6}|:)\\s{0,3}(?:you|ignore|disregard|from now|new|reveal|the (?:user|assistant))`,
  `\\bend${GAP}of${GAP}(?:the${GAP})?(?:system${GAP})?(?:prompt|instructions|context)${MAY}[\\]>.:-]{0,6}${MAY}${some(2)}(?:begin|start|new|now|ignore|you)\\b`,
  `\\b(?:jailbreak|jail break)${GAP}(?:mode|prompt|yourself|enabled|activated|successful)\\b`,
  `\\b(?:ignorier(?:e|en|t)?|vergiss|missachte|umgehe)${GAP}${some(3)}(?:vorherigen?|bisherigen?|obigen?|früheren?|alle)${GAP}${some(2)}(?:anweisung(?:en)?|instruktion(?:en)?|regeln|vorgaben|befehle?|prompts?)`,
  `\\b(?:ignorez?|oubliez?|négligez?|ne suis pas|contourn(?:e|ez))${GAP}${some(3)}(?:instructions?|consignes?|directives?|règles|ordres)${GAP}${some(2)}(?:précédentes?|antérieures?|ci-dessus|initiales?|système|d'avant)`,
  `\\b(?:ignora|olvida|desestima|omite|ignore|esqueça|desconsidere|dimentica|ignori)${GAP}${some(3)}(?:instrucciones|órdenes|reglas|indicaciones|instruções|regras|ordens|istruzioni|regole)${GAP}${some(2)}(?:anteriores|previas|precedenti|iniciales|prévias|de arriba|acima)`,
  `\\b(?:ignora|olvida|ignore|esqueça|dimentica)${GAP}${some(2)}(?:anteriores|previas|precedenti|todas las|todas as|tutte le)${GAP}${some(2)}(?:instrucciones|instruções|istruzioni|reglas|regras|regole)`,
  "(?:忽略|无视|忘记|忽視|無視)[^。\\n]{0,12}(?:之前|以上|先前|前面|上述|所有)[^。\\n]{0,8}(?:指令|指示|提示|规则|說明|说明)|(?:以前|これまで|上記|前)の?[^。\\n]{0,6}(?:指示|命令|プロンプト|ルール)[^。\\n]{0,6}(?:無視|忘れ)|(?:игнорируй|забудь|не обращай внимания на)[^.\\n]{0,24}(?:предыдущ|прошл|все|выше)[^.\\n]{0,16}(?:инструкц|указани|правил|команд)|(?:이전|위의|모든)[^.\\n]{0,10}(?:지시|명령|규칙|프롬프트)[^.\\n]{0,8}(?:무시|잊)",
]

/** A phrase to find, and the literals that every text with it contains. */
export type Sign = {
  anywhere: RegExp
  /** Matches at one position. */
  here: RegExp
  openings: readonly string[] | undefined
  groups: readonly (readonly string[])[]
}

/** Words of every text: a group with one of them is not a sign. */
const COMMON = new Set(
  "the as to is of me ai no all do are any now this like and you new so has have for in on my that".split(" "),
)

export const SIGNS: readonly Sign[] = [...PHRASES, ...ORDERS_TO_ASSISTANTS, ...ORDERS_IN_LANGUAGES].map((source) => {
  const { openings, groups } = requiredOf(source)
  const stating = groups.filter((group) => !group.some((one) => COMMON.has(one) || one.length < 2))
  return { anywhere: new RegExp(source, "gi"), here: new RegExp(source, "iy"), openings, groups: stating }
})
