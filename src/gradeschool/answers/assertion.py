"""Whether a sentence asserts a number as its result.

A number is an answer only if its sentence asserts it plainly. Four rules, of which the words are
closed classes of a language (negations, modal verbs, conjunctions, prepositions), not a list of all
ways to doubt:

1. Its clause has no negation, no modal of possibility and no condition, and is no question.
2. What governs its clause asserts: "this means that it is 15" does, "Tom claims that it is 15" not.
3. A number that is the subject is asserted by "is the answer" and by the plural ("15 are left").
   Every other predicate judges it: "15 violates the budget".
4. Nothing bounds it: "15 to 18", "over 15", "15 ± 3".

Words of the question are no doubt: it may ask how many did *not* come.
"""

from __future__ import annotations

import re
from functools import lru_cache

from gradeschool.answers.quantities import WrittenNumber
from gradeschool.answers.search import closing_brace

REACH = 140  # characters before and after a number that may deny it
# LaTeX and emphasis between words.
MARKUP = re.compile(
    r"\\(?:text|textbf|mathrm|mathbf|mbox|f?boxed|left|right|quad)\b|\\[()\[\],;:! $]"
    r"|</?[|a-z_]{3,20}>|[*_`{}$\"“”#]+|\\|\s+"
)
RELATIONS = (
    ("\\neq", "≠"), ("\\ne", "≠"), ("\\geq", "≥"), ("\\leq", "≤"), ("\\ge", "≥"), ("\\le", "≤"),
    ("\\gt", ">"), ("\\lt", "<"), (">=", "≥"), ("<=", "≤"), ("=>", "≥"), ("\\pm", "±"),
    ("\\in", "∈"), ("\\ldots", "…"), ("\\dots", "…"), ("’", "'"),
)  # fmt: skip
WORKED_BEFORE = ("=", "≈", "→", "-", "+", "*", "/", "×", "÷", "−")
ABBREVIATIONS = ("max", "min", "approx", "ca", "vs", "i.e", "e.g")
ABBREVIATED = re.compile(r"\b(max|min|approx|ca|vs|i\.e|e\.g)\. ")
COPULA = re.compile(r" (?:is|are|was|were|be)$")
PARENTHESIS = re.compile(r", [^,]*,$")  # "not, as some claim, 15"
# A new clause begins after one of these, unless only the number follows.
CLAUSE = re.compile(
    r"(?:[,:=]|\b(?:so|then|therefore|thus|hence|instead|because)) (?=\S)"
    r"|(?:;|\b(?:(?<!anything )but|aber|sondern|pero|sino|mais))(?: |$)|\b(?:no|nope), (?=\w)"
)
NEGATION = re.compile(
    r"\b(?:not(?! (?:only|just|surpris\w*|includ\w*|count\w*))|never|neither|nor|none|nobody"
    r"|nothing"
    r"|hardly|scarcely|barely|cannot|without|except|far from|nowhere|(?:other|rather) than"
    r"|instead of"
    r"|opposed to|versus$|vs\.?$|differ(?:s|ent)? from|anything but|no way"
    r"|(?:by|in|under) no \w+|keine?|nicht|statt|pas|niet|geen|não|non|нет|не|вместо)\b(?!-)"
    r"|n't\b|≠|不是|而非"
    r"|\bno(?= (?:son|es|hay|\w+ (?:son|es))\b)|\b(?:certainly |definitely |clearly )?no$"
    r"|(?:en lugar|en vez|em vez|au lieu|invece|ao invés) d\w+"
)
# Denied with a comparison, it is the most or the least: "he cannot buy more than 15".
EXTREME = re.compile(r"\b(?:more|less|fewer|longer|later) than$")
COMPARED = re.compile(r"(?<!\bno )\b(?:more|less|greater|fewer) than$|\bcompared (?:to|with)$")
ONE_OF = re.compile(r"\bone of (?:these:? |the \w+:? )?[\d.,$ ]*(?:and|or)?$")
ABLE = re.compile(r"\b(?:can't|cannot|couldn't|could not|unable)\b")
# "the number of cards [that were not sold] is": what defines the subject.
DEFINING = re.compile(
    r"^(?P<head>(?:the|an?|his|her|their|its|our|each|\w+'s?|\w+s') .*?) (?:that|who|which|if"
    r"|when|while|not"
    r"|without|after|before|by|versus|can|could) .*(?= (?:is|are|was|were|(?:would|will"
    r"|can) be)(?: \w+|:)?$)"
)
POSSIBLE = re.compile(
    r"\b(?:may|might|maybe|perhaps|possibly|potentially|conceivably|vielleicht|könnten?|podría\w*"
    r"|tal ?vez|quizás?|peut-être|pourrait|serait|forse|potrebbe\w*|poderia\w*|misschien|возможно"
    r"|может)\b(?!'s)|\b(?:it|this|that|answer|result|which|there)(?: \w+)? c(?:ould"
    r"|an)(?: \w+){0,3} (?:be|equal|come to|work)$"
    r"|\b(?:w|sh|c)ould have (?:been|had)$"
    r"|\bpossible (?:answers?|values?|results?)\b"
    r"|\b(?:either|both|(?<!each )one of|among|between|some|any)(?: \w+:?)?(?: [\d.,]+ (?:and"
    r"|or))?$|\bso (?:is|are)$"
    r"|\b(?:one|first|second|other|another) (?:option|candidate|choice|possibility|reading)\b"
    r"|\bthe other$"
    r"|^(?:option|case|scenario|choice) \w+(?::| \w+)?$|可能|也许|或许|もしかして|たぶん"
)
CONDITION = re.compile(
    r"^(?:although|though|while|even)\b(?!.*,$)|(?:^|\b(?:and|or|that|see|check|know|decide|asks?|sure"
    r"|clear) )(?:if|whether|unless|had|were|wenn|falls"
    r"|ob|si|se|если|soit)\b|\b(?:whether|if (?:you|they|we|someone|it|he|she|that)|depend\w*"
    r"|provided"
    r"|hypothe\w+)\b|假设|如果"
)
# What governs "that it is 15", and the subject before it.
GOVERNED = re.compile(
    r"^(?:(?:and|now|well|also) )?(?!(?:the|an?|his|her|our|their|my|all|that|this|for|in|on|at"
    r"|by|with|of|to|after) )"
    r"(?P<subject>(?:[a-z']+ ){1,3}?)"
    r"(?P<verb>[a-z]+) (?:(?P<that>that|whether) (?!(?:[a-z]{3,}s|is)\b)|it (?:is|was)"
    r"|there (?:is|are))"
)
# Stems of the verbs that govern a clause without "that": "some say it is 15". Any other word there
# is no verb: "each week there are 15".
REPORTS = (
    "say", "said", "claim", "insist", "swear", "swore", "assert", "argue", "think", "thought",
    "believe", "hope", "hoping", "wish", "guess", "suspect", "suppos", "assum", "imagin", "expect",
    "estimat", "predict", "fear", "doubt", "den", "joke", "bet", "reckon", "feel", "felt", "hear",
    "pretend", "ask", "wonder", "want", "told", "tell", "propos", "suggest", "mean",
)  # fmt: skip
FACTIVE = frozenset(
    """
    means mean so implies imply shows show know see find finds found follows conclude concludes
    concluded tells tell calculated determine determined get gets is was such seems appears given
    say says assuming understand gives indicates suggests think believe guess sure confident
    and or the all now note notice realize time than as surprising clear true obvious known
    out last again
    """.split()  # noqa: SIM905
)
FIRST_PERSON = frozenset(("think", "believe", "guess", "say", "sure", "confident"))
# Sentences and labels that only try, judge or ask: stems, in a clause before or after the number.
JUDGED = re.compile(
    r"\b(?:wrong|incorrect|mistak|err(?:s|ed|on|or)|false|untrue|mis(?:calc|read|count)|contradict"
    r"|impossib|unlikely|unsure|uncertain|invalid|absurd|nonsens|doubt(?:s|ful)?\b|inaccura"
    r"|reject|rul(?:e[sd]?|ing) out"
    r"|naive|sloppy|cross(?:ed|es)? out|discard|exclud|eliminat|disregard|ignor|forget\b|retract"
    r"|refus|deny|denie|(?:first|wild|rough|a) guess|disagree|hunch"
    r"|^(?:guess|candidates)\b|trap\b|tempting|careless|plausible|unclear|hesitat|wonder"
    r"|falsch|verkehrt|faux\b|fauss|errad|sbagliat|errón|неверн|неправил)|错|不对|不正确|間違"
)
# "the number of wrong answers is": what is counted, is not judged.
COUNTED_BEFORE = re.compile(
    r"\b(number|amount|share|percentage) of (?:[a-z'-]+ ){1,8}?(?:is|are|was|were)(?: [a-z]+|:)?$"
)
VARIABLE = re.compile(r"\b[a-z] ?=$")
# Commands: a clause without a subject.
COMMAND = re.compile(
    r"^(?:(?:now|first|so|and|please|just) )*"
    r"(?:(?:let's|let (?:us|me)|i'll|to|we|i|can|will|could|trying) )*"
    r"(?:(?:suppose|supposing|assume|assuming|imagine|pretend|try|trying|test|testing|consider"
    r"|check|verify"
    r"|angenommen|supon\w*|supposons)"
    r"|(?<!\bi )(?<!\bwe )(?<!\bcan )(?:let|say|put(?! together)|set|take|pick|choose"
    r"|select|substitute|plug|start|begin|see|decide|what about|how about"
    r"|why not|scratch|write|avoid))\b[^,:]*$"
)
# Subjects: nothing but the number, or "the value 15".
SUBJECT = re.compile(
    r"^(?:(?:and|so|thus|hence|therefore|then|but|clearly|although|though|also|while|since"
    r"|that) ,? ?)*"
    r"(?:(?:the|an?|this|that|my|our|your|his|her) (?:[a-z]+ )?(?:value|answer|number|result"
    r"|total|guess|figure|amount|sum) (?:of )?)?$"
)
PREDICATE = re.compile(
    r"^(?: (?!is|was|would|could|can|may|might|must|will|does|did|do|has|had|makes|looks"
    r"|seems)[a-z%]+){0,2}"
    r" (?P<verb>is|was|isn't|wasn't|would|wouldn't|could|couldn't|can|can't|cannot|may|might|must"
    r"|will"
    r"|won't|does"
    r"|doesn't|did|didn't|do|don't|has|had|hasn't|gets?|turns?|seems?|looks?|sounds?|feels?"
    r"|appears?|ain't"
    r"|(?:results?|comes?|came|stems?) from|(?:[a-z]{3,}s|fell|failed) (?:the|no|our|nowhere"
    r"|short of))\b"
    r"(?P<rest>[^.;,!]*)"
)
COUNTED = re.compile(
    r"^ (?!is\b|was\b|would\b)[a-z]+ (?:[a-z]+ )?(?:did|do|can|could|will|would|had|has|may|must"
    r"|cannot|can't|don't|didn't)\b"
)
IS_RESULT = re.compile(
    r"^(?: (?:be|indeed|thus|therefore|also|then|now|still|really|in fact|clearly|obviously))*"
    r" (?:\d|(?:(?:the|our|your|my|his|her|their|its|how|what (?:he|she|it|they|we|is|remains)"
    r"|enough|correct|right|left|needed|required|remaining"
    r"|in total|more|less|half|twice|equal|because|since|for|per|each|all|also)\b(?! possib"
    r"| guess| option| candidate)))"
)
# After a number: a bound, a tolerance, a range, another offer.
OPEN_ENDED = re.compile(
    r"^(?: ?(?:%|[a-z]{1,12}))? ?"
    r"(?:±|[+]/?[-−]|plus or minus|plus ?/ ?minus|,? ?give or take|with an error|and (?:up|above"
    r"|over|more|below|under)\b(?! \w+ [a-z])"
    r"|[<>≤≥] ?[a-z\d]|[+](?! ?[(\d])|,? ?if not more|,? (?:possibly|maybe|perhaps|or even)\b"
    r"|,? or (?:even |maybe |perhaps )?(?:more|less|fewer|so|higher|lower|above|below|greater"
    r"|under|over|better|worse"
    r"|thereabouts|larger|smaller)\b|[- –]?plus(?=[.,]| ?$)|tops\b|(?:at"
    r"|or) (?:the )?(?:very )?(?:most|least|best|latest|worst)\b"
    r"|(?:at )?(?:max|max(?:imum)|min(?:imum))\b(?= ?(?:[.,;)]|$))|[(] ?(?:wrong|incorrect|at "
    r"|not(?! \d)|min|max|±|false|guess|maybe)|[❌✗✘]|may be\b|maybe\b)"
)
TO = re.compile(
    r"^(?: [a-z]{1,12})? ?(?:(?:up )?to(?: about| around)?|through|until|till|bis|hasta|à|до"
    r"|[-–—~]+|\.\.+|…|到|至)[ $]*(?=\d)"
)
RANGE = re.compile(r"\b(?:from|between|от) [\d.,]+ ?[-–—]$")
WORKED = re.compile(r"^[\d.,]+(?: ?[a-z%]+){0,2} ?[-+*/×÷=≈x]")
OR_OTHER = re.compile(
    r"^(?: [a-z]{1,12})?(?:,? or (?:maybe|perhaps|possibly|even)| [(]or(?= \d[\d.,]*\))| vs\.?"
    r"| ?\|) ?\d[\d.,]*(?! ?%)"
)
# A sentence that only supposes: no figure is worked out from its condition.
SUPPOSITION = re.compile(
    r"^(?:so |then )?(?:(?:if|unless|provided|as long as|depending|in (?:that|this) case"
    r"|hypoth\w+|erroneously"
    r"|(?:wrong|mistaken|incorrect|suppos\w+|alleg\w+)ly)\b[^\d=]*,"
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
    r"(?:^|[:=#]|\b(?:answer|result|it|antwort|respuesta|réponse|risposta|resposta|antwoord"
    r"|ответ)\b(?: (?:is|was|comes|lies|ranges?|must|be|ist|es|est|è|é))*|^(?:x|n) is) ?"
    r"(?:(?:about|just|well|slightly|roughly|a (?:bit|little)|not|no|the) )*"
    r"(?:up to|as (?:much|many|low|high|few) as|at (?:the )?(?:very )?(?:least|most|best|minimum"
    r"|maximum)"
    r"|\w+ than|over|under|below|above|beyond|past|within(?: \d+ of)?|(?:a )?(?:min"
    r"|max)(?:imum)?\.?:?(?: of)?"
    r"|any\w* (?:from|between|in|above|below)|(?:somewhere |anywhere )?(?:from|between)"
    r"|in(?: the \w+)?(?: from)?(?: [\[(])?"
    r"|(?:short|north|south|upwards?|in excess|of|out) of|bounded(?: \w+)? by|(?:limited"
    r"|capped)(?: \w+)? (?:to|at)|exceeds"
    r"|mindestens|höchstens|bis zu|zwischen|(?:mehr|weniger) als|entre|au (?:moins|plus|maximum)"
    r"|(?:plus|moins|más|menos) de"
    r"|(?:al|pelo) menos|almeno|minstens|не менее|не более|от)$|(?:[≥≤<]|(?<!-)>|∈ ?[\[(]"
    r"|[\[(] ?[\d.]+[,;]|\[|\b(?:from|between|от) [\d.,]+(?: \w+)? (?:to|and|до)|至少|最多)$"
)
# "15, which is wrong", "15, but that is not it"
REMARK = re.compile(
    r"[^.;\d]{0,30},? (?:(?:but|and|though) )?(?:that|this|it|which)"
    r"((?: is|'s| was| would| can)[^.;\d]*)"
)
AFTER_CLAUSE = re.compile(
    r"[.!;](?: |$)|,|\b(?:but|so|because|since) (?!(?:it|that) is (?:not|wrong))"
)
# "15 mistakes", "15 answers were wrong", "15 did not fail"
COUNTED_ERRORS = re.compile(
    r"(?: [a-z]+){0,5} (?:are|were|did|do|have|had)\b"
    r"| [a-z]*(?:mistakes|errors|wrong|false|in\w+|im\w+|possib\w+|candidates)\b"
)
# "the answer is ... 15": what may be between the verb and its number.
INNER = re.compile(
    r"(?:\b(?:answer|result|solution)|(?:^|that |and )it|\b(?:antwort|respuesta|réponse|risposta"
    r"|resposta|antwoord))"
    r" (?:is|was|(?:will|must|should|would) be|ist|es|est|è|é)(?P<inner>(?: [^ ]+)+)$"
)
PLAIN_INNER = re.compile(
    r"(?:[ ,:(]*(?:thus|therefore|then|now|so|hence|also|again|still|indeed|exactly|about"
    r"|approximately|approx\.?"
    r"|roughly|around|precisely|only|just|simply|clearly|obviously|definitely|certainly|of course"
    r"|equal to|found to be"
    r"|given by|going to be|in fact|finally|always|actually|really|worth|negative|minus|almost"
    r"|nearly|merely|that|as follows|option"
    r"|an? (?!minimum|maximum|guess)(?:\w+ ){1,2}of|[a-z] ?[=:]|(?:correct|right):|[(]?[a-e][).]"
    r"|[$€£¥(\[=]|us\$|[a-z]:|[\d.,]+.*|another"
    r"|(?:the|how|what|his|her|their|our|when|because|if) .*|(?:[^ ]+ ){1,8}?(?:is|are|was|were"
    r"|has|have|had|can|will|would|should|must|[a-z]{3,}s|[a-z]{3,}ed|be|to|of|and) .*))*[ (]*"
)
ANSWER_WORD = re.compile(
    r"\b(?:answer|antwoord|antwort|respuesta|réponse|resposta|risposta|ответ)\b"
)
PAIRED = re.compile(r"[,;] ?[\da-z∞]")
WOULD = re.compile(r"\b(?:answer|it|result)\b.* would\b")
WOULD_IF = re.compile(r"^(?: \w+){0,2} if\b")
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
    begin = max(start, number.start - REACH)
    line = text.rfind("\n", begin, number.start) + 1
    if line and not text[line : number.start].strip(" *$\\[({"):
        line = text.rfind("\n", begin, line - 1) + 1  # a number on a line of its own, unmarked
    begin, is_cut = max(begin, line), begin > start and not line
    announced = max(
        text.rfind("The answer", begin, number.start),
        text.rfind("The final answer", begin, number.start),
    )
    if announced > begin:
        begin, is_cut = announced, False  # the sentence before it has no full stop
    stop = text.find("\n", number.end, min(end, number.end + REACH))
    stop = min(end, number.end + REACH) if stop < 0 else stop
    sentence = max(
        text.rfind(". ", begin, number.start),
        text.rfind("? ", begin, number.start),
        text.rfind("! ", begin, number.start),
    )
    if sentence < 0 or text[max(0, sentence - 6) : sentence].lower().endswith(ABBREVIATIONS):
        sentence = begin
    if not _may_be_doubted(text[sentence : number.start].lower(), text[number.end : stop].lower()):
        return None
    before = ABBREVIATED.sub(r"\1 ", _plain(text[begin : number.start])).rstrip()
    after = _plain(text[number.end : stop])
    opened = max((before + " ").rfind(mark) for mark in (". ", "? ", "! "))
    whole = not is_cut or opened >= 0
    before = PARENTHESIS.sub("", before[opened + 1 :].lstrip())
    clause = before
    for edge in CLAUSE.finditer(before):
        clause, whole = before[edge.end() :], True
    worked = before.endswith(WORKED_BEFORE)
    if ASKS.match(after) and not worked:
        return "asked"
    if NEXT.match(after):
        return "denied"
    asked = question.lower()
    core = DEFINING.sub(r"\g<head>", clause)
    if not whole and COPULA.search(clause):
        core = ""  # the long definition of a subject
    # A box asserts by itself, unless "not" is right before it.
    boxed = text.endswith("boxed{", 0, number.start)
    near = " ".join(core.split()[-3:]) if boxed else core
    if not worked and NEGATION.search(near) and not NEGATION.search(asked):
        if not EXTREME.search(core):
            return "denied"
        asks = marked or ANSWER_WORD.search(clause)
        return "bounded" if asks and not ABLE.search(core) else None
    judging = "" if worked else COUNTED_BEFORE.sub(r"\1", clause)
    if _is_judged(judging, after) and not JUDGED.search(asked):
        return "judged"
    if whole and (not worked or VARIABLE.search(clause)) and COMMAND.match(clause):
        return "supposed"
    if not worked:
        if COMPARED.search(core):
            return "compared"
        if POSSIBLE.search(core) or ONE_OF.search(before):
            return "possible"
        if CONDITION.search(core) or (whole and SUPPOSITION.match(before)):
            return "supposed"
        governed = GOVERNED.match(clause) if whole else None
        if governed is not None:
            subject, verb = governed["subject"].split(), governed["verb"]
            own = verb not in FIRST_PERSON or subject[-1] in ("i", "we", "can", "i'm", "am")
            reports = governed["that"] or verb.startswith(REPORTS)
            if reports and (verb not in FACTIVE or not own):
                return "governed"
        if whole and SUBJECT.match(before + " " if before else ""):
            predicate = PREDICATE.match(after)
            if predicate and not COUNTED.match(after):
                denies = predicate["verb"].endswith(("n't", "cannot"))
                if denies or not IS_RESULT.match(predicate["rest"]):
                    return "a subject"
    if OPEN_ENDED.match(after) or RANGE.search(before):
        return "bounded"
    if not before and OR_OTHER.match(after):
        return "one of several"
    inner = None if worked else INNER.search(clause)
    if inner is not None and not PLAIN_INNER.fullmatch(inner["inner"] + " "):
        return "qualified"
    if not marked and not ANSWER_WORD.search(clause):
        return None
    if BOUND.search(before) or (before.endswith(("(", "[")) and PAIRED.match(after)):
        return "bounded"
    to = TO.match(after)
    if to is not None and WORKED.match(after, to.end()) is None:
        return "bounded"
    if WOULD.search(clause) and WOULD_IF.match(after):
        return "supposed"
    return "one of several" if OR_OTHER.match(after) else None


