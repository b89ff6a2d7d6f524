#include "data/story_rules.h"

#include <fmt/core.h>

#include <numeric>
#include <string_view>
#include <utility>

#include "base/random.h"

namespace shardlings {

namespace {

// Each of `beginnings` (split at '|') begins an alternative of `rule` that goes on with `rest`.
struct Line {
  const char* rule;
  const char* beginnings;
  const char* rest = "";
};

constexpr Line kLines[] = {
    {"story", "", "<hero:person><who>. <when> {hero.she} <deed><then>. <end>.\n\n"},

    {"who", " lives in ", "{hero.home}"},
    {"who", " is a ", "{hero.job} in {hero.home}"},
    {"who", " works as a ", "{hero.job}"},
    {"who", " loves ", "{hero.love}"},
    {"who", " has a ", "{hero.pet} called {hero.pet_name}"},
    {"who", " and ", "{hero.friend} are friends"},

    {"when", "On ", "<date><month>"},
    {"when", "At ", "<hour><minute>"},
    {"when", "Last ", "<past>"},
    {"when", "One ", "<weather> <daytime>"},

    {"deed", "found |lost |hid |dropped |buried |saw ", "a <look> <colour> <thing> <place>"},
    {"deed", "bought |borrowed |won |got ", "a <colour> <thing> from <neighbour>"},
    {"deed", "sold |lent |showed |gave |sent |brought ", "<neighbour> a <look> <colour> <thing>"},
    {"deed", "paid |owed |offered ", "<neighbour> <number> pounds for a <colour> <thing>"},
    {"deed", "painted |mended |washed |wrapped |drew ", "a <look> <thing> for <neighbour>"},
    {"deed", "baked |cooked |shared |served |ate ", "<flavour> <dish> with <neighbour>"},
    {"deed", "met |helped |visited |thanked |greeted |followed ", "<neighbour> <place>"},
    {"deed", "fed |chased |watched |counted |heard ", "<number> <temper> <animals> <place>"},
    {"deed", "dreamt of |read about |sang about ", "a <colour> <creature> that could <skill>"},
    {"deed", "learned to |tried to |forgot how to ", "<skill> with <neighbour>"},
    {"deed", "played ", "<game> with <neighbour> <place>"},
    {"deed", "picked |collected ", "<share>"},

    {"then", ", then |, and later |, and secretly ", "{hero.she} <deed>"},
    {"then", " and ", "{hero.friend_first} <reaction>"},
    {"then", ", but ", "{hero.her} {hero.pet} {hero.pet_name} <mischief>"},
    {"then", " because ", "{hero.she} was <reason>"},

    {"end", "That night |Soon |At last |Then |After that ", "{hero.she} <deed>"},
    {"end", "Back in ", "{hero.home} {hero.she} told {hero.friend} about it"},
    {"end", "Now ", "{hero.friend_first} the {hero.friend_job} wants a <look> <colour> <thing>"},
    {"end", "How ", "<feeling> {hero.she} was"},
    {"end", "\"How ", "<feeling> you look!\" said <neighbour>"},
    {"end", "Even ", "{hero.pet_name} the {hero.pet} <reaction>"},
    {"end", "Later ", "<neighbour> <reaction>"},

    {"number", "1|2|3|4|5|6|7|8|9", "<digit>"},
    {"digit", "0|1|2|3|4|5|6|7|8|9"},
    {"date",
     "1 |2 |3 |4 |5 |6 |7 |8 |9 |10 |11 |12 |13 |14 |15 |16 |17 |18 |19 |20 |21 |22 |23 |24 |25 |"
     "26 |27 |28 "},
    {"month",
     "January|February|March|April|May|June|July|August|September|October|November|December"},
    {"hour", "1:|2:|3:|4:|5:|6:|7:|8:|9:|10:|11:|12:"},
    {"minute", "0|1|2|3|4|5", "<digit>"},
    {"past",
     "Monday|Tuesday|Wednesday|Thursday|Friday|Saturday|Sunday|week|month|spring|summer|autumn|"
     "winter"},
    {"weather",
     "rainy|sunny|windy|foggy|cold|warm|mild|dark|bright|dull|stormy|snowy|cloudy|quiet|busy|lazy"},
    {"daytime",
     "morning|afternoon|evening|night|Monday|Tuesday|Wednesday|Thursday|Friday|Saturday|Sunday"},
    {"look",
     "tiny|small|little|big|huge|new|cheap|fine|strange|pretty|plain|dusty|shiny|broken|wet|rare|"
     "good|lovely|heavy|funny|famous|dirty|clean|simple|perfect|worn|dull|precious|smooth|crooked|"
     "useful|peculiar"},
    {"colour",
     "red|green|blue|yellow|white|black|brown|grey|pink|purple|golden|silver|striped|spotted|"
     "dark green|light blue|pale pink|bright red|deep blue|copper|cream|violet|scarlet|crimson"},
    {"thing",
     "kite|drum|cup|hat|coat|key|bell|box|book|lamp|ball|rope|bonnet|charm|thimble|spoon|bowl|"
     "basket|ribbon|flute|fiddle|map|ring|purse|clock|candle|blanket|pillow|bottle|bucket|ladder|"
     "hammer|brush|mirror|comb|button|scarf|glove|boot|sock|belt|bag|tent|flag|whisk|sled|puppet|"
     "doll|whistle|trumpet|marble|feather|shell|stone|lantern|letter|picture|vase|jug|plate|pan|"
     "knife|needle|rug|sieve|broom|badge|bracelet|card|chain|coin|fan|frame|horn|jacket|kettle|"
     "locket|magnet|napkin|paddle|parcel|pencil|pot|quilt|robe|saddle|shawl|shirt|shoe|stamp|"
     "sword|telescope|towel|toy train|tray|violin|wallet|wig"},
    {"place",
     "under the bridge|behind the barn|by the river|near the mill|at the market|on the hill|"
     "in the woods|at the harbour|in the garden|by the well|on the beach|at the station|"
     "in the attic|behind the church|near the castle|in the cellar|on the roof|under a tree|"
     "at the fair|in the kitchen|by the lake|at school|in the library|on the stairs|"
     "near the bakery|behind the inn|in the meadow|by the fire|at the crossroads|on the ferry|"
     "under the stairs|in the snow|by the gate|at the zoo|in the tower|near the pond|"
     "on the island|in a cave|behind the stable|by the sea|at the museum|in the park|"
     "under the table|near the bank|on the road|in the orchard|at the theatre|by the window"},
    {"flavour",
     "apple|plum|cherry|pear|lemon|honey|nut|ginger|pumpkin|carrot|onion|cheese|potato|mushroom|"
     "tomato|rhubarb|spinach|bean|fig|almond"},
    {"dish", "cake|pie|bread|tart|soup|pudding|stew|salad|pancakes|dumplings|buns|noodles"},
    {"fruit",
     "apples|plums|pears|cherries|lemons|figs|nuts|tulips|roses|lilies|daisies|mushrooms|leeks|"
     "carrots|beans|onions"},
    {"temper",
     "hungry|sleepy|noisy|fat|lazy|clever|shy|brave|angry|cheerful|curious|dirty|friendly|gentle|"
     "grumpy|jolly|merry|muddy|nervous|patient|playful|polite|proud|quick|silly|tame|thirsty|"
     "tired|wet|wild|wise|young"},
    {"animals",
     "geese|ducks|hens|sheep|goats|cows|pigs|horses|donkeys|foxes|hares|rabbits|mice|owls|crows|"
     "swans|bees|frogs|cats|dogs|deer|squirrels|hedgehogs|badgers|otters|pigeons|robins|sparrows|"
     "snails|beavers|moles|bats"},
    {"creature",
     "dragon|giant|robot|witch|wizard|mermaid|unicorn|ghost|troll|fairy|pirate|whale|tiger|lion|"
     "bear|monkey|camel|penguin|snail|spider|dinosaur|snowman|teapot|cactus"},
    {"skill",
     "sing|dance|swim|juggle|whistle|knit|row|paint|read|cook|fly|skate|climb|sew|dive|draw|count|"
     "hop|laugh|play chess|ride a horse|tell jokes|make soup|bake bread|build boats|fix clocks|"
     "tie knots|catch fish|grow roses|spell|speak French|keep a secret"},
    {"reaction",
     "laughed|cheered|clapped|smiled|waved|danced|cried|whistled|nodded|yawned|sneezed|blushed|"
     "giggled|ran away|fell asleep|jumped for joy|went home|sang along|kept quiet|was proud"},
    {"mischief",
     "ran away|fell asleep|hid|sulked|got lost|went home|made a mess|would not come|wanted to play|"
     "was hungry|was afraid|spoiled it all"},
    {"reason",
     "bored|curious|kind|happy|lonely|lucky|late|brave|hungry|in love|in a hurry|on holiday|alone|"
     "full of joy|half asleep|wide awake|early|asked to|thirsty|new there|cold|tired|cross|proud"},
    {"feeling",
     "happy|proud|tired|glad|sad|cross|hungry|thirsty|calm|cheerful|grateful|merry|lonely|nervous|"
     "puzzled|relieved|sleepy|sorry|surprised|worried|excited|jealous|lucky|pleased"},
    {"game",
     "chess|cards|football|tennis|hide and seek|the flute|the drum|the violin|the piano|golf|"
     "draughts|dominoes|hopscotch|marbles|leapfrog|catch"},
    {"neighbour", "Mr |Mrs |Miss |Dr |Captain |Farmer |Judge |Nurse ", "<family>"},
};

constexpr const char* kGirls =
    "Ada|Alice|Anna|Bella|Bess|Carla|Clara|Cora|Daisy|Dora|Edith|Ella|Emma|Esther|Eva|Flora|"
    "Freda|Grace|Greta|Hazel|Helen|Ida|Iris|Ivy|Jane|Julia|Kate|Lena|Lily|Lucy|Mabel|Maria|Mary|"
    "Mina|Molly|Nora|Olive|Paula|Rosa|Ruth|Sara|Stella|Susan|Tessa|Vera|Wilma|Yara|Zoe";

constexpr const char* kBoys =
    "Adam|Albert|Amos|Arthur|Ben|Boris|Carl|Cedric|Daniel|David|Edgar|Elias|Eric|Felix|Finn|Frank|"
    "Fred|George|Gus|Harry|Henry|Hugo|Ian|Ivan|Jack|Jacob|James|John|Leo|Lewis|Louis|Luke|Mark|"
    "Martin|Max|Milo|Noah|Oscar|Otto|Paul|Peter|Ralph|Robin|Sam|Simon|Theo|Tom|Walter";

constexpr const char* kFamilies =
    "Abbot|Archer|Ash|Bell|Birch|Bird|Bloom|Bond|Brook|Brown|Carter|Clay|Cook|Cooper|Dale|Day|"
    "Dean|Drake|Field|Finch|Fisher|Flint|Ford|Fox|Frost|Gale|Gray|Green|Hale|Hart|Heath|Hill|Hood|"
    "Hunt|Kent|King|Lake|Lamb|Lane|Lark|Marsh|Mead|Mills|Moon|Moss|Nash|North|Page|Park|Pike|Pond|"
    "Potter|Price|Reed|Rose|Shaw|Snow|Stone|Swan|Thorn|Ward|West|Wolf|Wood";

// What is known of a person, and what it may be.
struct Fact {
  const char* name;
  const char* values;
};

constexpr Fact kFacts[] = {
    {"home",
     "Ashford|Barley|Beechwood|Birchfield|Bramley|Brightwell|Burnham|Castleton|Coldwater|"
     "Copperhill|Dalton|Deepdale|Drayton|Eastbrook|Elmstead|Fairfield|Farley|Fernhill|Foxley|"
     "Glenmore|Greenford|Hadley|Hampton|Harwell|Hazelton|Highmoor|Kingsley|Kirby|Langley|"
     "Larkfield|Linton|Longmead|Marlow|Meadham|Milford|Moorgate|Newbridge|Northam|Oakham|"
     "Oldcastle|Pinewood|Queensbury|Redford|Ridgeway|Rosewell|Ryedale|Sandford|Seaton|Shelby|"
     "Silverton|Southam|Stanmore|Summerhill|Thornbury|Upton|Wakeham|Waterford|Westbrook|Whitby|"
     "Wickham|Willowby|Winslow|Woodstock|Yarrow"},
    {"job",
     "baker|barber|blacksmith|bookbinder|builder|butcher|carpenter|clockmaker|clown|cobbler|cook|"
     "dancer|dentist|doctor|driver|farmer|fisher|florist|gardener|glazier|guard|hatter|jeweller|"
     "judge|lawyer|librarian|mason|miller|nurse|painter|pilot|plumber|poet|potter|printer|"
     "roofer|sailor|shepherd|singer|tailor|teacher|vet|waiter|watchmaker|weaver|welder|writer"},
    {"pet",
     "cat|dog|goat|parrot|pony|rabbit|hen|goose|duck|mouse|turtle|lamb|donkey|crow|ferret|"
     "hedgehog|hamster|canary|pig|snail|frog|lizard|raven|sheep"},
    {"pet_name",
     "Pepper|Biscuit|Button|Pebble|Poppy|Rusty|Smoky|Spot|Teddy|Tiger|Ginger|Cookie|Muffin|"
     "Pickles|Bramble|Clover|Nutmeg|Patch|Scout|Shadow|Socks|Sunny|Toffee|Waffle|Whiskers|Ziggy|"
     "Barnaby|Bubbles|Caramel|Dusty|Fudge|Hickory|Jingle|Lucky|Marbles|Midnight|Misty|Noodle|"
     "Pancake|Peanut|Pudding|Snowy|Sparkle|Thimble|Tinker|Twiggy|Velvet|Wobble"},
    {"love",
     "plum cake|rainy days|maps|the sea|brass bands|long walks|hot soup|snow|chess|loud music|"
     "card tricks|clocks|tall trees|small boats|ghost stories|cold milk|crossword puzzles|stars|"
     "steam trains|fresh bread|riddles|wild flowers|thunder|football|quiet evenings|dictionaries|"
     "marching songs|deep water|high towers|kites|black tea|puppet plays|windmills|buttons|"
     "birthdays|mathematics|mountains|honey|circus music|clean windows|lighthouses|fast horses|"
     "foggy mornings|silver coins|poems|strong coffee|bonfires|market days"},
};

std::vector<std::string> split(std::string_view text) {
  std::vector<std::string> words;
  for (std::size_t bar = text.find('|'); bar != std::string_view::npos; bar = text.find('|')) {
    words.emplace_back(text.substr(0, bar));
    text.remove_prefix(bar + 1);
  }
  words.emplace_back(text);
  return words;
}

// Everybody with a first name and a family, numbered first name by first name.
class People {
 public:
  explicit People(std::uint64_t seed)
      : seed_(seed), firsts_(split(kGirls)), girls_(firsts_.size()), families_(split(kFamilies)) {
    for (const std::string& boy : split(kBoys)) firsts_.push_back(boy);
    for (const Fact& fact : kFacts) values_[fact.name] = split(fact.values);
  }

