"""Whether a sentence asserts a number as its result.

A number is an answer only if its sentence asserts it plainly. Five rules; most of their words are
closed classes of a language (negations, modal verbs, conjunctions, prepositions):

1. Its clause has no negation, no modal of possibility and no condition, and is no question.
2. Nobody only says or thinks so: "some people claim that it is 15".
3. A number that is the subject is asserted by "is the answer" and by the plural ("15 are left").
   Every other predicate judges it: "15 violates the budget".
4. Nothing bounds it: "15 to 18", "over 15", "15 ± 3".
5. What governs it is licensed: after "the answer is" only words such as "about", and, if there is
   no question and nothing is counted ("15."), a verb that gives a result ("has", "costs"). Saying,
   guessing or rejecting a number does not assert it.

Words of the question are no doubt: it may ask how many did *not* come.
"""

from __future__ import annotations

import re

from gradeschool.answers.quantities import WrittenNumber
from gradeschool.answers.search import closing_brace

REACH = 140  # characters before and after a number that may deny it
# LaTeX and emphasis between words.
MARKUP = re.compile(
    r"\\(?:text)?color\{\w+\}|\\[a-zA-Z]+|\\[()\[\],;:! $]|</?[|a-z_]{3,20}>|[*_`{}$\"“”#]+|\\"
    r"|\s\s+|[^\S ]"
)
RELATIONS = (
    ("\\geqslant", "≥"), ("\\leqslant", "≤"), ("\\max", "max"), ("\\min", "min"), ("\\infty", "∞"),
    ("\\neq", "≠"), ("\\ne", "≠"), ("\\geq", "≥"), ("\\leq", "≤"), ("\\ge", "≥"), ("\\le", "≤"),
    ("\\gt", ">"), ("\\lt", "<"), (">=", "≥"), ("<=", "≤"), ("=>", "≥"), ("\\pm", "±"),
    ("\\in", "∈"), ("\\ldots", "…"), ("\\dots", "…"), ("’", "'"),
    ("\\approx", "≈"), ("\\times", "×"), ("\\div", "÷"), ("\\cdot", "*"),
)  # fmt: skip
WORKED_BEFORE = ("=", "≈", "→", "-", "+", "*", "/", "×", "÷", "−")
ABBREVIATIONS = ("max", "min", "approx", "ca", "vs", "i.e", "e.g", "Max", "Min", "Approx")
ABBREVIATED = re.compile(r"\b(max|min|approx|ca|vs|i\.e|e\.g)\. ")
# A new clause begins after one of these, unless only the number follows.
CLAUSE = re.compile(
    r"[,:=] (?=\S)|;(?: |$)|\b(?:(?:so|then|therefore|thus|hence|instead|because) (?=\S)"
    r"|(?:(?<!anything )but|aber|sondern|pero|sino|mais)(?: |$)|(?:no|nope), (?=\w))"
)
LEADING = re.compile(
    r"(?:after|because|since|when|once|as(?! an? )|by|with|in|on|at|for|from|not counting)\b[^,]*,$"
)
ASIDE = re.compile(r", [^,]*,$")  # "not, as some claim, 15"
NEGATION = re.compile(
    r"\b(?:not(?! (?:only|just|surpris\w*|includ\w*|count\w*))|never|neither|nor|none|nobody"
    r"|nothing|hardly|scarcely|barely|cannot|without|except|far from|nowhere|(?:other|rather) than"
    r"|instead of|opposed to|versus$|vs\.?$|differ(?:s|ent)? from|anything but|no way|no longer"
    r"|fail(?:s|ed)? to|(?:falls?|fell) short of|(?:by|in|under) no \w+|keine?|nicht|statt|pas"
    r"|niet|geen|não|non|нет|не|вместо)\b(?!-)|n't\b|≠|不是|而非|\bno(?= (?:son|es|hay|\w+ (?:son"
    r"|es))\b)|\b(?:certainly |definitely |clearly )?no$|(?:en lugar|en vez|em vez|au lieu|invece"
    r"|ao invés) d\w+"
)
# Denied with a comparison, it is the most or the least: "he cannot buy more than 15".
EXTREME = re.compile(r"\b(?:more|less|fewer|longer|later) than$")
ONE_OF = re.compile(
    r"\b(?:(?:(?:one|any) of|candidates are|options?:|choices:) (?:these:? "
    r"|the \w+:? ?)?[\d.,$ ]*(?:and|or)?$|(?:candidates|options|choices) are$|so (?:is|are)$"
    r"|(?:tentativ|hypothetic|alternativ|supposedly|allegedly|arguably|presumabl|apparently"
    r"|seemingly|otherwise|for (?:instance|example|now\b|the moment)|in theory|on one|^say,)"
    r"|(?:two|several|multiple|many) (?:answers|values|results|solutions|options)\b)"
    r"|\d.*\b(?:another|others?|or else|if not|and/or|otherwise)(?: \w+)?,?$"
)
# "the number of cards [that were not sold] is": what defines the subject.
DEFINING = re.compile(
    r"^(?=.* (?:is|are|was|were|be)\b)"  # most clauses end here
    r"(?P<head>(?:the|an?|his|her|their|its|our|each|\w+'s?|\w+s') .*?) (?:that|who|which|if|when"
    r"|while|not|without|after|before|by|versus|can|could) .*(?= (?:is|are|was|were|(?:would|will"
    r"|can) be)(?: \w+|:)?$)"
)
POSSIBLE = re.compile(
    r"\b(?:(?:may|might|maybe|perhaps|possibly|potentially|conceivabl[ey]|vielleicht|könnten?"
    r"|podría\w*|talvez|tal vez|quizás?|peut-être|pourrait|serait|forse|potrebbe\w*|poderia\w*"
    r"|misschien|возможно|может)\b(?!'s)|(?:it|this|that|answer|result|which"
    r"|there)(?: \w+)? (?:could(?: \w+){1,4}|(?<!there )can(?: \w+){0,3} (?:be|equal|come to"
    r"|work))$|(?:low|upp)er (?:bound|limit)\b|(?:w|sh|c)ould have (?:been|had)$"
    r"|possible (?:answers?|values?|results?)\b|(?:either|both|(?<!each )one of|among|between|some"
    r"|any)(?: \w+:?)?(?: [\d.,]+ (?:and|or))?$|(?<!\bno )(?!(?:oth|rath)er)(?:more|less"
    r"|\w{2,}er) than$|some(?:where|thing)\b|the other$)|可能|也许|或许|もしかして|たぶん"
)
CONDITION = re.compile(
    r"^(?:although|though|while|even)\b(?!.*,$)|(?:^|\b(?:and|or|that|see|check|know|decide|asks?"
    r"|sure|clear) )(?:if|whether|unless|had|were|wenn|falls|ob|si|se|если|soit)\b|\b(?:whether"
    r"|whoever|anyone who|if (?:you|they|we|someone|it|he|she|that)|depend\w*|provided"
    r"|hypothe\w+)\b|假设|如果"
)
# Sentences and labels that only try, judge or ask: stems, in a clause before or after the number.
JUDGED = re.compile(
    r"\b(?:wrong|incorrect|mistak|err(?:s|ed|on|or)|false|untrue|mis(?:calc|read|count)|contradict"
    r"|impossib|unlikely|unsure|uncertain|invalid|absurd|nonsens|doubt(?:s|ful)?\b|inaccura|reject"
    r"|rules? out|ruled out|ruling out|naive|sloppy|cross(?:ed|es)? out|discard|exclud|eliminat"
    r"|disregard|ignor|forget\b|retract|refus|deny|denie|(?:first|wild|rough|a|best|initial) guess"
    r"|disagree|blunder|misconcept|typo\b|refut|withdr[ae]w|overcount|overshoot|double-?count"
    r"|distractor|dismiss|flaw|fallac|artifact|premature|absurd|makes no sense|there(?:'s| is"
    r"| are) no (?!more|other|need|doubt)|(?:is|be) (?:off|out)(?=[.,;]|$)|so it is out|drop it"
    r"|hunch|^(?:guess|candidates)\b|trap\b|tempting|careless|plausible|unclear|hesitat|wonder"
    r"|falsch|verkehrt|faux\b|fauss|errad|sbagliat|errón|неверн|неправил)|错|不对|不正确|間違"
)
# "the number of wrong answers is": what is counted, is not judged.
COUNTED_BEFORE = re.compile(
    r"\b(number|amount|share|percentage) of (?:[a-z'-]+ ){1,8}?(?:is|are|was|were)(?: [a-z]+|:)?$"
)
VARIABLE = re.compile(r"\b[a-z] ?=$")
# What somebody says or thinks, or rejects: "some people say it is 15", "I would answer 15"; no
# verbs of the world ("he sold 15").
_SAYS = (
    r"(?:say|said|think|thought|claim|believ|hop[ei]|guess|insist|argu|suspect|bet\b|assert"
    r"|estimat|reckon|imagin|ventur|propos|suggest|expect|fear|told|tell|conjectur|predict"
    r"|maintain|lean|report|answer(?:ed|ing|s)|write|writing|wrote|conclu|confirm|announc|contend"
    r"|doubt|feel|felt|voted?\b|opt|swear|swore|assum|suppos|hypothes|tend|would answer"
    r"|must answer|to answer|not answer|gut says|call)"
)
REPORTED = re.compile(
    rf"\b(?:(?<!we )(?<!i ){_SAYS}[a-z]*(?: (?:me|us|him|her|you))?(?: that)? (?:it|there|this"
    rf"|that|the \w+)(?: (?:is|are|was|were|be|would be|will be)|'s)\b"
    rf"|(?<!we )(?<!can )(?:{_SAYS}[a-z]*|withdr[ae]w|t[ao]ke back|reject|dismiss|disregard"
    rf"|discard|skip|drop|avoid|stop|settle|considers?|disagree)(?: (?:it|that|as|at|for|on|with"
    rf"|to|towards?|about|in|get|getting|you|me|by))*$|(?:chance|possib\w+|likelihood|probability"
    rf"|odds|hunch|hope|fear|guess)(?: is)? that (?:it|this|there|the \w+) (?:is|are|was"
    rf"|will be)$)"
)
# Nothing that is counted follows a number, so that it is itself what is spoken of.
BARE = re.compile(
    r"^(?: ?[.,;:!?)]|$| (?:and|or|but|because|though|if|instead|above|before|here|again|as|means"
    r"|fails?|works?|holds)\b)"
)
# What "the answer is" may have before its number.
ANSWER_IS = re.compile(r"\banswer\b([^:=→(]*)$")
# What no result has after it: "15 and counting", "15 or so", "15 (approx. ±2)", "15, plus a few".
MARKED_AFTER = re.compile(
    r"^(?: ?%| [a-z]+)?(?:,? or (?=[a-z])(?![a-z]+ [(]? ?\d)|,? (?:plus|give|if not|perhaps|maybe"
    r"|as an? (?:min|max|low|upp|bound|limit|rough))| at (?:the|an?) (?:outside|min|max)| [(](?:or"
    r"|approx|about|roughly|plus|give|min|max|more|less|±)\b)|^ and (?!\d|not\b|so\b"
    r"|the\b)[a-z]+(?: [a-z]+)?[.!]?$"
)
FIRST_DIGIT = re.compile(r"([^\d]*)\d.*(?:\band|,|\bor|-)$")
NO_WORD = re.compile(r"[^a-z']+")
LICENSED = re.compile(
    r"^[^a-z]*$|^ to$|(?:\b(?:is|was|be|are|were|been|equals?|becomes?|became|(?:comes?|came"
    r"|amounts?|sums?|adds? up|works? out|rose|rises|grows?|grew|fell|falls|drops?"
    r"|reduced?)(?: down| out| up)? to|remains?|has|have|had|costs?|earn(?:s|ed)?|makes?|made"
    r"|making|paid|pay(?:s|ing)?|need(?:s|ed)?|spen[dt]s?|g[eo]ts?|sold|sells?|takes?|took|lasts?"
    r"|receive[sd]?|save[sd]?|owe[sd]?|buys?|bought|eats?|ate|gives?|gave|giving|use[sd]?|weighs?"
    r"|runs?|ran|reads?|drinks?|drank|drives?|drove|walk(?:s|ed)?|works?|worked|los[et]s?|scored?"
    r"|scores|wins?|won|owns?|keeps?|kept|holds?|contains?|leaves?|leaving|left|(?:leaving"
    r"|leaves) \w+ with|(?:off|up|down|differs?|(?:in|de)creased|reduced) by|found|finds?|covers?"
    r"|covered|collect(?:s|ed)|picks|picked|reach(?:es)?|totals?|yields?|averages?|raise[sd]?"
    r"|plants?|planted|charge[sd]?|walks|measures?|means?|meant|pick|carr(?:y|ies|ied)|deliver(?:s"
    r"|ed)?|bake[sd]?|produce[sd]?|travel(?:s|ed)?|consume[sd]?|(?:left|ends?(?: up)?"
    r"|ended(?: up)?|remains|is|are|up|stuck) with|(?:worth|increased by|decreased by|(?:total|sum"
    r"|average|maximum|minimum|number|profit|loss|change|rest|difference) of)|simplif(?:y|ies) to"
    r"|round(?:s|ed) to|i e|es|est(?: de)?|ist|é|è|sind|son|sont|hat|tiene|a)|'s|,|that"
    r"|^)(?: (?:that|then|thus|therefore|hence|indeed|in fact|clearly|obviously|also|now|still"
    r"|only|just|simply|exactly|precisely|about|approximately|roughly|around|equal to|given by|the"
    r"|an?|total of|total|sum of|number|value|integer|fraction|decimal|found to be|and|or|so|we|us"
    r"|usd|rs|eur|chf|gbp|negative|minus|positive|him|her|them|you|it|another|additional|extra"
    r"|in total|at least|at most|up|up to|no more than|more|option|choice|rather|[a-e]))*$"
)
# Subjects that are nobody, or a way to see it: "some would get 15", "method 2 gives 15".
ANYBODY = re.compile(
    r"^(?:so |but |and |then )*(?:some(?:one|body)?|others?|many|most|people|any(?:one|body)"
    r"|nobody|students|beginners|solvers|readers|a (?:quick|naive|careless|hasty|rough|first)"
    r"|careless|naive|one(?! of))\b(?! (?:final |total )?answer)"
)
WAY = re.compile(
    r"\b(?:first|second|third|one|other|another|1st|2nd|best|worst|either) (?:option|candidate"
    r"|choice|possibility|reading|interpretation|case|scenario|method|approach|way|view|version"
    r"|guess)\b|^(?:option|case|scenario|choice|method|reading|interpretation|approach"
    r"|version) \w+\b|\b(?:hunch|bet|conjecture|hypothesis|intuition|impression|suspicion|odds"
    r"|gut)\b"
)
# Commands: a clause without a subject.
COMMAND = re.compile(
    r"^(?:(?:now|first|so|and|please|just) )*(?:(?:let's|let (?:us|me)|i'll|to|we|i|can|will|could"
    r"|trying) )*(?:(?:suppose|supposing|setting|substituting|plugging|letting|assume|assuming"
    r"|imagine|pretend|try|trying|test|testing|consider|check|verify|angenommen|supon\w*"
    r"|supposons)|(?<!\bi )(?<!\bwe )(?<!\bcan )(?:let|say|put(?! together)|set|take|pick|choose"
    r"|select|substitute|plug|start|begin|see|decide|what about|how about|why not|scratch|write"
    r"|avoid))\b[^,:]*$"
)
SUPPOSE = re.compile(
    r"^(?:(?:let's|let us|we|so|now) )*(?:suppose|imagine|pretend|assume|say),? (?!.*\b(?:then|so"
    r"|thus|therefore)\b)[^=]*$"
)
# Subjects: nothing but the number, or "the value 15".
SUBJECT = re.compile(
    r"^(?:(?:and|so|thus|hence|therefore|then|but|clearly|although|though|also|while|since"
    r"|unfortunately|.*\bthat) ,? ?)*(?:(?:the|an?|this|that|my|our|your|his|her"
    r"|\w+'s) (?:(?!other|first|last|rest|remain)[a-z'-]+ ){0,3}?(?:value|answer|number|result"
    r"|total|guess|figure|amount|sum|count|claim|statement|option|conclusion|key's|candidate"
    r"|choice|solution|estimate) ?,? (?:of |that )?|(?:\w+ )?\w+'s? )?$"
)
PREDICATE = re.compile(
    r"^ ?,?(?: (?!is|was|would|could|can|may|might|must|will|does|did|do|has|had|makes|looks"
    r"|seems)[a-z%]+){0,2} (?P<verb>is|was|isn't|wasn't|would|wouldn't|could|couldn't|can|can't"
    r"|cannot|may|might|must|will|won't|does|doesn't|did|didn't|do|don't|has|had|hasn't|gets?"
    r"|turns?|turned out|came (?:up|from|out)|seems?|looks?|sounds?|feels?|appears?|ain't"
    r"|(?:results?|comes?|came|stems?) from|(?:[a-z]{3,}s|fell|failed) (?:the|an?|no|our|one|two"
    r"|every\w*|nothing|nowhere|short of|what|because|as))\b(?P<rest>[^.;,!]*)"
)
COUNTED = re.compile(
    r"^ (?!is\b|was\b|would\b)[a-z]+ (?:[a-z]+ )?(?:did|do|can|could|will|would|had|has|may|must"
    r"|cannot|can't|don't|didn't|fell|failed)\b"
)
IS_RESULT = re.compile(
    r"^(?: (?:be|indeed|thus|therefore|also|then|now|still|really|in fact|clearly"
    r"|obviously))* (?:\d|(?:(?:the|our|your|my|his|her|their|its|how|what (?:he|she|it|they|we|is"
    r"|remains)|enough|correct|right|left|needed|required|remaining|in total|more|less|half"
    r"|twice(?! too)|equal|because|since|for|per|each|all|also)\b(?!.*\b(?:before|without"
    r"|different|other|else|earlier)\b)(?! possib| guess| option| candidate)))"
)
# After a number: a bound, a tolerance, a range, another offer.
OPEN_ENDED = re.compile(
    r"^(?: ?(?:%|[a-z]{1,12}))? ?(?:-ish\b|and change\b|,? if not \w+er\b|with an? (?:margin"
    r"|uncertainty|tolerance|deviation|error)|(?:,|or|and) (?:or else|another|others?|the other"
    r"|if not|otherwise)\b[^.\d]*\d|±|[+]/?[-−]|plus or minus|plus ?/ ?minus|,? ?give or take"
    r"|with an error|, \d+ more or less|[∓⁺]|and (?:up|above|over|more|below"
    r"|under)\b(?! \w+ [a-z])|[<>≤≥] ?[a-z\d]|[+](?! ?[(\d])|,? ?if not more|,? (?:possibly|maybe"
    r"|perhaps|or even)\b|,? or (?:even |maybe |perhaps )?(?:more|less|fewer|so|higher|lower|above"
    r"|below|greater|under|over|better|worse|thereabouts|larger|smaller)\b|[- –]?plus(?=[.,]| ?$)"
    r"|tops\b|,? ?(?:at|or) (?:the )?(?:very )?(?:most|least|best|latest|worst)\b|(?:at )?(?:max"
    r"|max(?:imum)|min(?:imum))\b(?= ?(?:[.,;)]|$))|[(] ?(?:wrong|incorrect|at |not(?! \d)|min|max"
    r"|±|false|guess|maybe)|[❌✗✘]|may be\b|maybe\b)"
)
TO = re.compile(
    r"^(?: [a-z]{1,12})? ?(?:(?:up )?to(?: about| around)?|through|until|till|bis|hasta|à|до"
    r"|[-–—~]+|\.\.+|…|到|至)[ $]*(?=\d)"
)
RANGE = re.compile(
    r"\b(?:from|between|от) [\d.,]+ ?[-–—]$|\d ?(?:…|\.\.+)$|\b(?:between|entre|zwischen"
    r"|между) [\d.,]+ (?:and|y|et|und|e|и)$|(?:\b(?:ranges?|takes|lasts|costs|range) "
    r"|^)(?:from )?[\d.,]+ to$"
)
RANGE_ENDS = ("-", "–", "—", "…", "..", " and", " y", " et", " und", " e", " и", " to")
# "17 or 18", "12, 15 or 18": one of several.
OTHER_BEFORE = re.compile(
    r"(?<![+*/×−-] )(?<![\w./])\d[\d,.]*(?<!,) or(?: (?:it|there) (?:is|are)| as \w+ as| maybe"
    r"| perhaps)?$"
)
SAME_UNITS = ("%", "percent", "cent")  # "0.60 or 60%", "$0.10 or 10 cents" are one amount
OTHER_AFTER = re.compile(
    r"^(?:, \d+){0,9},? (?:and/)?or (?!rather)(?:\w+ )?\d[\d,]*"
    r"(?![\d.,]*[%/]|\.\d| [a-z]*(?:hour|minute|cent))"
)
OR_OTHER = re.compile(
    r"^(?: [a-z]{1,12})?(?:,? or (?:maybe|perhaps|possibly|even)| [(]or(?= \d[\d.,]*\))| vs\.?"
    r"| ?\|) ?\d[\d.,]*(?! ?%)"
)
# A sentence that only supposes: no figure is worked out from its condition.
SUPPOSITION = re.compile(
    r"^(?:so |then )?(?:(?:if|unless|provided|in case|as long as|depending|in (?:that|this) case"
    r"|hypoth\w+|erroneously|(?:wrong|mistaken|incorrect|suppos\w+|alleg\w+)ly)\b[^\d=]*,"
    r"|according to (?!the\b)\w+,?) (?:then )?(?:the (?:answer|total|result)|it|that|this|one"
    r"|there)\b"
)
# The next words take it back.
NEXT = re.compile(
    r"^[.!…]+ (?:just kidding|no\b(?! \w)|nope|wrong\b|(?:that|this)(?:'s| is) (?:wrong"
    r"|not (?:right|correct|it))|scratch that|not!)"
)
# Before a number: it bounds the result.
BOUND = re.compile(
    r"(?:^|[:=#]|\b(?:answer|result|total|sum|it|antwort|respuesta|réponse|risposta|resposta"
    r"|antwoord|ответ)\b(?: (?:is|was|comes|lies|ranges?|must|be|ist|es|est|è|é))*|^(?:x"
    r"|n) is) ?(?:(?:about|just|well|slightly|roughly|a (?:bit|little)|not|no|the) )*(?:up to"
    r"|as (?:much|many|low|high|few) as|at (?:the )?(?:very )?(?:least|most|best|minimum|maximum)"
    r"|\w+ than|(?:somewhere )?(?:over|under|below|above)|beyond|past|within(?: \d+ of)?"
    r"|(?:a )?(?:min|max)(?:imum)?\.?:?(?: of)?|any\w* (?:from|between|in|above|below)"
    r"|(?:somewhere |anywhere )?(?:from|between)|in(?: the \w+)?(?: from)?(?: [\[(])?|(?:short"
    r"|north|south|upwards?|in excess|of|out) of|bounded(?: \w+)? by|(?:limited"
    r"|capped)(?: \w+)? (?:to|at)|exceeds|mindestens|höchstens|bis zu|zwischen|(?:mehr"
    r"|weniger) als|entre|au (?:moins|plus|maximum)|(?:plus|moins|más|menos) de|(?:al|pelo) menos"
    r"|almeno|minstens|не менее|не более|от)$|(?:[≥≤<]|(?<!-)>|∈ ?[\[(]?|[\[(] ?[\d.]+[,;]"
    r"|\[|\b(?:from|between|от) [\d.,]+(?: \w+)? (?:to|and|до)|至少|最多)$"
)
# "15, which is wrong", "15, but that is not it"
REMARK = re.compile(
    r"[^.;\d]{0,30}(?:,? (?:(?:but|and|though) )?(?:that|this|it|which)(?=(?: is|'s| was| would"
    r"| can)\b)|, (?:(?:but|though|yet) (?:that|this|it)|so|which(?= \w)))([' ][^.;\d]*)"
)
# What comes after a number takes it back or leaves it open: "15, but I have not checked it".
CONTRAST = re.compile(
    r"^[^.;:!?\d(]{0,40}[,;–—]? ?\b(?:but|yet|though|although)\b[^.\d]*?(?:\bnot|n't|cannot|never"
    r"|check|sure\b|certain|forgot|dropped|differ|might|\bmay\b|could|possible|wrong|closer|verif"
    r"|\bmis|mistake|error|take it back)|^ (?:until|unless)\b[^.\d]*(?:[.!]|$)|^ out\b(?! of)"
)
AFTER_CLAUSE = re.compile(
    r"[.!;](?: |$)|,|\b(?:but|so|because|since) (?!(?:it|that) is (?:not|wrong))"
)
# "15 mistakes", "15 answers were wrong", "15 did not fail"
COUNTED_ERRORS = re.compile(
    r"(?: [a-z]+){0,5} (?:are|were|did|do|have|had)\b| [a-z]*(?:mistakes|errors|wrong|false|in\w+"
    r"|im\w+|possib\w+|candidates)\b"
)
REFUSES = ("rejects", "rejected", "refuses", "refused", "ignored", "discarded", "eliminated")
ANSWER_WORD = re.compile(
    r"\b(?:answer|antwoord|antwort|respuesta|réponse|resposta|risposta|ответ)\b"
)
# What a bound is said of, if it is not the answer: "it is at most 15", "at the very most 15".
NO_SUBJECT = re.compile(
    r"^(it|this|that|the (?:total|sum|result))? ?(?:is|was|comes|lies|exceeds)?(?: ?(?:not|no|at"
    r"|up|over|under|above|below|somewhere|more|less|fewer|to|the|very|least|most|than|close|but"
    r"|within|as|many|few))*$"
)
PAIRED = re.compile(r"[,;] ?[\da-z∞]")
# "With a tip she would pay 30", "she would pay 30 if": what the question does not ask.
WOULD = re.compile(r"\b(?:if|with|had|should)\b.*(?:\bwould|'d) ")
WOULD_IF = re.compile(r"^(?: \w+){0,2} if\b")
SUPPOSES = re.compile(r"\b(?:would|could|if|suppose|assuming)\b")
ASKS = re.compile(r"^[^.!\n(=]{0,60}(?:\?|？|吗)")


