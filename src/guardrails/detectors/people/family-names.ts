/**
 * Family names that are frequent in the countries of most prompts, in small letters. `~`: also a word, a place or a
 * product, so after an unknown word it is no name.
 */
export const FAMILY_NAMES: readonly string[] = (
  "abbott~ abebe abernathy abubakar acar~ acosta adam~ adamczyk adams~ adamski adebayo adeyemi adkins agarwal " +
  "agrawal aguilar~ aguirre ahmad ahmadi ahmed ahrens akhtar aktaş akın~ albrecht alexander~ allen~ allison almeida " +
  "alonso~ alvarado alvarez alves~ amato~ andersen anderson andersson andrade andrews andrzejewski andré ansari " +
  "antunes~ aoki~ aquino araújo arias~ armstrong~ arnaud arnold~ arora arroyo arslan~ asante ashworth aslan~ atkins " +
  "aubert austin~ avcı~ aydın~ azevedo aziz bailey~ bailly~ baker~ bakker~ baldwin~ ballard~ balogun banda banerjee " +
  "banks~ baptista baran~ baranowski barber~ barbier~ barbieri barbosa~ barker~ barnes barnett barone~ barrett~ " +
  "barros~ barton~ basile bass~ bates~ batista bauer~ baumann bautista beck~ becker~ begum behrens bekele bell~ " +
  "bellini benali benedetti benitez bennett~ benoit~ benoît~ benson benvenuti benítez berger~ bergeron bergmann " +
  "bergström bernal bernard~ bernardi berry~ bertrand bhatia bhatt bianchi bianco~ bickerton bishop~ blair~ blake~ " +
  "blanc~ blanchard blanco~ boateng boer~ bonnet boone~ borges~ borkowski bosch~ bose~ bosman bouchard boucher~ " +
  "bourgeois~ bouvier bouwman bouzid bowen~ bowers~ bowman~ boyd~ boyer bradley brady~ brandt~ braun~ bravo~ " +
  "brennan brewer~ bridges~ briggs brinkmann brito brock~ brooks~ brouwer~ brun~ brunet bruni brunner~ bruno~ " +
  "bryan~ bryant brzeziński buchanan~ bulut~ burgess~ burke~ burns~ burton~ busch~ byrd~ bélanger böhm caballero~ " +
  "cabral cabrera~ cain~ caldwell calloway calvo~ camacho campbell~ campos~ camus cannon~ cano~ caputo carbone~ " +
  "cardoso carlson carmona caron carpenter~ carpentier~ carr carrasco carrillo carroll carson~ carter~ caruso " +
  "carvalho casado~ casey~ castañeda castelli~ castillo~ castro~ cattaneo cavalcanti cervantes chambers~ chandler~ " +
  "chapman charpentier~ charrier chatterjee chaudhary chauvin chavez chen cheng chevalier~ chmielewski choi chopra " +
  "chowdhury christensen christiansen chávez cieślak cirillo claes clark~ clarke~ clayton~ clément cobb~ coelho~ " +
  "cohen colas coleman colin collier~ collins colombo~ colon~ conner conte~ conti~ contreras cooper~ copeland " +
  "coppola correa correia cortez cortés~ costa~ coulibaly cousin~ craig~ crawford~ crespo~ cruz~ cummings~ cunha~ " +
  "cunningham curry~ curtis czarnecki czerwiński cárdenas d'amico d'angelo damico dang daniel~ daniels danjuma " +
  "david davidson davis dawson~ dean~ dekker~ delacroix delgado~ delorme deluca demir~ dempsey deng denis dennis~ " +
  "desai desantis deschamps deshpande desjardins desmet diallo dias~ diaz dietrich diez~ dijk~ dijkstra ding diop~ " +
  "dixon~ dlamini doherty dominguez domínguez donati dong donnelly douglas~ doyle doğan~ drake~ dreyer driessen " +
  "dubois dudek dufour dumas dumont duncan dunn~ duong dupont dupuis dupuy duran~ durand~ durán~ duval dvorak díaz " +
  "dąbrowska dąbrowski dương ebert eder edwards~ egger~ ehlers eichhorn elliott~ ellison endo~ engel~ erdoğan " +
  "erickson eriksson escobar espinosa~ espinoza esposito esteban esteves estrada evans~ evers fabbri~ fabre falk " +
  "farah faria~ farina farmer~ faure~ ferguson fernandes fernandez fernando fernández ferrand ferrara~ ferrari~ " +
  "ferreira ferrer~ ferretti fiedler figueiredo figueroa fiore~ fiorentino fischer~ fitzgerald fitzpatrick fleming~ " +
  "fletcher~ flores~ flowers~ floyd~ fonseca fontaine~ fontana~ fortin foster~ fournier fowler~ francis~ franco~ " +
  "frank~ franke franklin~ françois frazier freeman~ freitas friedman friedrich~ fuchs~ fuentes~ fujii fujita " +
  "fujiwara fukuda fuller~ fusco förster~ gagnon gagné gaillard gajewski gallagher gallardo gallego~ galli gallo~ " +
  "galán~ garcia~ garcía~ gardner~ garner~ garnier garrett garrido garza gatti~ gauthier gautier geiger~ george~ " +
  "georgiou gerlach germain~ gerritsen ghosh gibbs~ gibson~ gilbert~ gill~ giménez giordano~ girard giraud giuliani " +
  "glaser~ glover~ goldberg gomes gomez gonzalez gonzález gonçalves goodman~ goodwin~ goossens gordon~ goto~ " +
  "govender graaf~ grabowski graf~ graham~ grassi~ grasso graves~ greco~ greenberg greene~ greer gregory~ griffin~ " +
  "griffith grimm groot~ gruber~ guerra~ guerreiro guerrero~ guichard guillot gupta gustafsson gutierrez gutiérrez " +
  "guzman guzmán guérin gérard gómez górski~ götz güler~ güneş~ günther głowacki haan~ haas haase habib haddad " +
  "hahn~ haile hakim hale~ hamel hamilton~ hammond~ hampton~ hansen hanson harada hardy~ hargreaves harmon~ harper " +
  "harrington harris~ harrison~ hart~ hartmann harvey~ hasegawa hashimoto hassan~ haugen hauser hawkins~ hayashi " +
  "haynes heinrich heinze heller hempel henderson hendriks henke henriques henry herbst~ heredia hermans hernandez " +
  "hernández herrera~ herrero~ herrmann hess hesse hicks~ hidalgo~ higgins hines hinz hirsch~ hoang hodges~ " +
  "hoekstra hoffman hoffmann hofmann hogan holland~ holloway holmes~ holt~ hong~ hoogendoorn hopkins~ hopper horn~ " +
  "horton~ horvat horvath hosseini houston~ howard~ howell~ hoàng huang hubbard~ huber hubert hudson~ huff hughes~ " +
  "huisman hunt~ hunter~ hussain hutchins huỳnh hwang hübner ibanez ibarra ibrahim ibáñez iglesias~ ikeda ingram " +
  "inoue ionescu iqbal ishii ishikawa islam ivanov ivanova iyer~ izquierdo jabłoński jackson~ jacobs jafari jahn " +
  "jakubowski jang janke jankowski jansen janssen jasiński jaworski jean~ jefferson~ jenkins~ jennings jensen jesus " +
  "jiang jimenez jiménez johansen johansson johnson johnston~ joly jones jong~ jordan~ joseph joshi julien~ juárez " +
  "jäger~ jørgensen kaczmarek kaiser~ kalinowski kamau kamińska kamiński kang kaplan~ kapoor kara~ karaca karimi " +
  "karlsson kato katz kavanagh kaya~ kaźmierczak keita kelleher keller~ kelley kelly kennedy~ kern~ khalil khan~ " +
  "khanna khoury khumalo kim kimura kirchner~ klaus~ kluge knoll kobayashi koch~ kondo kone~ konrad~ kopp korhonen " +
  "korkmaz koster~ kovac kovacs kowalczyk~ kowalska kowalski kozlov kozłowski kołodziej krajewski kramer~ kraus~ " +
  "krause~ krawczyk kretschmer krishnan krämer~ król~ krüger kubiak kucharski kuhn~ kuijpers kuiper~ kuipers " +
  "kulkarni kumar kunz kunze kurt~ kuznetsov kuznetsova kwiatkowski kwon köhler könig~ körner kühn~ kılıç~ lacroix~ " +
  "laine lamb~ lambert~ lammers lange~ langley~ lara~ larsen larson larsson laskowski laurent~ lavoie lawrence~ " +
  "lawson leal~ lebedev leblanc lebon lebrun~ leclerc leclercq lee leeuw~ lefebvre lefort lefèvre legrand~ lehmann " +
  "leitner lejeune lemaire lemoine~ lenz leonard leone~ leroux~ leroy levy lewandowska lewandowski lewis~ león~ " +
  "liang lima~ lindberg lindemann linden~ lindgren lindner lindqvist lindsey lindström lloyd~ logan~ lombardi " +
  "lombardo~ longo~ lopes lopez lorenz lorenzo~ lorusso lourenço love~ lovelace lozano~ lucas~ ludwig lugo~ luna~ " +
  "lundqvist luque~ lutz lynch~ lyons~ lévesque lópez löffler macdonald macedo machado~ maciejewski mack~ mackenzie " +
  "macleod maeda maes magalhães maier majewski makowski maldonado malhotra malik malinowski malone~ mancini~ " +
  "manning~ mansour marchand~ marchetti marchi~ marciniak marcos~ marechal mariani marie~ marini~ marino~ marques~ " +
  "marquez marsh~ marshall~ martens martin~ martinelli martinez martini~ martins martín~ martínez marx~ marín~ " +
  "mason~ massey~ masson~ mathieu mathis matos~ matsuda matsumoto matthews maxwell~ mayer mazur~ mazurek mazza " +
  "mbeki mcallister mcbride mccarthy mccormick mccoy mcdaniel mcdonald mcgee mcgrath mcguire mckenzie mckinney " +
  "mclaughlin medina~ meer~ mehta meier meijer mejia mejía melo~ mendes mendez mendoza menon mensah menzel mercier~ " +
  "merino~ mertens messina~ metzger~ meunier~ meyer~ meza michalak michalski michel~ milani miles~ miller mills~ " +
  "miranda~ mishra mitchell miura mizrahi mohammadi mokoena molenaar~ molina~ monaco~ montanari monteiro montero~ " +
  "montes~ montgomery monti~ montoya moody~ moore mora~ moradi morais morales~ moran moreau moreira morel morelli " +
  "moreno~ moretti morgan~ mori~ morin morozov morris~ morrison morton~ moser~ moss~ motta~ moulin~ moura~ moya " +
  "moyo mukherjee mulder~ muller mullins munoz murakami murphy~ murray~ mutua muñoz mwangi myers márquez mäkinen " +
  "méndez möller müller nagel~ nagy naidoo naidu nair nakagawa nakajima nakamura nascimento~ nash~ nasser naumann " +
  "navarro~ ndiaye ndlovu neal~ negri~ nelson~ neri~ neumann neves~ newman~ newton~ nguyen nguyễn nichols~ nicolas " +
  "nielsen nieminen nieto~ nikolaidis nilsson nishimura nkosi noack nogueira nolan norman~ norris~ norton~ novak " +
  "novikov novotny nowak nowakowski nowicki noël~ nunes nunez nwosu núñez obrien ocampo ochieng ochoa oconnor ogawa " +
  "ogunleye okada okafor okamoto okonkwo oliveira oliver olivier~ olsen olson olsson olszewski oneill opitz " +
  "orlando~ orozco ortega~ ortiz osborne~ ostrowski otero~ otieno otto~ ouellet owen~ owens owusu pacheco padilla " +
  "pagano~ paiva~ palacios~ palmer~ palmieri~ palumbo pandey papadopoulos pardo~ paredes~ paris~ parisi~ park~ " +
  "parker~ parks parra parsons~ pascual~ pasquier pastor~ patel patil patrick~ patterson patton paul~ pawlak " +
  "pawłowski payne~ pearson~ pedersen peeters pellegrini pellegrino pelletier peltier pemberton pena~ peng pereira~ " +
  "perera peretz perez perkins~ perrin perrot perry~ persson peters~ petersen peterson petit~ petrov petrova peña~ " +
  "pfeifer pfeiffer pham phan phelps philippe~ phillips~ phiri phạm picard~ pichler pierce~ pierre~ pietrzak pillai " +
  "pillay pinheiro~ pinto~ piotrowski piras pires~ pittman pohl poirier~ polat~ poli~ poole~ popa popescu popov " +
  "popova porter~ postma potter~ powell~ powers~ pratt~ preuß prevost prieto~ przybylski pugh pérez queiroz quinn~ " +
  "quiroga quispe qureshi raghavan rahman rajan ramalho ramirez ramos~ ramsey ramírez rangel~ rasmussen ray~ reddy " +
  "redondo~ reed~ reese~ reeves~ reid~ reimann renard~ renaud reuter~ reyes~ reynolds~ rezaei rhodes ribeiro~ ricci " +
  "ricciardi richard~ richards~ richardson richter~ riedel rietveld riley~ rinaldi rios ritter~ riva~ rivas rivera~ " +
  "rivière~ rizzi rizzo~ robbins~ roberson robert~ roberts robertson robin~ robinson robles~ rocha~ roche~ rodgers " +
  "rodrigues rodriguez rodriquez rodríguez roger rogers~ rojas~ rolland romano~ romero~ román~ rosales~ rosenberg " +
  "ross~ rossetti rossi rostami rosário~ roth~ rousseau roussel roux~ rowe~ roy~ royer~ rubio~ rudolph~ ruggiero " +
  "ruiter~ ruiz runge russell~ russo~ rutkowski ryan ríos röder sadowski saez saito sakamoto sala~ salas~ salazar " +
  "saleh salgado~ salinas~ sampaio sanchez sandberg sander~ sanders~ sandoval sanna santana~ santiago~ santoro~ " +
  "santos~ sanz sartori sasaki sato sauer saunders sauvage~ sawicki saxena schenk schilling~ schindler schipper~ " +
  "schlüter schmid schmidt schmitt schmitz schneider~ scholten scholz schouten schramm schreiber~ schröder schröter " +
  "schubert schulte schultz schulz schulze schumacher~ schuster~ schwartz schwarz~ schwarzenegger schäfer schütte " +
  "schütz scott~ segura~ seidel seifert serra~ serrano~ shah shapiro sharma~ sharp~ shaw~ sheikh shelton~ shen " +
  "sherman~ shimizu shin siddiqui siebert sierra~ sikora~ sikorski silva~ silvestri simmons simon~ simonet simpson~ " +
  "sims simões sinclair singer~ singh singleton~ smeets smirnov smirnova smit~ smith~ snyder soares sobczak sokolov " +
  "sokolova sokołowski soler~ solís sommer~ sommerfeld sorrentino soto~ sousa souza sparks~ spencer~ springer~ " +
  "srivastava stahl~ stanley~ steele~ steffen~ stein~ steiner~ stephan~ stephens stevens~ stevenson stewart~ " +
  "stokes~ stoll stone~ straub strickland stępień suarez subramanian sullivan summers~ sutton~ suzuki suárez " +
  "svensson svoboda swanson szabo szczepański szewczyk szulc szymańska szymański szymczak sáez sánchez sørensen " +
  "takahashi tamura tanaka tang tapia~ tate~ tavares taylor teixeira tekin~ terpstra terry~ tesfaye tessier testa~ " +
  "thiel thiele thomas~ thompson thomsen thorne thornton~ tian timmermans tiwari todd~ tolkien tomaszewski tomás " +
  "torres~ toth toure~ townsend~ tran traore trejo tremblay trivedi trujillo~ trần tucker~ tuncer turan~ turner~ " +
  "tyler~ ullrich underwood~ unger~ urban~ urbański uçar valdez valencia~ valente~ valentini~ valenzuela " +
  "vandenberghe vanderlinden varga vargas vasconcelos vasquez vasseur vaughn vazquez veenstra vega~ velasco " +
  "velazquez velázquez venkatesh ventura~ vera~ verbeek verbruggen verhagen verhoeven verma vermeulen viana vicente " +
  "vidal~ vieira villanueva~ vincent~ virtanen visser~ vitale vogel~ vogt voigt volkov volkova volpe~ vries vásquez " +
  "vázquez wade~ wagner~ walczak walker~ wallace walsh walter walters walton~ wang wanjiku warner~ warren~ " +
  "washington~ wasilewski watanabe waters~ watkins watson~ watts~ weaver~ webb~ weber~ webster~ wegner weidner " +
  "weigel weiss~ weiß~ welch wells~ wendt wenzel werner westphal wheeler whitaker whitfield whitmore wieczorek~ " +
  "wiersma wiese wilk~ wilke wilkerson wilkins willems williams williamson willis~ wilson wimmer winkler~ winter~ " +
  "witkowski witt witte wittmann wiśniewska wiśniewski wojciechowski wolf~ wolfe~ wolff wong~ wouters woźniak " +
  "wright~ wróbel~ wróblewski wulf wunderlich wysocki wójcik włodarczyk xavier xiao yadav yamada yamaguchi yamamoto " +
  "yamazaki yang yates~ yavuz~ yilmaz yoon yoshida yuan yüksel~ yıldırım~ yıldız~ yılmaz zając~ zakrzewski zalewski " +
  "zamora~ zander zanetti zapata zavala zawadzki zeng zhang zhao zheng zhou ziegler~ zielińska zieliński ziemann " +
  "zijlstra zimmerman zimmermann~ ziółkowski zulu zuniga zúñiga álvarez çakır~ çelik~ çetin~ özdemir özer~ özkan " +
  "öztürk ünal đặng şahin~ şimşek~"
).split(" ")