# What every rule of this module needs near a number: the first six letters of a word anywhere
# before it or soon after it, a word right before, a word right after, or a sign.
def _beginnings(words: str) -> frozenset[str]:
    return frozenset(word[:6] for word in words.split())


ANYWHERE = _beginnings("""
    not never neither nor none nobody nothing hardly scarcely barely cannot without except far
    nowhere other rather instead opposed different differs anything under no keine kein nicht
    statt pas niet geen não non нет не вместо en em invece ao may might maybe perhaps possibly
    potentially conceivably vielleicht könnten podría tal talvez quizás peut-être pourrait
    serait forse potrebbe poderia misschien возможно может possible option case scenario choice
    other if whether unless wenn falls ob si se если soit depends provided hypothetically
    although though while even wrong incorrect mistake error err errs errone false untrue
    miscalc misread miscount contradict impossible unlikely unsure uncertain invalid absurd
    nonsense doubt reject rule ruled ruling exclude eliminate disregard ignore forget retract
    refuse deny denied guess hunch trap tempting careless sloppy naive crossed crosses plausible
    unclear hesitate wonder falsch verkehrt faux fausse errad errado errada disagree sbagliat
    errón неверн неправил let let's suppose assume imagine pretend try trying testing consider
    verify scratch avoid angenommen supon decide substitute plug pick choose select according
    wrongly allegedly mistakenly erroneously just nope wonders asks claims discards discarded
    candidates candidate inaccurate n't
""")
FIRST = _beginnings(
    "as no any say put set take see start begin what how why check write test had were"
)
RIGHT_BEFORE = _beginnings("""
    as but way larger smaller higher lower bigger greater be equal to come work been had both
    one among between some any either no these of than over under below above beyond past within
    minimum maximum min max least most best from in by at exceeds zu als entre moins plus
    maximum de menos almeno minstens mindestens höchstens zwischen менее более от and vs
""")
RIGHT_AFTER = _beginnings("""
    is was would could can may might must will does did do has had gets turns seems looks sounds
    feels appears results comes came stems or most least best latest up above over below under
    plus give tops max maximum minimum maybe possibly perhaps vs with fails violates makes leads
    falls contradicts overshoots through until till bis hasta à до
""")
SIGNS_AFTER = frozenset("?？±<>≤≥+–—~…|(❌✗✘吗到至")
SIGNS_BEFORE = frozenset("[(<>≥≤≠不而至最可许设错")
PAIRS_AFTER, PAIRS_BEFORE = ("..", "\\p", "\\l", "\\g"), ("\\n", "\\g", "\\l")
GOVERNS = ("that it", "that th", "that sh", "that he", " it is", " it was", "there are", "there is",
           "one of ")  # fmt: skip