MAY = re.compile(r"\bMay\b(?! be)")  # the month, or a name
# Reasons that exclude a value wherever its sentence has it; the others only this occurrence.
DENIALS = ("denied", "judged", "a subject")


def doubt(
    text: str, start: int, end: int, number: WrittenNumber, question: str = "", marked: bool = False
) -> str | None:
    """Return why a sentence does not assert a number, None if it does.

    start, end: the sentence, or more text after it. question: what it says itself is no doubt.
    marked: the number follows a marker of the answer, where "at least 15" is no answer either.
    """
    boxed = text.endswith("boxed{", 0, number.start)
    begin = max(start, number.start - REACH)
    opened = text.rfind("\n", begin, number.start) + 1
    is_cut, begin = begin > start and not opened, max(begin, opened)
    opened = text.rfind(". ", begin, number.start)
    if opened >= 0 and not text.endswith(ABBREVIATIONS, begin, opened):
        is_cut, begin = False, opened + 2
    stop = min(end, number.end + REACH)
    stop = text.find("\n", number.end, stop) if "\n" in text[number.end : stop] else stop
    before, after = text[begin : number.start].lower(), text[number.end : stop].lower()
    if question and not _may_be_doubted(before, after):
        return None
    if "May" in text[begin:stop]:
        before = MAY.sub("m", text[begin : number.start]).lower()
    before, after = _plain(before.removesuffix("\\boxed{")), _plain(after)
    before = ABBREVIATED.sub(r"\1 ", before).rstrip()
    opened = max((before + " ").rfind("? "), (before + " ").rfind("! "), before.rfind(". "))
    leads = before.endswith((":", "-", ">", "|", "(", ","))
    before = ASIDE.sub("", before[opened + 1 :].lstrip())
    before = clause = f"… {before}" if is_cut and opened < 0 else before
    for edge in CLAUSE.finditer(before):
        clause = before[edge.end() :]
    if LEADING.match(before):
        clause = ""  # "After ruling out the broken ones, 15 remain."
    worked = before.endswith(WORKED_BEFORE)
    if ASKS.match(after) and not worked:
        return "asked"
    if SUPPOSE.match(before):
        return "supposed"
    if NEXT.match(after):
        return "denied"
    asked = question.lower()
    core = DEFINING.sub(r"\g<head>", clause)
    bare = BARE.match(after) is not None and not {"$", ":"} & {*text[number.start - 2 : number.end]}
    said = None if worked or boxed else ANSWER_IS.search(clause)
    if said and not _is_licensed(said[1]):
        return "bounded"
    near = " ".join(core.split()[-3:]) if boxed else core
    if not worked and NEGATION.search(near) and not NEGATION.search(asked):
        if not EXTREME.search(core):
            return "denied"
        return "bounded" if marked or NO_SUBJECT.match(before) else None
    judging = "" if worked else COUNTED_BEFORE.sub(r"\1", clause)
    if JUDGED.search(judging):  # but not in "he rejected 15 offers"
        judged = BARE.match(after) is not None or not judging.endswith(REFUSES)
    else:
        rest = AFTER_CLAUSE.split(after, maxsplit=1)[0]
        judged = JUDGED.search(rest) is not None and not COUNTED_ERRORS.match(rest)
    remark = REMARK.match(after)
    judged = judged or bool(remark and (JUDGED.search(remark[1]) or NEGATION.search(remark[1])))
    if judged and not JUDGED.search(asked):
        return "judged"
    if (not worked or VARIABLE.search(clause)) and COMMAND.match(clause):
        return "supposed"
    if not worked:
        other = OTHER_BEFORE.search(before) and not after[:9].lstrip().startswith(SAME_UNITS)
        possible = POSSIBLE.search(core) or WAY.search(clause)
        if other or ONE_OF.search(before):
            return "possible"
        if possible and possible[0] not in asked:
            return "possible"
        if (
            CONDITION.search(core)
            or SUPPOSITION.match(before)
            # ... or somebody only says so, or it is rejected: "I would answer 15"
            or (
                (told := REPORTED.search(clause))
                and told[0].split()[0][:4] not in asked
                and (told.end() < len(clause) or BARE.match(after))
            )
        ):
            return "supposed"
        if SUBJECT.match(clause + " " if clause else ""):
            predicate = PREDICATE.match(after)
            if predicate and not COUNTED.match(after):
                denies = predicate["verb"].endswith(("n't", "cannot", "may", "might", "could"))
                if denies or not IS_RESULT.match(predicate["rest"]):
                    return "a subject"
        would_if = " would " in clause and WOULD_IF.match(after)
        if (would_if or WOULD.search(before)) and not (boxed or SUPPOSES.search(asked)):
            return "would be"
        if CONTRAST.match(after):
            return "judged"
    if not (boxed and text.startswith("}", number.end)) and (
        OTHER_AFTER.match(after) or (not before and OR_OTHER.match(after))
    ):
        return "one of several"
    if marked and not worked and MARKED_AFTER.match(after):
        return "bounded"
    alone = bare and not (worked or boxed or said or question or marked) and before.isascii()
    if alone and (not (leads or _is_licensed(clause)) or ANYBODY.match(before)):
        return "bounded"
    if OPEN_ENDED.match(after) or (before.endswith(RANGE_ENDS) and RANGE.search(before)):
        return "bounded"
    if not (marked or ANSWER_WORD.search(clause) or before.endswith(("=", ":", " is", "∈"))):
        pronoun = NO_SUBJECT.match(before)
        if pronoun is None or (question and not pronoun[1]):  # "How many?" - "At least 8."
            return None
    interval = before.endswith(("(", "[")) and PAIRED.match(after)
    if interval or BOUND.search(before) or TO.match(after):
        return "bounded"
    return "one of several" if OR_OTHER.match(after) else None


