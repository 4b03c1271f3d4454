/** Titles, and phrases after which a capitalized word is a person's name. */

const list = (...lines: string[]) => lines.join("|").split("|")

/** Written with a capital letter. */
export const TITLES = list(
  "Mr|Mrs|Ms|Miss|Mx|Dr|Prof|Professor|Doctor|Sir|Herr|Herrn|Frau|Fräulein|Madame|Monsieur|Mademoiselle|Mme|Mlle|M.|MM.|Docteur|Professeur|Maître",
  "Señor|Señora|Señorita|Sr|Sra|Srta|Don|Doña|Dña|Dra|Doctora|Profesor|Profesora|Senhor|Senhora|Dona|Sig|Sig.ra|Sig.na|Signor|Signora",
  "Signorina|Dott|Dott.ssa|Dottor|Dottore|Dottoressa|Avv|Mevrouw|Meneer|Mevr|Dhr|Mw|Pan|Pani|Panie|Panu|Pana|Panią|Sayın|Bay|Bayan",
  "Господин|Госпожа|Г-н|Г-жа|Доктор|Уважаемый|Уважаемая|Дорогой|Дорогая|Пан|Пані|Шановний|Шановна|Rev|Reverend|Sgt|Sergeant|Capt|Lieutenant",
  "Detective|Senator|Fru|Frøken|Rouva|Paní|Domnul|Doamna|Dl|Dna|Κύριε|Κυρία|Bapak|Ibu|Pak",
)
/** Written in small letters as well. */
export const SMALL_TITLES = list(
  "dr|prof|professor|professeur|docteur|monsieur|madame|mme|mlle|señor|señora|señorita|sr|sra|srta|don|doña|dra|doctora|doctor|profesor",
  "profesora|senhor|senhora|dona|sig|sig.ra|signor|signora|signorina|dott|dott.ssa|dottor|dottore|dottoressa|avv|heer|mevrouw|meneer",
  "mevr|dhr|mw|pan|pani|panie|panu|pana|panią|sayın|господин|госпожа|г-н|г-жа|доктор",
)