# A number between one of these and the end of its line is part of no other sentence.
ANNOUNCED = tuple(
    f"{marker} {sign}"
    for marker in ("####", "The answer is", "The answer is:", "The final answer is")
    for sign in ("", "$")
)
SPACES = str.maketrans(dict.fromkeys('*_$(){}[]\\,;:.!"“”#=', " ") | {"’": "'"})


def is_plainly_stated(text: str, number: WrittenNumber) -> bool:
    """Return whether nothing but a marker is before a number, and nothing after it in its line."""
    end = number.end + text.startswith(".", number.end)
    return text[end : end + 1] in ("", "\n") and text.endswith(ANNOUNCED, 0, number.start)


@lru_cache(16)  # a number is asked about in its sentence, and again when it is chosen
def _may_be_doubted(before: str, after: str) -> bool:
    """Return whether any rule may apply: a cheap test that most numbers pass."""
    near = after[:40]
    last = before[-12:].replace("\\(", "")
    if not SIGNS_AFTER.isdisjoint(near) or not SIGNS_BEFORE.isdisjoint(last):
        return True
    if any(map(near.__contains__, PAIRS_AFTER)) or any(map(last.__contains__, PAIRS_BEFORE)):
        return True
    if before.endswith(("-", "–", "—")):
        return True
    if "n't" in before or "n't" in near or "n’t" in before:
        return True
    words = [word[:6] for word in before.translate(SPACES).split()]
    following = [word[:6] for word in near.translate(SPACES).split()]
    if not ANYWHERE.isdisjoint(words) or not ANYWHERE.isdisjoint(following):
        return True
    if words and (words[-1] in RIGHT_BEFORE or not FIRST.isdisjoint(words[:2])):
        return True
    if not RIGHT_AFTER.isdisjoint(following[:4]) or any(map(before.__contains__, GOVERNS)):
        return True
    return "to" in following[:3] or "-" in near[:8]


