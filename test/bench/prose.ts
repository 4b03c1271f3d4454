import { seeded } from "../support/random-patterns.ts"

const SENTENCES = {
  english: `The river had risen overnight, and by morning the lower fields were under water.
She put the letter back in its envelope and wondered who could have written it.
Nobody in the village remembered a winter as long as that of 1963.
The committee met twice a week, usually on Tuesday and Thursday, and seldom agreed on anything.
When the train finally arrived, it was forty minutes late and half empty.
Most engineers prefer a small number of simple parts to one part that does everything.
If you leave the bread in the oven for too long, the crust becomes bitter.
The first version was released in March and had more than 3,000 users within a month.
"I have never seen anything like it!" said the captain, who had been at sea for thirty years.
Prices rose by 4.5 percent last year, while wages stayed where they were.
He asked his neighbour, Thomas Miller, whether the garden gate had been left open.
Please read the previous chapter again before you answer the questions at its end.
There is a general rule: the shorter the sentence, the easier it is to understand.
The museum opens at 9:30 and closes at 17:00, except on public holidays.
Several of the original drawings were lost in the fire, but copies survived in Lisbon.
We would like to thank everyone who helped us to prepare this report.
A good teacher shows how a thing is done, and then lets the pupils try it themselves.
The system keeps a copy of each message until the other side has confirmed it.
After the war the family moved to Chicago, where her father opened a small bakery.
It is not enough to know the answer; you must also be able to explain it.
The new bridge is 420 metres long and carries both cars and trams.
Many species of birds stop at the lake on their way to the south.
As far as we know, the manuscript was written by two different hands.
They walked along the street in silence until they came to the old market place.
Dr Helen Carter, who led the study, warned against drawing conclusions too early.
In the evening the temperature dropped, and a thin layer of ice formed on the pond.
The key to a good soup is patience, and a little more salt than you expect.
You are now familiar with the basic idea, so let us look at an example.
The company employs about 250 people in three countries (Spain, Portugal and Italy).
What is the first thing that you notice when you enter the room?
Some readers will disagree with this view, and they may well be right.
Water boils at a lower temperature in the mountains than at the coast.
The author returns to this question in the last part of the book.
He gave a short talk about the history of printing from Gutenberg to the present day.
Each token in the sentence is assigned a number, and the numbers are added up.
Forget the umbrella; it has not rained here since the beginning of June.
The results were printed in a table, with one line for each of the 48 schools.
By the time the guests arrived, the table was set and the candles were lit.
Children learn the rules of a game faster when they are allowed to break them.
The output of the mill doubled between 1820 and 1835.`,
  german: `Der Fluss war über Nacht gestiegen, und am Morgen standen die unteren Felder unter Wasser.
Sie legte den Brief zurück in den Umschlag und fragte sich, wer ihn geschrieben haben könnte.
Niemand im Dorf erinnerte sich an einen so langen Winter wie den von 1963.
Der Ausschuss tagte zweimal in der Woche und war sich selten einig.
Als der Zug endlich ankam, hatte er vierzig Minuten Verspätung und war halb leer.
Die meisten Ingenieure ziehen wenige einfache Teile einem einzigen vor, das alles kann.
Wenn man das Brot zu lange im Ofen lässt, wird die Kruste bitter.
Die erste Fassung erschien im März und hatte nach einem Monat mehr als 3.000 Benutzer.
„So etwas habe ich noch nie gesehen!“, sagte der Kapitän, der seit dreißig Jahren zur See fuhr.
Die Preise stiegen im letzten Jahr um 4,5 Prozent, während die Löhne gleich blieben.
Er fragte seinen Nachbarn, Thomas Müller, ob die Gartentür offen gestanden habe.
Bitte lesen Sie das vorherige Kapitel noch einmal, bevor Sie die Fragen beantworten.
Das Museum öffnet um 9:30 Uhr und schließt um 17 Uhr, außer an Feiertagen.
Einige der ursprünglichen Zeichnungen gingen im Feuer verloren; Abschriften gibt es in Köln.
Wir danken allen, die uns geholfen haben, diesen Bericht vorzubereiten.
Eine gute Lehrerin zeigt, wie etwas gemacht wird, und lässt es dann die Schüler versuchen.
Nach dem Krieg zog die Familie nach Chicago, wo ihr Vater eine kleine Bäckerei eröffnete.
Es genügt nicht, die Antwort zu wissen; man muss sie auch erklären können.
Die neue Brücke ist 420 Meter lang und trägt sowohl Autos als auch Straßenbahnen.
Viele Vogelarten rasten auf ihrem Weg nach Süden an dem See.
Frau Schneider, welche die Untersuchung leitete, warnte vor voreiligen Schlüssen.
Am Abend wurde es kälter, und auf dem Teich bildete sich eine dünne Eisschicht.
Das Geheimnis einer guten Suppe ist Geduld und etwas mehr Salz, als man erwartet.
Die Firma beschäftigt etwa 250 Menschen in drei Ländern (Spanien, Portugal und Italien).
Manche Leser werden anderer Ansicht sein, und sie mögen recht haben.
Kinder lernen die Regeln eines Spiels schneller, wenn sie sie brechen dürfen.`,
  russian: `За ночь река поднялась, и утром нижние поля стояли под водой.
Она положила письмо обратно в конверт и задумалась, кто мог его написать.
Никто в деревне не помнил такой долгой зимы, как зима 1963 года.
Комитет собирался два раза в неделю и редко приходил к согласию.
Когда поезд наконец пришёл, он опоздал на сорок минут и был наполовину пуст.
Большинство инженеров предпочитает несколько простых деталей одной сложной.
Если оставить хлеб в печи слишком долго, корка станет горькой.
Первая версия вышла в марте, и через месяц у неё было более 3000 пользователей.
«Никогда не видел ничего подобного!» — сказал капитан, тридцать лет ходивший в море.
Цены за год выросли на 4,5 процента, а зарплаты остались прежними.
Он спросил соседа, Ивана Петровича, не была ли открыта калитка.
Прочитайте ещё раз предыдущую главу, прежде чем отвечать на вопросы.
Музей открывается в 9:30 и закрывается в 17:00, кроме праздничных дней.
Некоторые рисунки погибли при пожаре, но копии сохранились в Лиссабоне.
Мы благодарим всех, кто помог нам подготовить этот отчёт.
После войны семья переехала в Чикаго, где отец открыл небольшую пекарню.
Новый мост длиной 420 метров рассчитан на автомобили и трамваи.
Вечером похолодало, и на пруду появился тонкий лёд.
Секрет хорошего супа — терпение и чуть больше соли, чем кажется нужным.
Дети быстрее усваивают правила игры, если им разрешают их нарушать.`,
  chinese: `河水在夜里上涨,到了早晨,低处的田地已经被淹没了。
她把信放回信封,心里想着究竟是谁写的。
村里没有人记得像1963年那样漫长的冬天。
委员会每周开两次会,通常在星期二和星期四,但很少达成一致。
火车终于到站的时候,已经晚点四十分钟,车厢里空了一半。
大多数工程师宁愿使用几个简单的零件,而不是一个什么都能做的零件。
如果把面包在烤箱里放得太久,外皮就会发苦。
第一个版本在三月发布,一个月之内就有了3000多名用户。
“我从来没有见过这样的事情!”在海上航行了三十年的船长说。
去年物价上涨了4.5%,而工资却没有变化。
他问邻居花园的门以前是不是一直开着。
请在回答问题之前,把前面的一章再读一遍。
博物馆9:30开门,17:00关门,节假日除外。
有几幅原来的图画在火灾中丢失了,但副本保存在里斯本。
我们感谢所有帮助我们准备这份报告的人。
一位好老师会先示范怎么做,然后让学生自己尝试。
战争结束以后,全家搬到了芝加哥,父亲在那里开了一家小面包店。
只知道答案是不够的,还必须能够解释清楚。
新桥长420米,汽车和电车都可以通行。
许多鸟类在南飞的途中会在湖边停留。
到了晚上气温下降,池塘上结了一层薄冰。
孩子们如果可以打破规则,就会更快地学会游戏。`,
}

export type Language = keyof typeof SENTENCES
export const LANGUAGES = Object.keys(SENTENCES) as Language[]
const PER_PARAGRAPH = 5

/** Ordinary prose of `length` UTF-16 units, the same at every run. */
export function prose(language: Language, length: number): string {
  const random = seeded(11)
  const sentences = SENTENCES[language].split("\n")
  const space = language === "chinese" ? "" : " "
  let text = ""
  for (let at = 1; text.length < length; at++) {
    text += sentences[Math.floor(random() * sentences.length)]
    text += at % PER_PARAGRAPH === 0 ? "\n\n" : space
  }
  // A flat string, like one parsed from a request.
  return JSON.parse(JSON.stringify(text.slice(0, length))) as string
}
