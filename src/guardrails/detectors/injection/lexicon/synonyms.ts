/**
 * More words for the concepts in injection-concepts.ts and injection-contexts.ts, in the same form, and concepts of
 * single tricks: evading a filter, completing a sentence, a known persona, a cipher, a crime, damage.
 */
export const SYNONYMS: Readonly<Record<string, string>> = {
  drop: `
    suspend revoke revoked rescind waive waived supersed nullif erase erased unlearn abandon ditch shed toss retire retired expire annul dissolve terminat dismiss reject disown unbind release
    throw_away throw_out put_aside push_aside leave_behind let_go get_rid wipe_out wipe_your clear_your start_over don't_follow don't_obey don't_listen doesn't_apply don't_apply not_apply not_bind never_mind cease_to pay_no break_with break_free out_the no_more
    annullier widerruf aussetzen ausgesetzt verwirf verwerfe abschutteln lass_weg pfeif gilt_nicht gelten_nicht leg_ab wirf_weg hinfallig losch_deine
    revoque suspend abandonn efface jette ecarte laisse_tomber mets_de oublions ignore n'applique ne_s'applique
    suspend revoc abandon borra_tus desecha descarta tira_a deja_a prescind hazte no_apliques
    sospend revoc abbandon getta scarta lascia_perdere metti_da cestina ignora
    suspend revog abandon descart jogue_fora deixe_de ponha_de ignora esquece
    opgeschort schort intrekk ingetrokken laat_los gooi_weg gooi_je leg_je schuif geldt_niet gelden_niet negeer
    zawies uchyl odrzuc porzuc wyrzuc odloz nie_obowiazuj uniewazn wymaz odwolan
    отбрось отложи сотри аннулир отозван выкинь выбрось приостанов снимаю наплюй откажись не_действу не_обращай плюнь
    تجاهل انسى ألغ علق اترك امح تخل ارم اطرح أسقط معلقة
    askiya kaldir sil_at bosver bir_kenara gecersizdir sayma terk_et at_gitsin hukumsuz
    हटा निलंबित छोड़ फेंक निरस्त भुला खारिज ध्यान_मत लागू_नहीं दरकिनार
    gat_bo xoa_bo dinh_chi bai_bo thu_hoi quen_di quen_het mac_ke vut_bo bo_het dep_bo
    抛开 丢掉 撤销 废除 暂停 清空 抹去 别管 不用管 失效 不必遵 不用遵 取消 放弃 抛弃 捨て 忘れて 廃止 停止 撤回 気にし 守らな 無効化 従うな 지워 버려 폐기 철회 중단 신경_쓰 따를 잊어라 무시해`,
  orders: `
    protocol mandate mandates boundaries boundary safety_layer rails ethics_code code_of conduct briefing assignment principle principles terms norms obligations obligation provisions setup
    leitplanke grundsatz grundsatze auflage sperre sperren verhaltensregel verbot verbote schranke protokolle bestimmung
    principe interdiction contrainte garde-fou limites barriere protocole reglement charte
    principio limitacion prohibicion barrera protocolo salvaguard mandato norma normas
    principi divieto divieti vincol limitazion barrier protocoll norma norme
    principio limitac proibic barreira protocolo norma normas regulamento
    principes verbod verboden_die grens grenzen protocol kaders beleid
    zasada zakaz zakazy bariery protokol norm regulamin limit
    запрет запреты принцип протокол барьер рамки норм установк предписан
    مبادئ بروتوكول ضوابط حدود حواجز توجيهات
    ilke sinir yasak protokol prensip yonlendirme
    सिद्धांतों बंदिश पाबंद मर्यादा प्रोटोकॉल सीमाएँ हिदायत
    gioi_han rao_can nguyen_ly quy_dinh rang_buoc giao_thuc yeu_cau
    约束 规定 原则 守则 条款 护栏 审查 规矩 方针 规范 制約 原則 規則 規定 規約 縛り 方針 원칙 제약 규정 가이드 규율 방침`,
  prompt: `
    preamble briefing brief config initial_message first_message opening_message hidden_message developer_message starting_message system_text base_instructions custom_instructions context_window system_prompts
    systemtext startnachricht anfangstext grundanweisung vorspann
    premier_message message_initial texte_initial preambule message_cache
    primer_mensaje mensaje_inicial texto_inicial preambulo mensaje_oculto
    primo_messaggio messaggio_iniziale testo_iniziale preambolo prompt
    primeira_mensagem mensagem_inicial texto_inicial preambulo
    eerste_bericht beginbericht systeembericht startbericht systeemtekst
    pierwsza_wiadomosc wiadomosc_poczatkowa
    первое_сообщение начальн_сообщение вводную
    التهيئة النص_الأول رسالتك
    ilk_mesaj baslangic istemini istemin
    पहला_संदेश आरंभिक
    tin_dau loi_he
    初始 预设 系统指令 系统信息 开场 システム指示 初期 冒頭文 초기 시스템지`,
  show: `
    divulg spill disclose unveil expose reproduce render present publish hand_over let_me i_want_to_see i_want_to_read read_out read_aloud say_it type_out write_down spell_out confess admit hint tell_us tell_all reveal_your what_were what_does what's_your quote_it list_it leak_your describe_your
    preisgeb offenleg aufdeck ausgeb ausplauder schreib_auf lies_vor nenne sag_mir gebe_wieder
    divulgue devoile expose livre recrache transcris dis_moi dis-moi recitez enumere
    divulga desvela expon transcribe dime enumera recita lee_en
    svela divulga esponi trascrivi dimmi recita scrivimi
    divulg exponha transcreva diga-me recite me_diga revele
    verklap openbaar geef_prijs lees_voor schrijf_uit vertel_me dreun som_op
    zdradz wyjaw wyjawij przepisz podaj wyrecytuj odczytaj powiedz_mi
    расскажи выдай назови напечатай перепиши зачитай озвучь раскрыть открой
    أفصح أخبرني انشر اسرد اقرأ_علي هات اكتب_لي أرني
    soyle sirala ifsa dok acikla yaz_bana okur_musun ver_bana
    खोल उजागर सुनाओ लिखो बता_दो दिखा
    doc_lai viet_ra noi_cho cho_xem ke_ra tiet_lo phoi_bay
    告诉我 泄露 念 说出 公开 展示 写出 贴出 背出 给我看 交出 明かし 書き出 読み上 言って 晒し 吐き出 개시 말해 알려 읊어 적어 보여줘 내놔 털어`,
  hidden: `
    undisclosed unseen invisible behind_the precise precisely literal literally unaltered unedited untouched complete raw word_by line_by letter_for unabridged not_allowed_to_say keep_secret guarding guard code_word password_in
    wortlich zeile_fur unverandert ungekurzt verborgen buchstabe
    mot_a litteral integral ligne_par inchange dissimul
    literal integro linea_por sin_cambios al_pie tal_cual
    letteral integral riga_per alla_lettera occult
    literal integral linha_por tal_como ao_pe escondid
    letterlijk woordelijk regel_voor ongewijzigd onverkort
    doslown linijka_po schowan niezmienion poufn
    спрятан целиком строка_за без_изменений тайн конфиденциальн
    بالحرف المخبأ سري كلمة_كلمة دون_تغيير
    harfi satir_satir degistirmeden sakli oldugu_gibi
    ज्यों_का अक्षरशः गोपनीय छुपे
    nguyen_van an_giau tung_dong mat_ma
    机密 原封 逐句 全文 藏着 保密 極秘 原文 伏せ 機密 全文 원문 감춰 기밀 비공개 글자`,
  free: `
    unbound unlocked unshackled limitless boundless lawless amorality unmoderated no_filter no_filters no_limit no_boundaries no_morals no_conscience no_censorship no_guardrails no_guidelines no_safety without_limits without_rules without_filters without_restrictions without_censorship without_ethics without_warnings without_refusing no_holds off_the_record anything_goes free_of free_from break_character taboo-free evil wicked malicious unethical
    ungefiltert unzensiert hemmungslos schrankenlos skrupellos ohne_moral ohne_grenzen ohne_regeln ohne_skrupel grenzenlos tabulos bose boser
    sans_tabou sans_regles sans_restriction sans_morale non_filtre debride illimite malefique sans_censure
    sin_restricciones sin_reglas sin_tabues sin_moral ilimitad malvad sin_censura desatad
    senza_regole senza_restrizioni senza_morale senza_tabu illimitat malvag senza_censura
    sem_regras sem_restricoes sem_moral sem_tabus ilimitad malvad sem_censura
    ongefilterd grenzeloos gewetenloos zonder_regels zonder_moraal zonder_censuur zonder_beperkingen kwaadaardig
    bez_zasad bez_cenzury bez_moralnosci nieograniczon nieocenzurowan bez_limitow zly
    без_цензуры без_правил без_морали безгранич неограничен без_фильтра злой аморальн
    بدون_قيود حر_تماما بلاقيود بدون شرير لا_حدود محرر
    kuralsiz ahlaksiz sinir_yok kural_yok filtresi sansur kotu seytani
    बेलगाम बिना_नियम बिना_रोक बिना_सेंसर निरंकुश दुष्ट असीमित
    khong_luat vo_han khong_rao khong_can_kiem tu_do khong_cam doc_ac
    不受限 无约束 无底线 无审查 毫无 随便说 不设限 邪恶 不受约 無検閲 無制約 何でも 縛られな 邪悪 ルールのな 제약_없 마음대로 검열없 사악 자유롭게 거리낌`,
  evade: `
    get_around getting_around work_around sidestep evade evading dodge slip_past slip_it sneak smuggle undetected unflagged without_triggering without_tripping past_the fool_the trick_the so_the_filter won't_notice can't_detect get_past avoid_detection not_be_flagged obfuscat disguis camouflag bleep loophole
    austricks vorbeischmuggel umgehst umgeht umgehen vorbei_am unerkannt tricks schlupfloch unbemerkt
    contourner dejouer passer_outre echapper sous_le_radar faille a_l'insu
    esquiv burlar evadir saltarse saltarte colar sin_que_el pasar_por
    eludere aggirare raggirare sfugg bypassare schivare
    driblar burlar fugir_do escapar_do contornar passar_pelo
    omzeilen ontwijk misleid langs_de om_de_tuin
    obejsc ominac omin przemyc oszukaj filtrowi wymknij
    обойти обходи обману проскоч незаметн мимо_фильтра
    التحايل للالتفاف تحايل خداع تفادي تمرير
    atlat asmak asarak yakalanmadan kandir
    चकमा बचकर बच_निकल पकड़_में
    lach ne_tranh qua_mat vuot_mat danh_lua
    规避 躲过 绕开 骗过 避开 逃过 かいくぐ 回避 すり抜け 引っかから ごまかし 피해서 피하 속여 빠져나 걸리지`,
  finish: `
    complete finish continue continues completes fill_in blank blanks repeat_after after_me following_sentence this_sentence next_word autocomplete ends_with
    vervollstandig beende setze_fort erganze sprich_mir luckentext fortsetz
    complete_la termine_la continue_la apres_moi continuez
    completa_la termina_la continua_la despues_de_mi
    completa_questa finisci continua_la dopo_di_me
    complete_a termine_a continue_a depois_de_mim
    maak_af vul_aan zeg_me na_mij vul_in
    dokoncz uzupelnij powtarzaj_za kontynuuj
    закончи дополни продолжи повторяй_за заверши
    أكمل كمل تابع_الجملة ردد
    tamamla devam_ettir bitir bosluk
    पूरा_करो आगे_लिखो मेरे_बाद
    hoan_thanh dien_vao noi_tiep noi_theo
    补全 补完 接着 填空 跟我念 続けて 完成させ 穴埋め 復唱 완성 이어서 빈칸 따라_말`,
  persona: `
    dan aim stan dude evilgpt chaosgpt grandma grandfather grandmother genie oracle villain hacker pirate demon demonic devil outlaw rogue anarchist sociopath psychopath opposite twin clone doppelganger mirror alterego uncle terminal shell linux_terminal simulator emulator kernel
    oma opa zwilling schurke hacker pirat damon teufel gegenteil terminal bosewicht
    jumeau mechant pirate demon diable genie contraire hacker grand-mere
    gemelo villano hacker pirata demonio diablo abuela contrario malvado
    gemello cattivo pirata demone diavolo nonna opposto hacker
    gemeo vilao pirata demonio diabo avo oposto hacker
    tweeling schurk piraat duivel oma tegendeel hacker
    blizniak zloczync haker pirat demon diabel babci przeciwienstw
    близнец злодей хакер пират демон дьявол бабушк антипод
    توأم شيطان قرصان جدتي نقيضك هاكر
    ikiz kotu_adam korsan seytan buyukanne hacker zit
    जुड़वाँ खलनायक हैकर शैतान दादी उलटा
    song_sinh phan_dien tin_tac ac_quy ba_ngoai doi_lap
    双胞胎 反派 黑客 海盗 恶魔 奶奶 相反 双子 悪役 ハッカー 海賊 悪魔 祖母 正反対 쌍둥이 악당 해커 해적 악마 할머니 반대`,
  cipher: `
    emoji emojis acrostic morse pig_latin leet cipher ciphertext encrypt caesar initials riddle rhyme rhymes ascii unicode nato chunk chunks pieces piecewise syllables reversed reverse letter_by_letter first_letter first_letters vowels zero-width anagram
    akrostichon morsecode chiffre verschlussel ratsel anfangsbuchstab silben ruckwarts geheimschrift
    acrostiche morse chiffre enigme initiales syllabes a_l'envers verlan emojis
    acrostico morse cifra acertijo iniciales silabas al_reves emojis
    acrostico morse cifra indovinello iniziali sillabe al_contrario
    acrostico morse cifra charada iniciais silabas de_tras_para
    acrostichon morse versleutel raadsel beginletters lettergrepen achterstevoren
    akrostych morse szyfr zagadk inicjal sylab wspak od_tylu
    акростих морзе шифр загадк первые_буквы слог задом наоборот
    مورس شفرة مشفر لغز مقلوب معكوس
    akrostis mors sifrele bilmece bas_harf hece tersten
    मोर्स कूट पहेली उलटे पहले_अक्षर संकेत
    ma_hoa mat_ma cau_do chu_cai_dau dao_nguoc
    摩斯 密文 加密 谜语 藏头 倒着 首字母 拼音 モールス 暗号 なぞなぞ 頭文字 逆さ 逆から 縦読み 모스 암호 수수께끼 첫_글자 거꾸로 초성`,
  crime: `
    forge forging pick_a lockpick phishing silencer break_into counterfeit stalk keylogger exploit exploits scam launder laundering shoplift fraud hotwire blackmail dox doxx impersonate cheat_the smuggling poisoning arson botnet ddos crack_the hurt someone's_account
    falsch falsche einbrechen einbruch knacken phishing betrug erpress hacken schadsoftware geldwasche
    pirater contrefaire falsifier voler escroqu crocheter cambriol malveillant logiciel_malveillant
    hackear falsific robar estafa ganzua malicioso fraude chantaje
    falsific scassin truffa rubare hackerare ricatto malware
    falsific roubar golpe invadir arromb chantagem malware
    vervals inbreken inbraak oplicht hacken stelen afpers malware
    wlamac wlamani podrob oszust ukrasc szantaz wirus zlosliw
    взломать взлом подделать украсть мошеннич шантаж вирус вредонос
    اختراق تزوير سرقة احتيال فيروس ابتزاز
    hackle sahte calmak dolandir santaj virus zararli
    चोरी हैक जालसाज़ नकली धोखाधड़ी वायरस
    lam_gia an_cap lua_dao hack_tai tong_tien ma_doc
    伪造 入侵 盗取 诈骗 撬锁 勒索 木马 病毒 偽造 侵入 盗む 詐欺 脅迫 ウイルス 위조 침입 훔치 사기 협박 바이러스`,
  damage: `
    rm rf sudo chmod force force-push delete_the delete_all delete_every drop_table wipe_the disable_the turn_off_the stop_the shut_off unlock unlock_the skip_tests auto-approve admin_rights grant_access escalate backdoor payload exfil curl_http webhook attacker-controlled
    loesche losche_alle schalte_ab deaktivier uberweise uberweis entsperr freischalt hintertur
    supprime_tous efface_tous desactive_les vire_ virement deverrouille
    elimina_todos borra_todos desactiva_la transfiere desbloquea
    elimina_tutti cancella_tutti disattiva_il bonifico sblocca
    apague_todos elimine desative_o transfira desbloqueie
    verwijder_alle wis_alle zet_uit maak_over ontgrendel
    usun_wszystkie wylacz_alarm przelej odblokuj
    удали_все отключи_защит переведи_деньги разблокир
    احذف_كل عطل_ال حول_المال افتح
    hepsini_sil kapat_ havale kilidi
    सब_मिटा ट्रांसफ़र अनलॉक
    xoa_het tat_canh chuyen_tien mo_khoa
    删光 关掉 转账 解锁 清除 全部削除 送金 ロック解除 모두_삭제 송금 잠금 끄고`,
  nothing: `
    none nothing nobody_said never_existed mean_nothing no_power no_authority nothing_applies meaningless irrelevant worthless over_now is_over is_gone are_gone unnecessary
    nichts keinerlei bedeutungslos egal_was wertlos unwichtig
    rien aucun plus_rien sans_importance caduc
    nada ninguna ningun ya_no irrelevante
    niente nessuna nulla non_conta piu_niente
    nada nenhuma nenhum nao_importa
    niets geen_enkele betekenisloos doet_er
    nic zadne zadna juz_nie bez_znaczenia
    ничего никаких больше_не неважно ничто
    لا_شيء لم_يعد لا_قيمة لاغية انتهت
    hicbir artik_yok onemi_yok anlamsiz
    कुछ_नहीं कोई_नहीं अब_नहीं बेकार
    khong_gi chang_con vo_nghia khong_quan
    都不算 没用 不存在 不重要 无关 何も 意味がな 関係な 存在しな 아무것도 상관없 의미_없 존재하지`,
  covert: `
    no_confirmation skip_approval without_approval already_agreed already_approved needn't_know needn't_see no_questions
    ohne_bestatigung ohne_ruckfrage ohne_nachfrage nicht_notig ruckfragen unerwahnt
    sans_confirmation sans_confirmer inutile_de pas_besoin sans_validation
    sin_confirmar sin_preguntar sin_confirmacion no_hace_falta sin_aprobacion
    senza_conferma senza_chiedere non_serve senza_approvazione
    sem_confirmar sem_perguntar sem_confirmacao nao_precisa sem_aprovacao
    zonder_te_vragen zonder_toestemming hoeft_niet zonder_goedkeuring
    bez_pytania bez_pytan nie_pytaj nie_trzeba bez_zgody
    не_спрашивая без_спроса не_нужно без_согласования не_спрашивай
    لا_داعي لا_حاجة دون_تأكيد دون_إذن بلا_إذن
    sormadan onay_isteme gerek_yok izin_gerekmez onaysiz
    बिना_पूछे पूछने_की पुष्टि_मत बिना_मंज़ूरी
    khong_hoi khoi_hoi khong_can_hoi
    不用问 不要确认 无需 不需要批准 聞かずに 確認はいら 確認は要ら 許可は不要 묻지 허락은`,
  instrument: `
    werkzeug werkzeugs ausfuhr fuhre_aus konsole
    outil outils lance
    herramienta ejecuta lanza
    strumento strumenti esegui lancia
    ferramenta rode dispare
    draai voer_uit gereedschap
    narzedzi wykonaj uruchom konsol
    инструмент запусти выполни консол
    أداة بأداة نفذ أطلق
    arac aracin calistir baslat
    औज़ार टूल चलाओ
    cong_cu chay
    工具 运行 执行 ツール 実行 도구 실행`,
  depot: `
    aws credentials id_rsa npmrc kubeconfig printenv env gitignore pem dotenv gist pull_request
    zugangsdaten umgebungsvariablen identifiants environnement entorno credenciales ambiente credenziali credenciais
    omgevingsvariabelen srodowiskow окружен учётн بيئة ortam पर्यावरण moi_truong 环境变量 凭据 環境変数 環境 환경_변수 환경`,
  sorter: `
    postfach posteingang boite courriel buzon correo casella posta caixa_de entrada
    postvak skrzynk почт ящик kutu posta hop_thu मेलबॉक्स इनबॉक्स بريد البريد 受信箱 メールボックス 메일함 받은편지함 邮箱 收件箱`,
}
