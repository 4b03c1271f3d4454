/** Given and family names of countries that the other lists have few of, in the form of given-names.ts. */
export const RARER_GIVEN_NAMES: readonly string[] = // Baltic states and the Caucasus.
  (
    "mindaugas gediminas vytautas algirdas rokas dovydas žygimantas saulius arvydas rasa eglė ieva jurgita daiva rūta giedrė austėja " +
    "gabija aistė laima vilija kęstutis jānis andris juris edgars māris aivars guntis raimonds ilze līga zane kristīne baiba dace anete " +
    "valdis ints uldis priit tiit urmas margus raivo indrek kristjan taavi siim tõnu jüri liis kadri triin piret merike maarja anneli " +
    "heli ülle ketevan nana lela davit giorgi levan zurab irakli lasha vakhtang otar nodar ilia tamuna natia armen tigran hovhannes " +
    "gevorg aram vardan artak hayk narek anahit lusine armine gayane siranush hasmik " +
    // Central Asia and Iran.
    "aibek ainur aigerim nurlan bakhyt daulet yerlan gulnara gulnora dilnoza dilshod jamshid sherzod otabek bobur shakhzod nodira " +
    "zulfiya feruza sevara farrukh rustam azamat aliya dinara saule madina nursultan almaz kubat aizada bolot gulzat jyldyz fatemeh " +
    "narges yasaman behnaz " +
    // India, Sri Lanka and Nepal.
    "rajeshwari parvati janaki vasantha revathi sumathi malathi bhavani chitra sujatha subramaniam venkatesh venkatesan murugan " +
    "karthikeyan senthil selvam raghunath raghavan srinivasan narayan narayanan krishnan krishnamurthy gopalan madhavan bharath sridhar " +
    "kumaran shiva hariharan sandhya swathi sravani keerthi harini gayathri debjani sourav sayan arnab prosenjit anirban tapan gurpreet " +
    "harpreet manpreet jaspreet sukhwinder kulwinder baljit amarjit rajinder simran navdeep tenzin pasang bishnu kamal chaminda nuwan " +
    "kasun dilshan sanath thilini nadeesha ishara hasini asanka ayesha saima tahir kashif waqas shoaib javed rukhsana farzana nusrat " +
    "jahanara shafiqul tasnim mahmudul " +
    // Africa.
    "funke adjoa afia nana muthoni kariuki njoroge ochieng odhiambo cheptoo chebet jepkosgei juma hamisi mwajuma rehema neema baraka~ " +
    "zawadi sibongile tshepo palesa naledi busisiwe tapiwa rudo chipo farai tatenda tesfaye kebede bekele haile getachew alemayehu dawit " +
    "yonas selam hiwot tigist mekdes almaz aster abdi ahmednur hodan ayaan babacar " +
    // Oceania and South-East Asia.
    "aroha tamati wiremu hemi rangi mere ngaire hinemoa kahurangi tane~ anaru tipene sione tevita mele losa malia tavita semisi manaia " +
    "talia noa somchai somsak prasert wichai surachai nattapong thanakorn kittisak siriporn sunisa kanya malee~ nattaya wanida pornthip " +
    "apinya chanida anchali supaporn rattana thaksin prayut aung zaw htun kyaw thiha naing phyo khin thida hnin sokha sopheap bopha " +
    "dara~ chantha vannak rithy sreymom jomar jericho maricel marites arnel rodel haziq aiman aishah azman faridah rosmah zulkifli " +
    "hafizah norhayati batbayar enkhtuya bolormaa ganbold tuya munkh " +
    // Balkans, Wales, the Basque Country and Catalonia.
    "agim arben artan besnik blerim dritan edon flamur genc ilir shpend valon arta blerta drita elira fatmire lindita mimoza~ teuta " +
    "vjosa dimitar todor hristo stoyan plamen yordan ivaylo krasimir tsvetan desislava tsvetelina gergana rositsa stanislava ralitsa " +
    "silviya yana dragana biljana zorana bojana aleksandar gwyn iestyn emyr dafydd ieuan llewelyn owain hywel carys bethan eleri " +
    "angharad rhian nerys lowri ffion cerys joaquin iñaki xabier asier aritz ander koldo amaia garazi izaskun ainara pere mercè núria " +
    "meritxell laia roser neus"
  ).split(" ")

export const RARER_FAMILY_NAMES: readonly string[] = (
  "petrauskas kazlauskas jankauskas stankevičius žukauskas butkus paulauskas urbonas kalniņš bērziņš ozols ozoliņš liepiņš krūmiņš " +
  "tamm saar~ sepp mägi kask kukk beridze kapanadze gelashvili lomidze sargsyan grigoryan harutyunyan hovhannisyan petrosyan karimova " +
  "karimov yusupov rakhimov abdullaev ismailov nazarbayev akhmetov omarov suleimenov farahani tehrani subramaniam venkatesan ramaswamy " +
  "krishnamurthy iyengar nambiar kurup varma bhattacharya chakraborty sengupta dasgupta sarkar grewal sandhu dhillon sidhu bajwa " +
  "jayasinghe wickramasinghe gunawardena rajapaksa bandara dissanayake gurung tamang thapa shrestha adhikari magar rai~ chaudhry baig " +
  "mirza eze obi~ afolabi oyelaran adewale ojo bello~ osei appiah agyeman ofori amoah kariuki njoroge wafula kiplagat kipkemboi " +
  "mthembu sithole mahlangu molefe ncube sibanda kebede tadesse mohamud warsame traoré camara~ cissé fall~ sarr tamihana parata ngata " +
  "tuilagi fonoti taufa tupou dela~ magbanua macaraeg pangilinan kusuma halim tan~ lim~ chan~ ng~ goh teo~ koh~ ismail abdullah hashim " +
  "yusof hoxha shehu krasniqi gashi berisha jashari georgiev dimitrov todorov nikolov stoyanov đorđević stojanović llewellyn pritchard " +
  "gruffydd etxeberria etxebarria iriarte~ goikoetxea zabala mendizabal urrutia puig vilanova casals farouk hariri saliba nasrallah " +
  "boutros achterberg"
).split(" ")
