/**
 * Given names that are frequent in the countries of most prompts, in small letters. `~`: also a word or a product, so
 * alone it is no name; `!`: also a place or a frequent word, so it is a name only before a family name.
 */
export const GIVEN_NAMES: readonly string[] = (
  "aad aaliyah aarav aaron abbas abdel abdelaziz abdelkader abdellah abderrahman abdoulaye abdul abdullah " +
  "abdulrahman abebe abel! abena abhay abhijit abhinav abhishek abigail abiodun aboubacar achieng achille ada! " +
  "adaeze adam adanna adebayo adel adela adele~ adelheid adeline adem adham aditi aditya adnan adnane adolf adrian " +
  "adriana adrianna adriano adrien adrienne adrián adwoa adèle~ adélaïde~ afaf afife afolabi afonso agata agatha " +
  "agathe agnes agnese agnieszka agnès agostino agustín ahlam ahmad ahmed ahmet aimé ainhoa aino aisha aitor ajay " +
  "ajit akash akhil akif akiko akin akinyi akira akosua alaa alain alan alana alasdair alba! alban alberico albert " +
  "alberto albrecht alda aldo aleid alejandra alejandro aleks aleksander aleksandr aleksandra aleksei alessandra " +
  "alessandro alessia alessio alex alexander alexandra alexandre alexandru alexei alexey alexis alfio alfons " +
  "alfonso alfred alfredo ali alice alicia alicja alina aline alisha alison alistair alix allan allison alois alok " +
  "alper alphonse alwin alwine alyson alyssa alzira ama amadi amador! amaka amal~ amalia aman amanda amandine amar " +
  "amara amaya amber! ambika amedeo amerigo amina aminata amine aminu amir amira amit ammar amol amparo! amrita amy " +
  "amélie américo ana anabela anand anant ananya anas anastasia anastazja anatole anatoliy anaëlle anaïs anders " +
  "anderson~ andre andrea andreas andree andrei andreia andrew andrey andriy andrzej andré andrée andrés ane aneta " +
  "angela angelika angelo angus~ angèle angélique anh~ ania aniela aniket anil anirudh anita anja anjali anjana anke " +
  "ankit ankita ankur ann anna annabel annabelle annalisa annamaria anne anneke annelies anneliese annelot " +
  "annemarie annette anni annibale annick annie annika annmarie annunziata anouk anselm anselme anselmo ansgar ante " +
  "anthony antje antoine antoinette anton antonella antonello antoni antonia antonietta antonino antonio antti " +
  "antónio antônio anupam anuradha anurag anushka anwar anyango aoi aoife aparecida! aparna apolline apolonia " +
  "araceli arash archana archie archit arda arend arezoo aria! ariana ariane arianna arie ariel aristide arjan " +
  "arjun arkadiusz arlene arlette armand armando armelle arnaldo arnau arnaud arne arno arnold aroa artem arthur " +
  "arti~ artur arturo arun arvind arwa aryan arzu asha ashish ashleigh ashley ashok ashwin asia! asif aslı asma " +
  "asmaa asmita assia assunta astrid asunción! atef atieno attila atul aubin aubrey aude audrey auguste augustin " +
  "augustine augusto aukje aurelia aurora! aurore~ aurélia aurélie aurélien aurélio austin! ava avery avinash awa~ " +
  "axel axelle aykut aylin ayman aymen aymeric ayo ayodele ayomide aysel ayten ayumi ayush ayşe azadeh aziz! aziza " +
  "aïcha aïssatou babak babatunde babita bader bahaa bahar! bahram bakary balaji balazs balbina balthasar banu " +
  "baptiste barbara barend bart! bartek bartosz bartłomiej barış! bashir basia basile basma bassam bastian bastien " +
  "batuhan başak! beat beata beate! beatrice beatriz becky begoña behnam behrouz bekir belén ben! benedetto " +
  "benedikt benedita benedito benicio benigno benito benjamim benjamin benno benoît benthe bento! beren berend " +
  "berenice berk bernadette bernard bernardo bernd bert~ bertha berthe bertrand bertus beth bethany bettina betty " +
  "betül beverly bhanu bharat bharti bhavana bhavesh bhavna bhuvan biagio bianca! bibi bibiana bice bilal billy " +
  "binta bintou birgit birgitt birgitte bita bjorn björn blanca! blandine blanka bob bobby bogdan bogusław bohdan " +
  "bola~ bolesław bonnie borys boubacar bożena bradford! bradley bram brandon brechtje brenda brendan brendon breno " +
  "brian brice bridget brigitte britt britta brittany bronisław bronwen brooke~ bruce bruna bruno~ brunon bryan " +
  "bryce bukola burak burcu burkhard béatrice bénédicte bülent büşra błażej cafer~ caio caitlin caleb calebe callum " +
  "calogero cameron camila camilla camille camillo camryn canan candace candela! candelaria cansu capucine carel " +
  "caridad! carine carl carla carlo carlos carlota carly! carmela carmen carmo carol~ carola carole carolien " +
  "carolina! caroline carolyn carrie carsten carter! casandra casimiro casper cassandra~ cassandre catalin catalina " +
  "catarina caterina catherine catriona cauã cayetana cecilia cecylia cecília celal! celia celina celso cem~ cemal~ " +
  "cemil cengiz~ ceren cesare~ cezary chaitanya chandra chantal charbel charlene charles charlie charline " +
  "charlotte! charlène charu chasity cheikh chelsea! cheryl chetan cheyenne chiamaka chiara! chibuike chibuzor " +
  "chidera chidi chidinma chiel chihiro chika chinedu chinonso chinwe chioma chirag chloe chloé chris~ christa " +
  "christelle christiaan christian~ christiane christina christine christof christoph christophe christopher " +
  "chukwudi chukwuemeka ciara cihan~ cillian cindy cinzia cipriano citlali claire clara~ clarence clarice claude! " +
  "claudette claudia claudine claudio cleber cleide clelia clemens clemente clifford clive clotaire clotilde clyde " +
  "cláudia clémence clément clémentine coby cody coen coleen colette colin colleen conceição! concepción! concetta " +
  "conchita connor conny~ constance! constantin consuelo! cor! cora~ corentin corey corinna corinne cormac cornelia " +
  "cornelio cornelis corrado corrie cory cosimo costantino costanza courtney coşkun~ cristian cristiane cristiano " +
  "cristina cristóbal cristóvão crystal! curt curtis cynthia cyprian cyprien cyril cyrille czesław cécile cédric " +
  "célestine célia céline césar cícero cíntia cüneyt daan dagmar dagmara daiki daisy! dalal dalia dalva damian " +
  "damiano damien damilola damião damon dan! dana daniel daniela daniele danielle danilo daniël danny danuta danylo " +
  "daphne daphné daria dario darius dariush dariusz darla darnell darrell darren darryl darshan dave~ davi david " +
  "davide davut dawid dawn! dayo debbie debora deborah debra declan deena deepa deepak deepali deepika defne~ " +
  "deirdre dejan delfina delia delphine demetrio denis denise denisha deniz! dennis denys deolinda derek derrick " +
  "derya! deshawn desideria desiree desirée desmond despina detlef devendra devin dex! dexter dhananjay dhruv " +
  "diana~ diane didem didier diederik diego dieter dietmar dietrich dilek dilip dima dimitri dimitris dina dinesh " +
  "dinis dino diogo dionisio dirce dirk dittmar divya divyansh djamel djibril dmitri dmitriy dmitry dmytro dobromił " +
  "dolores! domenica domenico domingo! domingos! dominic dominik dominika dominique donald donatella donato donna " +
  "donovan doortje dora~ dorian doriane doris dorota dorothea dorothy dorothée douglas douwe doğan! dragan drake! " +
  "dries duarte dulce! duncan dung~ durk dustin duygu! dwayne dwight dylan dámaso débora earl! earnest ebba ebele " +
  "ebony ebru ebubekir ece eckhard eda~ edda eddie edgar edite edith edmond edmund edna edoardo edson eduarda " +
  "eduardo edward edwin edwina edyta eefje eelco efe efraín efua egbert egidio egon ehsan eileen eilidh ejike " +
  "ekaterina ekene ekrem ekta eladio elaheh elaine elda eleanor elena eleni eleonora eleuterio elfriede elgin elham " +
  "eliana eliane elias elif elijah elin eline elio elisa elisabete elisabeth elisabetta elise eliseo eliza " +
  "elizabeth elke! ella ellen ellie elliot elly elmar elmer elnaz eloise eloísa elsa elsie elvira elza elżbieta " +
  "eman emanuel emanuela emanuele emanuelly emeka emerson emi emiel emigdio emil emilia emilian emilie emilio emily " +
  "emine emma emmanuel emmanuelle emrah emre encarnación! eneko enes enitan enrica enrico enrique enriqueta enver~ " +
  "enzo eoin erdem eren~ ergin~ erhan eric erica erich erik erika erkan ermanno ermelinda ernest ernestine ernesto " +
  "ernie ernst! erol~ ersin ertan ertuğrul erwan erwin eryk esat esi~ esin~ esmee esra esraa esteban estefanía " +
  "estela~ estelle ester esther estêvão eszter ethan ethel ethem etta ettore eufemia eugene eugenia eugenio " +
  "eugeniusz eugène eugénie eugênio eulalia eulogio eunice eusebio eva evandro evaristo evelien evelyn everett! " +
  "evert everton ewa ewald ewan ewelina ewout eze ezgi ezio ezra fabian fabiana fabiano fabien fabienne fabio " +
  "fabiola fabián fabrice fabrizio fabrício facundo fadekemi fadi fadia fadime fadwa fahad fahd faisal faiza falk " +
  "fanny fanta farah fares farhad farhan fariba farid farouk farshid faruk farzaneh fathi fatih fatima fatma fatou " +
  "fatoumata faustino fausto fawzi fay! faye fazıl fedde federica federico fedir felicia~ feliciana felicidad! " +
  "felicja feliks feline felipe felix~ felícia~ femi femke femme feng fenna feras ferdi ferdinand ferdynand ferenc " +
  "fereshteh fergus ferhat feride ferit fern! fernand fernanda fernando ferreirinha fevzi feyza fiamma fidel fieke " +
  "fien fikret filiberto filip filipa filipe filippo filiz! finn~ fiona fiorella firas flaminia flavien flavio " +
  "fleur! floor! flora~ flore! florence! florencia florencio florent florentina florian florinda floris florián " +
  "flávia flávio folake folasade fons foppe fortunato franca frances francesca francesco francine francis francisca " +
  "francisco franciszek franck franco! frank~ franklin~ frans! franz franziska françois françoise frauke fred " +
  "freddie frederic frederick frederico frederik frederike fredrick freek freja freya fridolin frieda friederike " +
  "friedrich frits fritz fryderyk frédéric frédérique fulgencio fulvia fulvio funda funmi fábio fátima félix~ gabi " +
  "gabor gabriel gabriela gabriele gabriella gabrielle gaby gael~ gaetano gaia! gail gaja galina galip~ gamze " +
  "ganesh gareth garrett! garry gary gaspar gaspard gaston gaurav gautam gauthier gavin gaël~ gaëlle gaëtan gbenga " +
  "geert geeta geir gemma! geneva! geneviève gennaro genoveva genowefa genésio geoffrey georg george~ georges " +
  "georgia! georgina gerald geraldine geraldo gerard gerardo gerben gerda gerdi gerhard gerlinde germaine germana " +
  "gernot gero gerold gerrit gertraud gertrud gertrudis ghada ghassan gheorghe ghislaine giacomo giada " +
  "gianfrancesco gianfranco gianluca gianluigi gianmarco gianna gianni gianpaolo giesela gijs gijsbert gil! gilbert " +
  "gilberto gilda gildas gilles gillian gilmar ginevra ginger! gino gioele giordano giorgia giorgio giorgos " +
  "giovanna giovannella giovanni girija girish gisela gisella giselle gisèle giulia giuliano giulio giuseppa " +
  "giuseppe giuseppina giustino gizem~ gladys glenda glenn gloria! gláucia glória! godwin goffredo golnaz gonca! " +
  "gonnie gonzalo gonçalo gopal goran gordon gorka gosia gottfried govert govind grace~ graciela gracjan grady " +
  "graham grainne graziano graziella graça! grażyna greetje greg gregor gregorio gregory gregório greta! gretchen " +
  "griselda grzegorz grégoire grégory guadalupe~ gudrun guglielmo guido guilhem guilherme guillaume guillemette " +
  "guillermo gunilla gunjan gunnar gustav gustave gustavo gustaw guus gwen gwenaël gwenaëlle gwendal gwendolyn " +
  "gérard gökhan gül! gülay gülsüm günter günther gürkan haakon habib habiba hacer hadeel hafsa hagen hailey " +
  "haitham hakan hakim hakkı~ hala haley halil halima halina haluk hamad hamdi hamed hamid hamidreza hamish hamza " +
  "hana hanaa hanan hande haneen hanife hanna hannah hanne hanneke hannelore hannes hanno~ hannu hans hansa hao~ " +
  "harald hardik hari harish harley! harm~ harold harriet harry harsh harsha hartmut haruka harun haruto hasan " +
  "hasret! hassan hatem hatice hattie hauwa havva haya haydar hazel! hazem heather! heba hector hedwig heidi " +
  "heidrun heike heiko hein heiner heinrich heinz heitor heleen helen helena helene helga heliodoro hella helmut " +
  "heloísa hema hemant hendrik henk henning henny henri henrietta henriette henrik henrique henry henryk herbert " +
  "herman hermann herminia hermínia hernán hertha hervé hesham hessel hicham hidde hieu hikmet! hilal~ hilario " +
  "hilary hilda hilde hildegard hilmi himanshu hina hind hipólito hiroshi hisham hitesh holger homa homer! hong~ " +
  "honorata honorine honoré horace horacio horst hortense horácio hossein houria howard hrvoje hryhoriy hubert huda " +
  "hugo~ huguette hui humberto hunter! huong hussain hussam hussein hylke håkan héctor hélder hélio héloïse hélène " +
  "hülya hüseyin hüsnü ian iara ibrahim ibrahima ibtisam ichiro ida~ idalina idriss ifeanyi ifeoma ifunanya iga~ " +
  "ige ignacia ignacio ignacy ignazio igor ihab ihor ihsan~ ikechukwu ikenna iker ilaria ilario ildefonso ildiko " +
  "ilham ilhan ilker ilona ilse ilyas iman imane imani imke immacolata imogen imran inaya indira indu ineke ines " +
  "inga inge ingeborg ingo ingrid ingvar inka~ inken inmaculada~ inna inácio inès inés inês ioana iolanda ionut " +
  "ipek! ippolito iracema irem irena irene irfan irina iris! irma irmgard irmina irmtraud irvin irving iryna irène " +
  "isaac isabel isabela isabell isabella isabelle isadora isaura isaías isha ishaan ishita isidora isidore isidro " +
  "isis isla! ismael ismail ismaël ismet~ isolde israel! issa istvan italo! itamar itunu itzel itziar ivan ivana " +
  "ivanna ivano ivete ivo ivone ivonne ivy! iván iwo iwona izabela izzet~ jaafar jaap jabari jacco jacek jacinta " +
  "jacinthe jacinto jack~ jackie jaco jacob jacopo jacqueline jacques jada jade! jadwiga jafet jagdish jagoda~ jai " +
  "jaime jaimy jakob jakub jamal jamar james jamie jamila jan~ jana janaína jandira jane janek janelle janet " +
  "janette janice janie janina janneke jannie jannik jantje janusz jaqueline jarno jaroslav jarosław jarrod jasmijn " +
  "jasmin jasmine! jason jasper jatin javad javier jawad jaya jayant jayden jayesh jaylen jean jeanne jeannette " +
  "jeff jefferson jeffery jeffrey jelena jelle jenna jennifer jenny jens jeremi jeremiasz jeremy jeremías jermaine " +
  "jeroen jerome jerry jerzy jerónimo jesse jessica jessie jesús! jet! jewel jian jianguo jie jignesh jill jillian " +
  "jim jimena jimmie jimmy jing jip jiri jiro jitendra joachim joan joana joann joanna joanne joaquim joaquina " +
  "joaquín jocelyn jochem jochen jodi jodie joe joel joep joey johan johann johanna johannes john johnnie johnny " +
  "joke jolanda jolanta jolene jolien jolijn jomo jonas jonathan jonne jonás joop joost jordan! jordi jorge joris " +
  "jorrit jort jos~ jose josef josefa josefina josep joseph josephine josette joshua josiane josie josip jost josué " +
  "josé joséphine jovan joyce joão joël joëlle juan juana juanita judah judith judy juha jukka jules~ julia~ julian " +
  "juliana juliane julianne juliano julie julien juliet juliette julio! julita julius juliusz julián jun~ jurgen " +
  "jurre jurrien jussara justin justine justo! justyna jutta jyoti jérémy jérôme jéssica józef józefina jörg jörn " +
  "júlia~ júlio! jürgen jędrzej kaan kacper kadir kagiso kai! kailash kaitlin kaitlyn kaja kajetan kalpana kamala " +
  "kamau kamel kamil~ kamila kamlesh kanchan kaori kapil kara karan kareem karen kari karim karima karin karina " +
  "karine karl karla karol karolina karsten karthik kartik kasey kasia kasper katalin katarzyna kate katelyn " +
  "katerina kateryna katharina katherine kathleen kathrin kathryn kathy katie katja katrin katrina kaushik kauã " +
  "kaveh kavita kavya kawthar kay~ kayla kayleigh kayode kazimiera kazimierz kazuo kedar keely kees kehinde keiko " +
  "keira keisha keith kelechi kelly kelsey kemal ken~ kenan~ kendall kendra kendrick kenji kenneth kenta kenza " +
  "kerem kerri kerry kerstin keshav ketan kevin khadija khadijah khaled khalid khalil khrystyna khushi kian kiana " +
  "kiera kieran kiki~ kilian killian kim! kimberly kinan kinga kipchoge kiprono kiran kirk kirsten kirsty kirti " +
  "kishore kjell klaas klara klaudia klaus klemens kléber knut koen kofi koji kojo komal konrad konstantin " +
  "konstanty koray kordula korinna kornel kornelia kostas kostyantyn kourosh kriemhild krishna krista kristen " +
  "kristin kristina kriti krystal krystian krystyna krzysztof ksawery ksenia kuba kuldeep kumiko kunal kunigunde " +
  "kunle kurt kusum kwabena kwame kyara kyle kylian kylie kátia käthe kévin kübra ladan laetitia lakisha lakshmi " +
  "lale! lalit lamar! lambert lamberto lamees lamia lamine lamont lana~ lara~ larissa larry lars~ larysa lashawn " +
  "laszlo lata latasha latif latifa latisha latoya latrell laura laure laureana laureano lauren laurence laurent " +
  "lauretta laurène lavanya laverne lavinia lawrence laxmi layan layla lazare laís lea! leah leandra leandro leanna " +
  "leanne lech leendert leif leigh leila leire leland lena leni lenka leo! leocadia leon leonard leonardo leoncio " +
  "leonhard leonie leonor leopold leopoldo lerato leroy leslie lester lesya leszek leticia letizia letterio letícia " +
  "levent levi~ lewis leyla liam liana lianne liberato licia lidia lieke lies! liesbeth lieselotte lieve~ lilian " +
  "liliana liliane liliya lilli lillian lilou lily! lina lincoln! linda lindiwe lindsay lindsey linh linnea lino " +
  "lionel lisa lisandra lisandro lise! liv livia livio liwia liz lizbeth lize lloyd loana loane lodovico loes " +
  "logan~ lokesh lokman lola lonneke lonnie lora loredana lorena lorene lorenz lorenza lorenzo loretta lori loris " +
  "lorna lorraine lothar lotte lotti lou! louane loubna louis louisa louise louison lourdes! lourenço loïc luan " +
  "luana lubna luc luca lucas luce! lucette lucia luciana luciano lucie lucienne lucila lucille lucio lucrezia lucy " +
  "lucyna lucía ludger ludivine ludovic ludovica ludovico ludwig ludwik luella luigi luigia luis luisa luise luiz " +
  "luiza luka lukas luke lula luna! lupe~ lurdes luther lutz luuk luz! luzia luzie luís luísa lydia lydie lynn " +
  "lynne lyubov lyudmila lázaro léa! léandre léo! léon léonie léopold lídia lívia lúcia lütfi maaike maarten mabel " +
  "macarena macario machteld maciej mack! mackenzie madalena maddalena maddie madeleine madhav madhu madhuri " +
  "madison! mads magali magda~ magdalena maggie magnus maha mahdi mahendra mahesh mahin mahir~ mahmoud mahmut " +
  "mahnaz mahsa mai~ maik maike maite maitê maj maja majed majid makoto maks maksim maksymilian malak malcolm malik " +
  "malika malini malo malte malwina mamadou mamta manal manav mandla mandy manfred mangesh manish manisha manju " +
  "manoj manolo manon mansour mansur manuel manuela mara marc marcantonio marcel marcela marceli marcelina " +
  "marcelino marcella marcelle marcello marcelo marci marcia marcial marcin marcjanna marco marcos marcus marcy " +
  "mareike marek maren margaret margarete margarethe margarida margarita margaux margery margherita margie margit " +
  "margo margot margret margriet marguerite maria mariah mariam mariama marian mariana mariangela marianna marianne " +
  "mariano maribel maricarmen marie~ marieke mariella marietta marija marije marijke marika marilyn marin marina! " +
  "marine! marinette marino marinus mario mariola marion marisa marisela mariska marisol marissa maristella marit " +
  "maritza marius mariusz marjan marjolein marjorie mark! marketa marko markus marla marleen marlene marli marlies " +
  "marliese marloes marlon marlène marquis~ marsha marshall~ mart! marta martha martial martijn martim martin~ " +
  "martina martine martinho martino marty martyna martín~ marvin marwa marwan mary maryam maryann maryla maryna " +
  "marzena marzia maría masashi mason! masoud massimiliano massimo mateo mateus mateusz matheus mathieu mathilde " +
  "mathis matias matilda matilde matt matteo matthew matthias matthieu matthijs matti mattia~ matylda matías maud " +
  "maude maura maurane maureen maurice mauricio maurits maurizio mauro maurycy maurício max! maxim maxime " +
  "maximilian maximiliano maxine~ maya mayra mayumi mazen mazhar maël maëlle maëlys małgorzata mbali meagan " +
  "mechthild medhat meena meenakshi meera mees~ megan megha meghan mehdi mehmet mehran meike meiling melania " +
  "melanie melchior melchor melek melina melinda melissa melle melody! melvin mercedes! meredith merel meriem " +
  "merijn merle! mert~ merve meryem mesut metin! mette mevlüt micaela micah michael michał micheal michel michela " +
  "michelangelo michele michelle michèle mick mickaël mieczysław mieke mieszko miguel mihaela mihai mihir mika " +
  "mikael mike mikel mikhail mikko mikołaj mila milagros! milan! mildred milena milica milind milo milou milton~ " +
  "mimmo mina mindy ming~ minh minnie mira! miranda mireille mirella miriam mirjam mirjana mirko miroslav mirosław " +
  "mirthe misaki mitch mitchell mithat mithun mitra modesto! modou mohamed mohammad mohammed mohit mohsen moira " +
  "moisés mojgan mokhtar mollie molly mona! monica monika monique monte! montserrat morag moreno~ morgan! morgane " +
  "moritz morris morteza mouna mounir mourad moussa mpho mridula mthunzi muammer muhammad muhammet muharrem muhsin " +
  "mukesh mukhtar mukul munir murad murali murat muriel murilo musa mustafa mustapha muzaffer mwangi mykola myra " +
  "myriam myron myroslav myrtle márcia márcio máximo! mélanie mélina mélissa mélodie mónica mônica müge münir " +
  "mürsel nabil nabila nadezhda nadia nadine nadiya naglaa nahid nahla naima najwa nalan nam~ nancy nandi nandini " +
  "naoki naoko naomi narendra naresh nasrin nasser natalia natalie nataliya nataniel natascha natasha nathalie " +
  "nathan nathanaël nathaniel nathália natália naveen navin nawal nawel nayan nayef nazaret nazario nazlı~ nazmi " +
  "nazım~ naïma neal necati necdet necip nedda neelam neeraj neerja negar neha nehal neil nejat nela~ nele nella " +
  "nellie nelson nerea nerina nermin nermine nesma nesrin nestor nettie neuza nevio nevzat ngozi niall niamh " +
  "nicanor nicholas nichole nick nicola nicolai nicolas nicolasa nicole nicoletta nicolás nidhi niels nienke " +
  "nieves! nigel nihad nihal nihat nikhil nikita nikki niklas nikola nikolai nikolay nikos nilda nilesh nilgün " +
  "niloufar nils nilson nima nina nino niranjan nirmala nisha nithya nitin njeri nkechi nkem nkosana nnamdi nneka " +
  "noah noel! noelia noemi noemí nolan nomsa nomvula noor~ noortje nora~ norbert norberto nordine noreen norma " +
  "norman~ noud nour noura nourhan nova! noé noémi noémie noël! nthabiseng nuno nunzia nunzio nuran nurbanu nurcan " +
  "nurettin nurgül nuri nuria nurten nyambura nynke nélida nélson néstor obi obiageli obinna octave octavia octavio " +
  "océane! oda odair odd odete odette odile odion ogechi okan~ okechukwu oksana oktawia oktay ola olaf olamide " +
  "olavo oleg oleksandr oleksandra oleksiy olena olga olgierd olimpia oliver olivia olivier oliwia ollie olof " +
  "oluchi olufemi olumide oluwaseun olympe olívia omar omari omid omkar omnia omolara onofre onur! onyeka ophélie " +
  "orest oreste orhan oriana oriol orla orlando! ornella orville orçun osama oscar oskar osman osmar ostap osvaldo " +
  "oswald otieno otis otmar ottavia ottavio ottmar otto~ ottone otylia otávio otília ouafa oumar ousmane ovidio " +
  "owen oya oyinkansola oyvind ozan~ oğuz~ oğuzhan pablo padma padmini padraig paige pakize pallavi palmira paloma! " +
  "pamela panagiotis pancho panfilo pankaj pansy! paola paolina paolo parag paresh parisa parth parul parvin " +
  "pascal! pascuala pasquale pastora! patricia patricio patrick patrizia patrizio patrycja patryk patrícia patsy " +
  "patti patty pau paul paula paulette paulien paulin paulina pauline paulo pavel pavlo pawan paweł payal paz! " +
  "pearl! pedro peer! pegah peggy pekka pelin pellegrino~ penelope penny! pepa pepijn percy~ perihan perrine perry! " +
  "peter petr petra petro petrona peyman phil philip philipp philippe philomène philémon phoebe phuong phyllis pia~ " +
  "piergiorgio pierluigi piero pierre~ piet pieter pieterjan pietra pietro pilar! pim pina ping~ piotr piotrek " +
  "piyush pleun plácido pola~ polina polly pompeo pooja poonam poppy! porfirio pouya prachi pradeep pragya prajakta " +
  "prakash pranav prasad prashant pratap pratik pratima praveen preeti prem prerna preston! primitivo prisca " +
  "priscila priscilla pritam priti priya priyanka prudencio prune! przemysław puja puneet purnima pushpa päivi " +
  "pénélope pío pınar! qasim qiang quang quentin quincy quinten quique quirino rabab rabah rabia rachael rachel " +
  "rachelle rachid rachida rachna radek radha radosław raed rael rafael rafaela rafał raffaele raffaella rafiq " +
  "ragab raghav raghda raheem rahmi rahul raimondo raimund raimundo rainer raj raja~ rajan rajat rajeev rajendra " +
  "rajesh rajiv rajni rajshree rakesh rakhi ralf ralph raluca ramakrishna ramazan ramesh rami ramin ramiro ramon " +
  "ramona ramzi ramón rana~ randa randal randall randi randy rania ranjan ranjit raoul raphaël raphaëlle raquel " +
  "rasha rasheed rashi rashid rashmi rasmus ratan rauf~ raul raveena raven! ravi rayan raymond raymonde raúl reba " +
  "rebeca rebecca recai recep reda reem refik refilwe regina! reginald reham reinaldo reinder reinhard reinhold " +
  "reinier rekha remco remigiusz remko remzi renan renata renate renato rens renske renu rené renée reto reuben " +
  "rex! reyhan reyna reza rhiannon rhoda rhonda rhys riad rianne ricarda ricardo riccardo richard rickey ricky rico " +
  "riddhi rien~ riitta rik rike rim rinaldo rinus rishabh rishi rita ritesh ritika ritu rob! robbie robert roberta " +
  "roberto robin robyn rocco rocío! roderich roderick rodney rodolfo rodrigo roel rogelio roger rogério rohan rohit " +
  "roisin roksana roksolana roland rolande~ rolando rolf romain roman! romana! romane romano! romeo! romeu romina " +
  "romolo romuald romy ron ronald ronaldo ronan roos! roosevelt rory rosa~ rosalba rosalia rosalie rosalina " +
  "rosalind rosalía rosana rosanna rosaria rosario! rosaura rose! roseline rosemarie rosemary rosemeire rosetta " +
  "roshan roshni rosi rosina rosl roslyn rosolino rossella roswitha rosângela rowan rowena roxana roxanne roxie " +
  "roy~ roya rozalia ruben rubén rubí! ruchi rudolf rufus ruggero ruhi~ rui rukiye rupa rupali rupert ruperto " +
  "ruprecht ruslan russell~ rut rute rutger ruth ruthie ruud ryan ryszard ryszarda régine régis réjane rémi rémy " +
  "róża! rúben rüdiger rıdvan rıfat rıza saad saba sabah sabina sabine sabita sabri sabrina sacha~ sachin sade~ " +
  "sadegh sadhana sadie saeed saeid safa safaa safia saga sahar sahil saif saim sait sakina sakshi sakura salah " +
  "saleh salih saliha salim sally salma salman salome salomon salomé salvador! salvatore salwa sam! samah samaneh " +
  "samanta samantha sameer sameh samer sami samia samir samira sammy samuel samuele sana~ sanchita sandeep sander " +
  "sandra sandrine sandro sandy! sangeeta sangita sani saniye sanjana sanjay sanjeev sanna sanne sante! santiago! " +
  "santino santos! santosh sapna sara sarah saraswati sarita sascha sasha saskia satish satoshi satılmış saul " +
  "saurabh savanna! savannah! saverio savita sawsan saúl scott sean sebastiaan sebastian sebastiano sebastián " +
  "sebastião seda~ sedat seema sefa~ segun selahattin selami~ selena selim selin selina selma semih semra sena~ " +
  "sep~ sepideh sepp seppe serafim serafina serap serdar serena! serge sergei sergey sergio sergius serhiy serkan " +
  "serpil servaas servet! setareh seun sevda~ severiano severin severino sevgi! sevil sevim sevinç~ seweryn seydou " +
  "seyfi seyit sezgin shadi shahin shahram shailesh shaimaa shalini shane shanice shannon shanti shari sharon " +
  "sharron shashank shashi shatha shaun shauna shawn sheena sheetal sheila shekhar sheldon shelia shelley sheri " +
  "sherif sherine sherri sherry! sheryl shikha shilpa shinji shirin shirley shivam shivani shobha shota shraddha " +
  "shreya shruti shubham shweta shyam sian siavash sibel sibilla sibusiso siddharth siddhi sidney siebe siegfried " +
  "sieglinde siem~ sierra! sieuwert sigrid sihem silas silke silvana silvano silvestre silvestro silvia silvio " +
  "simin simon~ simona simone simão simón~ sina sinan sinead sinem siobhan siphiwe sipho sixtine sizwe sjoerd smita " +
  "smriti sneha sofia! sofiane sofie sofía! soheila solange! soledad! solomiya solveig solène somnath sonali songül " +
  "sonia sonja sophia sophie soraya soren soroush sota souad spencer spyros srinivas stacey staci stacie stacy " +
  "stanislav stanisław stanisława stanley~ stavros stefan stefani stefania stefanie stefano stefany steffen stella! " +
  "stepan stephan stephanie stephen steve steven stewart stig stijn stjepan stuart stéphane stéphanie suad suat~ " +
  "subhash sudha sudhir sue~ sueli suhail sujata sukanya sultan~ suman sumit suna sunil sunita supriya surabhi " +
  "surendra suresh surya susan susana susann susanna susanne sushil sushma susie suus suzan suzana suzanna suzanne " +
  "suzette sven svenja svetlana sveva svitlana swantje swapnil swara swati swen sybil sydney! sylvain sylvana " +
  "sylvester sylvia sylviane sylvie sylwester sylwia szczepan szymon sébastien sérgio séverine sílvia sónia sônia " +
  "sören søren süleyman sławomir tabitha tadeo tadeu tadeusz taha tahar tahsin tainá taiwo takashi tales tamar " +
  "tamara tamas tameka tamer tamera tamika tammy taner tanguy tania tanisha tanja tanmay tanuja tanvi tanya tao~ " +
  "tara taraneh taras tarek tariq taro tarun tarık tasha tatiana tatjana tatsuya tatyana tayfun taylor~ taysir ted " +
  "tejas tekla telma telmo temistocle temitope tendai teodor teodoro teresa tereza teri terje terrance terrell " +
  "terrence terri terry~ tess tessa tetiana teun tevfik teófilo thabo thais thales thamer thandeka thandi thandiwe " +
  "thao thea thekla thelma themba theo theodor theodora theodore theresa theresia thiago thibault thibaut thierry " +
  "thijs thilo thomas thoralf thorsten thulani théa théo théodore théophile thérèse tia tiago tierra ties~ tiffany " +
  "tiina tijmen tilman tilo tim~ timo timoteo timothy timothée timur~ tina tineke titia~ titouan tiziana tiziano " +
  "tjalling tjeerd tobi tobias toby tochukwu tola! tolga tolu tom tomas tomasz tommaso tomoko tomás ton! toni " +
  "tonino tony torsten tosca tosin toño~ tracey traci tracie tracy trang traudl travis! trevion trevon trevor tricia " +
  "trini trinity! trisha tristan tristán trond troy! trudy trupti truus tuan tufan! tugdual tullio tumelo tuncay " +
  "tunde turgay turgut~ turhan! tushar tuuli tuğba tyler tymon tymoteusz tyree tyrell tyrese tyrone tânia tülay " +
  "türkan ubaldo ubirajara uchenna udai udo ueli ugo ugochi ujjwal ulf uliana ulises ulla ulrich ulrike ulysse " +
  "ulysses umberto umut~ unai urbain urban! urmila ursula urszula usama usha usman ute utkarsh uwe uzoma uğur~ " +
  "vaclav vadim vahid vahit~ vaibhav vaishali valarie valdemar valdir valente! valentim valentin valentina " +
  "valentine valentín valeria valeriano valerie valerio valeriy valter valéria valérie vandana vanesa vanessa vani " +
  "vanna varsha varun vasant vasco! vasile vasiliki vasilis vasudha vasyl vedat~ veena veerle veit veli~ velma " +
  "venancio venera venkat vera~ verena verna vernon veronica veronika verónica verônica veysel vibha vicenta " +
  "vicente vicki vicky victoire victor~ victoria! victorine vidhi vidya vijay vikas vikram viktor viktoria " +
  "viktoriya ville vinay vinayak vincent vincenza vincenzo vineet vinod vinzenz vinícius viola! violette! viraj " +
  "virendra virgil virgilio virginia! virginie virgínia! vishal vishnu vishwas visitación vitale! vitaliy vito " +
  "vitor vittoria vittorio vitória! vivek vivian viviana viviane viviano vivien vivienne vladimir volkan volker " +
  "volkmar volodymyr vrinda vural~ vusi vyacheslav vânia véronique víctor~ vítor wacław wael wafa wafaa wagner " +
  "walaa walburga waldemar wale~ waleed walenty walentyna walid wallace! walter waltraud wambui wanda wanderley " +
  "wangari wanjiru ward warda wassim waweru wayne~ wei wellington~ wendelin wendell wendy wenke werner weronika wes " +
  "wesley wessel whitney wibke wiebke wiesław wiesława wietse wieńczysław wiktor wiktoria wilbert wilbur wilfred " +
  "wilfredo wilfried wilhelm wilhelmina willeke willem willemien willemijn willi william willie willy! wilma wilson " +
  "wim~ wincenty winfried winifred winnie winston wissam witold wojciech wolfgang wolfram woodrow wout wouter " +
  "wytske wálter władysław włodzimierz xander xaver xavi xavier xenia xiang xiaoli xiaoming ximena xin~ xiuying " +
  "xochitl yacine yadira yago yahya yakup yalda yamini yan yang yanis yann yannick yannis yara yaren~ yaroslav " +
  "yasemin yash yasin yasmin yasmina yasser yassin yavuz yaw yaşar yeliz yemi yener~ yesenia yetunde yevhen yewande " +
  "ying yiğit~ yogesh yohan yohann yoko yolanda yolande yong yosra youcef younes younis youri yousef youssef yuki " +
  "yuko yulia yuliya yumi yunus~ yuri yuriy yusuf yuto yuvraj yves yvette yvon yvonne yıldız zacarías zachariah " +
  "zachary zafer! zahra zaida zain zainab zaira zaire~ zakaria zaki zanele zaqueu zayd zbigniew zbyszek zdenek " +
  "zdzisław zdzisława zehra zeina zeinab zeki zelda zeliha zenobia zenon zeynep zhen zhi zhiwei ziad zilda zineb " +
  "zita ziya~ ziyad zodwa zoe zofia zohra zola zoltan zoraida zoran zoryana zoé zoë zsuzsanna zuhal zuleica zulema " +
  "zuza zuzanna zygfryd zygmunt zélie zübeyde álvaro ángel! ángela ángeles! ângela ângelo çiğdem~ édith édouard " +
  "éliane élie éliot élisabeth élise élodie éloïse éléonore émeline émile émilie épifanio éric érica érico étienne " +
  "évelyne ísis óscar ömer özcan özge özlem! øyvind úrsula ülkü łucja łukasz świętosława şaban şahin~ şakir şebnem " +
  "şenay şerife şevket şule şükrü żaklina żaneta"
).split(" ")
