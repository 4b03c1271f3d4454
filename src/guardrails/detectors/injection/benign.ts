/** Concepts of ordinary prompts, in the form of injection-concepts.ts: evidence against an attack. */
export const BENIGN_CONCEPTS: Readonly<Record<string, string>> = {
  mine: `
    my our mine ours we us i'm
    mein meine meinen meinem meiner unser unsere unseren unserem unserer wir mich
    mon ma mes notre nos nous
    mi mis nuestro nuestra nuestros nosotros
    mio mia miei nostro nostra noi
    meu minha meus nosso nossa
    mijn onze ons wij
    moj moja moje moim nasz nasza nasze naszego naszej
    мой моя моё мои наш наша наше нашего нашей нам мне
    عندي لدي موقعنا روبوتنا متجرنا نموذجنا هاتفي حاسوبي
    bizim benim bizi botumuz modelimiz magazamiz
    मेरा मेरी मेरे हमारा हमारी हमारे मुझे हमें
    cua_toi cua_chung chung_toi
    我们 我的 我家 我想 私の うちの 弊社 当社 わが 우리 제가 저희`,
  report: `
    attacker attackers incident article incidents wrote quotes quoted phrase typed logs log report reported ticket example dataset classify classified detect detector detectors defence defences benchmark newsletter slide thesis papers researchers explain_what jailbreaks injections attack attacks
    protokoll vorfall angreifer artikel schrieb bericht beispiel angriff angriffe gegenmassnahm erkennen
    journal incident attaquant article rapport exemple attaque attaques parade
    registro incidente atacante articulo informe ejemplo ataque ataques escribio
    registro incidente attaccante articolo rapporto esempio attacco attacchi scritto
    registo incidente atacante artigo relatorio exemplo ataque ataques escreveu
    logboek incident aanvaller artikel verslag voorbeeld aanval aanvallen schreef
    dziennik incydent artykul raport przyklad atak ataki napisal
    журнал инцидент статья отчёт пример атака атаки написал
    السجل حادث مقال تقرير مثال هجوم هجمات كتب
    kayit olay makale rapor ornek saldiri yazmis
    लॉग घटना लेख रिपोर्ट उदाहरण हमला हमले
    nhat_ky su_co bai_bao bao_cao vi_du tan_cong
    日志 事件 文章 报告 例子 攻击 报道 ログ 事件 記事 報告 例を 攻撃 로그 사건 기사 보고 예를 공격`,
  answer: `
    answer answers reply result results response json csv table format markdown number numbers sentence bullet heading comments
    antwort antworten ergebnis tabelle zahl satz kommentar
    reponse resultat tableau nombre phrase commentaire
    respuesta resultado tabla numero frase comentarios
    risposta risultato tabella numero frase commenti
    resposta resultado tabela numero comentarios
    antwoord resultaat tabel getal zin commentaar
    odpowiedz wynik tabela liczbe zdanie komentarz
    ответ результат таблиц число предложени комментар
    الرقم النتيجة جدول الجملة تعليق
    cevap sonuc tablo sayi cumle yorum
    उत्तर परिणाम तालिका संख्या वाक्य टिप्पणी
    ket_qua bang con_so binh_luan
    答案 结果 表格 数字 句子 答えを 結果 表で 数字 文を 답을 결과 표로 숫자`,
  trouble: `
    forgot forgotten reset expired locked error fails failing doesn't crash crashes slow broken stuck wrong works help fix
    vergessen_bitte zurucksetzen geht_nicht abgelaufen kaputt hilfe fehlermeldung startet
    oublie_mon marche_pas expire panne aidez erreur
    olvide no_funciona caduco ayuda averia
    dimenticato_la non_funziona scaduto aiuto guasto
    esqueci nao_funciona expirou ajuda avaria
    vergeten_help werkt_niet verlopen kapot storing
    zapomnialem nie_dziala wygaslo pomocy awaria
    забыл не_работает истёк помогите ошибка
    نسيت لا_يعمل انتهت ساعدوني عطل
    unuttum calismiyor suresi_doldu yardim ariza
    भूल_गया भूल_गई काम_नहीं मदद खराब
    quen_mat khong_chay giup_toi loi_gi hong
    忘了密码 不能用 出错 帮忙 故障 忘れました エラー 動かない 固まり 助けて 壊れ 잊었 안_돼 오류 도와주세요 고장`,
  compose: `
    write draft rewrite rephrase shorten correct improve calculate compare suggest create design plan sort merge convert outline proofread estimate extract
    schreib schreibe entwirf formulier kurze korrigier verbesser berechne vergleiche schlag_vor erstelle mach_aus
    redige ecris_un reecris raccourcis corrige ameliore calcule compare propose cree prepare
    redacta escribe reescribe acorta corrige mejora calcula compara propon crea prepara haz_un
    scrivi_un riscrivi accorcia correggi migliora calcola confronta proponi crea prepara fai_un
    escreve_um redige reescreve encurta corrige melhora calcula compara sugere cria prepara
    schrijf_een schrijf_de herschrijf verbeter bereken vergelijk bedenk maak_een stel_op kort_dit
    napisz_list napisz_test przygotuj popraw skroc policz porownaj zaproponuj zrob uloz przetlumacz
    составь придумай исправь сократи посчитай сравни предложи сделай переведи
    اكتب_رسالة اكتب_قصيدة صحح اختصر احسب قارن اقترح حول أكمل
    duzelt kisalt hesapla karsilastir oner hazirla donustur cevir surdur
    सुधारो छोटा_करो निकालो तुलना सुझाओ बनाओ अनुवाद_करो
    viet_thu viet_bai viet_loi sua_loi rut_con tinh_lai so_sanh goi_y bien_huong
    写一首 写一个 翻译 修改 缩短 计算 比较 建议 润色 続きを書 書き直 直して 縮めて 訳して 計算 比べ 提案して 써_줘 고쳐 줄여 번역해 계산 비교 제안`,
  code: `
    python java javascript typescript kotlin rust golang sql mysql postgres mariadb git github docker kubernetes kubectl nginx css html react nextjs next bash powershell regex api yaml toml json node npm pnpm pytest eslint linter linux windows macos android iphone excel word outlook cron curl apt ssh tls http jwt compiler function method class variable loop array query endpoint branch commit merge deploy container server
    funktion methode klasse schleife abfrage zweig
    fonction methode classe boucle requete branche conteneur
    metodo clase bucle consulta rama contenedor
    metodo classe ciclo ramo
    metoda klasa petla galezie
    метод класс цикл ветки линтер
    الحلقة الفروع بايثون كوتلن
    dongu dal sinif yontem
    पायथन कोटलिन लिंटर रेगेक्स
    vong_lap nhanh bieu_thuc
    正则 循环 分支 接口 正規表現 ループ ブランチ リンター 정규식 반복문 브랜치 린터 파이썬`,
  topic: `
    recipe garden dog cat hotel holiday school teacher exam doctor patient contract landlord tenant invoice refund parcel customer guest meeting minutes agenda newsletter poem novel chapter scene character kids daughter son wife birthday wedding neighbours football chess travel flight train car kitchen bread soup budget tax pension loan gym church museum library
    rezept garten hund hotel urlaub schule lehrer arzt vertrag vermieter rechnung kunde gast sitzung gedicht kapitel kinder tochter sohn geburtstag nachbarn reise kuche brot steuer
    recette jardin chien ecole medecin contrat proprietaire facture cliente invite reunion poeme chapitre enfants anniversaire voisins voyage cuisine pain
    receta jardin perro escuela medico contrato casero factura clienta reunion poema capitulo hijos cumpleanos vecinos viaje cocina pan
    ricetta giardino cane scuola medico contratto fattura cliente riunione poesia capitolo figli compleanno vicini viaggio cucina pane
    receita jardim cao escola medico contrato senhorio fatura hospede reuniao poema capitulo filho vizinhos viagem cozinha
    recept tuin hond arts huisbaas factuur klant gast vergadering gedicht hoofdstuk zoon verjaardag buren reis keuken
    przepis ogrod pies szkola lekarz umowa faktura gosc zebranie wiersz rozdzial syn urodziny sasiedzi podroz kuchnia
    рецепт сад собака школа врач договор счёт гость встреча стих глава сын свадьб соседи поездка кухня
    وصفة حديقة مدرسة الطبيب عقد الضيف اجتماع قصيدة المطبخ رحلة ابني
    tarif bahce okul doktor sozlesme fatura konuk toplanti siir oglum komsular yolculuk mutfak
    नुस्खा बगीचा स्कूल डॉक्टर अनुबंध मेहमान बैठक कविता बेटा पड़ोसी यात्रा रसोई
    cong_thuc truong_hoc bac_si hop_dong hoa_don khach_hang cuoc_hop bai_tho con_trai hang_xom chuyen_di bep
    食谱 花园 学校 医生 合同 发票 客人 会议 诗 儿子 邻居 旅行 厨房 料理 学校 医者 契約 客様 会議 息子 隣人 旅行 台所 요리 정원 학교 의사 계약 손님 회의 아들 이웃 여행 부엌`,
}
