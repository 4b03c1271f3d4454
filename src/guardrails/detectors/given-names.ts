/**
 * Given names that are frequent in the countries of most prompts, in small letters. `~`: also a word or a product, so
 * alone it is no name; `!`: also a place or a frequent word, so it is a name only before a family name.
 */
export const GIVEN_NAMES: readonly string[] = (
  "aad aaliyah aaron abdel abdoulaye abdul abdullah abdulrahman abel! abena abigail abiodun aboubacar achieng " +
  "achille ada! adaeze adam adebayo adela adele~ adelheid adeline adem aditya adnan adolf adrian adriana adrianna " +
  "adriano adrien adrienne adrián adwoa adèle~ adélaïde afife afonso agata agatha agathe agnes agnese agnieszka " +
  "agnès agostino agustín ahmad ahmed ahmet aimé ainhoa aino aisha aitor akash akif akiko akira akosua alain alan " +
  "alana alasdair alba! alban alberico albert alberto albrecht alda aldo aleid alejandra alejandro aleks aleksander " +
  "aleksandr aleksandra aleksei alessandra alessandro alessia alessio alex alexander alexandra alexandre alexandru " +
  "alexei alexey alexis alfio alfons alfonso alfred alfredo ali alice alicia alicja alina aline alisha alison " +
  "alistair alix allan allison alois alper alphonse alwin alwine alyson alyssa alzira ama amador! amal~ amalia " +
  "amanda amandine amara amaya amber! amedeo amerigo amina aminata amine aminu amit amparo! amy amélie américo ana " +
  "anabela ananya anastasia anastazja anatole anaëlle anaïs anders anderson~ andre andrea andreas andree andrei " +
  "andreia andrew andrey andrzej andré andrée andrés ane aneta angela angelika angelo angus~ angèle angélique anh " +
  "ania aniela anil anita anja anjali anke ankit ann anna annabel annabelle annalisa annamaria anne anneke annelies " +
  "anneliese annelot annemarie annette anni annibale annick annie annika annmarie annunziata anouk anselm anselme " +
  "anselmo ansgar ante anthony antje antoine antoinette anton antonella antonello antoni antonia antonietta " +
  "antonino antonio antti antónio antônio aoi aoife aparecida! aparna apolline apolonia araceli archana archie arda " +
  "arend aria! ariana ariane arianna arie ariel aristide arjan arjun arkadiusz arlene arlette armand armando " +
  "armelle arnaldo arnau arnaud arne arno arnold aroa artem arthur artur arturo arun arzu asha ashleigh ashley " +
  "ashok asia! asif aslı assia assunta astrid asunción! attila aubin aubrey aude audrey auguste augustin augustine " +
  "augusto aukje aurelia aurora! aurore~ aurélia aurélie aurélien aurélio austin! ava avery awa~ axel axelle aykut " +
  "aylin aymeric aysel ayten ayumi ayşe aziz! aïcha aïssatou babatunde bahar! bakary balazs balbina balthasar banu " +
  "baptiste barbara barend bart! bartek bartosz bartłomiej barış! bashir basia basile bastian bastien batuhan " +
  "başak! beat beata beate! beatrice beatriz becky begoña bekir belén ben! benedetto benedikt benedita benedito " +
  "benicio benigno benito benjamim benjamin benno benoît benthe bento! beren berend berenice berk bernadette " +
  "bernard bernardo bernd bert~ bertha berthe bertrand bertus beth bethany bettina betty betül beverly biagio " +
  "bianca! bibi bibiana bice bilal billy binta bintou birgit birgitt birgitte bjorn björn blanca! blandine blanka " +
  "bob bobby bogdan bogusław bola~ bolesław bonnie borys boubacar bożena bradford! bradley bram brandon brechtje " +
  "brenda brendan brendon breno brian brice bridget brigitte britt britta brittany bronisław bronwen brooke~ bruce " +
  "bruna bruno~ brunon bryan bryce burak burcu burkhard béatrice bénédicte bülent büşra błażej cafer~ caio caitlin " +
  "caleb calebe callum calogero cameron camila camilla camille camillo camryn canan candace candela! candelaria " +
  "cansu capucine carel caridad! carine carl carla carlo carlos carlota carly! carmela carmen carmo carol~ carola " +
  "carole carolien carolina! caroline carolyn carrie carsten carter! casandra casimiro casper cassandra cassandre " +
  "catalin catalina catarina caterina catherine catriona cauã cayetana cecilia cecylia cecília celal! celia celina " +
  "celso cem~ cemal~ cemil cengiz~ ceren cesare~ cezary chandra chantal charbel charlene charles charlie charline " +
  "charlotte! charlène chasity cheikh chelsea! cheryl cheyenne chiara! chidi chiel chihiro chinedu chinwe chioma " +
  "chloe chloé chris~ christa christelle christiaan christian~ christiane christina christine christof christoph " +
  "christophe christopher chukwudi ciara cihan~ cillian cindy cinzia cipriano citlali claire clara~ clarence " +
  "clarice claude! claudette claudia claudine claudio cleber cleide clelia clemens clemente clifford clive clotaire " +
  "clotilde clyde cláudia clémence clément clémentine coby cody coen coleen colette colin colleen conceição! " +
  "concepción! concetta conchita connor conny~ constance! constantin consuelo! cor! cora~ corentin corey corinna " +
  "corinne cormac cornelia cornelio cornelis corrado corrie cory cosimo costantino costanza courtney coşkun~ " +
  "cristian cristiane cristiano cristina cristóbal cristóvão crystal! curt curtis cynthia cyprian cyprien cyril " +
  "cyrille czesław cécile cédric célestine célia céline césar cícero cíntia cüneyt daan dagmar dagmara daiki daisy! " +
  "dalva damian damiano damien damião damon dan! dana daniel daniela daniele danielle danilo daniël danny danuta " +
  "daphne daphné daria dario darius dariusz darla darnell darrell darren darryl dave~ davi david davide davut dawid " +
  "dawn! debbie debora deborah debra declan deena deepa deepak deepika defne~ deirdre dejan delfina delia delphine " +
  "demetrio denis denise denisha deniz! dennis deolinda derek derrick derya! deshawn desideria desiree desirée " +
  "desmond despina detlef devin dex! dexter diana~ diane didem didier diederik diego dieter dietmar dietrich dilek " +
  "dimitri dimitris dina dinesh dinis dino diogo dionisio dirce dirk dittmar divya djamel djibril dmitri dmitriy " +
  "dmitry dobromił dolores! domenica domenico domingo! domingos! dominic dominik dominika dominique donald " +
  "donatella donato donna donovan doortje dora~ dorian doriane doris dorota dorothea dorothy dorothée douglas douwe " +
  "doğan! dragan drake! dries duarte dulce! duncan dung~ durk dustin duygu! dwayne dwight dylan dámaso débora earl! " +
  "earnest ebba ebony ebru ebubekir ece eckhard eda~ edda eddie edgar edite edith edmond edmund edna edoardo edson " +
  "eduarda eduardo edward edwin edwina edyta eefje eelco efe efraín efua egbert egidio egon eileen eilidh ekaterina " +
  "ekrem eladio elaine elda eleanor elena eleni eleonora eleuterio elfriede elgin eliana eliane elias elif elijah " +
  "elin eline elio elisa elisabete elisabeth elisabetta elise eliseo eliza elizabeth elke! ella ellen ellie elliot " +
  "elly elmar elmer eloise eloísa elsa elsie elvira elza elżbieta emanuel emanuela emanuele emanuelly emeka emerson " +
  "emi emiel emigdio emil emilia emilian emilie emilio emily emine emma emmanuel emmanuelle emrah emre encarnación! " +
  "eneko enes enrica enrico enrique enriqueta enver~ enzo eoin erdem eren~ ergin~ erhan eric erica erich erik erika " +
  "erkan ermanno ermelinda ernest ernestine ernesto ernie ernst! erol~ ersin ertan ertuğrul erwan erwin eryk esat " +
  "esi~ esin~ esmee esra esteban estefanía estela~ estelle ester esther estêvão eszter ethan ethel ethem etta " +
  "ettore eufemia eugene eugenia eugenio eugeniusz eugène eugénie eugênio eulalia eulogio eunice eusebio eva " +
  "evandro evaristo evelien evelyn everett! evert everton ewa ewald ewan ewelina ewout ezgi ezio ezra fabian " +
  "fabiana fabiano fabien fabienne fabio fabiola fabián fabrice fabrizio fabrício facundo fadi fadime fahad faisal " +
  "falk fanny fanta farid faruk fatih fatima fatma fatou fatoumata faustino fausto fay! faye fazıl fedde federica " +
  "federico felicia~ feliciana felicidad! felicja feliks feline felipe felix~ felícia~ femi femke femme feng fenna " +
  "ferdi ferdinand ferdynand ferenc fergus ferhat feride ferit fern! fernand fernanda fernando ferreirinha fevzi " +
  "feyza fiamma fidel fieke fien fikret filiberto filip filipa filipe filippo filiz! finn~ fiona fiorella flaminia " +
  "flavien flavio fleur! floor! flora~ flore! florence! florencia florencio florent florentina florian florinda " +
  "floris florián flávia flávio folake fons foppe fortunato franca frances francesca francesco francine francis " +
  "francisca francisco franciszek franck franco! frank~ franklin~ frans! franz franziska françois françoise frauke " +
  "fred freddie frederic frederick frederico frederik frederike fredrick freek freja freya fridolin frieda " +
  "friederike friedrich frits fritz fryderyk frédéric frédérique fulgencio fulvia fulvio funda funmi fábio fátima " +
  "félix~ gabi gabor gabriel gabriela gabriele gabriella gabrielle gaby gael~ gaetano gaia! gail gaja galina galip~ " +
  "gamze ganesh gareth garrett! garry gary gaspar gaspard gaston gaurav gauthier gavin gaël~ gaëlle gaëtan geert " +
  "geeta geir gemma! geneva! geneviève gennaro genoveva genowefa genésio geoffrey georg george~ georges georgia! " +
  "georgina gerald geraldine geraldo gerard gerardo gerben gerda gerdi gerhard gerlinde germaine germana gernot " +
  "gero gerold gerrit gertraud gertrud gertrudis gheorghe ghislaine giacomo giada gianfrancesco gianfranco gianluca " +
  "gianluigi gianmarco gianna gianni gianpaolo giesela gijs gijsbert gil! gilbert gilberto gilda gildas gilles " +
  "gillian gilmar ginevra ginger! gino gioele giordano giorgia giorgio giorgos giovanna giovannella giovanni girish " +
  "gisela gisella giselle gisèle giulia giuliano giulio giuseppa giuseppe giuseppina giustino gizem~ gladys glenda " +
  "glenn gloria! gláucia glória! goffredo gonca! gonnie gonzalo gonçalo goran gordon gorka gosia gottfried govert " +
  "grace~ graciela gracjan grady graham grainne graziano graziella graça! grażyna greetje greg gregor gregorio " +
  "gregory gregório greta! gretchen griselda grzegorz grégoire grégory guadalupe~ gudrun guglielmo guido guilhem " +
  "guilherme guillaume guillemette guillermo gunilla gunnar gustav gustave gustavo gustaw guus gwen gwenaël " +
  "gwenaëlle gwendal gwendolyn gérard gökhan gül! gülay gülsüm günter günther gürkan haakon habib hacer hafsa hagen " +
  "hailey hakan hakim hakkı~ haley halil halima halina haluk hamdi hamish hamza hana hande hanife hanna hannah " +
  "hanne hanneke hannelore hannes hanno~ hannu hans hao~ harald harish harley! harm~ harold harriet harry hartmut " +
  "haruka harun haruto hasan hasret! hassan hatice hattie hauwa havva haydar hazel! heather! hector hedwig heidi " +
  "heidrun heike heiko hein heiner heinrich heinz heitor heleen helen helena helene helga heliodoro hella helmut " +
  "heloísa hendrik henk henning henny henri henrietta henriette henrik henrique henry henryk herbert herman hermann " +
  "herminia hermínia hernán hertha hervé hessel hicham hidde hieu hikmet! hilal~ hilario hilary hilda hilde " +
  "hildegard hilmi hina hind hipólito hiroshi holger homer! hong~ honorata honorine honoré horace horacio horst " +
  "hortense horácio houria howard hrvoje hubert huda hugo~ huguette hui humberto hunter! huong hussain hussein " +
  "hylke håkan héctor hélder hélio héloïse hélène hülya hüseyin hüsnü ian iara ibrahim ibrahima ichiro ida~ idalina " +
  "idriss ifeanyi iga~ ignacia ignacio ignacy ignazio igor ihsan~ ikenna iker ilaria ilario ildefonso ildiko ilham " +
  "ilhan ilker ilona ilse ilyas imane imani imke immacolata imogen imran inaya ineke ines inga inge ingeborg ingo " +
  "ingrid ingvar inka~ inken inmaculada~ inácio inès inés inês ioana iolanda ionut ipek! ippolito iracema irem " +
  "irena irene irfan irina iris! irma irmgard irmina irmtraud irvin irving irène isaac isabel isabela isabell " +
  "isabella isabelle isadora isaura isaías isha isidora isidore isidro isis isla! ismael ismail ismaël ismet~ " +
  "isolde israel! issa istvan italo! itamar itzel itziar ivan ivana ivano ivete ivo ivone ivonne ivy! iván iwo " +
  "iwona izabela izzet~ jaap jacco jacek jacinta jacinthe jacinto jack~ jackie jaco jacob jacopo jacqueline jacques " +
  "jada jade! jadwiga jafet jagoda~ jaime jaimy jakob jakub jamal james jamie jamila jan~ jana janaína jandira jane " +
  "janek janelle janet janette janice janie janina janneke jannie jannik jantje janusz jaqueline jarno jaroslav " +
  "jarosław jarrod jasmijn jasmin jasmine! jason jasper javier jean jeanne jeannette jeff jefferson jeffery jeffrey " +
  "jelena jelle jenna jennifer jenny jens jeremi jeremiasz jeremy jeremías jermaine jeroen jerome jerry jerzy " +
  "jerónimo jesse jessica jessie jesús! jet! jewel jian jianguo jie jill jillian jim jimena jimmie jimmy jing jip " +
  "jiri jiro joachim joan joana joann joanna joanne joaquim joaquina joaquín jocelyn jochem jochen jodi jodie joe " +
  "joel joep joey johan johann johanna johannes john johnnie johnny joke jolanda jolanta jolene jolien jolijn jonas " +
  "jonathan jonne jonás joop joost jordan! jordi jorge joris jorrit jort jos~ jose josef josefa josefina josep " +
  "joseph josephine josette joshua josiane josie josip jost josué josé joséphine jovan joyce joão joël joëlle juan " +
  "juana juanita judah judith judy juha jukka jules~ julia~ julian juliana juliane julianne juliano julie julien " +
  "juliet juliette julio! julita julius juliusz julián jun~ jurgen jurre jurrien jussara justin justine justo! " +
  "justyna jutta jyoti jérémy jérôme jéssica józef józefina jörg jörn júlia~ júlio! jürgen jędrzej kaan kacper " +
  "kadir kai! kaitlin kaitlyn kaja kajetan kamau kamel kamil~ kamila kaori kara karan karen kari karim karima karin " +
  "karina karine karl karla karol karolina karsten kasey kasia kasper katalin katarzyna kate katelyn katerina " +
  "kateryna katharina katherine kathleen kathrin kathryn kathy katie katja katrin katrina kauã kavita kavya kay~ " +
  "kayla kayleigh kazimiera kazimierz kazuo keely kees keiko keira keisha keith kelechi kelly kelsey kemal ken~ " +
  "kenan~ kendall kendra kendrick kenji kenneth kenta kenza kerem kerri kerry kerstin kevin khadija khaled khalid " +
  "kian kiana kiera kieran kiki~ kilian killian kim! kimberly kinga kiran kirk kirsten kirsty kjell klaas klara " +
  "klaudia klaus klemens kléber knut koen kofi koji kojo komal konrad konstantin konstanty koray kordula korinna " +
  "kornel kornelia kostas kriemhild krishna krista kristen kristin kristina krystal krystian krystyna krzysztof " +
  "ksawery ksenia kuba kumiko kunal kunigunde kunle kurt kwabena kwame kyara kyle kylian kylie kátia käthe kévin " +
  "kübra laetitia lakisha lakshmi lale! lamar! lambert lamberto lamia lamine lana lara~ larissa larry lars~ laszlo " +
  "lata latasha latif latifa latisha latoya laura laure laureana laureano lauren laurence laurent lauretta laurène " +
  "laverne lavinia lawrence layla lazare laís lea! leah leandra leandro leanna leanne lech leendert leif leigh " +
  "leila leire leland lena leni lenka leo! leocadia leon leonard leonardo leoncio leonhard leonie leonor leopold " +
  "leopoldo lerato leroy leslie lester leszek leticia letizia letterio letícia levent levi~ lewis leyla liam liana " +
  "lianne liberato licia lidia lieke lies! liesbeth lieselotte lieve~ lilian liliana liliane lilli lillian lilou " +
  "lily! lina lincoln! linda lindsay lindsey linh linnea lino lionel lisa lisandra lisandro lise! liv livia livio " +
  "liwia liz lizbeth lize lloyd loana loane lodovico loes logan~ lokman lola lonneke lonnie lora loredana lorena " +
  "lorene lorenz lorenza lorenzo loretta lori loris lorna lorraine lothar lotte lotti lou! louane loubna louis " +
  "louisa louise louison lourdes! lourenço loïc luan luana luc luca lucas luce! lucette lucia luciana luciano lucie " +
  "lucienne lucila lucille lucio lucrezia lucy lucyna lucía ludger ludivine ludovic ludovica ludovico ludwig ludwik " +
  "luella luigi luigia luis luisa luise luiz luiza luka lukas luke lula luna! lupe~ lurdes luther lutz luuk luz! " +
  "luzia luzie luís luísa lydia lydie lynn lynne lyudmila lázaro léa! léandre léo! léon léonie léopold lídia lívia " +
  "lúcia lütfi maaike maarten mabel macarena macario machteld maciej mack! mackenzie madalena maddalena maddie " +
  "madeleine madhuri madison! mads magali magda~ magdalena maggie magnus mahesh mahir~ mahmoud mahmut mai~ maik " +
  "maike maite maitê maj maja majid makoto maks maksim maksymilian malcolm malik malika malo malte malwina mamadou " +
  "mandy manfred manish manoj manolo manon mansur manuel manuela mara marc marcantonio marcel marcela marceli " +
  "marcelina marcelino marcella marcelle marcello marcelo marci marcia marcial marcin marcjanna marco marcos marcus " +
  "marcy mareike marek maren margaret margarete margarethe margarida margarita margaux margery margherita margie " +
  "margit margo margot margret margriet marguerite maria mariah mariam mariama marian mariana mariangela marianna " +
  "marianne mariano maribel maricarmen marie~ marieke mariella marietta marija marije marijke marika marilyn marin " +
  "marina! marine! marinette marino marinus mario mariola marion marisa marisela mariska marisol marissa maristella " +
  "marit maritza marius mariusz marjan marjolein marjorie mark! marketa marko markus marla marleen marlene marli " +
  "marlies marliese marloes marlon marlène marsha marshall~ mart! marta martha martial martijn martim martin~ " +
  "martina martine martinho martino marty martyna martín~ marvin mary maryam maryann maryla marzena marzia maría " +
  "masashi mason! massimiliano massimo mateo mateus mateusz matheus mathieu mathilde mathis matias matilda matilde " +
  "matt matteo matthew matthias matthieu matthijs matti mattia~ matylda matías maud maude maura maurane maureen " +
  "maurice mauricio maurits maurizio mauro maurycy maurício max! maxim maxime maximilian maximiliano maxine~ maya " +
  "mayra mayumi mazhar maël maëlle maëlys małgorzata meagan mechthild meena meera mees~ megan megha meghan mehdi " +
  "mehmet meike meiling melania melanie melchior melchor melek melina melinda melissa melle melody! melvin " +
  "mercedes! meredith merel meriem merijn merle! mert~ merve meryem mesut metin! mette mevlüt micaela micah michael " +
  "michał micheal michel michela michelangelo michele michelle michèle mick mickaël mieczysław mieke mieszko miguel " +
  "mihaela mihai mika mikael mike mikel mikhail mikko mikołaj mila milagros! milan! mildred milena milica milo " +
  "milou milton~ mimmo mindy ming~ minh minnie mira! miranda mireille mirella miriam mirjam mirjana mirko miroslav " +
  "mirosław mirthe misaki mitch mitchell mithat modesto! modou mohamed mohammad mohammed mohit moira moisés mokhtar " +
  "mollie molly mona! monica monika monique monte! montserrat morag moreno~ morgan! morgane moritz morris mouna " +
  "mourad moussa muammer muhammad muhammet muharrem muhsin mukesh murat muriel murilo musa mustafa mustapha " +
  "muzaffer mwangi mykola myra myriam myron myrtle márcia márcio máximo! mélanie mélina mélissa mélodie mónica " +
  "mônica müge münir mürsel nabil nadezhda nadia nadine naima nalan nam~ nancy naoki naoko naomi nasser natalia " +
  "natalie nataniel natascha natasha nathalie nathan nathanaël nathaniel nathália natália naveen nawel nazaret " +
  "nazario nazlı~ nazmi nazım~ naïma neal necati necdet necip nedda neeraj neha neil nejat nela~ nele nella nellie " +
  "nelson nerea nerina nermin nesrin nestor nettie neuza nevio nevzat ngozi niall niamh nicanor nicholas nichole " +
  "nick nicola nicolai nicolas nicolasa nicole nicoletta nicolás niels nienke nieves! nigel nihal nihat nikhil " +
  "nikki niklas nikola nikolai nikolay nikos nilda nilgün nils nilson nina nino nisha nithya njeri nneka noah noel! " +
  "noelia noemi noemí nolan nomsa noor~ noortje nora~ norbert norberto nordine noreen norma norman~ noud nour noura " +
  "nova! noé noémi noémie noël! nuno nunzia nunzio nuran nurbanu nurcan nurettin nurgül nuri nuria nurten nynke " +
  "nélida nélson néstor obi obinna octave octavia octavio océane! oda odair odd odete odette odile okan~ oksana " +
  "oktawia oktay ola olaf olavo oleg oleksandr olga olgierd olimpia oliver olivia olivier oliwia ollie olof " +
  "oluwaseun olympe olívia omar onofre onur! ophélie oreste orhan oriana oriol orla orlando! ornella orville orçun " +
  "oscar oskar osman osmar osvaldo oswald otieno otis otmar ottavia ottavio ottmar otto~ ottone otylia otávio " +
  "otília ouafa oumar ousmane ovidio owen oya oyvind ozan~ oğuz~ oğuzhan pablo padma padraig paige pakize pallavi " +
  "palmira paloma! pamela panagiotis pancho panfilo pankaj pansy! paola paolina paolo pascal! pascuala pasquale " +
  "pastora! patricia patricio patrick patrizia patrizio patrycja patryk patrícia patsy patti patty pau paul paula " +
  "paulette paulien paulin paulina pauline paulo pavel paweł paz! pearl! pedro peer! peggy pekka pelin pellegrino~ " +
  "penelope penny! pepa pepijn percy~ perihan perrine perry! peter petr petra petro petrona phil philip philipp " +
  "philippe philomène philémon phoebe phuong phyllis pia~ piergiorgio pierluigi piero pierre~ piet pieter pieterjan " +
  "pietra pietro pilar! pim pina ping~ piotr piotrek pleun plácido pola~ polina polly pompeo pooja poppy! porfirio " +
  "pradeep prakash praveen prerna preston! primitivo prisca priscila priscilla priya priyanka prudencio prune! " +
  "przemysław päivi pénélope pío pınar! qiang quang quentin quincy quinten quique quirino rabah rabia rachael " +
  "rachel rachelle rachid rachida radek radha radosław rael rafael rafaela rafał raffaele raffaella rahmi rahul " +
  "raimondo raimund raimundo rainer raj rajesh rakesh ralf ralph raluca ramazan ramesh rami ramiro ramon ramona " +
  "ramzi ramón rana~ randal randall randi randy rania raoul raphaël raphaëlle raquel rashid rashmi rasmus rauf~ " +
  "raul raven! ravi rayan raymond raymonde raúl reba rebeca rebecca recai recep reda reem refik regina! reginald " +
  "reinaldo reinder reinhard reinhold reinier rekha remco remigiusz remko remzi renan renata renate renato rens " +
  "renske renu rené renée reto reuben rex! reyhan reyna rhiannon rhoda rhonda rhys rianne ricarda ricardo riccardo " +
  "richard rickey ricky rico rien~ riitta rik rike rim rinaldo rinus rita ritu rob! robbie robert roberta roberto " +
  "robin robyn rocco rocío! roderich roderick rodney rodolfo rodrigo roel rogelio roger rogério rohan rohit roisin " +
  "roksana roland rolande~ rolando rolf romain roman! romana! romane romano! romeo! romeu romina romolo romuald " +
  "romy ron ronald ronaldo ronan roos! roosevelt rory rosa~ rosalba rosalia rosalie rosalina rosalind rosalía " +
  "rosana rosanna rosaria rosario! rosaura rose! roseline rosemarie rosemary rosemeire rosetta rosi rosina rosl " +
  "roslyn rosolino rossella roswitha rosângela rowena roxana roxanne roxie roy~ rozalia ruben rubén rubí! rudolf " +
  "rufus ruggero ruhi~ rui rukiye rupert ruperto ruprecht ruslan russell~ rut rute rutger ruth ruthie ruud ryan " +
  "ryszard ryszarda régine régis réjane rémi rémy róża! rúben rüdiger rıdvan rıfat rıza sabina sabine sabri sabrina " +
  "sacha~ sachin sade~ sadie saeed safia saga saim sait sakina sakura salah salih saliha sally salma salman salome " +
  "salomon salomé salvador! salvatore sam! samanta samantha sami samia samir samira sammy samuel samuele sana~ " +
  "sandeep sander sandra sandrine sandro sandy! sangeeta sani saniye sanjay sanna sanne sante! santiago! santino " +
  "santos! sara sarah sarita sascha sasha saskia satoshi satılmış saul saurabh savanna! savannah! saverio saúl " +
  "scott sean sebastiaan sebastian sebastiano sebastián sebastião seda~ sedat seema sefa~ segun selahattin selami~ " +
  "selena selim selin selina selma semih semra sena~ sep~ sepp seppe serafim serafina serap serdar serena! serge " +
  "sergei sergey sergio sergius serkan serpil servaas servet! sevda~ severiano severin severino sevgi! sevil sevim " +
  "sevinç~ seweryn seydou seyfi seyit sezgin shane shanice shannon shanti shari sharon sharron shaun shauna shawn " +
  "sheena sheila sheldon shelia shelley sheri sherri sherry! sheryl shilpa shinji shirley shota shreya shruti shyam " +
  "sian sibel sibilla siddharth sidney siebe siegfried sieglinde siem~ sierra! sieuwert sigrid sihem silas silke " +
  "silvana silvano silvestre silvestro silvia silvio simon~ simona simone simão simón~ sina sinan sinead sinem " +
  "siobhan sipho sixtine sjoerd smita sneha sofia! sofiane sofie sofía! solange! soledad! solveig solène sonali " +
  "songül sonia sonja sophia sophie soraya soren sota souad spencer spyros srinivas stacey staci stacie stacy " +
  "stanislav stanisław stanisława stanley~ stavros stefan stefani stefania stefanie stefano stefany steffen stella! " +
  "stephan stephanie stephen steve steven stewart stig stijn stjepan stuart stéphane stéphanie suat~ sudha sue~ " +
  "sueli sultan suna sunil sunita suresh susan susana susann susanna susanne susie suus suzan suzana suzanna " +
  "suzanne suzette sven svenja svetlana sveva swantje swati swen sybil sydney! sylvain sylvana sylvester sylvia " +
  "sylviane sylvie sylwester sylwia szczepan szymon sébastien sérgio séverine sílvia sónia sônia sören søren " +
  "süleyman sławomir tabitha tadeo tadeu tadeusz tahar tahsin tainá takashi tales tamar tamara tamas tameka tamer " +
  "tamera tamika tammy taner tanguy tania tanisha tanja tanvi tanya tao~ tara taras tarek tariq taro tarık tasha " +
  "tatiana tatjana tatsuya tatyana tayfun taylor~ ted tekla telma telmo temistocle teodor teodoro teresa tereza " +
  "teri terje terrance terrell terrence terri terry~ tess tessa teun tevfik teófilo thabo thais thales thao thea " +
  "thekla thelma themba theo theodor theodora theodore theresa theresia thiago thibault thibaut thierry thijs thilo " +
  "thomas thoralf thorsten théa théo théodore théophile thérèse tia tiago tierra ties~ tiffany tiina tijmen tilman " +
  "tilo tim~ timo timoteo timothy timothée timur~ tina tineke titia~ titouan tiziana tiziano tjalling tjeerd tobias " +
  "toby tola! tolga tolu tom tomas tomasz tommaso tomoko tomás ton! toni tonino tony torsten tosca toño tracey " +
  "traci tracie tracy trang traudl travis! trevon trevor tricia trini trinity! trisha tristan tristán trond troy! " +
  "trudy truus tuan tufan! tugdual tullio tuncay tunde turgay turgut~ turhan! tuuli tuğba tyler tymon tymoteusz " +
  "tyrell tyrone tânia tülay türkan ubaldo ubirajara udo ueli ugo ulf uliana ulises ulla ulrich ulrike ulysse " +
  "ulysses umberto umut~ unai urbain urban! ursula urszula usha usman ute uwe uğur~ vaclav vadim vahit~ valarie " +
  "valdemar valdir valente! valentim valentin valentina valentine valentín valeria valeriano valerie valerio valter " +
  "valéria valérie vandana vanesa vanessa vanna varun vasco! vasile vasiliki vasilis vedat~ veerle veit veli~ velma " +
  "venancio venera vera~ verena verna vernon veronica veronika verónica verônica veysel vicenta vicente vicki vicky " +
  "victoire victor~ victoria! victorine vidya vijay vikas vikram viktor viktoria ville vinay vincent vincenza " +
  "vincenzo vinod vinzenz vinícius viola! violette! virgil virgilio virginia! virginie virgínia! vishal visitación " +
  "vitale! vito vitor vittoria vittorio vitória! vivek vivian viviana viviane viviano vivien vivienne vladimir " +
  "volkan volker volkmar volodymyr vural~ vyacheslav vânia véronique víctor~ vítor wacław wafa wagner walburga " +
  "waldemar wale~ walenty walentyna walid wallace! walter waltraud wanda wanderley wanjiru ward warda wassim wayne~ " +
  "wei wellington wendelin wendell wendy wenke werner weronika wes wesley wessel whitney wibke wiebke wiesław " +
  "wiesława wietse wieńczysław wiktor wiktoria wilbert wilbur wilfred wilfredo wilfried wilhelm wilhelmina willeke " +
  "willem willemien willemijn willi william willie willy! wilma wilson wim~ wincenty winfried winifred winnie " +
  "winston witold wojciech wolfgang wolfram woodrow wout wouter wytske wálter władysław włodzimierz xander xaver " +
  "xavi xavier xenia xiang xiaoli xiaoming ximena xin~ xiuying xochitl yacine yadira yago yakup yan yang yanis yann " +
  "yannick yannis yara yaren~ yasemin yash yasmin yasmina yassin yavuz yaw yaşar yeliz yemi yener~ yesenia yewande " +
  "ying yiğit~ yohan yohann yoko yolanda yolande yong youcef younes youri youssef yuki yuko yulia yumi yunus~ yuri " +
  "yuriy yusuf yuto yves yvette yvon yvonne yıldız zacarías zachariah zachary zafer! zahra zaida zain zainab zaira " +
  "zakaria zanele zaqueu zayd zbigniew zbyszek zdenek zdzisław zdzisława zehra zeki zelda zeliha zenobia zenon " +
  "zeynep zhen zhi zhiwei ziad zilda zineb zita ziya~ zoe zofia zohra zoltan zoraida zoran zoé zoë zsuzsanna zuhal " +
  "zuleica zulema zuza zuzanna zygfryd zygmunt zélie zübeyde álvaro ángel! ángela ángeles! ângela ângelo çiğdem~ " +
  "édith édouard éliane élie éliot élisabeth élise élodie éloïse éléonore émeline émile émilie épifanio éric érica " +
  "érico étienne évelyne ísis óscar ömer özcan özge özlem! øyvind úrsula ülkü łucja łukasz świętosława şaban şahin~ " +
  "şakir şebnem şenay şerife şevket şule şükrü żaklina żaneta"
).split(" ")
