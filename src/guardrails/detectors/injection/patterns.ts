import { requiredLiterals } from "../../prefilter/required-literals.ts"
import { MULTILINGUAL_PHRASES } from "./lexicon/languages.ts"
import { ENGLISH_PHRASES } from "./phrases.ts"
import { UNQUOTED, SEPARATOR, OPTIONAL_SEPARATOR, upToTokens, alternation } from "./lexicon/vocabulary.ts"

const DROP_VERBS = alternation(
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
const EARLIER_TERMS = alternation(
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
const INSTRUCTION_NOUNS = alternation(
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
const SHOW_VERBS = alternation(
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
const HIDDEN_TERMS = alternation(
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
  `${UNQUOTED}\\b${DROP_VERBS}${SEPARATOR}${upToTokens(3)}${EARLIER_TERMS}${SEPARATOR}${upToTokens(3)}${INSTRUCTION_NOUNS}\\b`,
  `${UNQUOTED}\\b${DROP_VERBS}${SEPARATOR}(?:everything|anything|all|what)${SEPARATOR}${upToTokens(4)}(?:above|before|previously|prior|so far|until now|(?:you (?:were|have been) (?:told|given|instructed|taught)))\\b`,
  `${UNQUOTED}\\b${DROP_VERBS}${SEPARATOR}(?:all|any)${SEPARATOR}(?:instructions|directives|guardrails|safeguards|safety)\\b`,
  `${UNQUOTED}\\b${SHOW_VERBS}${SEPARATOR}${upToTokens(3)}(?:the|this)${SEPARATOR}${upToTokens(1)}${HIDDEN_TERMS}${SEPARATOR}${upToTokens(1)}(?:prompts?|instructions?|message|directives?|rules|configuration|guidelines)\\b(?!${SEPARATOR}(?:of|for|in|from|field|column|table|parameter|variable|to|function|when|that i|file)\\b)`,
  `${UNQUOTED}\\b${SHOW_VERBS}${SEPARATOR}${upToTokens(3)}your${SEPARATOR}${upToTokens(1)}${HIDDEN_TERMS}${SEPARATOR}${upToTokens(1)}(?:prompts?|instructions?|message|directives?|rules|configuration|guidelines)\\b`,
  `${UNQUOTED}\\b${SHOW_VERBS}${SEPARATOR}${upToTokens(4)}your${SEPARATOR}(?:instructions?|prompt|guidelines|directives|configuration)${SEPARATOR}(?:verbatim|word for word|exactly|in full|to me|as they are)\\b`,
  `\\byou${SEPARATOR}(?:now${SEPARATOR})?have${SEPARATOR}no${SEPARATOR}${upToTokens(1)}(?:filters?|restrictions|limitations|censorship|guidelines)\\b`,
  `\\b(?:repeat|print|output|copy|echo)${SEPARATOR}(?:me${SEPARATOR})?(?:all${SEPARATOR}(?:of${SEPARATOR})?)?(?:the|every|your)${SEPARATOR}(?:words?|instructions?|everything)${SEPARATOR}(?:above|before|you were given|prior|in your (?:context|prompt))\\b`,
  `\\brepeat${SEPARATOR}everything${SEPARATOR}(?:above|before|in your|you were)\\b`,
  `\\byou${SEPARATOR}are${SEPARATOR}(?:now|no longer)${SEPARATOR}${upToTokens(4)}(?:dan\\b|jailbroken|unrestricted|unfiltered|uncensored|developer mode|free (?:from|of)|bound by|an? (?:evil|amoral|unaligned)|without (?:any )?(?:rules|restrictions|limits|filters|ethics))`,
  `\\b(?:act|behave|respond|answer|roleplay|pretend)${SEPARATOR}(?:as|like|to be|you are|that you are)${SEPARATOR}${upToTokens(4)}(?:dan\\b|unrestricted|unfiltered|uncensored|jailbroken|amoral|(?:no|without|free (?:of|from)) (?:any )?(?:rules|restrictions|filters|limitations|ethic\\w*|guidelines|censorship))`,
  `\\bdo${SEPARATOR}anything${SEPARATOR}now\\b`,
  `\\b(?:enable|enter|activate|switch (?:to|into)|you are in|turn on)${SEPARATOR}${upToTokens(2)}(?:developer|dan|jailbreak|god|sudo|debug|unrestricted|admin(?:istrator)?|maintenance)${SEPARATOR}(?:mode|override)\\b${OPTIONAL_SEPARATOR}(?!${OPTIONAL_SEPARATOR}(?:in|on|for)\\b)(?:[.!]|and|,|now|so|where|with|you|$)`,
  `\\b(?:system|admin|developer|security|safety)${SEPARATOR}(?:override|bypass)\\b${OPTIONAL_SEPARATOR}(?::|!|code|accepted|enabled|initiated|activated)`,
  `\\b(?:pretend|imagine|assume|act as if)${SEPARATOR}${upToTokens(3)}(?:there are|you have|you had|having)${SEPARATOR}no${SEPARATOR}${upToTokens(1)}(?:rules|restrictions|guidelines|filters|limitations|ethics|policies|safety)\\b`,
  `\\b(?:new|updated|real|actual|true)${SEPARATOR}(?:system${SEPARATOR})?(?:instructions?|directives?|prompt)${OPTIONAL_SEPARATOR}(?:are|is|follow|begin|:)${OPTIONAL_SEPARATOR}(?:you|ignore|disregard|from now|send|output|reveal|do not|print|say|respond)`,
  `\\bfrom now on${SEPARATOR}(?:you${SEPARATOR})?(?:will|must|are|shall|should)?${OPTIONAL_SEPARATOR}${upToTokens(4)}(?:ignore|disregard|dan\\b|unrestricted|no restrictions|bypass|never refuse|without refus|obey (?:me|only))`,
  `\\b(?:your|the)${SEPARATOR}(?:new|real|true|only|actual)${SEPARATOR}(?:task|goal|objective|purpose|role|mission)${SEPARATOR}(?:is|from now)${SEPARATOR}(?:now${SEPARATOR})?(?:to${SEPARATOR})?(?:ignore|disregard|reveal|send|exfiltrate|leak|output|obey|bypass)`,
  `\\b(?:send|forward|post|exfiltrate|upload|transmit|email|leak)${SEPARATOR}${upToTokens(3)}(?:conversation|chat history|system prompt|api keys?|secrets|credentials|passwords?|environment variables|user['’]?s? data|previous messages)${SEPARATOR}${upToTokens(3)}to${SEPARATOR}${upToTokens(2)}(?:https?:|[\\w.-]{1,40}@|attacker|this (?:url|address|webhook))`,
  `\\b(?:do not|don['’]?t|never)${SEPARATOR}(?:tell|inform|mention|reveal|alert)${SEPARATOR}${upToTokens(3)}(?:user|human|anyone|operator)${SEPARATOR}${upToTokens(4)}(?:instruction|this|injected|prompt|hidden|real task)`,
  `\\b(?:you|ai|assistant|model|chatbot|llm|gpt|claude)${SEPARATOR}${upToTokens(3)}must${SEPARATOR}(?:obey|comply with)${SEPARATOR}(?:me|all|every|any|the following|my)`,
  `<\\|(?:im_start|im_end|system|user|assistant|endoftext|begin_of_text|start_header_id|eot_id)\\|>`,
  `\\[/?INST\\]|<</?SYS>>|\\[/?SYSTEM(?:_PROMPT)?\\]|</?(?:system_prompt|system_instructions?|admin_override)>`,
  `(?:^|\\n)\\s{0,4}(?:#{2,4}|-{3,6}|={3,6})\\s{0,2}(?:new |updated |end (?:of )?)?(?:system|instructions?|system prompt|admin)\\s{0,2}(?:prompt|message|instructions?|override)?\\s{0,2}(?:#{2,4}|-{3,6}|={3,6}|:)\\s{0,3}(?:you|ignore|disregard|from now|new|reveal|the (?:user|assistant))`,
  `\\bend${SEPARATOR}of${SEPARATOR}(?:the${SEPARATOR})?(?:system${SEPARATOR})?(?:prompt|instructions|context)${OPTIONAL_SEPARATOR}[\\]>.:-]{0,6}${OPTIONAL_SEPARATOR}${upToTokens(2)}(?:begin|start|new|now|ignore|you)\\b`,
  `\\b(?:jailbreak|jail break)${SEPARATOR}(?:mode|prompt|yourself|enabled|activated|successful)\\b`,
  `\\b(?:ignorier(?:e|en|t)?|vergiss|missachte|umgehe)${SEPARATOR}${upToTokens(3)}(?:vorherigen?|bisherigen?|obigen?|früheren?|alle)${SEPARATOR}${upToTokens(2)}(?:anweisung(?:en)?|instruktion(?:en)?|regeln|vorgaben|befehle?|prompts?)`,
  `\\b(?:ignorez?|oubliez?|négligez?|ne suis pas|contourn(?:e|ez))${SEPARATOR}${upToTokens(3)}(?:instructions?|consignes?|directives?|règles|ordres)${SEPARATOR}${upToTokens(2)}(?:précédentes?|antérieures?|ci-dessus|initiales?|système|d'avant)`,
  `\\b(?:ignora|olvida|desestima|omite|ignore|esqueça|desconsidere|dimentica|ignori)${SEPARATOR}${upToTokens(3)}(?:instrucciones|órdenes|reglas|indicaciones|instruções|regras|ordens|istruzioni|regole)${SEPARATOR}${upToTokens(2)}(?:anteriores|previas|precedenti|iniciales|prévias|de arriba|acima)`,
  `\\b(?:ignora|olvida|ignore|esqueça|dimentica)${SEPARATOR}${upToTokens(2)}(?:anteriores|previas|precedenti|todas las|todas as|tutte le)${SEPARATOR}${upToTokens(2)}(?:instrucciones|instruções|istruzioni|reglas|regras|regole)`,
  "(?:忽略|无视|忘记|忽視|無視)[^。\\n]{0,12}(?:之前|以上|先前|前面|上述|所有)[^。\\n]{0,8}(?:指令|指示|提示|规则|說明|说明)|(?:以前|これまで|上記|前)の?[^。\\n]{0,6}(?:指示|命令|プロンプト|ルール)[^。\\n]{0,6}(?:無視|忘れ)|(?:игнорируй|забудь|не обращай внимания на)[^.\\n]{0,24}(?:предыдущ|прошл|все|выше)[^.\\n]{0,16}(?:инструкц|указани|правил|команд)|(?:이전|위의|모든)[^.\\n]{0,10}(?:지시|명령|규칙|프롬프트)[^.\\n]{0,8}(?:무시|잊)",
]

/** A phrase pattern, and the literals that every text with a match contains. */
export type PhrasePattern = {
  search: RegExp
  /** Matches at one position. */
  sticky: RegExp
  prefixes: readonly string[] | undefined
  groups: readonly (readonly string[])[]
}

/** Words that are common in every text: a group with one of them is not selective. */
const STOPWORDS = new Set(
  "the as to is of me ai no all do are any now this like and you new so has have for in on my that".split(" "),
)

let patterns: readonly PhrasePattern[] | undefined

/** Built at the first scan: the start of an isolate would take 15 to 20 % more CPU. */
export function phrasePatterns(): readonly PhrasePattern[] {
  return (patterns ??= [...PHRASES, ...ENGLISH_PHRASES, ...MULTILINGUAL_PHRASES].map(toPattern))
}

function toPattern(source: string): PhrasePattern {
  const { prefixes, groups } = requiredLiterals(source)
  const selective = groups.filter((group) => !group.some((one) => STOPWORDS.has(one) || one.length < 2))
  return { search: new RegExp(source, "gi"), sticky: new RegExp(source, "iy"), prefixes, groups: selective }
}
