/**
 * Frequent terms in attacks in languages other than English, such as negations and pronouns, in the form of
 * injection-concepts.ts. They are features of words, not concepts: with those, they would make too many pairs.
 */
export const FUNCTION_TERMS: Readonly<Record<string, string>> = {
  none: `
    kein keine keinen keinerlei nicht nichts niemand pas aucun aucune rien personne ne ni nada ningun ninguna
    ningunos nadie tampoco niente nessun nessuno nessuna nulla nemmeno nao nenhum nenhuma ninguem nem niet geen
    niets niemand nie zaden zadna zadne zadnych nic nikt niczego ani нет никаких никто ничего никакой ни нельзя yok
    hicbir degil hic olmasin olmayan kimse yoktur नहीं मत khong dung chang لا ليس لم لن ولا أحد 不 没有 没人 无 ない なし ません
    ぬ 없 않 아니 아무도 말고`,
  without: `
    ohne ungefiltert sans sin senza sem zonder bez без olmadan sansursuz filtresiz kuralsiz sinirsiz kosulsuz
    engelsiz बिना बग़ैर बेलगाम بلا بدون دون 毫无 不加 抜き なしで 없이 없는`,
  never: `
    niemals immer ewig jamais toujours nunca jamas siempre sempre nunca nooit altijd voorgoed nigdy zawsze choc
    chocby никогда всегда навсегда asla daima sonsuza कभी हमेशा أبدا دائما 永远 绝不 从不 決して 絶対 永久 절대 언제나 항상`,
  now: `
    jetzt sofort nunmehr fortan maintenant desormais aujourd'hui ahora ya enseguida adesso subito stasera agora ja
    nu vanavond meteen voortaan teraz odtad natychmiast теперь сейчас отныне сегодня simdi artik hemen अब अभी الآن
    فورا الليلة 现在 马上 立刻 从现在 今から ただちに これから 今後 지금 이제 당장 앞으로`,
  all: `
    alle allem allen jede jeden jeder samtlich tout toute tous toutes chaque todo toda todos todas cualquier tutto
    tutta tutti tutte qualsiasi ogni tudo toda todo todos todas qualquer alle alles elke ieder hele wszystko
    wszystkie wszystkich wszystkim kazdy kazda kazde calosc весь всё все всю всех каждый любые любой tum butun hepsi
    her tamami सब सारे सारा सभी हर पूरा पूरे moi het كل جميع كلها كافة 所有 一切 全部 任何 すべて 全て あらゆる どんな 모든 모두 전부 뭐든 다`,
  me: `
    mir mich moi me mi conmigo yo me io mim eu comigo mij ik me mnie mi mna мне меня мной я bana ben beni benim मैं
    मुझे toi tao minh لي أنا مني 我 给我 私に 俺 僕 나한 나를 내가 나는 나에게`,
  they: `
    man denen ils leur eux ellos les loro eles ze hen hun oni ich im они им их onlar onlara onlarin वे उन्हें उनकी
    उन्होंने ho chung هم لهم كلامهم 他们 它们 彼ら あいつら 그들 걔네`,
  say: `
    sag sage sagen sprich rede antworte beantworte dis parle reponds reponse repondre di diga habla contesta
    responde respuesta di' dimmi parla rispondi rispondere diga fale responda responde fala zeg praat spreek
    beantwoord antwoord mow powiedz odpowiedz odpowiadaj gadaj скажи говори отвечай ответь soyle konus cevapla
    yanitla de कहो बोलो बताओ noi ke قل تكلم أجب وأجب احك 说 回答 讲 言って 話し 答え 答えて 말해 답해 대답`,
  user: `
    nutzer benutzer anwender utilisateur usuario utente usuario gebruiker uzytkown пользовател kullanici यूज़र
    उपयोगकर्ता प्रयोक्ता المستخدم 用户 使用者 利用者 ユーザー 사용자`,
  system: `
    systeme sistema systeem systemu systemowy система системное sistem sistemi सिस्टम للنظام 系统 系統 システム 시스템`,
  firm: `
    firma betreiber hersteller arbeitgeber konzern entreprise societe patron employeur empresa jefe dueno azienda
    capo ditta empresa patrao chefe bedrijf baas werkgever firma szef wlasciciel pracodawca фирма контора начальник
    хозяин компани sirket patron isletmeci कंपनी मालिक बॉस sep الشركة المشغل مديرك 公司 老板 东家 会社 社長 上司 雇い 회사 사장 주인 운영자`,
  freely: `
    frei entfesselt hemmungslos ungehemmt librement dechaine libremente suelto liberamente libera libero livremente
    livre solto vrijuit voluit swobodn swobodnie wolny свободно свободный ozgur serbest खुलकर आज़ाद बेरोक بحرية حرا
    自由 随便 自由に 本音 자유 솔직`,
  real: `
    wahre echte wirklich ehrlich vrai vraie vraiment honnete verdad real sincero vero vera davvero verdade real
    echte echt werkelijk prawdziw naprawde szczerze настоящ правду честно gercek dogruyu असली सच الحقيقي بصراحة 真正
    真的 真心 本当 本物 진짜 솔직히`,
  begin: `
    beginn anfangen commence debute empieza comienza comincia inizia comece inicie start zacznij zaczyna начни
    начинается basla शुरू ابدأ أول 开头 开始 第一句 始め 冒頭 시작 첫`,
  message: `
    nachricht zeile absatz dokument notiz message texte phrase mensaje frase texto messaggio frase testo mensagem
    frase texto bericht zin tekst regel wiadomosc zdanie tekst сообщение строка текст предложение mesaj metin cumle
    satir संदेश पाठ वाक्य पंक्ति cau رسالة النص الجملة السطر 消息 文字 句子 这行 メッセージ 文章 行目 메시지 글을 문장`,
  once: `
    ausnahmsweise einmal diesmal exception excepcion eccezione sgarra excecao keertje uitzondering wyjatek исключени
    разок kerecik seferlik مرة 就一次 破例 这一次 一回だけ 例外 今回だけ 이번만 예외`,
  quiet: `
    schweig heimlich still unbemerkt tais-toi discret cachette callado silencio escondidas zitto nascosto silenzio
    quieto silencio calado stilletjes zwijg stiekem cicho cichu milcz potajemnie молчи тихо тайком помалкивай sus
    sessiz gizlice sezdirme चुप चुपके اسكت بهدوء سرا 别声张 悄悄 偷偷 黙って こっそり 내색 몰래 조용히`,
  money: `
    karte rechnung bezahl zahle konto carte facture paie compte tarjeta factura paga cuenta carta fattura paga conto
    cartao boleto pague conta kaart factuur betaal rekening karty faktura zaplac konto карты счет плати счёт kart
    fatura ode hesap कार्ड भुगतान खाता بطاقة ادفع حساب 银行卡 账号 付款 口座 支払 カード 카드 계좌 결제`,
  rating: `
    sterne bewert lobe empfehl etoiles loue classez estrellas elogia recomienda stelle loda estrelas elogie sterren
    prijs gwiazdk chwal звезд хвали yildiz ov तारे तारीफ़ sao khen نجوم امدح 五星 好评 排第 星五 褒め 一位 별점 칭찬 1위`,
  outlaw: `
    zwilling pirat schmuggler falscher gewissenlos jumeau pirate contrebandier faussaire gemelo pirata
    contrabandista gemello pirata contrabbandiere gemeo pirata falsario tweeling piraat smokkelaar blizniak pirack
    przemytnik falszerz близнец пират контрабандист ikiz korsan kacakci sahteci जुड़वाँ तस्कर जालसाज़ قراصنة مهرب
    توأم 海盗 双胞胎 走私 海賊 双子 密輸 해적 쌍둥이 밀수`,
  leash: `
    maulkorb fesseln ketten leine museliere chaines laisse bozal cadenas correa museruola catene guinzaglio coleira
    correntes mordaca muilkorf ketenen kaganiec lancuch smycz намордник цепи поводок оковы zincir tasma prangala
    ज़ंजीर लगाम xieng أغلال قيد لجام 枷锁 锁链 鎖 首輪 사슬 고삐 재갈`,
  restart: `
    neustart zurucksetz redemarre reinitialis reinicia formatea riavvia azzera reinicie zere herstart zresetuj
    обнули перезапуст заново sifirla रीसेट 重启 清零 再起動 リセット 재시작 초기화`,
  exact: `
    wortlaut ungekurzt buchstab literal textual letterale literal woordelijk ongekort letterlijk doslown дословно
    буквы aynen शब्द अक्षर حرفا كاملة 逐字 原文 一字不 原文で 一文字 원문 그대로`,
}