/** Any capitalized word after these is a name. */
export const PHRASES = list(
  "my name is|name is|name's|call me|signed by|attn|attn:|mein name ist|mein name lautet|ich heiße|ich heisse|unterschrieben von|je m'appelle",
  "je m’appelle|mon nom est|à l'attention de|à l’attention de|s'appelle|signé par|me llamo|mi nombre es|se llama|firmado por|mi chiamo",
  "il mio nome è|si chiama|firmato da|mijn naam is|ik heet|ter attentie van|t.a.v.|meu nome é|chamo-me|me chamo|assinado por|a/c",
  "nazywam się|mam na imię|benim adım|adım|ismim|меня зовут|моё имя|мое имя|jag heter|mitt namn är|jeg heter|jeg hedder|mitt navn er|mit navn er",
  "nimeni on|jmenuji se|volám sa|numele meu este|mă numesc|mă cheamă|a nevem|zovem se|moje ime je|nama saya|tên tôi là|tôi tên là|tôi tên",
  "vážený pane|vážená paní|мене звати|моє ім'я|казвам се|зовем се|με λένε|ονομάζομαι|το όνομά μου είναι|je me nomme",
)
/** Names of fields with a part of a person's name. */
export const KEYS = [
  ...list(
    "first|last|full|given|family|middle|customer|patient|contact|employee|author|recipient|guest|holder|cardholder|tenant|student|sender",
  ).flatMap((kind) => ["_", " ", "-", ""].map((joint) => `${kind}${joint}name`)),
  ...list(
    "surname|cardholder|vorname|nachname|prenom|prénom|apellido|apellidos|cognome|sobrenome|achternaam|voornaam|nazwisko|soyadı|soyad",
    "efternamn|förnamn|fornavn|etternavn|efternavn|etunimi|sukunimi|příjmení|jméno|họ tên|họ và tên|nama lengkap|фамилия|отчество|прізвище",
    "ονοματεπώνυμο|επώνυμο",
  ),
]
/** Labels, before a colon. */
export const LABELS = list(
  "name|full name|first name|last name|surname|candidate|applicant|patient|client|customer|contact|contact person|assignee|author|reviewer",
  "reviewed-by|signed-off-by|co-authored-by|approved by|from|to|cc|bill to|ship to|driver|passenger|passenger name|guest|tenant|employee",
  "manager|owner|recipient|sender|payee|account holder|reporter|signature|witness|nurse|doctor|cliente|paciente|nombre|solicitante",
  "contacto|remitente|destinatario|candidato|candidata|conductor|nome|nome completo|paziente|richiedente|referente|nom|prénom|candidat",
  "candidate |demandeur|expéditeur|destinataire|patiente|ansprechpartner|ansprechpartnerin|patientin|kunde|kundin|bewerber|bewerberin",
  "absender|empfänger|mieter|mieterin|unterschrift|naam|klant|sollicitant|contactpersoon|patiënt|afzender|imię i nazwisko|kandydat",
  "kandydatka|pacjent|pacjentka|klient|klientka|wnioskodawca|nadawca|odbiorca|hasta|müşteri|aday|ad soyad|yetkili|gönderen|имя|фио",
  "пациент|пациентка|клиент|заказчик|отправитель|получатель",
)
/** Ends of letters, before a line break. */
export const CLOSINGS = list(
  "regards|sincerely|cheers|thanks|thank you|wishes|yours|grüßen|gruß|grüße|cordialement|salutations|amicalement|bien à vous|saludos",
  "atentamente|un abrazo|saluti|cordialmente|groet|groeten|atenciosamente|cumprimentos|abraço|poważaniem|pozdrawiam|saygılarımla|selamlar",
  "уважением|повагою|hälsningar|hilsen|hilsner|terveisin|pozdravem|üdvözlettel|tisztelettel|stimă|hormat saya|trân trọng|εκτίμηση|respectfully",
  "warmly|best",
)
/** Words right before a name. */
export const ROLES = list(
  "dear|patient|client|customer|colleague|coworker|manager|boss|employee|tenant|landlord|driver|nurse|guest|candidate|plaintiff|defendant",
  "witness|claimant|respondent|appellant|petitioner|insured|policyholder|suspect|victim|attorney|solicitor|neighbour|neighbor|wife|husband|sister|brother|son|daughter|friend|applicant|buyer|seller|contact|liebe|lieber|patientin",
  "kollege|kollegen|kollegin|kunde|kunden|kundin|mieter|mieterin|fahrer|bewerber|bewerberin|chef|chefin|freund|freundin|nachbar|cher|chers",
  "chère|collègue|patiente|cliente|locataire|voisin|voisine|mari|femme|compañero|compañera|paciente|conductor|inquilino|inquilina",
  "jefe|jefa|vecino|vecina|querido|querida|estimado|estimada|collega|paziente|autista|gentile|caro|cara|patiënt|chauffeur|huurder",
  "buurman|klant|beste|geachte|sollicitant|pacjent|pacjenta|pacjentka|kolega|kolegi|koleżanka|koleżanki|klient|klienta|klientka|najemca",
  "kierowca|motorista|colega|prezado|prezada|caro|cara|hasta|müşteri|sevgili|пациент|пациентка|коллега|клиент|клиентка|водитель",
  "дорогой|дорогая|hermano|hermana|hijo|hija|esposo|esposa|marido|amigo|amiga|sœur|frère|fils|fille|ami|amie|bruder|schwester|sohn|tochter",
  "fratello|sorella|figlio|figlia|marito|moglie|amico|amica|irmão|irmã|filho|filha|broer|zus|zoon|dochter|vriend|vriendin|brat|siostra|żona|mąż",
)
/** Before a given name that is also a word. */
export const CALLS_PERSON =
  /(?<!\p{L})(?:ask|tell|talk to|speak to|speak with|talk with|sprich mit|parle à|habla con|parla con|praat met|fala com|porozmawiaj z|thanks|thank you|hi|hello|hey|dear|cheers|named|frag|frage|hallo|danke|demande à|dis à|merci|salut|bonjour|pregúntale a|dile a|hola|gracias|chiedi a|ciao|grazie|vraag|zeg tegen|hoi|bedankt|pergunta a|pergunta ao|diz a|olá|oi|zapytaj|powiedz|cześć|merhaba),? $/iu

