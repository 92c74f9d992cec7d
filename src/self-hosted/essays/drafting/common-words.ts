/** Words that have a capital only at the start of a sentence, and lose it elsewhere. */
const list = `
a an the this that these those its their our your his her my some any each every all both no not many most more less
fewer few several other another such same new old good better best bad worse worst high higher low lower long short
early late big small large great first second third last next main key real true full free public private local global
social human digital electric remote modern urban rural young cheap safe clean daily weekly hard soft fast slow
how why what when where who whose which whether if in on at by for from of with without under over between among about
after before during since through towards against
access advice age aid air animals arguments art arts aspects bees benefits bikes birds books business buses care cars
causes challenges change changes children choice cities city class climate coal coffee companies company computers cost
costs countries credit crime crops culture customers cycling data day deadlines death debt demand design diet disease
doctors drugs economics economy effect effects energy ethics exams exercise facts families family farms fashion fear
fees films fires fish flight flood floods food forests freedom friends fuel future games gardens girls goals goods
growth habits health heat help history home homes homework hope hours housing ideas impact impacts income industry
insects insurance interest internet jobs justice knowledge labour land language languages laws leaders learning lessons
libraries life light limits literature loans loneliness loss love machines markets meals media medicine memory methods
migration mobile money music nature news night noise nurses oceans office offices online opinion options origins parents
parks patients peace people phones plants plastic play points police policies policy politics pollution poverty power
prices pride privacy problems process products profit progress pros public quality questions rain reading reasons religion
rent rents research results rights risk risks rivers role roles rules safety sales savings school schools science security
skills sleep society software soil solar sources space speed sport sports staff stress student students study success
supply support symptoms taxes teachers teams technology theory threats time tools tourism towns trade traffic trains travel
treatment trees trends trust truth types uses values views voters wages war wars waste water wealth weather weight wind
women work workers builds lowers raises reduces improves helps saves makes gives takes keeps creates increases
decreases supports allows needs brings cuts boosts protects build lower raise reduce improve help save make give take keep
create increase support allow cut boost protect connects teaches green blue red black white roofs world worries writing years youth zoos`;

const commonWords: ReadonlySet<string> = new Set(list.trim().split(/\s+/));
const commonEnding =
  /(?:tion|sion|ity|ness|ment|ance|ence|ship|hood|ism|logy|acy|ure|age)s?$|(?:ities|ologies|ing|ings|ed|ly|ous|ful|less|able|ible|ive|ives)$/;

const names: ReadonlySet<string> = new Set(
  'florence provence constance beijing chongqing carthage anchorage'.split(' '),
);

/** Whether a word, in lower case, is certainly not a name. Unknown words may be names. */
export function isCommonWord(word: string): boolean {
  return commonWords.has(word) || (word.length > 6 && commonEnding.test(word) && !names.has(word));
}