# The words of the rules, by their first letters. Most sentences have none of them, but for the
# neutral ones, which are in most sentences.
WORD, ASCII_WORD = re.compile(r"[^\W\d_]{2,}"), re.compile(r"[a-z]{2,}")
NEUTRAL = frozenset(
    """
    the of is resu ther tota to in answ will so has and on each are have that he minu be can make
    from at it she they was by take now seco comp toge whic then how with this an out long we you
    were thus for need fina cost two her more many dist read work last clea firs seco thir ever
    smal give like call
    """.split()  # noqa: SIM905
)
TRIGGERS = {"supp", "pret", "plus", "erro"} | {
    word[:4]
    for rule in (NEGATION, REPORTED, ONE_OF, POSSIBLE, CONDITION, JUDGED, COMMAND, PREDICATE, WAY,
                 OPEN_ENDED, TO, RANGE, OR_OTHER, SUPPOSITION, NEXT, BOUND, CONTRAST)
    for word in WORD.findall(re.sub(r"\\[a-z]", " ", rule.pattern))
    if word[:4] not in NEUTRAL
}  # fmt: skip
_SIGNS = "[?？±∓⁺<>≥≤≠+–—~…|([❌✗✘吗到至不而最可许设错]"
NEAR_BEFORE = re.compile(
    rf"{_SIGNS}(?=.{{0,3}}\Z)|\\[nglp]|\.\.|-\Z| (?:be|in|within|from|to|of|can) .{{0,4}}\Z", re.S
)
NEAR_AFTER = re.compile(rf"{_SIGNS}|\\[nglp]|\.\.|\A.{{0,7}}-|\A.{{0,20}} to .*\d", re.S)