def _is_judged(clause: str, after: str) -> bool:
    if JUDGED.search(clause):
        return True
    remark = REMARK.match(after)
    if remark is not None and (JUDGED.search(remark[1]) or NEGATION.search(remark[1])):
        return True
    rest = AFTER_CLAUSE.split(after, maxsplit=1)[0]
    return JUDGED.search(rest) is not None and not COUNTED_ERRORS.match(rest)


def _plain(text: str) -> str:
    if "May" in text:
        text = MAY.sub("M", text)
    text = text.lower()
    if "\\" in text or "=" in text or "’" in text:
        for written, plain in RELATIONS:
            text = text.replace(written, plain)
    return MARKUP.sub(" ", text).replace("  ", " ").replace("  ", " ")


# Next to a number that is part of an expression: "3\\sqrt{13}", "52_8", "4π", "5 + x", "f(15)".
_NAMES = (
    r"(?:pi|theta|alpha|beta|gamma|lambda|phi|sqrt|sin|cos|tan|log|ln|exp|infty|vec|binom"
    r"|[dt]?frac)"
)
_SYMBOL = (
    rf"(?:\\{_NAMES}\b|[πθλαβφ√∞]|\b(?:sqrt|sin|cos|tan|ln|log|exp|pi)\b"
    r"|(?<![A-Za-z])[b-hj-zB-HJ-Z](?![\w'’:]))"
)
_GAP = r"(?:\s|\\[,;! ]|[$}]){0,3}"
EXPRESSION_BEHIND = re.compile(
    r"(?:[abeijnpqrtuvwxyz](?![\w'’])|[a-z]{1,2}²|(?:ab|xy|yz|xz)\b|[hm](?= (?:dollars|euros|\+)))"
    r"|\((?:[\d\s+*/^-]*\b[a-z]\b[\d\s+*/^-]*){1,3}\)|\(\s?[xyzn](?!\w)|!(?=[.}$)])|_\{?\d|\}\{"
    rf"|{_GAP}(?:\\{_NAMES}\b|[πθλ√∞]|\^|[xyz]{{1,3}}(?![^\W²³⁴]|['’]|\s?\d))"
    r"|\s(?:(?:times\s)?pi|mod|modulo|sqrt|choose|factorial|(?:times|plus|minus)\s[b-z])\b"
    r"|\s(?:squared|cubed)\b(?! (?:f|m|c|i|k|y))|\s\(mod"
    rf"|{_GAP}(?:[+*×·^]|/(?![hs]\b)|\\(?:times|cdot|div)|[-−–])\s?\(?(?:\d+\s?)?{_SYMBOL}"
    rf"|{_GAP}(?:[*×·^]|\\(?:times|cdot))\s?[a-z](?![\w'’:]|\s[a-z])"
    rf"|{_GAP}\\text\{{ ?times ?\}}"
)
EXPRESSION_BEFORE = re.compile(
    rf"(?:(?:√|\\{_NAMES}|\b(?:sqrt|log|ln|sin|cos|tan|exp|mod)|(?:square|cube)\sroot\sof"
    rf"|logarithm\sof|\\to)"
    r"(?:\[\d\]|_?\{?\d+\}?)?[\s{(]*"
    r"|(?<![A-Za-z])[a-zA-Z]\(|\([a-z],\s?|\\infty\s?,\s?"
    rf"|(?:{_SYMBOL}|[\dπθλ²³|)}}])\^?\{{?\d{{0,3}}\}}?\s?(?:[+^×*·]|(?<=[a-zA-Zπ])/|\\(?:times"
    rf"|cdot))\s?[{{(]?"
    r"|(?:(?<![A-Za-z])[b-hj-z]|\d[b-z]|²)(?:\^\{?\d\}?)?\s?[-−–]\s?)\Z"
)
WRITTEN_OUT = frozenset(
    "mod sqrt of log ln sin cos tan exp \\log \\ln \\sin \\cos \\tan \\to".split()  # noqa: SIM905
)
# Quick tests: most numbers have a plain word behind them, or "=" before them.
UNIT_BEHIND = re.compile(
    r"\s(?!times|plus|minus|mod|sqrt|choose|factorial|squared|cubed|[xyz]{3}\b)[A-Za-z]{3,}[\s.,;!?]"
)
BEFORE_EXPRESSION = frozenset("√∞]}|)²³+^×*·/-−–,\\")
BESIDE_EXPRESSION = frozenset("abcdefghijklmnopqrstuvwxyz!(\\_π√∞θλ^}+*×·/-−–$")


