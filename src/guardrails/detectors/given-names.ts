/** Given names that are frequent in the countries of most prompts, in small letters. */
export const GIVEN_NAMES: readonly string[] = (
  "aad aaliyah aaron abdel abdul abdullah abdulrahman abena abigail abiodun achieng ada adaeze adam adebayo adele " +
  "adem aditya adnan adrian adriana adrián adwoa afonso agata agatha agathe agnes agnieszka agnès agustín ahmad " +
  "ahmed ahmet ainhoa aino aisha aitor akash akiko akira akosua alain alan alasdair alba albert alberto aldo " +
  "alejandra alejandro aleksandr aleksandra aleksei alessandro alessia alessio alex alexander alexandra alexandre " +
  "alexandru alexei alexey alexis alfonso alfredo ali alice alicia alicja alina aline alison alistair allison alper " +
  "alyssa ama amal amanda amandine amara amber amina aminata amine aminu amit amparo amy amélie ana ananya " +
  "anastasia anaïs anders andre andrea andreas andrei andrew andrey andrzej andré andrée andrés ane aneta angela " +
  "angelika angelo angus angélique anh ania anil anita anja anjali anke ankit ann anna annabel anne anneke " +
  "anneliese annemarie annette annick annie annika anouk ante anthony antje antoine antoinette anton antonia " +
  "antonietta antonio antti antónio antônio aoi aoife aparna araceli archana archie arda aria arianna arie arjan " +
  "arjun arlette armando arnau arnaud artem arthur artur arturo arun arzu asha ashley ashok asia asier asif aslı " +
  "astrid asunción attila audrey aurora aurore aurélie austin ava awa aykut aylin aysel ayten ayumi ayşe aïcha " +
  "babatunde bahar balazs banu baptiste barbara bart bartosz bartłomiej barış bas bashir basia batuhan başak beat " +
  "beata beate beatrice beatriz becky begoña belén ben benjamin benoît beren berk bernadette bernard bernd bert " +
  "bertha berthe beth bettina betty betül beverly bianca bilal billy binta birgit birgitte bjorn björn blanca " +
  "blandine bob bobby bogdan bogusław bola bolesław bonnie bożena bradley bram brandon brenda brendan brian bridget " +
  "brigitte britt britta brittany bronwen brooke bruce bruna bruno bryan burak burcu béatrice bénédicte bülent " +
  "büşra caio caitlin caleb callum cameron camila camilla camille can canan candace cansu carine carl carla carlo " +
  "carlos carmela carmen carol carola carole carolien carolina caroline carolyn carrie carter casper cassandra " +
  "catalin catalina catarina caterina catherine catriona cauã cecilia cecília celia cem ceren cezary chantal " +
  "charbel charlene charles charlie charlotte cheikh chelsea cheryl chiara chidi chihiro chinedu chinwe chioma " +
  "chloe chloé chris christa christelle christian christiane christina christine christophe christopher chukwudi " +
  "ciara cillian citlali claire clara clarence claude claudia claudine claudio clifford clive clotilde clyde " +
  "cláudia clémence clément cody coen colette colin colleen concepción concetta connor constance constantin " +
  "consuelo cora corinne cormac cornelia cornelis corrie courtney cristian cristina crystal curtis cynthia czesław " +
  "cécile cédric céline césar daan dagmar daiki daisy damian damien dan dana daniel daniela daniele danielle danilo " +
  "daniël danuta daphne daria dariusz darren darryl dave davi david davide dawid dawn debbie debora deborah debra " +
  "declan deepa deepak deepika defne deirdre dejan della delphine denis denise deniz dennis derek derrick derya " +
  "deshawn despina detlef diana diane didem didier diederik diego dieter dilek dimitris dina dinesh diogo dirk " +
  "divya dmitri dmitriy dmitry dolores domenico domingo dominik dominika dominique donald donatella donna doris " +
  "dorota dorothea dorothy dorothée douglas doğan dragan duarte duc duncan dung duygu dwayne dylan débora earl ebba " +
  "ebony ebru ece eckhard eda edith edoardo edson eduarda eduardo edward edwin edyta efe efua egon eileen eilidh " +
  "ekaterina ela elaine eleanor elena eleni elfriede eliane elias elif elijah elisa elisabete elisabeth elisabetta " +
  "elise eliza elizabeth elke ella ellen ellie elly elmar eloise els elsa elsie elżbieta emanuela emanuele emeka " +
  "emerson emi emil emilia emilie emilio emily emine emma emmanuel emmanuelle emre encarnación eneko enes enrica " +
  "enrico enrique enzo eoin erdem eric erica erich erik erika erin erkan ernest ernesto ernst erwin esi esin esra " +
  "esteban estefanía estela estelle esther eszter ethan ethel eugene eugenio eugène eugénie eva eve evelien evelyn " +
  "evert everton ewa ewan ewelina ezgi ezra fabian fabiana fabien fabienne fabio fabrice fabrício facundo fadi " +
  "fadime fahad faisal fanny farid fatih fatima fatma fatou fausto fedde federica federico felipe felix femi femke " +
  "feng fenna ferdi ferdinand ferenc fergus ferhat feride fernanda fernando fieke filip filipa filipe filippo filiz " +
  "finn fiona fiorella flavio fleur floor florence florencia florian floris flávia flávio folake franca frances " +
  "francesca francesco francine francis francisca francisco franciszek franck franco frank franklin frans franz " +
  "franziska françois françoise frauke fred frederick freek freja freya frieda friederike friedrich frédéric fulvio " +
  "funda funmi fábio fátima félix gabor gabriel gabriela gabriele gabriella gabrielle gaetano gaia gail galina " +
  "gamze ganesh gareth gary gaurav gaël gaëlle gaëtan geert geeta geir gemma geneviève gennaro genowefa geoffrey " +
  "georg george georges georgia georgina gerald geraldine geraldo gerardo gerben gerda gerhard germaine germán " +
  "gerrit gheorghe ghislaine giacomo giada gianluca gianna gianni gijs gilbert gilberto gilles gillian ginevra " +
  "ginger gino giorgia giorgio giorgos giovanna giovanni girish gisela gisella gisèle giulia giuliano giuseppe " +
  "giuseppina gizem gladys glenn gloria gláucia gonca gonzalo gonçalo goran gordon gorka gosia gottfried grace " +
  "graciela graham grainne graziella graça grażyna greetje greg gregor gregory greta gretchen grzegorz guadalupe " +
  "gudrun guido guilherme guillaume guillermo gunilla gunnar gustav gustavo guus gwen gwendolyn gérard gökhan gül " +
  "gülay gülsüm günter günther haakon hacer hailey hakan hakim haley halil halima halina hamish hamza hana hande " +
  "hanife hanna hannah hanne hanneke hannelore hannu hans hao harald harish harm harold harriet harry hartmut " +
  "haruka haruto hasan hassan hatice hauwa havva hazel heather hedwig heidi heidrun heike heiko heinrich heinz " +
  "heitor heleen helen helena helene helga helmut heloísa hendrik henk henning henny henri henriette henrik " +
  "henrique henry henryk herbert hermann hernán hervé hessel hieu hilary hilde hildegard hina hind hiroshi hoa " +
  "holger hong horacio horst howard hrvoje hubert huda hugo huguette hui humberto hung hunter huong hussain hussein " +
  "håkan héctor hélder hélène hülya hüseyin ian ibrahim ibrahima ichiro ida idriss ifeanyi ignacio igor ikenna iker " +
  "ilaria ildiko ilker ilse imke imogen imran ineke ines inge ingeborg ingo ingrid ingvar inken inmaculada inès " +
  "inés inês ioana ion ionut ipek irem irena irene irina iris irmgard irving irène isaac isabel isabell isabella " +
  "isabelle isha isla ismael ismail israel istvan itzel itziar ivan ivana ivano ivo ivone ivy iván iwona izabela " +
  "jaap jacek jack jacob jacqueline jacques jade jadwiga jaime jakob jakub jamal james jan jana jane janet janice " +
  "janina janneke janusz jaroslav jarosław jasmine jason jasper javier jean jeanne jeff jefferson jeffrey jelena " +
  "jelle jenna jennifer jenny jens jeremy jermaine jeroen jerome jerry jerzy jesse jessica jesús jet jian jianguo " +
  "jie jill jim jimena jing jiri jiro joachim joan joana joann joanna joanne joaquim joaquín jochen jodie joe joel " +
  "johan johann johanna johannes john johnny joke jolanda jolanta jolien jonas jonathan joop joost jordan jordi " +
  "jorge joris jose josef josefa josep joseph josephine josette joshua josiane josie josip josé jovan joyce joão " +
  "joël joëlle juan juana judith judy juha jukka jules julia julian juliana juliano julie julien juliet juliette " +
  "julio julián jun june jurre justin justine justyna jutta jyoti jérôme jéssica józef jörg júlia júlio jürgen kaan " +
  "kadir kai kaitlyn kamau kamel kamil kamila kaori kara karan karen kari karim karin karine karl karolina kasia " +
  "kasper katalin katarzyna kate katerina kateryna katharina katherine kathleen kathrin kathryn kathy katie katja " +
  "katrin kavita kavya kay kayla kazimiera kazimierz kazuo kees keiko keira keisha keith kelechi kelly kemal ken " +
  "kenji kenneth kenta kerem kerry kerstin kevin khadija khaled khalid kiera kim kimberly kinga kiran kirsten " +
  "kirsty kjell klaas klaudia klaus knut koen kofi koji kojo komal konrad konstantin koray kostas krishna krista " +
  "kristen kristin kristina krystian krystyna krzysztof ksenia kumiko kunal kunle kurt kwabena kwame kyle kylie " +
  "käthe kübra laetitia lakshmi lamia lan lana lara larissa larry lars laszlo lata latisha latoya laura laure " +
  "lauren laurence laurent lawrence layla lea leah leandro leanne lei leif leila leire lena leni lenka leo leon " +
  "leonard leonardo leonie leonor leopold lerato leroy leslie leszek leticia letícia levent levi lewis leyla liam " +
  "lidia lieke lies liesbeth lieselotte liliana liliane lily lina linda lindsay lindsey linh linnea lionel lisa " +
  "lise liv livio liz lizbeth lloyd loes logan loredana lorena lorenza lorenzo lori lorraine lothar lotte louis " +
  "louise lourdes lourenço loïc luan luana luc luca lucas lucia luciana luciano lucie lucienne lucy lucyna lucía " +
  "ludovic ludwig luigi luis luisa luise luiz luka lukas luke luna lurdes lutz luuk luís luísa lydia lydie lynn " +
  "lynne lyudmila léa léo léon lívia lúcia maaike maarten mabel maciej mackenzie madalena maddalena maddie " +
  "madeleine madhuri madison mads magali magda magdalena maggie magnus mahesh mahmoud mahmut mai maik maike maite " +
  "maj maja majid makoto maksim malcolm malik mamadou mandy manfred manish manoj manon manuel manuela mara marc " +
  "marcel marceli marcella marcelle marcello marcelo marcia marcin marco marcos marcus mareike marek margaret " +
  "margarete margarida margarita margaux margery margherita margit marguerite maria mariam mariama marian mariana " +
  "marianna marianne mariano maribel maricarmen marie marieke marija marije marijke marilyn marina mario marion " +
  "marisa marisela mariska marisol maritza mariusz marjan marjolein marjorie mark marketa marko markus marleen " +
  "marlene marlène marshall marta martha martijn martim martin martina martine martyna martín marvin mary maryam " +
  "marzena maría masashi mason massimo mateo mateus mateusz matheus mathieu mathilde matilde matt matteo matthew " +
  "matthias matthieu matthijs matti mattia matías maud maureen maurice mauricio maurizio mauro maurício max maxim " +
  "maxime maximilian maximiliano maxine mayra mayumi małgorzata meena meera mees megan megha mehdi mehmet mei meike " +
  "meiling melanie melek melissa melvin mercedes meredith merve meryem metin mette mia micah michael michał michel " +
  "michela michele michelle michèle mick mickaël mieczysław mieke miguel mihaela mihai mika mikael mike mikel " +
  "mikhail mikko mila milagros milan mildred milena milica mindy ming minh miranda mireille mirella miriam mirjam " +
  "mirjana mirko miroslav mirosław misaki mitchell modou mohamed mohammad mohammed mohit moira moisés molly mona " +
  "monica monika monique montserrat morag morgane moritz morris mourad moussa muhammad mukesh murat muriel murilo " +
  "musa mustafa mustapha mwangi mykola myra myriam márcia márcio mélanie mélissa mónica mônica müge nabil nadezhda " +
  "nadia nadine nalan nam nancy naoki naoko naomi nasser natalia natalie natasha nathalie nathan nathaniel nathália " +
  "natália naveen nawel nazlı naïma neal necati neeraj neha neil nel nele nelson nerea nermin nesrin nga ngozi " +
  "niall niamh nicholas nick nicola nicolas nicole nicoletta nicolás niels nienke nieves nigel nihal nikhil niklas " +
  "nikola nikolai nikolay nikos nils nina nino nisha nithya njeri nneka noah noelia noemi noemí nomsa noor nora " +
  "norbert norberto nordine norma norman noud nour nova noémie nuno nur nurcan nuri nuria nurten nélson néstor obi " +
  "obinna octavio océane odd odete odette odile oksana ola olaf ole oleg oleksandr olga oliver olivia olivier " +
  "oliwia olof oluwaseun omar onur orhan oriol orla orlando ornella oscar oskar osman osvaldo oswald otieno otis " +
  "ottmar otto otávio oumar ousmane ove owen oya oyvind pablo padma padraig paige pallavi paloma pamela panagiotis " +
  "pankaj paola paolo pascal pasquale patricia patricio patrick patrizia patrycja patryk patrícia pau paul paula " +
  "paulette paulina pauline paulo pavel paweł pedro peggy pekka pelin penelope penny pepa per percy peter petr " +
  "petra petro philip philipp philippe phoebe phuong phyllis pia piero pierre piet pieter pieterjan pietro pilar " +
  "pim ping piotr polina polly pooja poppy pradeep prakash praveen prerna priscila priscilla priya priyanka " +
  "przemysław päivi pınar qiang quang quentin rabia rachael rachel rachid rachida radha radosław rafael rafaela " +
  "rafał raffaele raffaella rahul raimundo rainer raj rajesh rakesh ralf ralph raluca ramazan ramesh rami ramiro " +
  "ramona ramón rana randy rania raphaël raquel rashid rashmi rasmus raul ravi raymond raymonde raúl rebeca rebecca " +
  "recep reda reem regina reginald reinhard rekha remco ren renan renata renate renato rens renske renu rené renée " +
  "reto rhiannon rhonda rhys rianne ricardo riccardo richard rie riitta rik rike rita ritu rob robert roberta " +
  "roberto robin robyn rocco rocío rodney rodolfo rodrigo roel rogelio roger rogério rohan rohit roisin roland " +
  "rolande rolando rolf romain roman romane romeo romina ron ronald ronaldo roos rory rosa rosalie rosalind rosana " +
  "rosanna rosario rose rosemarie rosemary rossella roxanne roy ruben rubén rudolf ruggero rui rupert ruprecht " +
  "ruslan russell rutger ruth ryan ryo ryszard régine régis rémi rémy rüdiger sabine sabrina sachin sade saeed saga " +
  "sakura salah salih sally salma salman salomé salvador salvatore sam samantha samir samira samuel samuele sana " +
  "sandeep sander sandra sandrine sandro sangeeta sani sanjay sanna sanne santiago sara sarah sarita saskia satoshi " +
  "saurabh savannah saúl scott sean sebastian sebastián sebastião seda sedat seema segun selim selin selina sem " +
  "semra serap serdar serena serge sergei sergey sergio serkan sevda severino sevgi sevim seydou shane shanice " +
  "shannon shanti sharon sheila shelley sherry shilpa shinji shirley shota shreya shruti shyam sian sibel siddharth " +
  "sidney siebe siegfried sierra signe sigrid silke silvana silvano silvia silvio simon simona simone simão simón " +
  "sina sinan sinead sinem siobhan sipho sjoerd smita sneha sofia sofiane sofie sofía solange soledad solveig " +
  "solène sonali songül sonia sonja sophia sophie soraya soren sota souad spencer spyros srinivas stacey stacy " +
  "stanislav stanisław stanisława stanley stavros stefan stefania stefanie stefano steffen stella stephanie stephen " +
  "steve steven stig stijn stjepan stuart stéphane stéphanie sudha sue sultan sunil sunita suresh susan susana " +
  "susanna susanne suzanne sven svenja svetlana swantje swati sybil sydney sylvain sylvia sylviane sylvie sylwia " +
  "szymon sébastien sérgio séverine sílvia sónia sônia søren süleyman sławomir tadeo tadeusz takashi tamara tamas " +
  "tammy taner tanguy tanja tanvi tanya tao tara taras tarek tariq taro tatiana tatjana tatsuya tatyana tayfun " +
  "taylor ted telma teodoro teresa terje terry tess teun thabo thanh thao thea themba theo theodore theresa thi " +
  "thiago thibault thibaut thierry thijs thomas thorsten théo thérèse tiago tiffany tiina tijmen tilman tilo tim " +
  "timo timothy tina tineke tiziana tiziano tjeerd tobias toby tolga tolu tom tomas tomasz tommaso tomoko tomás ton " +
  "tony torsten tracey tracy trang traudl travis trevor trinity tristan trond trudy truus tuan tullio tunde tuuli " +
  "tuğba tyler tyrell tyrone tânia tülay ubaldo uche udo ueli ugo ulf ulises ulla ulrich ulrike ulysse uma umberto " +
  "unai urs ursula urszula usha usman ute uwe vaclav vadim valentin valentina valentín valeria valerie valerio " +
  "valter valérie vandana vanesa vanessa varun vasco vasile vasiliki vasilis vera verena vernon veronica veronika " +
  "verónica verônica vicenta vicente victor victoria vidya vijay vikas vikram viktor ville vinay vincent vincenzo " +
  "vinod vinícius viola virginia virginie vishal vito vitor vittoria vittorio vitória vivek vivian viviana viviane " +
  "vladimir volkan volker volodymyr vyacheslav véronique víctor vítor wagner waldemar wale walid walter waltraud " +
  "wanda wanjiru ward wayne wei wellington wendelin wendy werner weronika wesley wessel whitney wiebke wiesław " +
  "wiesława wietse wiktor wiktoria wilfred wilfredo wilhelm wilhelmina willem willemijn william willie wilson wim " +
  "winfried winifred winston witold wojciech wolfgang wouter władysław włodzimierz xavi xavier xiang xiaoli " +
  "xiaoming ximena xin xiuying xochitl yacine yadira yan yang yanis yann yannis yara yasemin yash yasmin yasmina " +
  "yaw yeliz yemi yesenia yewande ying yiğit yoko yolanda yolande yong youssef yuki yuko yulia yumi yuri yuriy " +
  "yusuf yuto yves yvette yvonne yıldız zachary zahra zain zainab zakaria zanele zayd zbigniew zdenek zdzisław " +
  "zehra zelda zeliha zeynep zhen zhi zhiwei ziad zineb zoe zofia zoltan zoran zoé zoë zsuzsanna zulema zuzanna " +
  "zygmunt álvaro ángel ángela ángeles çiğdem édith éliane élisabeth élise élodie émilie éric étienne évelyne óscar " +
  "ömer özge özlem øyvind úrsula ülkü łukasz şahin şebnem şerife şule żaneta"
).split(" ")