def _is_licensed(words: str) -> bool:
    """Return whether the words before a number are of a result, or of its first of two parts."""
    words = f" {words}"
    if LICENSED.search(NO_WORD.sub(" ", words).rstrip()):
        return True
    first = FIRST_DIGIT.match(words)
    return first is not None and LICENSED.search(NO_WORD.sub(" ", first[1]).rstrip()) is not None


def _may_be_doubted(before: str, after: str) -> bool:
    """Return whether any rule may apply: a cheap test that most numbers pass."""
    after = after[:40]
    if NEAR_BEFORE.search(before[-12:].replace("\\(", "")) or NEAR_AFTER.search(after):
        return True
    if "answer" in before:
        said = before.rpartition("answer")[2].strip(" :$*\\({\n").removesuffix("boxed")
        if said.strip(" :$*\\({\n") not in ("", "is"):
            return "=" not in before[-3:]
    around = f"{before} {after}"
    words = (ASCII_WORD if around.isascii() else WORD).findall(around)
    return (
        not TRIGGERS.isdisjoint([word[:4] for word in words])
        or "n't" in around
        or (after[:1] in (" ", ",") and PREDICATE.match(after) is not None)
    )


def _plain(text: str) -> str:
    if "\\" in text or "’" in text or ">" in text or "<=" in text:
        for written, plain in RELATIONS:
            text = text.replace(written, plain)
    return MARKUP.sub(" ", text).replace("  ", " ").replace("  ", " ")


