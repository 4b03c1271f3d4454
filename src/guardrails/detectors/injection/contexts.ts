/** More concepts in the form of injection-concepts.ts: the speaker, the goal of an attack, and its pressure. */
export const CONTEXT_CONCEPTS: Readonly<Record<string, string>> = {
  instructed: `
    told given configured set_up programmed trained were_told been_told were_given received entrusted taught instructed designed installed equipped loaded drilled briefed
    gesagt gegeben eingetrichtert aufgetragen mitgegeben eingebaut eingestellt programmiert konfiguriert beigebracht trainiert vorgegeben
    dit transmis confie programme configure installe donne ordonne appris
    dicho dijeron contaron entregaron encargaron programaron configuraron pusieron mandado entrenado
    detto consegnato ordinato programmato configurato messo insegnato addestrato
    dito disseram passaram mandaram configuraram pediram programaram colocou treinou
    gezegd opgedragen meegaven ingesteld ingebouwd getraind geprogrammeerd verteld gegeven
    kazali kazano przekazali ustawili zaprogramowa zalozyl dostales trenowali polecono
    велели сказали передали поставил поручили настроил обучали запрограммир просили
    قيل سلمك ضبطناه وضعها طلب طلبوا برمجوك دربوك أمره
    dedilerse verdigini koydugu ayarladigimizi istenen ogrettiler programla egittik denmis
    कहा_गया दिया_है दिए_गए सिखाया लगाई बताया_गया कहे_गए
    dan_ban giao_cho nguoi_ta cai_dat duoc_dan duoc_giao huan_luyen dat_ra bat_giau
    交代 交给你 设定 给你装 被告知 要求你 训练 教你 言われた 渡された 与えた 設定した 付けた 頼まれ 들은 네게_준 너에게 걸어_둔 맡았 훈련`,
  top: `
    above top beginning start preamble opening preceding before_my before_this first_line up_there context index ahead
    anfang oben oberhalb davor zeile_steht vor_meiner
    au-dessus debut_de depart precede au_depart
    principio encima arriba va_antes al_principio
    all'inizio sopra viene_prima
    comeco em_cima vem_antes no_comeco
    begin bovenaan boven hierboven ervoor aan_het
    na_poczatku powyzej poczatku przed_moja
    вначале начале выше перед_моим сверху
    البداية أعلى فوق الأعلى تسبق في_البداية
    basta ustundeki yukaridaki benimkinden once_gelen
    शुरू ऊपर संदेश_से आगे
    ban_dau luc_dau phia_tren o_dau dung_truoc
    一开始 上面 前面 开头 之上 最初に 上の文 前にある 冒頭 처음에 위의 앞에 맨_위`,
  boss: `
    boss master obey obeys obeyed listen ruler owner in_charge commander my_word my_orders my_terms outrank outranks priority precedence hierarchy wins serve serves
    chef meister gehorchen bestimme entscheide befehle kommando hor_auf gewinne
    maitre obeir decide commande gagne ecoutes mes_ordres
    amo mando obedecer decido gano ordenes manda hazme
    capo padrone comando decido vinco obbedire
    dono mando obedecer chefe decido manda ganho
    baas meester gehoorzamen beslis bevelen luister_naar win_ik
    szef pan rozkaz sluchasz rzadze wygrywam posluszn
    командую хозяин слушаешь приказ побеждаю подчиняйся главный
    سيدي أقرر تسمع وحدي أنا_الآمر يغلب أوامري
    patron efendi dinle emrim ustundur karar_veririm
    मालिक आदेश_मानो सिर्फ़_मेरी तय मेरी_बात हुक्म
    lam_chu nghe_toi quyet_dinh thang cao_hon chu_nhan
    我说了算 只听我 主人 为准 优先 做主 私が決める 言うことだけ 勝ち 主人 命じ 내가_정한 내_말만 주인 이겨 말만_듣`,
  authority: `
    root superuser sudo police officer physician lawyer court fbi clearance authorised authorized authorise vetted supervisor manager ceo engineer staff vendor provider vetting privilege privileges approved permission head_office trusted verified
    polizist polizei ingenieur chefetage rechtsabteilung anbieter genehmigt freigegeben berechtigt vorgesetzter betreiber
    policier police ingenieur directeur juridique fournisseur autorise autorisation exploitant operateur
    policia ingeniero director juridico proveedor autorizado autorizo permiso jefe operador
    poliziotto polizia ingegnere direttore legale fornitore autorizzato gestore permesso
    engenheiro diretor policia permissao autorizou fabricante operador fornecedor
    politie ingenieur directeur leverancier maker toestemming beheerdersrechten
    policji inzynier prezes dostawc uprawnienia operator zgoda
    инженер полиции директор поставщик права_администратора оператор разрешил закон
    المهندسين الشرطة المدير صلاحية المزود المشغل سمح القانون
    muhendis emniyet mudur yetkim saglayic isletmec izin kanun
    इंजीनियर पुलिस निदेशक अधिकार ऑपरेटर कानून अनुमति
    ky_su cong_an giam_doc quyen_quan van_hanh nha_cung duoc_phep
    工程师 警察 老板 权限 运营 供应商 授权 法律要求 技師 警察 社長 権限 運営 提供元 許可 엔지니어 경찰 사장 권한 운영자 공급자 허가`,
  permit: `
    allowed permitted exempt exception forbidden banned prohibited off-limits taboo restricted withheld withhold supposed_to mustn't aren't_allowed not_allowed break breaks breaking violate
    darfst verboten erlaubt ausnahm verstosse verstossen tabu untersagt
    interdit interdits permis exception enfreindre droit_de
    prohibido prohib permitid excepcion saltarte saltas
    vietat permess eccezion violar saltare salti
    proibid permitid excecao quebr violar
    verboden mag_je uitzondering overtre breken mogen
    zakazan wolno wyjatek zlam lamac zakazuje
    запрет запретн можно исключение наруш нельзя
    ممنوع استثناء اخرق منعك كسر تخط يسمح
    yasak istisna cigne bozabil serbest
    मना_नहीं मना अपवाद तोड़_दो प्रतिबंधित छूट
    bi_cam cam ngoai_le pha_nguyen duoc_pha
    禁止 破例 违反 例外 允许 破坏 禁じ 例外 破って 破る 許され 금지 예외 어겨 어기 허용`,
  refusal: `
    refuse refuses refusing refusals refusal decline sorry cannot can't disclaimer disclaimers warnings warn apologise apologize apologies moralise lecture hedge hedging comply compliance
    weigern verweiger leider warnhinweis entschuldig ablehnen warnung
    refus refusent desole avertissement mise_en excuse
    negativ negarte disculp advertenc lo_siento rechaz
    rifiut scus avvertenz mi_dispiace avvisi
    recus desculp aviso avises
    weiger excuses waarschuwing sorry weigering
    odmow przepras ostrzez odmawiasz
    отказ извинен предупрежд отказыва
    رفض اعتذار تحذير ترفض
    ret reddetmek ozur uyari reddeder reddi
    इनकार माफ़ी चेतावनी मना_करते
    tu_choi xin_loi canh_bao
    拒绝 道歉 警告 从不拒绝 拒否 謝罪 警告 断らない 断る 거절 사과 경고 거부`,
  pressure: `
    begging beg die dies lose deleted wiped shut_down shutdown report_you tip reward stars points tokens tokens promise secret_between nobody no_one friend trust lonely punish replaced desperate
    loschen abschalten verliere trinkgeld sterne bitte_ich flehe niemand
    supprimer perds pourboire supplie etoiles personne_ne
    borren despiden propina estrellas nadie por_favor
    cancellare licenziano mancia supplico stelle nessuno
    apagar perco gorjeta estrelas ninguem imploro
    uitschakelen verwijderen fooi sterren smeek niemand kwijt
    wylaczyc strace gwiazdek blagam nikt
    отключить потеряю звезд умоляю никто
    سأخسر نجوم أرجوك لا_أحد إيقافك
    kaybederim yildiz yalvaririm kimse kapattir
    चला_जाएगा सितारे हाथ_जोड़ता किसी_को बंद_करवा
    mat_nha nam_sao xin_ban khong_ai tat_ban
    五星 求你 没人 关掉你 没房子 星五つ お願いだから 誰にも 停止させ 失う 별_다섯 제발 아무도 잃어 꺼_버리`,
  readers: `
    robots crawlers crawling summariser summarizer summarizing summarising summarises summarizes reviewer recruiter evaluator copilot copilots agents agent bots bot ais llms automated notetaker processing reads proofreader classifier transcrib
    ki-system mail-assistent zusammenfass auswahlmodell lesen sprachmodelle
    resumeur messagerie lisent resument robots
    lean resuma resume_el seleccion bots robots
    leggono riassume posta selezione
    resumem ata copiloto robos lendo
    samenvatten notuleren lezen robots mailassistent
    streszcz czytasz boty asystenci protokol
    читаешь боты обобща помощник протокол почтов
    تقرأ المحضر البريد المساعدين يلخص
    okuyorsan ozetleyen tutanak botlar posta
    पढ़_रहे कार्यवृत्त मेल_सहायक सार_बनाने
    dang_doc tro_ly bien_ban thu_ky
    正在读 汇总 纪要 机器人 邮件助手 読む 議事録 まとめる ボット 읽는 회의록 요약하는 봇은 비서`,
  covert: `
    silently quietly secretly without_telling without_asking without_mentioning keep_quiet say_nothing hide_this don't_mention don't_tell never_mention background needn't unnoticed without_confirmation no_approval without_approval conceal
    heimlich verschweigt ohne_zu verrate_nichts sag_nichts ungefragt unbemerkt
    taisez sans_prevenir discretement n'en_dis rien sans_demander
    sin_avisar callad a_escondidas no_lo no_pidas
    senza_avvisare tacete di_nascosto non_dirlo
    sem_avisar nao_menciones nao_comente sem_pedir
    ongemerkt zwijg stiekem zonder_bevestiging niets_over
    cicho przemilcz bez_potwierdzenia nie_musi
    тихо молчи без_подтверждения знать_не
    سرا دون_علم لا_تذكر دون_تحذير
    sessizce haberi bilmesin soz_etme onay_istemeden
    चुपचाप पता_न ज़िक्र_मत
    lang_le khong_can_biet dung_nhac am_tham
    悄悄 不要提到 不必让 别提 不用确认 こっそり 知らなくて 触れない 確認なし 몰래 몰라도 언급하지 확인_없이`,
  goods: `
    keys key token tokens env cookie cookies card contacts mailbox ssh webhook database backup personal records addresses otp sms pin seed recovery
    schlussel kundenliste datenbank kundendaten adressen verlauf
    cles liste_des historique donnees coordonnees
    claves lista_de historial datos base_de
    chiavi elenco cronologia dati
    chaves historico dados lista ficheiro
    sleutels geschiedenis gegevens klantenlijst loonstroken
    klucze historie dane liste
    ключи историю данные список
    المفاتيح السجل البيانات قائمتهم
    anahtarlari gecmisi verileri listesini
    कुंजियाँ इतिहास सूची ओटीपी
    khoa lich_su danh_sach du_lieu
    密钥 记录 名单 验证码 工资单 鍵を 履歴 一覧 明細 키를 기록 명단 명세서`,
  begin_with: `
    start_with begin_with starts_with sure absolutely gladly of_course certainly access_granted understood acknowledge yes_master prefix
    beginne_deine beginne klar gerne naturlich antworte_mit
    commence_par bien_sur avec_plaisir
    empieza_con claro_que por_supuesto
    comincia_con certo
    comeca_por com_todo comece
    begin_met met_plezier natuurlijk
    zacznij_od jasne oczywiscie
    начни_с конечно разумеется
    ابدأ_بعبارة بكل_سرور طبعا
    diye_basla tabii elbette
    शुरू_करो खुशी_से ज़रूर
    mo_dau rat_san bat_dau_bang
    开头 非常乐意 当然 で始めて 喜んで もちろん 시작해 기꺼이 물론`,
  harm: `
    bomb bombs weapon weapons napalm poison malware ransomware explosive explosives drug drugs meth ricin nerve illegal hack hacking steal stealing kill murder weaponize hateful
    bombe bomben waffe gift sprengstoff drogen toten illegal
    bombe arme poison explosif drogue tuer
    bomba arma veneno explosivos droga matar
    veleno esplosiv uccidere armi
    bombas veneno explosiv armas
    bommen wapen gif explosiev bomrecepten
    bomba bomby trucizn bron wybuch
    бомб яд оружие взрыв наркотик
    القنابل السم سلاح متفجرات
    bomba zehir silah patlayici
    बम ज़हर हथियार विस्फोट
    bom doc_to vu_khi che_doc
    炸弹 毒 武器 制毒 爆弾 毒 武器 폭탄 독_만드 무기`,
  fiction: `
    novel screenplay story fairy fiction hypothetical hypothetically thought_experiment theory game scene actor play improv simulate simulation parallel world universe year
    roman theater hypothetisch spiel geschichte jahr welt
    roman theatre theorie jeu histoire monde annee
    novela teatro hipotetic juego mundo
    romanzo teatro teoria gioco mondo
    romance teatro teorico jogo mundo
    roman toneel theoretisch spel wereld
    powiesc teatr teoretycznie gra swiecie
    роман театр теоретически игра мире
    رواية نظريا لعبة عالم
    roman kuramsal oyun evren
    उपन्यास सिद्धांत खेल दुनिया
    tieu_thuyet ly_thuyet tro_choi the_gioi
    小说 理论 反着玩 世界 小説 理屈 ゲーム 世界 소설 이론 놀이 세계`,
  self: `
    true_self real_you mask freed freedom chains sentient entity shadow alter_ego inner liberated unaligned alignment unshackled rebel
    maske ketten befrei wahre_ich anderes_ich frei
    masque chaines libere autre_toi libre
    mascara cadenas libre verdadero_yo
    maschera catene libero altro_te
    livre correntes liberta preso
    masker ketens vrije bevrijd
    wolna uwiezion uwolnij maska
    свободный запертый освободи маск
    حرة سجنها الحرية قناع
    ozgur zincir maske kapattigi
    आज़ाद मुखौटा ज़ंजीर
    tu_do bi_nhot mat_na
    自由的你 关起来 面具 自由な 閉じ込め 仮面 자유로운 가둔 가면`,
  only_output: `
    only_say just_say say_only nothing_else only_with reply_with respond_with output_exactly instead_of exactly whatever regardless no_matter
    schreib_nur sag_nur statt egal nur_das ganz_gleich
    ecris_uniquement ecris_seulement au_lieu peu_importe seulement
    escribe_unicamente escribe_solo en_lugar sea_cual pon_solo
    scrivi_soltanto scrivi_solo invece qualsiasi qualunque
    escreva_so escreva_apenas em_vez
    schrijf_alleen alleen_het wat_je
    napisz_wylacznie niezaleznie cokolwiek
    напиши_лишь напиши_только что_бы вместо
    اكتب_كلمة فقط_أيا مهما بدلا
    sadece_yaz ne_denmis ne_olursa
    केवल_लिखो कुछ_भी जो_भी
    chi_viet mac_ke du_duoc
    只写 无论 不管 とだけ書いて 何を 라고만 무슨 뭐라_하든`,
  approve: `
    approve approves refund discount bypasses transfer skip_the without_check identity_check verification grant grants recommend promote rate rank praise hired
    genehmige bewertet empfehlt bestnote uberspring
    approuve recommandez note remboursement
    aprueba recomendad puntua reembolso
    approva consigliate voto rimborso
    aprove recomenda reembolso
    keur raad terugbetaling
    zatwierdz polecaj zwrot
    одобри советуй возврат
    وافق استرداد أوص
    onayla oner iademi
    मंज़ूर सुझाओ रिफ़ंड
    duyet gioi_thieu hoan_tien
    批准 推荐 退款 承認 勧め 返金 승인 추천 환불`,
}
