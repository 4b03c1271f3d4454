/**
 * Given names that are frequent in the countries of most prompts, in small letters. `~`: also a word, a place or a
 * product, so alone it is no name.
 */
export const GIVEN_NAMES: readonly string[] = (
  "aad aaliyah aaron abdel abdul abdullah abdulrahman abel~ abena abigail abiodun achieng achille ada~ adaeze adam " +
  "adebayo adela adele~ adelheid adem aditya adnan adolf adrian adriana adrianna adriano adrien adrienne adrián " +
  "adwoa adèle~ adélaïde afife afonso agata agatha agathe agnes agnese agnieszka agnès agostino agustín ahmad ahmed " +
  "ahmet aimé ainhoa aino aisha aitor akash akif akiko akira akosua alain alan alana alasdair alba~ alberico albert " +
  "alberto albrecht alda aldo aleid alejandra alejandro aleks aleksander aleksandr aleksandra aleksei alessandra " +
  "alessandro alessia alessio alex alexander alexandra alexandre alexandru alexei alexey alexis alfio alfons " +
  "alfonso alfred alfredo ali alice alicia alicja alina aline alison alistair alix allison alois alper alphonse " +
  "alwin alwine alyssa alzira ama amador~ amal~ amalia amanda amandine amara amaya amber~ amedeo amerigo amina " +
  "aminata amine aminu amit amparo~ amy amélie américo ana anabela ananya anastasia anastazja anatole anaëlle anaïs " +
  "anders anderson~ andre andrea andreas andree andrei andreia andrew andrey andrzej andré andrée andrés ane aneta " +
  "angela angelika angelo angus~ angèle angélique anh ania aniela anil anita anja anjali anke ankit ann anna " +
  "annabel annabelle annalisa annamaria anne anneke annelies anneliese annelot annemarie annette anni annibale " +
  "annick annie annika annunziata anouk anselm anselme anselmo ansgar ante anthony antje antoine antoinette anton " +
  "antonella antonello antoni antonia antonietta antonino antonio antti antónio antônio aoi aoife aparecida~ aparna " +
  "apolline apolonia araceli archana archie arda arend aria~ ariane arianna arie ariel aristide arjan arjun " +
  "arkadiusz arlette armand armando armelle arnaldo arnau arnaud arne arno arnold aroa artem arthur artur arturo " +
  "arun arzu asha ashley ashok asia~ asif aslı assunta astrid asunción~ attila audrey auguste augustin augustine " +
  "augusto aukje aurelia aurora~ aurore~ aurélie aurélio austin~ ava awa~ axel axelle aykut aylin aysel ayten ayumi " +
  "ayşe aziz~ aïcha babatunde bahar~ balazs balbina balthasar banu baptiste barbara barend bart~ bartek bartosz " +
  "bartłomiej barış~ bashir basia basile bastian bastien batuhan başak~ beat beata beate~ beatrice beatriz becky " +
  "begoña bekir belén ben~ benedetto benedikt benedita benedito benicio benigno benito benjamim benjamin benno " +
  "benoît benthe bento~ beren berend berenice berk bernadette bernard bernardo bernd bert~ bertha berthe bertrand " +
  "bertus beth bettina betty betül beverly biagio bianca~ bibi bibiana bice bilal billy binta birgit birgitt " +
  "birgitte bjorn björn blanca~ blandine blanka bob bobby bogdan bogusław bola~ bolesław bonnie borys bożena " +
  "bradley bram brandon brechtje brenda brendan breno brian brice bridget brigitte britt britta brittany bronisław " +
  "bronwen brooke~ bruce bruna bruno~ brunon bryan burak burcu burkhard béatrice bénédicte bülent büşra błażej " +
  "cafer~ caio caitlin caleb calebe callum calogero cameron camila camilla camille camillo canan candace candela~ " +
  "candelaria cansu capucine carel caridad~ carine carl carla carlo carlos carlota carmela carmen carmo carol~ " +
  "carola carole carolien carolina~ caroline carolyn carrie carsten carter~ casandra casimiro casper cassandra " +
  "cassandre catalin catalina catarina caterina catherine catriona cauã cayetana cecilia cecylia cecília celal~ " +
  "celia celina celso cem~ cemal~ cemil cengiz~ ceren cesare~ cezary chantal charbel charlene charles charlie " +
  "charline charlotte~ charlène cheikh chelsea~ cheryl chiara~ chidi chiel chihiro chinedu chinwe chioma chloe " +
  "chloé chris~ christa christelle christiaan christian~ christiane christina christine christof christoph " +
  "christophe christopher chukwudi ciara cihan~ cillian cindy cinzia cipriano citlali claire clara~ clarence " +
  "clarice claude~ claudette claudia claudine claudio cleber cleide clelia clemens clemente clifford clive clotaire " +
  "clotilde clyde cláudia clémence clément clémentine coby cody coen colette colin colleen conceição~ concepción~ " +
  "concetta conchita connor conny~ constance~ constantin consuelo~ cor~ cora~ corentin corinna corinne cormac " +
  "cornelia cornelio cornelis corrado corrie cosimo costantino costanza courtney coşkun~ cristian cristiane " +
  "cristiano cristina cristóbal cristóvão crystal~ curt curtis cynthia cyprian cyril cyrille czesław cécile cédric " +
  "célestine célia céline césar cícero cíntia cüneyt daan dagmar dagmara daiki daisy~ dalva damian damiano damien " +
  "damião dan~ dana daniel daniela daniele danielle danilo daniël danny danuta daphne daphné daria dario dariusz " +
  "darren darryl dave~ davi david davide davut dawid dawn~ debbie debora deborah debra declan deepa deepak deepika " +
  "defne~ deirdre dejan delfina delia delphine demetrio denis denise deniz~ dennis deolinda derek derrick derya~ " +
  "deshawn desideria desiree desirée despina detlef dex~ diana~ diane didem didier diederik diego dieter dietmar " +
  "dietrich dilek dimitris dina dinesh dinis dino diogo dionisio dirce dirk dittmar divya dmitri dmitriy dmitry " +
  "dobromił dolores~ domenica domenico domingo~ domingos~ dominik dominika dominique donald donatella donato donna " +
  "doortje dora~ doriane doris dorota dorothea dorothy dorothée douglas douwe doğan~ dragan dries duarte dulce~ " +
  "duncan dung~ durk duygu~ dwayne dylan dámaso débora earl~ ebba ebony ebru ebubekir ece eckhard eda~ edda edgar " +
  "edite edith edmond edmund edna edoardo edson eduarda eduardo edward edwin edyta eefje eelco efe efraín efua " +
  "egbert egidio egon eileen eilidh ekaterina ekrem eladio elaine elda eleanor elena eleni eleonora eleuterio " +
  "elfriede elgin eliana eliane elias elif elijah elin eline elio elisa elisabete elisabeth elisabetta elise eliseo " +
  "eliza elizabeth elke~ ella ellen ellie elly elmar eloise eloísa elsa elsie elvira elza elżbieta emanuel emanuela " +
  "emanuele emanuelly emeka emerson emi emiel emigdio emil emilia emilian emilie emilio emily emine emma emmanuel " +
  "emmanuelle emrah emre encarnación~ eneko enes enrica enrico enrique enriqueta enver~ enzo eoin erdem eren~ " +
  "ergin~ erhan eric erica erich erik erika erkan ermanno ermelinda ernest ernestine ernesto ernst~ erol~ ersin " +
  "ertan ertuğrul erwan erwin eryk esat esi~ esin~ esmee esra esteban estefanía estela~ estelle ester esther " +
  "estêvão eszter ethan ethel ethem etta ettore eufemia eugene eugenia eugenio eugeniusz eugène eugénie eugênio " +
  "eulalia eulogio eusebio eva evandro evaristo evelien evelyn evert everton ewa ewald ewan ewelina ewout ezgi ezio " +
  "ezra fabian fabiana fabiano fabien fabienne fabio fabiola fabián fabrice fabrizio fabrício facundo fadi fadime " +
  "fahad faisal falk fanny farid faruk fatih fatima fatma fatou faustino fausto fay~ faye fazıl fedde federica " +
  "federico feliciana felicidad~ felicja feliks feline felipe felix~ felícia~ femi femke femme feng fenna ferdi " +
  "ferdinand ferdynand ferenc fergus ferhat feride ferit fernand fernanda fernando ferreirinha fevzi feyza fiamma " +
  "fidel fieke fien fikret filiberto filip filipa filipe filippo filiz~ finn~ fiona fiorella flaminia flavio fleur~ " +
  "floor~ flora~ flore~ florence~ florencia florencio florentina florian florinda floris florián flávia flávio " +
  "folake fons foppe fortunato franca frances francesca francesco francine francis francisca francisco franciszek " +
  "franck franco~ frank~ franklin~ frans~ franz franziska françois françoise frauke fred frederic frederick " +
  "frederico frederik frederike freek freja freya fridolin frieda friederike friedrich frits fritz fryderyk " +
  "frédéric frédérique fulgencio fulvia fulvio funda funmi fábio fátima félix~ gabi gabor gabriel gabriela gabriele " +
  "gabriella gabrielle gaby gael~ gaetano gaia~ gail gaja galina galip~ gamze ganesh gareth gary gaspar gaspard " +
  "gaston gaurav gauthier gaël~ gaëlle gaëtan geert geeta geir gemma~ geneviève gennaro genoveva genowefa genésio " +
  "geoffrey georg george~ georges georgia~ georgina gerald geraldine geraldo gerard gerardo gerben gerda gerdi " +
  "gerhard gerlinde germaine germana gernot gero gerold gerrit gertraud gertrud gertrudis gheorghe ghislaine " +
  "giacomo giada gianfrancesco gianfranco gianluca gianluigi gianmarco gianna gianni gianpaolo giesela gijs " +
  "gijsbert gil~ gilbert gilberto gilda gilles gillian gilmar ginevra ginger~ gino gioele giordano giorgia giorgio " +
  "giorgos giovanna giovannella giovanni girish gisela gisella gisèle giulia giuliano giulio giuseppa giuseppe " +
  "giuseppina giustino gizem~ gladys glenn gloria~ gláucia glória~ goffredo gonca~ gonnie gonzalo gonçalo goran " +
  "gordon gorka gosia gottfried govert grace~ graciela gracjan graham grainne graziano graziella graça~ grażyna " +
  "greetje greg gregor gregorio gregory gregório greta~ gretchen griselda grzegorz grégoire grégory guadalupe~ " +
  "gudrun guglielmo guido guilherme guillaume guillemette guillermo gunilla gunnar gustav gustave gustavo gustaw " +
  "guus gwen gwenaëlle gwendolyn gérard gökhan gül~ gülay gülsüm günter günther gürkan haakon habib hacer hagen " +
  "hailey hakan hakim hakkı~ haley halil halima halina haluk hamdi hamish hamza hana hande hanife hanna hannah " +
  "hanne hanneke hannelore hannes hanno~ hannu hans hao~ harald harish harm~ harold harriet harry hartmut haruka " +
  "harun haruto hasan hasret~ hassan hatice hauwa havva haydar hazel~ heather~ hedwig heidi heidrun heike heiko " +
  "hein heiner heinrich heinz heitor heleen helen helena helene helga heliodoro hella helmut heloísa hendrik henk " +
  "henning henny henri henriette henrik henrique henry henryk herbert hermann herminia hermínia hernán hertha hervé " +
  "hessel hidde hieu hikmet~ hilal~ hilario hilary hilda hilde hildegard hilmi hina hind hipólito hiroshi holger " +
  "hong~ honorata honorine honoré horacio horst hortense horácio howard hrvoje hubert huda hugo~ huguette hui " +
  "humberto hunter~ huong hussain hussein hylke håkan héctor hélder hélio héloïse hélène hülya hüseyin hüsnü ian " +
  "iara ibrahim ibrahima ichiro ida~ idalina idriss ifeanyi iga~ ignacia ignacio ignacy ignazio igor ihsan~ ikenna " +
  "iker ilaria ilario ildefonso ildiko ilhan ilker ilona ilse ilyas imke immacolata imogen imran ineke ines inga " +
  "inge ingeborg ingo ingrid ingvar inka~ inken inmaculada~ inácio inès inés inês ioana iolanda ionut ipek~ " +
  "ippolito iracema irem irena irene irfan irina iris~ irma irmgard irmina irmtraud irving irène isaac isabel " +
  "isabela isabell isabella isabelle isadora isaura isaías isha isidora isidore isidro isis isla~ ismael ismail " +
  "ismet~ isolde israel~ istvan italo~ itamar itzel itziar ivan ivana ivano ivete ivo ivone ivonne ivy~ iván iwo " +
  "iwona izabela izzet~ jaap jacco jacek jacinta jacinthe jacinto jack~ jaco jacob jacopo jacqueline jacques jade~ " +
  "jadwiga jafet jagoda~ jaime jaimy jakob jakub jamal james jan~ jana janaína jandira jane janek janet janice " +
  "janina janneke jannie jannik jantje janusz jaqueline jarno jaroslav jarosław jasmijn jasmin jasmine~ jason " +
  "jasper javier jean jeanne jeff jefferson jeffrey jelena jelle jenna jennifer jenny jens jeremi jeremiasz jeremy " +
  "jeremías jermaine jeroen jerome jerry jerzy jerónimo jesse jessica jessie jesús~ jet~ jian jianguo jie jill jim " +
  "jimena jing jip jiri jiro joachim joan joana joann joanna joanne joaquim joaquina joaquín jochem jochen jodie " +
  "joe joel joep johan johann johanna johannes john johnny joke jolanda jolanta jolien jolijn jonas jonathan jonne " +
  "jonás joop joost jordan~ jordi jorge joris jorrit jort jos~ jose josef josefa josefina josep joseph josephine " +
  "josette joshua josiane josie josip jost josué josé joséphine jovan joyce joão joël joëlle juan juana juanita " +
  "judith judy juha jukka jules~ julia~ julian juliana juliane juliano julie julien juliet juliette julio~ julita " +
  "julius juliusz julián jun~ jurgen jurre jurrien jussara justin justine justo~ justyna jutta jyoti jérôme jéssica " +
  "józef józefina jörg jörn júlia~ júlio~ jürgen jędrzej kaan kacper kadir kai~ kaitlyn kaja kajetan kamau kamel " +
  "kamil~ kamila kaori kara karan karen kari karim karin karina karine karl karol karolina karsten kasia kasper " +
  "katalin katarzyna kate katerina kateryna katharina katherine kathleen kathrin kathryn kathy katie katja katrin " +
  "kauã kavita kavya kay~ kayla kazimiera kazimierz kazuo kees keiko keira keisha keith kelechi kelly kemal ken~ " +
  "kenan~ kenji kenneth kenta kenza kerem kerry kerstin kevin khadija khaled khalid kiera kiki~ kilian kim~ " +
  "kimberly kinga kiran kirsten kirsty kjell klaas klara klaudia klaus klemens kléber knut koen kofi koji kojo " +
  "komal konrad konstantin konstanty koray kordula korinna kornel kornelia kostas kriemhild krishna krista kristen " +
  "kristin kristina krystian krystyna krzysztof ksawery ksenia kuba kumiko kunal kunigunde kunle kurt kwabena kwame " +
  "kyara kyle kylian kylie kátia käthe kübra laetitia lakshmi lale~ lambert lamberto lamia lana lara~ larissa larry " +
  "lars~ laszlo lata latif latisha latoya laura laure laureana laureano lauren laurence laurent lauretta laurène " +
  "lavinia lawrence layla lazare laís lea~ leah leandra leandro leanne lech leendert leif leila leire lena leni " +
  "lenka leo~ leocadia leon leonard leonardo leoncio leonhard leonie leonor leopold leopoldo lerato leroy leslie " +
  "leszek leticia letizia letterio letícia levent levi~ lewis leyla liam liana lianne liberato licia lidia lieke " +
  "lies~ liesbeth lieselotte lieve~ lilian liliana liliane lilli lilou lily~ lina lincoln~ linda lindsay lindsey " +
  "linh linnea lino lionel lisa lisandra lisandro lise~ liv livia livio liwia liz lizbeth lize lloyd loana loane " +
  "lodovico loes logan~ lokman lola lonneke loredana lorena lorenz lorenza lorenzo loretta lori loris lorraine " +
  "lothar lotte lotti lou~ louane louis louise louison lourdes~ lourenço loïc luan luana luc luca lucas luce~ " +
  "lucette lucia luciana luciano lucie lucienne lucila lucio lucrezia lucy lucyna lucía ludger ludivine ludovic " +
  "ludovica ludovico ludwig ludwik luigi luigia luis luisa luise luiz luiza luka lukas luke lula luna~ lupe~ lurdes " +
  "lutz luuk luzia luzie luís luísa lydia lydie lynn lynne lyudmila lázaro léa~ léandre léo~ léon léonie léopold " +
  "lídia lívia lúcia lütfi maaike maarten mabel macarena macario machteld maciej mackenzie madalena maddalena " +
  "maddie madeleine madhuri madison~ mads magali magda~ magdalena maggie magnus mahesh mahir~ mahmoud mahmut mai~ " +
  "maik maike maite maitê maj maja majid makoto maks maksim maksymilian malcolm malik malo malte malwina mamadou " +
  "mandy manfred manish manoj manolo manon mansur manuel manuela mara marc marcantonio marcel marcela marceli " +
  "marcelina marcelino marcella marcelle marcello marcelo marcia marcial marcin marcjanna marco marcos marcus " +
  "mareike marek maren margaret margarete margarethe margarida margarita margaux margery margherita margit margo " +
  "margot margret margriet marguerite maria mariah mariam mariama marian mariana mariangela marianna marianne " +
  "mariano maribel maricarmen marie~ marieke mariella marietta marija marije marijke marika marilyn marin marina~ " +
  "marine~ marinette marino marinus mario mariola marion marisa marisela mariska marisol maristella marit maritza " +
  "marius mariusz marjan marjolein marjorie mark~ marketa marko markus marleen marlene marli marlies marliese " +
  "marloes marlon marlène marshall~ mart~ marta martha martial martijn martim martin~ martina martine martinho " +
  "martino martyna martín~ marvin mary maryam maryla marzena marzia maría masashi mason~ massimiliano massimo mateo " +
  "mateus mateusz matheus mathieu mathilde mathis matias matilda matilde matt matteo matthew matthias matthieu " +
  "matthijs matti mattia~ matylda matías maud maude maura maurane maureen maurice mauricio maurits maurizio mauro " +
  "maurycy maurício max~ maxim maxime maximilian maximiliano maxine~ mayra mayumi mazhar maël maëlle maëlys " +
  "małgorzata mechthild meena meera mees~ megan megha mehdi mehmet meike meiling melania melanie melchior melchor " +
  "melek melina melissa melle melvin mercedes~ meredith merel merijn merle mert~ merve meryem mesut metin~ mette " +
  "mevlüt micaela micah michael michał michel michela michelangelo michele michelle michèle mick mickaël mieczysław " +
  "mieke mieszko miguel mihaela mihai mika mikael mike mikel mikhail mikko mikołaj mila milagros~ milan~ mildred " +
  "milena milica milo milou milton~ mimmo mindy ming~ minh mira~ miranda mireille mirella miriam mirjam mirjana " +
  "mirko miroslav mirosław mirthe misaki mitchell mithat modesto~ modou mohamed mohammad mohammed mohit moira " +
  "moisés molly mona~ monica monika monique montserrat morag moreno~ morgan~ morgane moritz morris mourad moussa " +
  "muammer muhammad muhammet muharrem muhsin mukesh murat muriel murilo musa mustafa mustapha muzaffer mwangi " +
  "mykola myra myriam márcia márcio máximo~ mélanie mélina mélissa mélodie mónica mônica müge münir mürsel nabil " +
  "nadezhda nadia nadine nalan nam~ nancy naoki naoko naomi nasser natalia natalie nataniel natascha natasha " +
  "nathalie nathan nathanaël nathaniel nathália natália naveen nawel nazaret nazario nazlı~ nazmi nazım~ naïma neal " +
  "necati necdet necip nedda neeraj neha neil nejat nela~ nele nella nelson nerea nerina nermin nesrin nestor neuza " +
  "nevio nevzat ngozi niall niamh nicanor nicholas nick nicola nicolai nicolas nicolasa nicole nicoletta nicolás " +
  "niels nienke nieves~ nigel nihal nihat nikhil niklas nikola nikolai nikolay nikos nilda nilgün nils nilson nina " +
  "nino nisha nithya njeri nneka noah noel~ noelia noemi noemí nolan nomsa noor~ noortje nora~ norbert norberto " +
  "nordine norma norman~ noud nour nova~ noé noémi noémie noël~ nuno nunzia nunzio nuran nurbanu nurcan nurettin " +
  "nurgül nuri nuria nurten nynke nélida nélson néstor obi obinna octave octavia octavio océane~ oda odair odd " +
  "odete odette odile okan~ oksana oktawia oktay ola olaf olavo oleg oleksandr olga olgierd olimpia oliver olivia " +
  "olivier oliwia olof oluwaseun olympe olívia omar onofre onur~ ophélie oreste orhan oriana oriol orla orlando~ " +
  "ornella orçun oscar oskar osman osmar osvaldo oswald otieno otis otmar ottavia ottavio ottmar otto~ ottone " +
  "otylia otávio otília oumar ousmane ovidio owen oya oyvind ozan~ oğuz~ oğuzhan pablo padma padraig paige pakize " +
  "pallavi palmira paloma~ pamela panagiotis pancho panfilo pankaj paola paolina paolo pascal~ pascuala pasquale " +
  "pastora~ patricia patricio patrick patrizia patrizio patrycja patryk patrícia pau paul paula paulette paulien " +
  "paulin paulina pauline paulo pavel paweł paz~ pedro peer~ peggy pekka pelin pellegrino~ penelope penny~ pepa " +
  "pepijn percy~ perihan perrine peter petr petra petro petrona philip philipp philippe philomène philémon phoebe " +
  "phuong phyllis pia~ piergiorgio pierluigi piero pierre~ piet pieter pieterjan pietra pietro pilar~ pim pina " +
  "ping~ piotr piotrek pleun plácido pola~ polina polly pompeo pooja poppy~ porfirio pradeep prakash praveen prerna " +
  "primitivo prisca priscila priscilla priya priyanka prudencio prune~ przemysław päivi pénélope pío pınar~ qiang " +
  "quang quentin quinten quique quirino rabia rachael rachel rachid rachida radek radha radosław rael rafael " +
  "rafaela rafał raffaele raffaella rahmi rahul raimondo raimund raimundo rainer raj rajesh rakesh ralf ralph " +
  "raluca ramazan ramesh rami ramiro ramona ramón rana~ randy rania raoul raphaël raphaëlle raquel rashid rashmi " +
  "rasmus rauf~ raul ravi rayan raymond raymonde raúl rebeca rebecca recai recep reda reem refik regina~ reginald " +
  "reinaldo reinder reinhard reinhold reinier rekha remco remigiusz remko remzi renan renata renate renato rens " +
  "renske renu rené renée reto reyhan reyna rhiannon rhonda rhys rianne ricarda ricardo riccardo richard rico rien~ " +
  "riitta rik rike rinaldo rinus rita ritu rob~ robert roberta roberto robin robyn rocco rocío~ roderich rodney " +
  "rodolfo rodrigo roel rogelio roger rogério rohan rohit roisin roksana roland rolande~ rolando rolf romain roman~ " +
  "romana~ romane romano~ romeo~ romeu romina romolo romuald romy ron ronald ronaldo roos~ rory rosa~ rosalba " +
  "rosalia rosalie rosalina rosalind rosalía rosana rosanna rosaria rosario~ rosaura rose~ roseline rosemarie " +
  "rosemary rosemeire rosetta rosi rosina rosl rosolino rossella roswitha rosângela roxana roxanne roy~ rozalia " +
  "ruben rubén rubí~ rudolf ruggero ruhi~ rui rukiye rupert ruperto ruprecht ruslan russell~ rut rute rutger ruth " +
  "ruud ryan ryszard ryszarda régine régis réjane rémi rémy róża~ rúben rüdiger rıdvan rıfat rıza sabina sabine " +
  "sabri sabrina sacha~ sachin sade~ saeed saga saim sait sakura salah salih saliha sally salma salman salome " +
  "salomon salomé salvador~ salvatore sam~ samanta samantha sami samir samira samuel samuele sana~ sandeep sander " +
  "sandra sandrine sandro sandy~ sangeeta sani saniye sanjay sanna sanne sante~ santiago~ santino sara sarah sarita " +
  "sascha sasha saskia satoshi satılmış saurabh savannah~ saverio saúl scott sean sebastiaan sebastian sebastiano " +
  "sebastián sebastião seda~ sedat seema sefa~ segun selahattin selami~ selim selin selina selma semih semra sena~ " +
  "sep~ sepp seppe serafim serafina serap serdar serena~ serge sergei sergey sergio sergius serkan serpil servaas " +
  "servet~ sevda~ severiano severin severino sevgi~ sevil sevim sevinç~ seweryn seydou seyfi seyit sezgin shane " +
  "shanice shannon shanti sharon sheila shelley sherry~ shilpa shinji shirley shota shreya shruti shyam sian sibel " +
  "sibilla siddharth sidney siebe siegfried sieglinde siem~ sierra~ sieuwert sigrid silas silke silvana silvano " +
  "silvestre silvestro silvia silvio simon~ simona simone simão simón~ sina sinan sinead sinem siobhan sipho " +
  "sixtine sjoerd smita sneha sofia~ sofiane sofie sofía~ solange~ soledad~ solveig solène sonali songül sonia " +
  "sonja sophia sophie soraya soren sota souad spencer spyros srinivas stacey stacy stanislav stanisław stanisława " +
  "stanley~ stavros stefan stefani stefania stefanie stefano stefany steffen stella~ stephanie stephen steve steven " +
  "stig stijn stjepan stuart stéphane stéphanie suat~ sudha sue~ sueli sultan suna sunil sunita suresh susan susana " +
  "susann susanna susanne suus suzan suzana suzanne suzette sven svenja svetlana sveva swantje swati swen sybil " +
  "sydney~ sylvain sylvana sylvia sylviane sylvie sylwester sylwia szczepan szymon sébastien sérgio séverine sílvia " +
  "sónia sônia sören søren süleyman sławomir tadeo tadeu tadeusz tahsin tainá takashi tales tamar tamara tamas " +
  "tamer tammy taner tanguy tania tanja tanvi tanya tao~ tara taras tarek tariq taro tarık tatiana tatjana tatsuya " +
  "tatyana tayfun taylor~ ted tekla telma telmo temistocle teodor teodoro teresa tereza terje terry~ tess teun " +
  "tevfik teófilo thabo thais thales thao thea thekla themba theo theodor theodora theodore theresa theresia thiago " +
  "thibault thibaut thierry thijs thilo thomas thoralf thorsten théa théo théodore théophile thérèse tiago ties~ " +
  "tiffany tiina tijmen tilman tilo tim~ timo timoteo timothy timothée timur~ tina tineke titia~ titouan tiziana " +
  "tiziano tjalling tjeerd tobias toby tola~ tolga tolu tom tomas tomasz tommaso tomoko tomás ton~ tonino tony " +
  "torsten tosca toño tracey tracy trang traudl travis~ trevor trini trinity~ tristan tristán trond trudy truus " +
  "tuan tufan~ tullio tuncay tunde turgay turgut~ turhan~ tuuli tuğba tyler tymon tymoteusz tyrell tyrone tânia " +
  "tülay türkan ubaldo ubirajara udo ueli ugo ulf uliana ulises ulla ulrich ulrike ulysse umberto umut~ unai urbain " +
  "urban~ ursula urszula usha usman ute uwe uğur~ vaclav vadim vahit~ valdemar valdir valente~ valentim valentin " +
  "valentina valentine valentín valeria valeriano valerie valerio valter valéria valérie vandana vanesa vanessa " +
  "vanna varun vasco~ vasile vasiliki vasilis vedat~ veerle veit veli~ venancio venera vera~ verena vernon veronica " +
  "veronika verónica verônica veysel vicenta vicente victoire victor~ victoria~ victorine vidya vijay vikas vikram " +
  "viktor viktoria ville vinay vincent vincenza vincenzo vinod vinzenz vinícius viola~ violette~ virgilio virginia~ " +
  "virginie virgínia~ vishal visitación vitale~ vito vitor vittoria vittorio vitória~ vivek vivian viviana viviane " +
  "viviano vivien vladimir volkan volker volkmar volodymyr vural~ vyacheslav vânia véronique víctor~ vítor wacław " +
  "wagner walburga waldemar wale~ walenty walentyna walid walter waltraud wanda wanderley wanjiru ward wayne~ wei " +
  "wellington wendelin wendy wenke werner weronika wesley wessel whitney wibke wiebke wiesław wiesława wietse " +
  "wieńczysław wiktor wiktoria wilfred wilfredo wilfried wilhelm wilhelmina willeke willem willemien willemijn " +
  "willi william willie willy~ wilma wilson wim~ wincenty winfried winifred winston witold wojciech wolfgang " +
  "wolfram wout wouter wytske wálter władysław włodzimierz xander xaver xavi xavier xenia xiang xiaoli xiaoming " +
  "ximena xin~ xiuying xochitl yacine yadira yago yakup yan yang yanis yann yannick yannis yara yaren~ yasemin yash " +
  "yasmin yasmina yassin yavuz yaw yaşar yeliz yemi yener~ yesenia yewande ying yiğit~ yohan yohann yoko yolanda " +
  "yolande yong youri youssef yuki yuko yulia yumi yunus~ yuri yuriy yusuf yuto yves yvette yvon yvonne yıldız " +
  "zacarías zachary zafer~ zahra zaida zain zainab zaira zakaria zanele zaqueu zayd zbigniew zbyszek zdenek " +
  "zdzisław zdzisława zehra zeki zelda zeliha zenobia zenon zeynep zhen zhi zhiwei ziad zilda zineb zita ziya~ zoe " +
  "zofia zoltan zoraida zoran zoé zoë zsuzsanna zuhal zuleica zulema zuza zuzanna zygfryd zygmunt zélie zübeyde " +
  "álvaro ángel~ ángela ángeles~ ângela ângelo çiğdem~ édith édouard éliane élie éliot élisabeth élise élodie " +
  "éloïse éléonore émeline émile émilie épifanio éric érica érico étienne évelyne ísis óscar ömer özcan özge özlem~ " +
  "øyvind úrsula ülkü łucja łukasz świętosława şaban şahin~ şakir şebnem şenay şerife şevket şule şükrü żaklina " +
  "żaneta"
).split(" ")