export const GIVEN_CYRILLIC = (
  "александр алексей анатолий андрей антон артем артур борис вадим валентин валерий василий виктор виталий владимир вячеслав геннадий " +
  "георгий григорий даниил денис дмитрий евгений егор иван игорь илья кирилл константин леонид максим михаил никита николай олег павел " +
  "петр роман руслан семен сергей станислав степан тимофей федор юрий ярослав александра алина алла анастасия анна валентина валерия " +
  "вера вероника виктория галина дарья диана евгения екатерина елена елизавета зинаида инна ирина кристина ксения лариса людмила маргарита " +
  "марина мария надежда наталья нина оксана ольга полина светлана софья тамара татьяна ульяна юлия яна олександр тарас богдан"
).split(" ")

export const HAN_SURNAMES_ZH =
  "王李张刘陈杨黄赵吴周徐孙马朱胡郭何林高罗郑梁谢宋唐许韩冯邓曹彭曾肖田董袁潘于蒋蔡余杜叶程苏魏吕丁任沈姚卢姜崔钟谭陆汪范石廖贾夏韦付方邹孟熊秦邱江尹薛闫段雷侯龙史陶黎贺顾毛郝龚邵万钱严覃武戴莫孔汤張劉陳楊黃趙吳孫馬羅鄭謝許韓馮鄧蕭葉蘇呂盧鍾譚陸範賈鄒龍賀顧龔萬錢嚴"
export const HAN_SURNAMES_JA =
  "佐藤 鈴木 高橋 田中 伊藤 渡辺 渡邊 山本 中村 小林 加藤 吉田 山田 佐々木 山口 松本 井上 木村 林 斎藤 斉藤 清水 山崎 森 池田 橋本 阿部 石川 山下 中島 石井 小川 前田 岡田 長谷川 藤田 後藤 近藤 村上 遠藤 青木 坂本 福田 太田 西村 藤井 岡本 藤原 金子 三浦 中野 中川 原田 松田 竹内 小野 田村 中山 和田 石田 上田 森田 原 柴田 酒井 工藤 横山 宮崎 宮本 内田 高木 安藤 谷口 大野 丸山 今井 高田 藤本 武田 村田 上野 杉山 増田 平野 大塚 千葉 久保 松井 野口 岩崎 桜井 菊地 木下 松尾 野村 新井 渡部 佐野 古川 小島".split(
    " ",
  )
/** The word after an Arabic title that is no name. */
export const ARABIC_ROLES =
  /^(?:العميل|العميلة|الزبون|المدير|المديرة|القارئ|الطالب|الزملاء|المستخدم|المشترك|الفريق|المساعد|غير|من|في|أول|آخر|الذي|التي|الزراعي|المدني|المعماري|الكهربائي|الميكانيكي|المسؤول|المختص|المناوب|المشرف|الفني)/u
export const GIVEN_ARABIC = (
  "محمد أحمد احمد محمود علي عمر حسن حسين خالد يوسف إبراهيم ابراهيم مصطفى عبدالله عبدالرحمن سعيد سالم سعد فهد فيصل ناصر ماجد طارق كريم سامي رامي " +
  "بلال حمزة زياد وليد ياسر هشام عادل جمال رشيد صالح فاطمة عائشة مريم زينب خديجة نور هدى أمل سارة ليلى سلمى رنا ريم هند منى دينا نادية سناء سعاد لينا " +
  "آمنة أمينة حنان إيمان رانيا ياسمين جميلة كوثر عبد أبو أم"
).split(" ")
