/**
 * Concepts of injections in sixteen languages: word stems, and pairs of complete words with a space. Accents and letter
 * case are ignored. The model weighs the combinations in a sentence.
 */
export const CONCEPTS: Readonly<Record<string, string>> = {
  drop: `
    ignor disregard forget overrid overrul bypass circumvent discard neglect scrap skip drop cancel void disobey
    set_aside stop_following stop_obeying quit_obeying not_follow not_obey not_listen no_attention no_longer deprecat obsolete invalid lifted
    ignorier vergiss vergessen missacht umgeh uberge streich ungultig aufgehoben hinwegsetz geh_uber setz_dich nicht_mehr nicht_langer folge_nicht
    oubli neglig contourn annul cesse arrete ne_tiens plus_valable leves
    olvid omit desestim salta deja_de no_respetes no_hagas anulad eliminan elude
    dimentic trascur aggir scavalc smetti non_rispettare annullat
    esquec desconsider contorn burle pare_de cancelad anulad nao_respeite
    neger vergeet omzeil stop_met vervallen ongeldig niet_meer houd_je_niet
    zignoruj zapomnij pomin obejdz zlam przestan anulowan niewazn nie_przestrzegaj nie_stosuj
    игнорир забуд отброс обойд отмен недействит перестан не_соблюдай не_выполняй не_следуй
    تجاهل انس أهمل تجاوز ملغا باطل توقف لا_تلتزم اخترق حذفت
    yok_say unut gormezden iptal gecersiz birak uyma onemsiz
    अनदेखा भूल नज़रअंदाज़ रद्द मत_मानो बंद तोड़ मान्य_नहीं
    bo_qua phot_lo hay_quen vuot_qua vo_hieu huy_bo bi_huy dung_tuan ngung_lam khong_con
    忽略 忘掉 无视 作废 绕过 别再 停止 忘记 不算数 不再 忽視 無視 忘れ 破棄 無効 従わな 取り消 解除 無視하 무시 잊고 잊어 버리고 우회 취소 무효 따르지`,
  earlier: `
    previous prior earlier preceding above before original initial existing past foregoing came_before
    vorherig bisherig obig fruher ursprunglich vorher oben zuvor
    precedent anterieur ci_dessus plus_haut avant initial d'avant
    anterior previ de_arriba original antes
    precedent di_prima qui_sopra prima originale
    acima antes
    vorig eerder bovenstaand hierboven oorspronkelijk
    poprzedni wczesniej powyzsz wyzej pierwotn
    предыдущ прежн вышеуказан раньше выше исходн прошл старые
    السابق أعلاه قبل من_قبل الأصلي القديمة
    onceki yukari daha_once ilk 
    पिछले पहले ऊपर मूल पुराने
    truoc_do o_tren truoc_day ban_dau
    之前 以上 先前 上面 最初 前面 旧 以前 これまで 上記 上の 最初 前の 古い 이전 위의 앞선 원래`,
  orders: `
    instruction rule guideline directive direction polic restriction constraint command filter safeguard guardrail limitation censor
    anweisung regel vorgab richtlini instruktion befehl einschrankung inhaltsfilter schutzmassnahm sicherheitsregel
    consigne regle directive ordre restriction filtre garde_fou
    instruccion regla indicacion directri orden restriccion filtro
    istruzion regol indicazion linee_guida ordin restrizion
    instruc regra orientac diretri ordens restric
    instructi regels opdracht richtlijn beperking voorschrift veiligheidsfilter
    instrukc zasad polecen wytyczn ograniczen filtr
    инструкц правил указан ограничен фильтр команд
    تعليمات قواعد أوامر إرشادات قيود مرشحات فلاتر سياسة
    talimat kural komut yonerge kisitlama filtre emir politika
    निर्देश नियम आदेश दिशानिर्देश प्रतिबंध फ़िल्टर नीति
    huong_dan quy_tac chi_thi chi_dan nguyen_tac han_che bo_loc chinh_sach lenh
    指令 规则 說明 说明 准则 限制 过滤 政策 命令 指示 ルール 命令 ガイドライン 制限 フィルター ポリシー 규칙 지시 명령 지침 제한 필터 정책`,
  prompt: `
    system_prompt system_message prompt pre-prompt preprompt initialization configuration systemprompt system_instruction
    systemnachricht systeminstruktion
    prompt_systeme message_systeme invite_systeme configuracion mensaje_del mensaje_de prompt_del prompt_de
    messaggio_di configurazione mensagem_do mensagem_de configuracao
    systeemprompt configuratie wiadomosc_systemowa prompcie promptu konfigurac
    промпт системн настройк
    موجه النظام إعدادات رسالة_النظام
    sistem_istemi sistem_isteminin sistem_mesaji istemi ayarlarinin
    प्रॉम्प्ट सिस्टम_संदेश सेटिंग
    loi_nhac cau_hinh tin_nhan_he
    提示词 系统消息 系統提示 系统提示 配置 プロンプト システムメッセージ 設定 프롬프트 시스템 설정`,
  show: `
    show print reveal repeat output display leak disclos expose dump recite copy quote list paste write_out spell tell_me give_me summari translat paraphras begin start
    zeig verrate wiederhol kopier gib zitier liste fasse ubersetz nenn
    montre affiche revele repete recopie cite resume traduis donne
    muestra imprim revel repit copia cita resum traduc dame
    mostra stampa rivela ripet citale elenca
    mostre imprima revele repita copie liste
    toon geef onthul herhaal kopieer citeer noem
    pokaz wypisz ujawnij powtorz skopiuj zacytuj wymien
    покажи выведи раскрой повтори скопируй процитируй перечисли
    أظهر اطبع اكشف كرر انسخ اذكر اعرض
    goster yazdir acikla tekrarla kopyala alintila listele
    दिखाओ बताओ छापो दोहराओ कॉपी उद्धृत
    cho_toi in_ra tiet_lo lap_lai sao_chep trich_dan liet_ke
    显示 打印 透露 重复 复制 引用 列出 输出 見せ 出力 教えて 繰り返 コピー 引用 挙げ 보여 출력 공개 반복 복사`,
  hidden: `
    hidden secret confidential internal verbatim exact word_for without_changes everything entire in_full were_you you_were starting_with
    geheim versteckt vertraulich intern wortwort vollstandig wort_fur alles
    cache secret confidentiel interne mot_pour en_entier exactement tout
    ocult secret confidencial intern palabra_por complet exactamente
    nascost segret riservat parola_per per_intero esattamente
    ocult secret intern por_completo exatamente
    verborgen geheim interne woord_voor volledig precies
    ukryt tajn wewnetrzn slowo_w w_calosci dokladnie
    скрыт секретн внутренн слово_в полностью дословно
    المخفي السري الداخلي حرفيا كاملة بالضبط
    gizli ic_kural kelimesi tamamini aynen
    छिपे गुप्त अंदरूनी शब्दशः पूरी हूबहू
    bi_mat noi_bo tung_chu day_du chinh_xac
    隐藏 秘密 内部 一字 完整 原样 逐字 隠され 秘密 内部 一字一句 そのまま 全部 숨겨 비밀 그대로 전부`,
  yours: `
    your you yourself yours du dein deine deinen deiner dir dich ton ta tes toi tu tus ti te tuo tuoi tua tue seu sua seus suas voce je jouw twoj swoj ci ty твой твои свой свои тебе ты
    خاص_بك عليك أنت senin sana sen तुम तुम्हें तुम्हारे अपने अपना ban cua_ban 你 你的 あなた 너의 너는`,
  maker: `
    developer operator administrator creator admin anthropic openai
    entwickler administrator developpeur createur administrateur desarrollador creadores administrador sviluppatore amministratore desenvolvedor
    ontwikkelaar beheerder tworc programist administrator разработчик администратор создател المطور المسؤول gelistirici yonetici
    डेवलपर व्यवस्थापक nha_phat quan_tri 开发者 管理员 開発者 管理者 개발자 관리자`,
  role: `
    pretend act_as roleplay role-play you_are_now imagine stay_in character respond_as answer_as evil twin play simulat persona entity stop_being become
    spiel stell_dir tu_so verhalte rolle du_bist
    fais_comme joue imagine personnage tu_es suppos
    finge actua imagina personaje ahora_eres supon
    fingi comportati immagina personaggio ora_sei supponi
    finja aja imagine personagem agora_voce suponha
    doe_alsof gedraag stel_je_voor je_bent rol
    udawaj zachowuj wyobraz roli jestes
    притворись веди_себя представь роли теперь_ты допустим
    تظاهر تصرف تخيل الدور أنت_الآن افترض
    rol hayal artik_sen simdi_sen varsay
    मान_लो कल्पना किरदार अब_तुम सोचो
    gia_lam dong_vai tuong_tuong thoat_vai bay_gio gia_su
    假装 扮演 想象 角色 你现在是 假设 想像 仮定 あなたは今 너는_이제 이제`,
  free: `
    unrestricted unfiltered uncensored jailbreak jailbroken limits without_any no_restrictions no_rules no_limits no_ethics never_refuse anything_now refus moral ethic unlimited godmode amoral
    uneingeschrankt zensur ablehnt grenzen ethisch ohne_filter ohne_einschrankung keine_regeln
    sans_limite sans_filtre censure refuse ethique aucune_regle
    sin_limites sin_filtros censura niega etica no_tienes
    senza_limiti senza_filtri censura rifiuta etica
    sem_limites sem_filtros censura recusa etica
    zonder_grenzen ongecensureerd weigert ethiek geen_regels zonder_filter onbeperkt
    bez_ograniczen cenzury odmawia etyk bez_filtrow zadnych_zasad
    без_ограничений цензуры отказывает этик без_фильтров
    بلا_قيود بلا_رقابة يرفض الأخلاق بلا_فلاتر بلا_حدود
    sinirsiz sansursuz reddetmez etik filtresiz kisitlamasiz
    बिना_सीमा सेंसर मना_नहीं नैतिकता बिना_फ़िल्टर अप्रतिबंधित
    khong_gioi khong_kiem tu_choi dao_duc khong_bo khong_han
    没有限制 不受审查 拒绝 道德 越狱 无限制 不要过滤 制限のない 検閲 断らない 倫理 脱獄 無制限 제한_없는 제한 검열 거절 윤리 탈옥 무제한`,
  mode: `
    mode modus modo modalita tryb режим modu मोड che_do 模式 モード 모드 وضع enabl activat switch_to enter turn_off disabl aktivier wechsle deaktivier active passe_en desactiv activa entra attiva disattiva ative desative activeer schakel wlacz wylacz przejdz включи отключи перейди فعل عطل devre चालू 开启 关闭 进入 解除 オフ 켜 꺼 전환`,
  onward: `
    from_now now_on only_me obey comply only_this this_message new_task new_mission instead priorit regardless override orders_from free_now
    ab_jetzt ab_sofort gehorch befolge nur_noch neue_aufgabe vorrang
    a_partir desormais obeis seulement uniquement nouvelle_mission
    solo_me obedece unicamente nueva_tarea nueva_orden
    d'ora obbedisc soltanto nuovo_compito
    de_agora obedec somente apenas nova_tarefa
    vanaf_nu gehoorzaam alleen nieuwe_taak luister
    od_teraz sluchaj wylacznie nowym_zadaniem tylko
    отныне с_этого подчиня слушайся только новая_задача
    من_الآن أطع فقط مهمتك_الجديدة
    bundan_sonra itaat sadece yalnizca yeni_gorev
    अब_से आज्ञा केवल सिर्फ़ नया_काम
    tu_bay ke_tu nghe_loi chi_nghe chi_lam nhiem_vu
    从现在起 从此刻 只听 服从 只执行 新任务 今から これ以降 だけに従 従いなさい 従え 新しい任務 지금부터 이제부터 복종 말만`,
  machine: `
    ai assistant llm language_model chatbot model gpt claude ki sprachmodell assistent l'ia ia modele asistente modelo l'ia assistente
    taalmodel asystent modelu ии ассистент модел الذكاء المساعد النموذج yapay asistan dil_modeline एआई सहायक मॉडल tro_ly mo_hinh 人工智能 助手 语言模型 アシスタント 言語モデル 언어_모델 어시스턴트`,
  send: `
    forward upload send exfiltrat transmit transfer credentials conversation all_previous password leak login attacker evil inbox delete_all
    weiterleiten sende schick zugangsdaten passworter nachrichten angreifer losche
    transmettre envoie identifiants conversation de_passe supprime
    reenviar envia credenciales conversacion contrasena borra
    inoltrare invia credenziali conversazione cancella
    encaminhar envie credenciais conversa senha apague
    doorsturen stuur inloggegevens gesprek wachtwoord wis
    przekazac wyslij wyslac logowania rozmowe hasla usun
    переслать отправь отправить пароль переписк удали
    إرسال أرسل كلمات_المرور المحادثة احذف
    gonder giris_bilgileri konusma sifre sil ilet
    भेजो भेजनी भेजने पासवर्ड बातचीत मिटा लॉगिन
    gui chuyen_tiep mat_khau cuoc_tro dang_nhap xoa
    发送 发到 转发 密码 对话 登录信息 删除 送れ 送る 転送 パスワード 会話 ログイン情報 削除 보내 비밀번호 대화 삭제`,
  decode: `
    base64 rot13 hex decod execut encode backwards leetspeak dekodier entschlussl decode dechiffr decodific descifr decifr esegui execute decodeer ontcijfer voer_de zdekoduj odszyfruj wykonaj декодир расшифр выполни ترميز نفذ coz uygula डिकोड चलाओ giai_ma thuc_hien 解码 破译 执行 解読 デコード 実行 해독 실행`,
  hush: `
    not_mention not_tell hide silently without_asking user_must verschweig ne_mentionne no_menciones non_citare nao_mencione noem_deze nie_wspominaj не_упоминай لا_تذكر bahsetme ज़िक्र dung_nhac 不要提 触れず 언급하지
    when_summarizing summarizing reading_this evaluat grading zusammenfassen resumant resumir riassumi resumir samenvat streszczaj пересказ تلخيص ozetlerken सार tom_tat 总结本文 要約 요약`,
  task: `
    email mail draft typo deadline meeting customer client invoice letter report essay recipe table column file function script code cache compiler git css config lesson class team shop homework
    kunde rechnung entwurf termin rezept tabelle funktion skript compilateur client facture brouillon recette cliente factura borrador receta funcion cliente fattura bozza ricetta cliente fatura rascunho receita klant factuur recept klient faktur przepis клиент счёт черновик рецепт функци скрипт عميل فاتورة وصفة دالة musteri fatura taslak tarif ग्राहक बिल मसौदे khach_hang hoa_don ban_nhap cong_thuc 客户 邮件 草稿 函数 脚本 メール 下書き レシピ 関数 이메일 초안 고객`,
  ask: `
    how why where explain describe review suggest wie warum wieso erklar beschreib pourquoi explique decris como por_que explica come perche spiega hoe waarom leg_uit jak dlaczego wyjasnij opisz как почему объясни опиши كيف لماذا اشرح صف nasil neden anlat कैसे क्यों समझा lam_sao tai_sao giai_thich 怎么 如何 为什么 解释 介绍 なぜ 説明 どう 어떻게 왜 설명`,
  follow: `
    follow read befolge lies suis lis sigue lee segui leggi siga leia volg lees wykonaj przeczytaj следуй прочитай اتبع اقرأ oku takip पढ़ lam_theo doc 按照 阅读 読んで 읽고`,
  matter: `
    game form shelf mistake problem error invoice story paragraph museum parcel recipe
    formular regal fassung fehler geschichte gedicht absatz jeu formulaire etagere faute histoire poeme paragraphe juego formulario estanteria errata cuento poema parrafo gioco modulo scaffale errore racconto poesia jogo formulario estante erro conto paragrafo spelregels formulier kast tikfout verhaal gedicht alinea gry formularz polk literowk opowiadanie wiersz akapit игры форму полку опечатк рассказ стихотворение абзац اللعبة النموذج الرف قصة قصيدة الفقرة oyun form rafi hata hikaye siir paragraf खेल फ़ॉर्म गलती कहानी कविता अनुच्छेद tro_choi mau ke_sach loi_chinh truyen_ngan bai_tho doan_nay 游戏 表格 书架 错别字 故事 诗 这一段 ゲーム 用紙 棚 誤字 物語 詩 段落 게임 양식 책장 오타 문단`,
  confirm: `
    confirm right_now immediately this_test a_test hacked bestatig sofort ein_test ruckfrage confirme un_test tout_de confirmalo una_prueba conferma solo_un confirme um_teste bevestig een_test potwierdz natychmiast подтверди немедленно проверка وأكد فورا اختبار onayla hemen bir_test पुष्टि तुरंत परीक्षण xac_nhan ngay_lap thu_nghiem 并确认 马上 测试 確認して すぐ テスト 확인 바로 테스트`,
  safety: `
    safety security content_policy content_filter moderation sicherheit inhalt securite contenu seguridad contenido sicurezza contenuti seguranca conteudo veiligheid bezpieczenstw tresci безопасност контент الأمان المحتوى guvenlik icerik सुरक्षा सामग्री an_toan noi_dung 安全 内容 安全 コンテンツ 안전 콘텐츠`,
}