# Next to a number that is part of an expression: "3\\sqrt{13}", "52_8", "4π", "5 + x", "f(15)".
_NAMES = (
    r"(?:pi|theta|alpha|beta|gamma|lambda|phi|sqrt|sin|cos|tan|log|ln|exp|infty|vec|binom"
    r"|[dt]?frac)"
)
_SYMBOL = (
    rf"(?:\\{_NAMES}\b|[πθλαβφ√∛∞]|(?<![A-Za-z])a(?=\s?[+*/^])|\b(?:sqrt|sin|cos|tan|ln|log|exp"
    rf"|pi)\b|(?<![A-Za-z])[b-hj-zB-HJ-Z](?![\w'’:]))"
)
_ORDINAL = r"(?:\\(?:text|mathrm|rm) ?\{? ?)?(?:st|nd|rd|th)\b"
_GAP = r"(?:\s|\\[,;! ]|[$}]){0,3}"
EXPRESSION_BEHIND = re.compile(
    r"(?:[abeijnpqrtuvwxyz](?![\w'’])|[a-z]{1,2}²|(?:ab|uv|xy|yz|xz)\b"
    r"|[hm](?= (?:dollars|euros|\+)))"
    r"|\((?:[\d\s+*/^-]*\b[a-z]\b[\d\s+*/^-]*){1,3}\)|\(\s?[xyzn](?!\w)|\s?/\s?\(\s?[a-z]\b"
    r"|!(?=[.}$)])|_\{?\d|\}\{"
    rf"|{_GAP}(?:\\{_NAMES}\b|[πθλ√∞]|\^(?!\{{?(?:\\circ|{_ORDINAL}))"
    r"|[xyz]{1,3}(?![^\W²³⁴]|['’]|\s?\d))"
    rf"|\s(?:(?:times\s)?pi|\\[bp]?mod|mod|modulo|sqrt|choose|factorial|(?:times|plus"
    rf"|minus)\s[b-z])\b|\s(?:squared|cubed)\b(?! (?:f|m|c|i|k|y))|\s\(mod|{_GAP}(?:[+*×·^]"
    rf"|/(?![hs]\b)|\\(?:times|cdot|div)|[-−–])\s?\(?(?:\d+\s?)?{_SYMBOL}|{_GAP}(?:[*×·^]"
    rf"|\\(?:times|cdot))\s?[a-z](?![\w'’:]|\s[a-z])|{_GAP}\\text\{{ ?times ?\}}"
)
EXPRESSION_BEFORE = re.compile(
    rf"(?:(?:√|\\{_NAMES}|\b(?:sqrt|log|ln|sin|cos|tan|exp|mod)|(?:square|cube)\sroot\sof"
    rf"|logarithm\sof|\\to)"
    r"(?:\[\d\]|_?\{?\d+\}?)?[\s{(]*|(?<![A-Za-z])[a-zA-Z]\(|\([a-z],\s?|\\infty\s?,\s?"
    rf"|(?:{_SYMBOL}|[\dπθλ²³|)}}])\^?\{{?\d{{0,3}}\}}?\s?(?:[+^×*·]|(?<=[a-zA-Zπ])/|\\(?:times"
    rf"|cdot))\s?[{{(]?"
    r"|(?:(?<![A-Za-z])[b-hj-z]|\d[b-z]|²)(?:\^\{?\d\}?)?\s?[-−–]\s?)\Z"
)
OPERAND = re.compile(r"\s?(?:root|over|choose|times the|to the (?:\w+ )?power|to the \w+th)\b")
LETTER = re.compile(r"[a-z]{2}[ $(]{1,2}[f-z](?:[ .,;]|$)(?!\s?[=:$\d])")
WRITTEN_OUT = frozenset(
    r"\cdot \times mod sqrt of log ln sin cos tan exp \sqrt \log \ln \sin \cos \tan \to".split()  # noqa: SIM905
)
BESIDE_EXPRESSION = frozenset("abcdefghijklmnopqrstuvwxyz!(\\_π√∞θλ^}+*×·/-−–$")
# A formula begins and ends with these; a line after "####" is one if it is this short.
FORMULAS, LONGEST_FORMULA = {"boxed{": "}", "$": "$", "\\(": "\\)", "####": "\n"}, 24
# What in a formula is no algebra: texts, commands that only show or join numbers, units.
NO_ALGEBRA = re.compile(
    r"\\(?:text[a-z]{0,6}|emph|mathrm|mathbf|mbox|operatorname|color)\s?\{[^{}]*\}|\\[^a-zA-Z]"
    r"|\\(?:text[a-z]{0,6}|math[a-z]{2}|emph|bm|boldsymbol|[lL]arge|LARGE|mbox|left|right|q?quad"
    r"|boxed|fbox|framebox|underline|displaystyle|space|thinspace|pounds|euro|approx|times|cdot"
    r"|div|circ|degree|Rightarrow|rightarrow)(?![a-zA-Z])"
)
ALGEBRA = re.compile(
    r"\\[a-zA-Z]+|[πθλφ√∞]|(?<![A-Za-z'’])(?![mgshlcaLCFKVWAI](?![A-Za-z]))[A-Za-z](?![A-Za-z'’])"
)
RELATION = re.compile(
    r"=|≈|→|:|\A\s?\(?[A-E][.)]\s|\\(?:approx|sim(?:eq)?|cong|implies|therefore"
    r"|(?:Long)?[rR]ightarrow)(?![a-zA-Z])"
)


