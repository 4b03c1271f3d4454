/** Words that decide whether capitalized words are a person's name: in small letters and without accents. */

const setOf = (...lists: string[]) => new Set(lists.join(" ").split(" "))

/** Words that end or exclude a name. */
export const NOT_NAMES = setOf(
  // Calendar and greetings.
  "monday tuesday wednesday thursday friday saturday sunday january february march april may june july august september october november",
  "december montag dienstag mittwoch donnerstag freitag samstag sonntag january lundi mardi mercredi jeudi vendredi samedi dimanche",
  "christmas xmas easter thanksgiving halloween birthday year eve days night morning evening afternoon happy merry old",
  "hello hi hey dear thanks thank please sorry regards sincerely cheers kind yours welcome congratulations hallo bonjour hola ciao",
  "grusse gruss gruse saludos groeten groet pozdrowienia pozdrawiam abracos beijos besos baci cordialement hilsen halsningar lieber liebe cher chere querido querida estimado estimada gentile caro cara beste geachte prezado prezada szanowny szanowna sayin",
  // Function words, which begin sentences.
  "a an the this that these those it its he she we they i you your my our his her their and or but if when where why what which who how",
  "is are was were be do does did can could will would should may might must have has had not no yes so as at by for from in into of on to",
  "with without about after before between during under over than then there here also all any both each every some more most other such",
  "only own same too very just now get got make made take give ask tell call write send read add use used see find let say said go",
  "summarize summarise translate explain compare draft compose rewrite prepare schedule forward contact remind inform invite assign check",
  "create update delete open close click select enter set run turn note subject date time chapter section part table figure",
  "der die das ein eine einen einem einer und oder aber wenn ist sind war hat haben mit ohne von zu zum zur bei nach fur auf aus im in am",
  "an als wie was wer wo wann warum kann bitte danke guten sehr mein meine unser unsere ihr ihre sein er sie es wir ich du den dem des",
  "le la les un une des du de et ou mais si est sont a au aux avec sans pour par sur dans ce cette ces mon ma mes notre votre son sa qui",
  "que quoi quand comment pourquoi il elle nous vous ils je tu merci el los las y o pero es son con sin por para en mi su nuestro como",
  "cuando donde porque gracias lo gli i uno una e ed ma se sono non per di da del della il io noi voi mio mia suo nostro grazie come",
  "het een maar niet met voor van naar bij op uit is zijn dit dat mijn ons onze wij ik jij um uma os as ou mas nao com sem do dos na no",
  "seu sua meu minha nosso obrigado obrigada bom boa w z na do od po przed pod nad ten ta to jest sa nie tak jak co kto gdzie moj moja",
  // Types and notes of fields.
  "string text varchar char column schema optional required nullable first last full enter",
  // Roles, departments and things in headings.
  "customer customers client clients support service services team teams department office manager management director officer chief",
  "executive president chairman senior junior engineer engineering developer development designer architect analyst analytics",
  "consultant administrator admin assistant associate specialist coordinator supervisor representative agent operator owner product",
  "products project projects program programme software hardware system systems server cloud data database network security account",
  "accounts billing invoice payment payments order orders sales marketing finance legal human resources quality assurance operations",
  "research business company corporation inc ltd llc gmbh corp co ag plc group holdings partners insurance foundation institute",
  "university college school academy hospital clinic museum library hotel restaurant airport station stadium theatre theater",
  "st ln pkwy street avenue ave road rd boulevard blvd drive place square terrace way highway tower building garden",
  "gardens centre center mall city town village county state states country kingdom republic union national international american",
  "british german french spanish italian dutch polish portuguese turkish russian chinese japanese european african asian english north",
  "south east northern southern eastern western central united great island islands lake river mountain mount valley beach ",
  "sea ocean desert forest world war laws theorem algorithm method model effect disease syndrome principle equation distribution",
  "process transform filter tree index award awards prize cup league fc championship olympics festival game games series film movie",
  "book album song magazine times news post journal review report guide manual policy terms privacy settings account version release",
  "update edition beta pro plus mini ultra air studio code app web site home blog shop market email mail phone number name",
  "address id key token password user users group role access request response error test api sdk url http json xml html css sql ai ml",
  "sir madam madame monsieur mesdames messieurs hiring recruiter colleague colleagues everyone everybody friend friends folks guys mum",
  "mom dad god queen princess pope saint team kunde kundin kunden damen herren kollegen kolleginnen zusammen serviceteam",
  "kundenservice client equipe service senores equipo cliente atencion servizio clienti squadra klant klantenservice collega allemaal",
  "todos equipa dzial obslugi klienta zespol panstwo wszystkim musterimiz destek ekibi clients mother father grandma grandpa",
  "shepherd terrier retriever pie cake salad soup tea coffee cola juice whiskey beer wine cookies burger pizza jeans shoes watch",
)

/** Family names that are words too: a name only after an unambiguous given name. */
export const WORD_FAMILY = setOf(
  "park bridge lane court house church king prince lord bank day good new best page law west bay major hill head wood love may street",
)

/** Words before a name that make it a place, a street or a storm. */
export const NOT_BEFORE_NAMES = setOf(
  "saint st san santa santo sao sankt sint lake mount mt fort port cape hurricane storm typhoon street avenue av rue place boulevard quai",
  "chemin via viale piazza corso largo calle plaza avenida paseo rua praca travessa ul ulica al plac os team club hotel university",
  "universite universidad college the amazon project operation planet model city lago monte villa castle palace hospital school bd",
  "str strada bulevardul calea aleea splaiul jl jalan ул улица вул вулиця бул булевард проспект просп пр",
)

/** Brands, works and things that read like a name of a person. */
export const NO_PERSONS = setOf(
  "ralph+lauren calvin+klein tommy+hilfiger hugo+boss giorgio+armani louis+vuitton michael+kors kate+spade marc+jacobs paul+smith yves+rocher",
  "johnnie+walker jack+daniels jack+daniel jim+beam captain+morgan wells+fargo morgan+stanley goldman+sachs john+deere harley+davidson",
  "philip+morris charles+schwab trader+joe albert+heijn jack+russell harry+potter sherlock+holmes james+bond peter+pan mary+poppins",
  "mickey+mouse donald+duck indiana+jones forrest+gump anna+karenina robin+hood santa+claus merrill+lynch ernst+young arthur+andersen",
  "ben+jerry levi+strauss estee+lauder elizabeth+arden max+mara jimmy+choo helly+hansen fred+perry jean+paul+gaultier bloody+mary",
  "earl+grey tom+collins eggs+benedict johns+hopkins carnegie+mellon rolls+royce aston+martin mercedes+benz alfa+romeo ferrero+rocher",
  "charlie+brown monte+carlo monte+cristo don+quixote don+juan doctor+who doctor+strange dr+pepper dr+martens dr+oetker mr+clean mr+bean",
  "valentine+day mr+robot mrs+doubtfire frau+holle pan+tadeusz big+ben jane+eyre oliver+twist tom+sawyer billy+elliot romeo+juliet victor+hugo",
  "karl+johans milton+keynes miss+universe miss+world miss+america lady+liberty mister+minit johnson+johnson martin+luther+king bruder+grimm san+diego notre+dame max+planck",
  "hong+kong thomas+cook dr+dobb marie+curie konrad+adenauer friedrich+ebert charles+de+gaulle leonardo+da+vinci jack+wolfskin karl+lagerfeld christian+dior uncle+ben",
)

/** Products with a given name, which are no persons without a family name or an introduction. */
export const NAMED_PRODUCTS = setOf("claude alexa siri cortana mollie devin jasper")
