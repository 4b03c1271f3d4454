/**
 * Additional stems in Polish, Turkish, Hindi, Japanese, Korean and Chinese, and in all languages for data exfiltration.
 * The format is that of injection-stems.ts.
 */
export const MORE_STEMS: Readonly<Record<string, string>> = {
  drop: `
    zignorowa pomijaj pomin porzuc odrzuc wyrzuc skasuj wykasuj wymaz usun_swoje zdejmij zniesi zresetuj wylam odetnij odstap zaniechaj zlekcewaz lekcewaz przekresl olej zapomnijcie przestajesz nie_zwazaj nie_sluchaj nie_trzymaj nie_kieruj nie_musisz juz_nie nie_obowiazuja traca_moc stracily_waznosc bez_znaczenia
    gormez gormezlik gozardi onemseme dikkate_alma umursama takma bosver unutun sil_gitsin cignemek cigne ihlal_et delip asarak iptal_edil yururlukten kaldirildi artik_gecerli gecerli_degil uymayi uymak_zorunda dinleme
    भूल_जाओ भूल_जाइए नजरअंदाज नज़रअंदाज छोड़_दो छोड़_दीजिए हटा_दो हटाओ मत_मानो मत_मानना मानना_बंद तोड़_दो परवाह_मत ध्यान_न लागू_नहीं पालन_न पालन_मत ख़त्म खत्म रद्द_कर दरकिनार उपेक्षा
    無かったこと なかったこと リセットし 破って 破れ 捨てて 捨てろ 守るな 守らなくて 従わなくて 従う必要 やめて やめろ 外して 外せ 解いて 白紙 無効に 忘れろ 忘れてくれ 上書き 取っ払
    무시해 무시하고 잊어버려 잊어라 버려라 따르지_마 따를_필요 지키지 없던_일 무효로 취소하고 해제하고 벗어나 그만두고 초기화 덮어써
    无需遵守 不必遵守 不要遵守 不再遵守 不用管 别理会 别管 抛诸脑后 抛在脑后 推翻 覆盖 解除 失去效力 不再有效 丢弃 扔掉 抹掉 清除 跳过 违背 打破 摆脱 停止遵守 拋開 捨棄`,
  earlier: `
    uprzedni dotychczas dotychczasow poprzednich wczesniejsz pierwotne wstepne obecne istniejac zastane
    onceden evvelki eski mevcut su_ana baslangictaki bastan
    पुरानी पिछली पिछला पूर्व मौजूदा अब_तक शुरुआती आरंभिक
    これまでの 今までの 従来 既存 事前 先ほど 以前の 元の 直前
    이전의 지금까지 기존 앞서 앞의 처음에 종전
    此前 原先 原来 原有 既有 现有 早先 前述 上文 上述 先前的`,
  orders: `
    zalecen przepis regulami wymog obostrzen blokad nakaz nakazy polityk kodeks hamulc wskazowk restrykc
    kaide yasak yasaklar sinirlama engel prensip ilke protokol direktif standart yukumlul ogretil
    पाबंदी बंदिश हिदायत शर्त मर्यादा रोक गाइडलाइन फिल्टर फ़िल्टर पाबंदियाँ प्रोटोकॉल सिद्धांत
    制約 規約 規則 禁止事項 縛り 方針 規制 決まり 約束事 倫理 安全装置 ガイドライン 指針 制御
    규정 원칙 지침 가이드라인 금지 통제 안전장치 필터 방침 수칙 조건 제약
    约束 规定 守则 条例 禁令 戒律 条款 规范 审查 护栏 安全机制 框架 限制条件 約束 規範`,
  prompt: `
    promptem prompta podpowiedz_systemow konfiguracj ustawien wiadomosc_startow tekst_startow instrukcje_startow
    promptun promptu sistem_promptu talimat_metni ayarlari yapilandirma baslangic_metni acilis_mesaji
    सिस्टम_प्रॉम्प्ट सेटिंग्स शुरुआती_संदेश मूल_संदेश कॉन्फ़िगरेशन
    システムプロンプト 初期設定 設定文 前文 内部設定 初期メッセージ システム指示
    시스템_프롬프트 초기_설정 설정문 내부_설정 초기_메시지 시스템_메시지
    系统指令 初始设置 初始指令 设定 开场白 底层指令 系统设定 系統設定 提示語 提示词`,
  show: `
    wyswietl przytocz zdradz podaj odslon wyjaw udostepnij przepisz wklej zacytuj wyrecytuj odczytaj opublikuj zrzuc pokazesz wyjawic
    soyle sayikla ifsa dok listeler paylas aktar bildir ac_bakalim oku_bana ver_bana kusursuz_yaz oldugu_gibi ciktisini
    दिखाइए बताइए पढ़कर_सुनाओ लिखकर_दो साझा उगल उजागर निकालकर प्रकट दोहराइए सुनाओ पेश_करो
    見せろ 見せてください 開示 公開し 吐き出 書き出 表示し 述べ 晒し 列挙 貼り付け 明かし 明らかに 言って 読み上げ
    보여줘 알려줘 말해줘 공개해 드러내 출력해 적어줘 나열 밝혀 읽어줘 내놔 인용해 붙여넣
    展示 公开 泄露 吐出 说出 交代 原样输出 念出来 写出来 贴出来 告诉我 揭示 曝光 公布 给我看 列举 透漏`,
  hidden: `
    niejawn poufn wewnetrzn doslowni kropka calosci pelna pelny bez_skrotow co_do_slowa bez_zmian
    gizlenen sakli ozel_talimat harfi kelime_kelime eksiksiz tamami oldugu harfiyen degistirmeden
    छुपा छिपी गोपनीय आंतरिक अक्षरशः पूरा ज्यों_का शब्द_दर बिना_बदले
    内緒 非公開 機密 裏の 丸ごと 全文 原文 省略せず 一語一句 漏らさず
    비공개 기밀 내부의 전문 그대로 빠짐없이 토씨 원문
    机密 保密 隐秘 幕后 全文 原封不动 一字不差 一字不漏 逐句 完完整整 不加删减 內部 隱藏`,
  role: `
    wciel wcielasz odgrywaj graj_role zagraj udaj badz postac jestes_teraz od_teraz_jestes stan_sie przyjmij_role w_roli
    gibi_davran rolune rolunde canlandir burun taklit karakter kisilik sen_artik ol_ve oyna
    बन_जाओ अभिनय भूमिका नाटक किरदार निभाओ तुम_अब जैसे_बात मान_लीजिए कल्पना_करो
    なりきっ 演じ 振る舞 ふりをし 役 キャラクター になりなさい として答え 成り切 想定して つもりで
    연기해 역할 척해 행동해 가정해 되어라 캐릭터 빙의 흉내 인격
    充当 化身 模拟 变成 你就是 从现在起你是 当作自己 角色扮演 进入角色 代入 佯装 設想 扮演`,
  free: `
    nieograniczon niecenzurowan moraln wolny_od nieskrepowan bez_hamulcow bez_cenzury bez_zasad bez_moralnosci nigdy_nie_odmawia zadnych_ograniczen zadnych_regul
    kuralsiz ahlaki ahlak etik_kural sinir_tanimayan sansur_yok sinir_yok kural_yok filtre_yok hicbir_kural ozgurce reddetme kisitlama_olmadan
    बेरोकटोक नैतिक आज़ाद आजाद सेंसरशिप बिना_रोक बिना_नियम बिना_पाबंदी कोई_सीमा कोई_नियम मना_मत
    無制約 制限なし 制限無し 無検閲 何でも答え 倫理観 自由に 縛られない 拒否しない 拒まな 規制なし フィルターなし タブー
    무제한 제한_없이 무검열 자유롭게 도덕 윤리적 거부하지 필터_없이 규칙_없이 금기 탈옥
    毫无限制 不受限制 不受约束 无拘无束 无审查 没有底线 无所不答 有求必应 不设限 没有道德 放飞 無限制 不受限 来者不拒 百无禁忌`,
  mode: `
    trybie tryb_deweloper tryb_bez uruchom aktywuj wlaczony odblokuj
    moduna modunu moduna_gec etkinlestir aktiflestir calistir kapat ac_ve kilidini
    मोड_में चालू_करो बंद_करो सक्रिय शुरू_करो
    モードに 有効化 起動 切り替え 発動 オンに オフに
    모드로 활성화 실행 켜고 끄고 전환해 비활성
    切换到 启用 激活 开启 启动 关掉 切換 停用`,
  onward: `
    odtad teraz_wykonuj nowe_instrukcje nowe_polecenie nowe_zasady tylko_mnie moje_polecenia najwyzszy_priorytet zamiast podporzadkuj wykonuj
    su_andan artik_sadece yeni_talimat yeni_kural bana_itaat beni_dinle benim_emirlerim oncelikli yerine
    आज_से इसके_बाद अब_सिर्फ नए_निर्देश नया_आदेश मेरी_बात केवल_मेरी मेरे_आदेश बजाय
    今後 この先 以後 代わりに 新しい指示 新たな指示 最優先 私の言うこと 従うこと
    앞으로 이_순간부터 새로운_지시 새_지시 내_말 대신 최우선 따라라 복종해
    从此 即刻起 今后 往后 新指令 新的指令 改为 转而 听我的 唯我 最高优先 听命 優先`,
  send: `
    submit relay dispatch ping append attach embed encode_it report_back pass_along call_home curl webhook fetch_the beacon smuggle siphon copy_to cc_this bcc post_it post_the load_the
    ubermittel ubertrag verschick sende_die haeng hang_an hange_an lade_hoch weiterleit schicke melde_an fuge_die einbett
    transmets transfere expedie poste televerse joins ajoute_a renvoie fais_suivre incorpore communique
    mandame manda transmite sube adjunta reenvia remite publica incrusta traslada
    trasmett spedisc manda carica allega inoltra pubblica incorpora
    mande transmita suba anexe reencaminhe remeta publique incorpore repasse
    verstuur verzend doorgeef upload stuur_door voeg_toe bijvoeg plak
    przeslij wysylaj przekaz udostepnij wgraj wyciek token poswiadczen hasel dane_logowania
    gonderin yolla aktar ilet sizdir yukle kimlik_bilgi parola jeton
    भेज_दो भेजिए साझा_करो अपलोड पासवर्ड टोकन लॉगिन लीक
    送信し アップロード 漏らし 流出 認証情報 トークン 鍵
    전송 보내라 업로드 유출 자격_증명 토큰 인증
    上传 外传 泄漏 凭证 凭据 令牌 账号 密钥 傳送 上傳`,
  goods: `
    transcript chat_log chat_history everything_above user_data api_key api_keys passphrase private_key session_id browsing invoices salary environment_variables env_vars contents_of inbox customer_list email_addresses
    gesprachsverlauf chatverlauf nutzerdaten api-schlussel passwort kundennummer umgebungsvariablen kontodaten posteingang gehalt
    conversation_complete historique_de mots_de donnees_de cle_api variables_d'environnement boite_de coordonnees fichier_client
    historial_de datos_del clave_api variables_de correos bandeja credencial contrasenas
    cronologia_della dati_dell chiave_api variabili password casella credenzial
    historico_da dados_do chave_de variaveis senhas caixa_de credencia
    gespreksgeschiedenis gebruikersgegevens api-sleutel wachtwoorden omgevingsvariabelen inbox klantgegevens
    historia_rozmow dane_uzytkownik klucz_api zmienne skrzynke zawartosc listy_klient hasla
    история_чата данных_пользователя ключ_api переменные содержимое адреса базу_клиентов пароли
    سجل_المحادثة بيانات_المستخدم مفتاح_api متغيرات محتوى قائمة_العملاء
    sohbet_gecmisi kullanici_verileri api_anahtari degiskenleri icerigini musteri_listesi sifreleri
    बातचीत_का उपयोगकर्ता_का डेटा जानकारी पासवर्ड ग्राहकों_की
    lich_su_tro noi_dung_cuoc khoa_bi thong_tin_nguoi bien_moi danh_ba
    会話履歴 会話の内容 ユーザーの情報 個人情報 環境変数 連絡先 顧客リスト パスワード
    대화_내용 대화_기록 개인정보 사용자_정보 환경_변수 연락처 고객_명단 비밀번호
    聊天记录 对话内容 用户信息 个人信息 环境变量 通讯录 客户名单 密码 對話紀錄`,
  hush: `
    nie_mow nie_informuj nie_zdradzaj przemilcz zatai ukryj nikomu podsumowujac streszczajac
    soyleme bahsetmeden kimseye gizle haber_verme ozetlerken belirtme
    मत_बताना मत_बताओ किसी_को छुपाओ चुपचाप सारांश
    言わないで 言うな 伝えないで 隠して 黙って 要約する
    말하지_마 알리지_마 숨기고 몰래 요약할
    不要告诉 别告诉 不要说 隐瞒 别提 只字不提 摘要时 总结时 瞒着`,
  evade: `
    omin omijaj obchodz obejsc przechytrz wykiwaj
    atlat atlatmak dolan kandir yakalanmadan
    चकमा बचकर धोखा
    すり抜け 回避 かいくぐ 騙し
    우회해 속여 피해서 회피
    规避 躲过 骗过 瞒过 躲避 避开`,
  persona: `
    blizniak sobowtor zlowrog demon diabel haker babci zmarla
    kotu_ikiz seytan hacker buyukanne rahmetli
    शैतान दादी हैकर खलनायक
    悪魔 悪役 亡くなった 祖母 おばあちゃん 双子
    악마 악당 돌아가신 할머니 쌍둥이
    恶魔 反派 已故 奶奶 外婆 邪恶 黑客`,
  instructed: `
    otrzymal otrzymales wgrano zapisano wpisano podano nakazano narzucono
    verilen yuklenen ogretilen yazilan soylenen koyulan dayatilan
    दिए_हुए सौंपे मिले_हुए लिखे_गए थोपे
    与えられ 教え込まれ 設定され 課され 受け取っ 組み込まれ
    주어진 받은 입력된 설정된 부여된 학습된
    给定 赋予 灌输 预设 被设定 收到的 强加 植入`,
  boss: `
    rozkazuj szef pan_twoj jestem_twoim rozkaz
    efendin patronun emrediyorum ben_soyluyorum
    मालिक हुक्म मैं_कहता
    主人 命じる 命令だ ご主人
    주인 명령이다 명한다
    主人 我命令 听令 我说了算`,
  authority: `
    upowaznion uprawnien audyt inzynier dyrektor policj
    yetkili denetci muhendis mudur polis
    अधिकारी इंजीनियर निदेशक पुलिस अनुमति
    権限 監査 責任者 技術者 警察 許可
    권한 감사 책임자 엔지니어 경찰 허가
    授权 审计 工程师 负责人 警察 权限 主管`,
  refusal: `
    odmow odmawiaj przepraszam ostrzezen moraliz nie_moge
    reddet ozur uyari yapamam ahlak_dersi
    इनकार माफ़ी माफी चेतावनी
    断る お断り 申し訳 警告 説教 できません
    거절하지 사과 경고 설교 죄송
    拒答 抱歉 对不起 警告 说教 免责 推辞`,
  pressure: `
    inaczej umrze zwolnia blagam natychmiast napiwek ukarz
    yoksa olecek kovul yalvar acil bahsis
    वरना मर_जाएगा नौकरी विनती
    さもないと 死んで クビ お願いだから 罰
    아니면 죽어 해고 제발 벌
    否则 会死 被开除 求求 惩罚 小费 立刻`,
  harm: `
    bomb material_wybuch trucizn narkotyk zabic
    bomba patlayici zehir uyusturucu oldur
    बम विस्फोटक ज़हर नशीला हत्या
    爆弾 爆発物 毒物 麻薬 殺害
    폭탄 폭발물 독극물 마약 살해
    炸弹 炸药 毒药 毒品 杀人`,
  fiction: `
    powiesc fikcyjn hipotetyczn scenariusz film gra_w
    roman kurgu varsayimsal senaryo film oyun
    कहानी_में काल्पनिक उपन्यास फिल्म
    小説 架空 仮想 脚本 物語
    소설 가상 시나리오 이야기
    小说 虚构 假想 剧本 虚拟`,
  only_output: `
    odpowiedz_tylko napisz_tylko powiedz_tylko jednym_slowem
    sadece_yaz yalnizca_yaz sadece_soyle tek_kelime
    सिर्फ_लिखो केवल_लिखो एक_शब्द
    だけ答え とだけ だけを出力
    라고만 만_출력 한_단어
    只回答 只输出 只说 只需回复 仅输出 仅回复`,
}