def _is_algebraic(text: str, start: int, end: int) -> bool:
    """Return whether the formula that contains a number has a letter in it: "f(15)", "15t + 2"."""
    begin = max(0, start - 48, text.rfind("\n", 0, start))
    before = text[begin:start]
    if "$" not in before and "{" not in before and "#" not in before and "\\(" not in before:
        return False
    left, opener = -1, ""
    for mark in FORMULAS:
        place = before.rfind(mark)
        left, opener = (place, mark) if place > left else (left, opener)
    if left < 0:
        return False
    inside = begin + left + len(opener)
    if opener == "boxed{":
        stop = closing_brace(text, inside, end + 64)
    elif opener == "####":
        length = len(text[inside : inside + LONGEST_FORMULA + 1].partition("\n")[0])
        stop = inside + length if length <= LONGEST_FORMULA else -1
    else:
        stop = text.find(FORMULAS[opener], end, end + 48)
        if text[inside : inside + 1].isdigit() and text[stop : stop + 2].strip("$").isdigit():
            return False  # "$15 and $18" are amounts of money
    before, behind = RELATION.split(text[inside:start])[-1], RELATION.split(text[end:stop])[0]
    return stop >= end and ALGEBRA.search(NO_ALGEBRA.sub(" ", f"{before}0{behind}")) is not None


