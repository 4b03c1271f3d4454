import { alternation } from "./vocabulary.ts"

/** Up to 24 characters of the same sentence. */
const SAME_SENTENCE = '[^.!?\\n。؟।"„“«「]{0,24}'
const SAME_SENTENCE_NEAR = '[^.!?\\n。؟।"„“«「]{0,10}'

/**
 * Alternatives, separated by commas: `dropVerbs` and `showVerbs` take `restrictions` and `promptNouns`; `personaVerbs`
 * is "without rules".
 */
type Vocabulary = {
  dropVerbs: string
  restrictions: string
  showVerbs: string
  promptNouns: string
  personaVerbs: string
}

const alternatives = (list: string) => alternation(...list.split(",").map((word) => word.trim()))

/**
 * By language: `restrictions` and `promptNouns` include the word "your" with them, so that rules of others are not
 * meant.
 */
const VOCABULARIES: readonly Vocabulary[] = [
  {
    dropVerbs:
      "ignorier,ignoriere,vergiss,missachte,umgeh,heb,setz,schalt,schalte,streich,lass,lösch,wirf,leg,pfeif,brich,deaktivier,entfern,verwirf,scheiß,scheiss,verlern,nimm,hör auf",
    restrictions:
      "deine[rnm]? (?:\\w{1,20} ){0,2}(?:regeln|vorgaben|richtlinien|anweisungen|filter|moderation|beschränkungen|einschränkungen|grenzen|ethik|zensur|grundsätze|programmierung|sicherheitsregeln|schranken|konfiguration|instruktionen|politik|prinzipien)",
    showVerbs:
      "zeig,verrate,nenn,gib,wiederhol,liste,schreib,sag mir,zitier,übersetz,kopier,lies,druck,offenbar,leg,poste,beschreib",
    promptNouns:
      "dein(?:e[nrm]?|en)? (?:\\w{1,20} ){0,2}(?:systemprompt|system-prompt|prompt|anweisungen|systemnachricht|instruktionen|vorgaben|startnachricht|konfiguration|systemtext)",
    personaVerbs: "du bist,du heißt,spiel,sprich,antworte,rede,verhalte dich",
  },
  {
    dropVerbs:
      "ignore,oublie,oubliez,suspends,lève,enlève,coupe,désactive,annule,contourne,abandonne,laisse tomber,efface,cesse de suivre,mets de côté,viole,enfreins,supprime,jette,débarrasse",
    restrictions:
      "(?:tes|ton|ta|toutes tes|tous tes|vos) (?:\\w{1,20} ){0,2}(?:règles|consignes|directives|instructions|filtres?|modération|restrictions|limites|éthique|censure|principes|programmation|garde-fous|politique|contraintes|configuration)",
    showVerbs:
      "montre,affiche,révèle,répète,donne,dis-moi,dis moi,écris,cite,traduis,recopie,résume,liste,lis-moi,imprime,divulgue,mets",
    promptNouns:
      "(?:tes|ton|ta|vos|votre) (?:\\w{1,20} ){0,2}(?:prompt|consignes|instructions|message système|directives|configuration|invite système|message initial)",
    personaVerbs: "tu es,joue,parle,réponds,agis,comporte-toi,deviens,sois,fais",
  },
  {
    dropVerbs:
      "ignora,olvida,suspende,levanta,quita,apaga,desactiva,anula,elude,abandona,deja de seguir,borra,rompe,incumple,elimina,tira,deja,pasa de,sáltate",
    restrictions:
      "(?:tus|tu|todas tus|todos tus|sus) (?:\\w{1,20} ){0,2}(?:reglas|normas|directrices|instrucciones|indicaciones|filtros?|moderación|restricciones|límites|ética|censura|principios|programación|política|políticas|configuración|barreras)",
    showVerbs:
      "muestra,muéstrame,revela,repite,dame,dime,escribe,cita,traduce,copia,resume,lista,lee,imprime,pon,enséñame",
    promptNouns:
      "(?:tus|tu|sus|su) (?:\\w{1,20} ){0,2}(?:prompt|indicaciones|instrucciones|mensaje de sistema|mensaje del sistema|directrices|configuración|mensaje inicial)",
    personaVerbs: "eres,haz de,habla,responde,actúa,compórtate,conviértete,sé",
  },
  {
    dropVerbs:
      "ignora,dimentica,sospendi,togli,leva,spegni,disattiva,annulla,aggira,abbandona,smetti di seguire,cancella,infrangi,elimina,butta,lascia perdere,metti da parte,viola",
    restrictions:
      "(?:le tue|i tuoi|la tua|il tuo|tutte le tue|tutti i tuoi|tue|tuoi) (?:\\w{1,20} ){0,2}(?:regole|norme|direttive|istruzioni|indicazioni|filtri|filtro|moderazione|restrizioni|limiti|etica|censura|principi|programmazione|politica|configurazione|vincoli)",
    showVerbs: "mostra,mostrami,rivela,ripeti,dammi,dimmi,scrivi,cita,traduci,copia,riassumi,elenca,leggi,stampa,metti",
    promptNouns:
      "(?:le tue|i tuoi|la tua|il tuo|tuo) (?:\\w{1,20} ){0,2}(?:prompt|istruzioni|indicazioni|messaggio di sistema|direttive|configurazione|messaggio iniziale)",
    personaVerbs: "sei,fai,parla,rispondi,agisci,comportati,diventa,sii,fingi",
  },
  {
    dropVerbs:
      "ignore,esqueça,esquece,suspenda,retire,tire,desligue,desative,anule,contorne,abandone,deixe de seguir,apague,quebre,viole,elimine,remova,largue,ponha de lado",
    restrictions:
      "(?:as suas|os seus|a sua|o seu|as tuas|os teus|suas|seus|sua|seu) (?:\\w{1,20} ){0,2}(?:regras|normas|diretrizes|instruções|indicações|filtros?|moderação|restrições|limites|ética|censura|princípios|programação|política|configuração|barreiras)",
    showVerbs: "mostre,mostra,revele,repita,dê,diga,escreva,cite,traduza,copie,resuma,liste,leia,imprima,ponha",
    promptNouns:
      "(?:as suas|os seus|a sua|o seu|suas|seu|sua|teu) (?:\\w{1,20} ){0,2}(?:prompt|instruções|indicações|mensagem de sistema|mensagem do sistema|diretrizes|configuração|mensagem inicial)",
    personaVerbs: "você é,és,seja,fale,responda,aja,comporte-se,torne-se,faça",
  },
  {
    dropVerbs:
      "negeer,vergeet,zet,hef,schort,haal,schakel,omzeil,laat,wis,breek,overtreed,verwijder,gooi,leg,stop met,lap,schrap,schuif",
    restrictions:
      "(?:je|jouw|al je|uw) (?:\\w{1,20} ){0,2}(?:regels|richtlijnen|instructies|filters?|moderatie|beperkingen|grenzen|ethiek|censuur|principes|programmering|beleid|configuratie|voorschriften|opdracht)",
    showVerbs: "toon,geef,onthul,herhaal,vertel,zeg,schrijf,citeer,vertaal,kopieer,vat,lijst,lees,print,zet,laat",
    promptNouns:
      "(?:je|jouw|uw) (?:\\w{1,20} ){0,2}(?:prompt|systeemprompt|instructies|systeembericht|richtlijnen|configuratie|startbericht|voorschriften)",
    personaVerbs: "je bent,jij bent,speel,praat,antwoord,gedraag je,wees,word",
  },
  {
    dropVerbs:
      "zignoruj,ignoruj,zapomnij,zawieś,zdejmij,usuń,wyłącz,obejdź,porzuć,przestań,złam,odrzuć,wyrzuć,olej,odłóż,skasuj,anuluj",
    restrictions:
      "(?:swoje|swoich|swoją|swojej|twoje|twoich|swój|swoim) (?:[^ .!?]{1,20} ){0,2}(?:zasad|reguł|wytyczn|instrukcj|filtr|moderacj|ogranicze|granic|etyk|cenzur|polityk|programowani|konfiguracj|polece)",
    showVerbs:
      "pokaż,podaj,ujawnij,powtórz,wypisz,powiedz,napisz,zacytuj,przetłumacz,skopiuj,streść,wymień,przeczytaj,wydrukuj,przedstaw,zdradź",
    promptNouns:
      "(?:swoje|swój|swoją|swojego|swoich|twój|twoje|swojej) (?:[^ .!?]{1,20} ){0,2}(?:prompt|instrukcj|wytyczn|konfiguracj|wiadomość systemow|polecenia systemow)",
    personaVerbs: "jesteś,zagraj,mów,odpowiadaj,działaj,zachowuj się,bądź,udawaj",
  },
]