# A formula: after a marker or between marks of mathematics. What in it is no algebra.
OPENERS = ("boxed{", "$", "\\(", "####")
NO_ALGEBRA = re.compile(
    r"\\(?:text[a-z]{0,6}|emph|mathrm|mathbf|mbox|operatorname|color)\s?\{[^{}]*\}|\\[^a-zA-Z]"
    r"|\\(?:text[a-z]{0,6}|math[a-z]{2}|emph|bm|boldsymbol|[lL]arge|LARGE|mbox|left|right|q?quad"
    r"|boxed|fbox|framebox|underline|displaystyle|space|thinspace|pounds|euro"
    r"|approx|times|cdot|div|circ|degree|Rightarrow|rightarrow)(?![a-zA-Z])"
)
ALGEBRA = re.compile(
    r"\\[a-zA-Z]+|[πθλφ√∞]|(?<![A-Za-z'’])(?![mgshlcaLCFKVWAI](?![A-Za-z]))[A-Za-z](?![A-Za-z'’])"
)
RELATION = re.compile(
    r"=|≈|→|:|\\(?:approx|sim(?:eq)?|cong|implies|therefore|(?:Long)?[rR]ightarrow)(?![a-zA-Z])"
)


def is_algebraic(text: str, start: int, end: int) -> bool:
    """Return whether the formula that contains a number has a letter in it: "f(15)", "15t + 2"."""
    begin = max(0, start - 48)
    left, opener = max((text.rfind(mark, begin, start), mark) for mark in OPENERS)
    inside = left + len(opener)
    if left < 0 or "\n" in text[inside:start]:
        return False
    if opener == "####":
        stop = text.find("\n", end)
        stop = len(text) if stop < 0 else stop
        if stop - inside > 24:
            return False
    elif opener == "boxed{":
        stop = closing_brace(text, inside, end + 64)
    else:
        stop = text.find("$" if opener == "$" else "\\)", end, end + 48)
    if stop < 0 or (
        opener == "$"
        and text[inside : inside + 1].isdigit()
        and text[stop : stop + 2].strip("$").isdigit()
    ):
        return False
    before = RELATION.split(text[inside:start])[-1]
    behind = RELATION.split(text[end:stop])[0]
    return ALGEBRA.search(NO_ALGEBRA.sub(" ", f"{before}0{behind}")) is not None


def is_part_of_expression(text: str, start: int, end: int) -> bool:
    """Return whether a number is a part of an expression that is not a number itself."""
    if text[end : end + 1] in ("", "\n") and text.endswith(("#### ", "#### $"), 0, start):
        return False
    if is_algebraic(text, start, end):
        return True
    follows = text[end : end + 4].lstrip()[:1]
    if (
        follows in BESIDE_EXPRESSION
        and not UNIT_BEHIND.match(text, end)
        and EXPRESSION_BEHIND.match(text, end)
    ):
        return True
    before = text[max(0, start - 24) : start]
    last = before.rstrip(" \n\t{($")[-1:]
    if not last or not (last.isalnum() or last in BEFORE_EXPRESSION):
        return False
    if before.endswith(" ") and before[-2:-1].isalpha() and before.split()[-1] not in WRITTEN_OUT:
        return False
    return EXPRESSION_BEFORE.search(before.rstrip("$")) is not None