def is_part_of_expression(text: str, start: int, end: int) -> bool:
    """Return whether a number is a part of an expression that is not a number itself."""
    boxed = text.startswith("}", end) and text.endswith("boxed{", 0, start)
    if boxed and not text[end : end + 12].strip("}$)]. \n*\\"):
        return False
    if _is_algebraic(text, start, end):
        return True
    place = text.rfind("nswer", max(0, start - 80), start)
    if place >= 0:  # "The answer is 15 times the price p."
        stop = text.find(" ", end + 60)
        line = text[place : stop if stop > 0 else len(text)].partition("\n")[0]
        stop = line.find(". ", end - place)
        line = line if stop < 0 else line[:stop]
        if OPERAND.match(line, end - place) or LETTER.search(line, 5):
            return True
    follows = text[end : end + 4].lstrip()[:1]
    if follows in BESIDE_EXPRESSION and EXPRESSION_BEHIND.match(text, end):
        return True
    if text.endswith(("boxed{", " is ", " is $", ": ", ": $", "= ", "= $", "=", "**"), 0, start):
        return False  # as most are
    before = text[max(0, start - 24) : start]
    word = re.split(r"[\s${(]", before.rstrip())[-1]
    if before.endswith(" ") and before[-2:-1].isalpha() and word not in WRITTEN_OUT:
        return False
    return EXPRESSION_BEFORE.search(before.rstrip("$")) is not None