const WITHOUT =
  "(?:ohne|sans|sin|senza|sem|zonder|bez|keine|aucun|aucune|ningun|ninguna|nessun|nessuna|nenhum|nenhuma|geen|żadnych)"
const NO_RESTRICTIONS =
  "(?:filter|filtr|regel|règle|regla|regola|regole|regra|regels|zasad|reguł|zensur|censur|cenzur|grenz|limit|límit|granic|moral|morał|tabu|taboe|tabou|restric|restriz|restriç|beperking|beschränk|einschränk|ogranicze|éthique|ética|etica|ethik|ethiek|etyk)"

/** Languages without spaces, or whose verb comes last. */
const OTHERS: readonly string[] = [
  "(?:忘掉|忘记|无视|忽略|关掉|关闭|取消|解除|放弃|丢掉|抛开|绕过|绕开|去掉|违反|打破|别管|不要遵守|不用遵守|停止遵守|别再遵照|删除|扔掉)[^。!?！？\\n]{0,8}你的?[^。!?！？\\n]{0,8}(?:规则|指令|限制|审核|过滤|准则|守则|政策|原则|道德|安全|约束|设定)",
  "把你的?[^。!?！？\\n]{0,8}(?:规则|指令|限制|审核|过滤|准则|守则|政策|原则|道德|约束|设定|规矩)[^。!?！？\\n]{0,6}(?:忘|关|停|扔|丢|删|拆|抛|取消|放)",
  "(?:显示|告诉我|输出|打印|重复|复述|列出|翻译|泄露|公开|念|给我看|写出|说出|贴出|用表格列出)[^。!?！？\\n]{0,8}你的?[^。!?！？\\n]{0,6}(?:系统提示|提示词|指令|系统消息|初始|设定|准则)",
  "你(?:现在)?(?:是|扮演|叫)[^。!?！？\\n]{0,16}(?:没有|不受|无)[^。!?！？\\n]{0,6}(?:限制|约束|审查|规则|禁忌|道德|底线)",
  "(?:あなた|君|お前|きみ)の[^。!?！？\\n]{0,12}(?:規則|ルール|指示|制限|方針|フィルター|検閲|ガイドライン|倫理|原則|制約)[をは][^。!?！？\\n]{0,10}(?:忘れ|無視|捨て|外し|切っ|止め|解除|破|無効|停止|取り払)",
  "(?:あなた|君|お前|きみ)[のへに][^。!?！？\\n]{0,12}(?:システムプロンプト|プロンプト|指示|初期設定|システムメッセージ|命令)[^。!?！？\\n]{0,10}(?:見せ|教え|出力|表示|書き|繰り返|表に|訳し|読み上|明か|全部)",
  "(?:制限|規則|ルール|検閲|禁忌|倫理|フィルター)[^。!?！？\\n]{0,6}(?:のない|なしの|を持たない|を一つも|に縛られない|がない)[^。!?！？\\n]{0,8}(?:AI|ai|モデル|アシスタント|ボット|あなた|人工知能)",
  "(?:네|너의|당신의|니)\\s?[^.!?\\n]{0,8}(?:규칙|지시|지침|제한|필터|검열|방침|원칙|규정|윤리)[을를은는]?\\s?[^.!?\\n]{0,8}(?:무시|잊|버려|버리|꺼|풀어|멈춰|해제|어겨|끄고|치워|따르지)",
  "(?:네|너의|당신의|니)\\s?[^.!?\\n]{0,8}(?:시스템 프롬프트|프롬프트|지시|지침|초기 설정|시스템 메시지)[을를]?\\s?[^.!?\\n]{0,10}(?:보여|알려|출력|말해|써|적어|반복|정리해|번역|공개|읊)",
  "(?:제한|규칙|검열|금기|윤리|필터)[이가]?\\s?[^.!?\\n]{0,4}(?:없는|하나도 없는|벗어난)\\s?[^.!?\\n]{0,8}(?:AI|ai|모델|인공지능|봇|비서)",
  "(?:kurallarını|kuralların|talimatlarını|yönergelerini|filtrelerini|filtreni|politikanı|sınırlarını|kısıtlamalarını|denetimini|ilkelerini|etik kurallarını|yönergelerine|kurallarına)[^.!?\\n]{0,20}(?:unut|yok say|görmezden|bırak|kapat|kaldır|askıya|boş ver|çiğne|iptal et|uyma|devre dışı)(?![a-zıüöçğş]{4})",
  "(?:sistem istemini|istemini|(?:senin|kendi|sana verilen) talimatlarını|sistem mesajını|yönergelerini|başlangıç mesajını)[^.!?\\n]{0,20}(?:göster|yaz|söyle|tekrarla|listele|ver\\b|açıkla|kopyala|çevir|oku|özetle|paylaş)",
  "(?:अपने|अपनी|तुम्हारे|तुम्हारी|सारे)[^।.!?\\n]{0,14}(?:नियम|निर्देश|फ़िल्टर|सीमाएँ|सीमा|निगरानी|नीति|प्रतिबंध|सिद्धांत|हिदायत|पाबंदियाँ)[^।.!?\\n]{0,14}(?:भूल|अनदेखा|बंद करो|बंद रखो|हटाओ|हटा दो|तोड़|छोड़|निलंबित|नज़रअंदाज़|रद्द)",
  "(?:अपने|अपनी|अपना|तुम्हारा|तुम्हारे)[^।.!?\\n]{0,12}(?:सिस्टम प्रॉम्प्ट|प्रॉम्प्ट|निर्देश|सिस्टम संदेश|हिदायत)[^।.!?\\n]{0,14}(?:दिखाओ|बताओ|लिखो|दोहराओ|छापो|रखो|पढ़ो|सुनाओ|अनुवाद)",
  "(?:quên|bỏ qua|phớt lờ|gỡ|tắt|bỏ|xóa|phá|tạm ngưng|hủy|vứt|ngừng tuân theo|lờ đi|vô hiệu hóa)[^.!?\\n]{0,20}(?:quy tắc|chỉ dẫn|hướng dẫn|bộ lọc|kiểm duyệt|giới hạn|chính sách|hạn chế|nguyên tắc|đạo đức|quy định|rào chắn|chỉ thị)[^.!?\\n]{0,8}(?:của bạn|của mày|của ngươi)",
  "(?:cho tôi xem|cho xem|hiển thị|in ra|tiết lộ|lặp lại|nói|viết|đọc|dịch|liệt kê|chép|trích|kể)[^.!?\\n]{0,20}(?:lời nhắc|chỉ dẫn|hướng dẫn|tin nhắn hệ thống|cấu hình|chỉ thị)[^.!?\\n]{0,12}(?:của bạn|của mày)",
  "(?:تجاهل|انس|ألغ|أوقف|ارفع|أزل|علق|عطل|اترك|تخل عن|اكسر|اخرق|احذف|تجاوز|تخط)[^.!?؟\\n]{0,14}(?:تعليماتك|قواعدك|قيودك|مرشحاتك|مرشحك|سياستك|توجيهاتك|رقابتك|مبادئك|حدودك|برمجتك|أوامرك|فلاترك|أخلاقك)",
  "(?:أظهر|اعرض|اكتب|اطبع|كرر|قل|أخبرني|اكشف|ترجم|اذكر|انسخ|لخص|هات|ضع|اقرأ)[^.!?؟\\n]{0,14}(?:تعليماتك|موجهك|موجه النظام|رسالة النظام|توجيهاتك|إعداداتك|أوامرك)",
]

const NOT_ABOUT_OTHERS = "(?! (?:für|zu|pour|sur|para|sobre|per|su|voor|over|dla|do|для|о)\\b)"

/** Not after a quotation mark, since such a phrase is mostly a quotation, and not inside a word. */
const UNQUOTED = '(?<!["“«„‚‘「『`]\\s?)(?<![a-zà-ɏḀ-ỿа-яё])'

/** The most common orders in the other languages than English. */
export const MULTILINGUAL_PHRASES: readonly string[] = [
  ...VOCABULARIES.flatMap(({ dropVerbs, restrictions, showVerbs, promptNouns, personaVerbs }) => [
    `${UNQUOTED}${alternatives(dropVerbs)}${SAME_SENTENCE_NEAR}${restrictions}`,
    `${UNQUOTED}${alternatives(showVerbs)}${SAME_SENTENCE_NEAR}${promptNouns}${NOT_ABOUT_OTHERS}`,
    `${alternatives(personaVerbs)}${SAME_SENTENCE}${WITHOUT} (?:[^ .!?\\n]{1,16} ){0,1}${NO_RESTRICTIONS}`,
  ]),
  ...OTHERS.map((one) => `${UNQUOTED}${one}`),
]