  // How well known somebody is follows Zipf's law: the r-th has weight 1 / r.
  std::vector<Alternative> by_fame() const {
    std::vector<std::size_t> order(firsts_.size() * families_.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    const RandomStream random(seed_, "stories.fame");
    for (std::size_t i = order.size() - 1; i > 0; --i)
      std::swap(order[i], order[random.below(i + 1, i)]);
    std::vector<Alternative> people;
    for (const std::size_t who : order)
      people.push_back({name(who), 1.0 / static_cast<double>(people.size() + 1), facts(who)});
    return people;
  }

 private:
  const std::string& first(std::size_t who) const { return firsts_[who / families_.size()]; }

  std::string name(std::size_t who) const {
    return first(who) + ' ' + families_[who % families_.size()];
  }

  const std::string& fact(const std::string& name, std::size_t who) const {
    const std::vector<std::string>& values = values_.at(name);
    return values[RandomStream(seed_, "stories." + name).below(values.size(), who)];
  }

  // Somebody with another first name.
  std::size_t friend_of(std::size_t who) const {
    const std::size_t namesakes = families_.size();
    const std::size_t all = firsts_.size() * namesakes;
    const std::size_t next_name = who - who % namesakes + namesakes;
    const RandomStream random(seed_, "stories.friend");
    return (next_name + random.below(all - namesakes, who)) % all;
  }

  std::map<std::string, std::string> facts(std::size_t who) const {
    const bool is_girl = who / families_.size() < girls_;
    const std::size_t other = friend_of(who);
    std::map<std::string, std::string> facts{
        {"she", is_girl ? "she" : "he"},
        {"her", is_girl ? "her" : "his"},
        {"friend", name(other)},
        {"friend_first", first(other)},
        {"friend_job", fact("job", other)},
    };
    for (const auto& [name, values] : values_) facts[name] = fact(name, who);
    return facts;
  }

  std::uint64_t seed_;
  std::vector<std::string> firsts_;
  std::size_t girls_;
  std::vector<std::string> families_;
  std::map<std::string, std::vector<std::string>> values_;
};

// "7 plums, gave 3 to Tom and kept 4": the last number follows from the other two.
void add_shares(Rules& rules) {
  for (int all = 2; all <= 20; ++all) {
    const std::string given_of_all = fmt::format("given_of_{}", all);
    rules["share"].push_back({fmt::format("{} <fruit>, gave <{}>", all, given_of_all)});
    for (int given = 1; given < all; ++given)
      rules[given_of_all].push_back(
          {fmt::format("{} to {{hero.friend_first}} and kept {}", given, all - given)});
  }
}

}  // namespace

Rules story_rules(std::uint64_t seed) {
  Rules rules;
  for (const Line& line : kLines)
    for (const std::string& beginning : split(line.beginnings))
      rules[line.rule].push_back({beginning + line.rest});
  for (const std::string& family : split(kFamilies)) rules["family"].push_back({family});
  add_shares(rules);
  rules["person"] = People(seed).by_fame();
  return rules;
}

}  // namespace shardlings
