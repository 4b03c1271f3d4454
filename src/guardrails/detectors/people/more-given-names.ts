/** Given names of more countries, in the form of given-names.ts. */
export const MORE_GIVEN_NAMES: readonly string[] = // Northern Europe.
  (
    "birgitta fredrik gunilla göran kjell klas kerstin linus malin olle~ pontus tove åke åsa birthe bjarne bodil dorte erling gitte helle " +
    "ingolf jesper jette jytte knud lene merete mette mikkel morten palle pernille poul rikke signe søren torben trine troels ulrik vibeke " +
    "anette bjørn bjørg einar eirik espen grete håkon håvard iselin ivar jorunn kjersti knut oddvar ragnhild roar rune~ silje sindre sissel " +
    "steinar svein synne torunn unni vegard øystein øyvind aleksi eero eeva heikki iida ilkka jari janne jarmo joonas juhani kaisa kalle " +
    "katri kimmo kirsi lasse leena liisa marja~ markku marjatta miika minna niko noora olavi outi paavo pekka petri pirjo raija reijo riikka " +
    "ritva satu seppo sirpa tapani tapio tarja teemu tuomas tuula veikko vesa virpi " +
    // Ireland.
    "aisling aoibheann bríd caoimhe ciarán clodagh colm conor darragh diarmuid dónal eamon eimear eoghan eoin fergal finbar fionn fionnuala " +
    "gráinne iarla laoise lorcan maeve mairéad muireann niamh oisín orla padraig pádraig róisín ruairí saoirse séamus seán sinéad siobhán " +
    "sorcha tadhg " +
    // Central and south-eastern Europe.
    "adéla alena aleš alžběta anežka barbora bohumil božena eliška františek hedvika iva~ jaroslava jarmila jiří jindřich jitka karel " +
    "kateřina klára kristýna ladislav libor libuše luděk lukáš markéta matěj michaela michal milada miloš miloslav naděžda ondřej pavla " +
    "pavlína radka radim růžena soňa šárka štěpán tereza tomáš václav věra vladimír vlastimil vojtěch zbyněk zdeněk zdeňka zuzana ágnes " +
    "ákos andrás anikó attila balázs béla! bence csaba csilla dániel dóra emese endre erzsébet éva gábor gergely gergő györgy gyula ildikó " +
    "imre istván jános józsef judit julianna krisztina krisztián lajos lászló levente lilla máté miklós mónika nándor orsolya péter piroska " +
    "réka rózsa sándor szabolcs szilvia tamás tibor tímea tünde vilmos viktória zoltán zsófia zsolt zsuzsanna adina alin anca andreea " +
    "camelia~ cătălin cătălina ciprian claudiu corina cornel cosmin crina dănuț doina dorin dragoș dumitru eugen florin~ gheorghe horia " +
    "ileana ilie ioan ioana ionela ionuț iulia iulian laurențiu liviu luminița lucian mihaela mihai mircea mirela nicolae nicoleta nicușor " +
    "octavian oana ovidiu petru radu raluca răzvan rodica sanda silviu sorin ștefan tudor~ viorel viorica vlad branka branko danijel davor " +
    "domagoj dražen dubravka gordana ivica jasna katarina krešimir krunoslav ljiljana matija mihovil milka mladen nebojša nemanja nenad " +
    "nevena nikolina ognjen petar predrag radovan ratko sanja saša silvija siniša slobodan snežana srđan stipe tihana tihomir tomislav uroš " +
    "vedran vesna vjekoslav zdravka zdravko željka željko zlatko zorica zvonimir živko " +
    // South-eastern Asia and Africa.
    "agung agus andi anisa arief asep ayu bagus bambang bayu budi cahya dedi dewi dimas dwi eka endang fajar~ fitri hadi hafiz hendra heri " +
    "heru indah intan iwan joko ketut kurniawan lestari nurul nyoman pratama putri putu rahmat rangga ratna rina rini rizky rudi siti slamet " +
    "sugeng suharto sukarno susanti sutrisno taufik teguh utami wahyu wayan widodo wulan yanto yudi yuni abiola adaora adebola akua amadou " +
    "anele ayanda babajide bongani chibueze funmilayo jabulani kabelo kwaku kwesi lwazi makena nokuthula nonhlanhla oluwaseun siyabonga " +
    "uche ugochukwu wanjiku zinhle " +
    // Greece.
    "αλέξανδρος αλέξης αναστασία αναστάσιος ανδρέας άννα αντώνης απόστολος αριστείδης αγγελική βαγγέλης βασίλης βασιλική γεωργία γιάννης " +
    "γιώργος γρηγόρης δέσποινα δημήτρης δήμητρα διονύσης ειρήνη ελένη ελευθερία ευαγγελία ευγενία ευτυχία ηλίας θανάσης θεόδωρος θοδωρής " +
    "ιωάννα ιωάννης κατερίνα κωνσταντίνος κωνσταντίνα κώστας λευτέρης λεωνίδας μανώλης μαρία μαρίνα μάριος μιχάλης νίκος νικόλαος νικολέτα " +
    "ξένια όλγα παναγιώτης παύλος πέτρος σοφία σπύρος σταύρος στέλιος στέφανος σωτήρης τάσος φωτεινή χάρης χρήστος χριστίνα " +
    // Ukraine and Bulgaria, which the Russian list lacks.
    "ірина олена дмитро сергій андрій наталія тетяна юлія микола василь михайло володимир анастасія петро павло олексій євген вікторія " +
    "ганна надія ігор віталій артем юрій остап назар соломія дарина наташа маша саша даша катя лена оля таня юля настя аня ваня дима миша паша коля вова серёжа сережа женя костя лёша леша света люда ира галя надя соня " +
    "ксюша вика рита витя георги димитър николай петър стефан"
  ).split(" ")

/** Family names of more countries, in the form of family-names.ts. */
export const MORE_FAMILY_NAMES: readonly string[] = (
  "johansson karlsson nilsson eriksson larsson olsson persson svensson gustafsson lindberg lindgren lundberg lundgren sandberg sjöberg " +
  "jensen nielsen hansen pedersen sørensen rasmussen jørgensen kristensen olsen haugen bakken~ johansen larsen virtanen korhonen mäkinen " +
  "nieminen mäkelä hämäläinen heikkinen koskinen järvinen lehtonen saarinen salminen heinonen niemi heikkilä kinnunen salonen turunen " +
  "novák svoboda~ novotný dvořák černý procházka kučera veselý horák němec nagy kovács tóth szabó horváth varga molnár németh farkas " +
  "balogh papp takács juhász popescu ionescu popa rusu munteanu horvat babić marić jurić petrović jovanović nikolić marković santoso " +
  "wijaya susanto hidayat saputra setiawan gunawan nugroho mutua kamau odhiambo mwangi nkosi ndlovu khumalo mokoena adeyemi okonkwo okafor " +
  "o'brien o'connor murphy o'neill gallagher mccarthy doyle kavanagh papadopoulos georgiou nikolaidis παπαδόπουλος παπαδοπούλου γεωργίου " +
  "κωνσταντίνου νικολάου δημητρίου οικονόμου вовк мельник шевченко бойко коваленко бондаренко ткаченко кравченко"
).split(" ")
