"""English words the analyzer must know by heart: stop words, contractions, and the regular and irregular inflections.

Inflection is explicit and small, so that `use` meets `uses` and `used` but never `user`; what a stemmer would guess
beyond that is marked as a stem and weighs less.
"""

from __future__ import annotations

import re

_STOP_TEXT = """
    a about above after again all also am an and any are as at be because been before being below between both
    but by can could did do does doing don't down during each either else ever few for from further had has have
    having he her here hers him his how i if in into is it its itself just let like me might more most must my
    myself no nor not now of off on once only or other our ours out over own please same shall she should so
    some such than that the their theirs them then there these they this those through to too under until up
    upon us very was we were what when where which while who whom whose why will with within without would yet
    you your yours isn't aren't wasn't weren't doesn't didn't can't couldn't won't wouldn't shouldn't hasn't
    haven't hadn't it's i'm i've i'd i'll we're we've we'll you're you've they're that's there's what's let's
"""
STOP_WORDS = frozenset(_STOP_TEXT.split())
CONTRACTIONS = frozenset(word for word in STOP_WORDS if "'" in word)

_IRREGULAR_GROUPS = """
begin began begun|break broke broken|bring brought|build built|buy bought|catch caught|choose chose chosen
come came|do did done|draw drew drawn|drive drove driven|eat ate eaten|fall fell fallen|feel felt|find found
fly flew flown|forget forgot forgotten|freeze froze frozen|get got gotten|give gave given|go went gone
grow grew grown|hang hung|hear heard|hide hid hidden|hold held|keep kept|know knew known|lead led|leave left
lose lost|make made|mean meant|meet met|pay paid|rewrite rewrote rewritten|ride rode ridden|ring rang rung
rise rose risen|run ran|say said|see saw seen|sell sold|send sent|shake shook shaken|sing sang sung|sleep slept
speak spoke spoken|spend spent|spin spun|stand stood|steal stole stolen|stick stuck|swim swam swum
take took taken|teach taught|tell told|think thought|throw threw thrown|understand understood|undo undid undone
wake woke woken|wear wore worn|win won|write wrote written|child children|criterion criteria|foot feet
index indices indexes|leaf leaves|life lives|man men|matrix matrices|mouse mice|person people
schema schemata schemas|tooth teeth|vertex vertices|wife wives|woman women"""
IRREGULAR: dict[str, frozenset[str]] = {
    word: frozenset(group.split()) - {word}
    for group in _IRREGULAR_GROUPS.strip().replace("\n", "|").split("|")
    for word in group.split()
}
# Short and long form of one word, and its spellings on both sides of the ocean: what a person means by the one, a note
# says by the other. Nothing that is only alike is here; a vault's own groups stand in its synonyms.toml.
_VARIANT_GROUPS = """
admin administrator|app application|arg argument|auth authentication|config configuration|db database|dep dependency
dev development|dir directory|doc documentation|env environment|func function|img image|info information|js javascript
k8s kubernetes|lib library|max maximum|min minimum|msg message|param parameter|perf performance|pkg package
postgres postgresql|prod production|repo repository|spec specification|sync synchronization|temp temporary|ts typescript
var variable|behavior behaviour|catalog catalogue|center centre|color colour|dialog dialogue|favorite favourite
gray grey|honor honour|initialize initialise|labor labour|license licence|normalize normalise|optimize optimise
organize organise|organization organisation|recognize recognise|serialize serialise|synchronize synchronise
tokenize tokenise|analyze analyse|artifact artefact|cancelled canceled|modeling modelling|fulfill fulfil"""
VARIANTS: dict[str, frozenset[str]] = {
    word: frozenset(group.split()) - {word}
    for group in _VARIANT_GROUPS.strip().replace("\n", "|").split("|")
    for word in group.split()
}
_LONGEST = 32  # letters; what is longer is no English word
_VOWEL = re.compile(r"[aeiouy]")
_SIBILANT = ("s", "x", "z", "ch", "sh")
_DOUBLED = re.compile(r"[^aeiou][aeiou]([bdgklmnprtv])\Z")  # stop -> stopped; no harm where English does not double


def inflections(word: str) -> list[str]:
    """Return the other regular and irregular forms of a lower-case English word, sorted: plurals, -ed and -ing.

    Some are no words at all; they cost a look-up and match nothing. Empty for what is no plain word.
    """
    if not (2 <= len(word) <= _LONGEST and word.isascii() and word.isalpha()):
        return []
    if len(word) == 2:
        return sorted({word + "s", *IRREGULAR.get(word, ())})
    bases = _bases(word)
    # "deployed" and "caches" are inflected already; "need" and "bring" only look so.
    roots = bases if bases and (word.endswith("s") or len(word) > 5) else bases | {word}
    found = set(IRREGULAR.get(word, ())) | roots
    for root in roots:
        found |= _inflect(root) | IRREGULAR.get(root, frozenset())
    return sorted(found - {word})


def variants(word: str) -> list[str]:
    """Return short, long and other spellings of a lower-case English word, inflected too, sorted; usually none."""
    found = {other for form in (word, *inflections(word)) for other in VARIANTS.get(form, ())}
    return sorted({form for other in found for form in (other, *inflections(other))} - {word})


def _bases(word: str) -> set[str]:
    """What `word` may be an inflection of."""
    bases: set[str] = set()
    if word.endswith(("ies", "ied")) and len(word) > 4:
        bases.add(word[:-3] + "y")
    elif word.endswith("es") and word[:-2].endswith(_SIBILANT):
        bases |= {word[:-2], word[:-1]}
    elif word.endswith("s") and not word.endswith(("ss", "us", "is")):
        bases.add(word[:-1])
    for ending in ("ed", "ing"):
        stem = word.removesuffix(ending)
        if stem == word or len(stem) < 2 or not _VOWEL.search(stem):
            continue
        bases.add(stem + "e")
        if len(stem) >= 3:
            bases.add(stem)
            if stem[-1] == stem[-2] and stem[-1] not in "aeious":
                bases.add(stem[:-1])
    return bases


def _inflect(base: str) -> set[str]:
    stem = base[:-1] if base.endswith("e") and not base.endswith(("ee", "oe", "ye")) else base
    forms = {stem + "ing"}
    if base.endswith("y") and base[-2] not in "aeiou":
        forms |= {base[:-1] + "ies", base[:-1] + "ied"}
    else:
        forms.add(base + ("es" if base.endswith(_SIBILANT) else "s"))
        if base not in IRREGULAR and not (len(base) == 3 and base.endswith("ee")):  # no "seed" of see, no "feed" of fee
            forms.add(base + ("d" if base.endswith("e") else "ed"))
    if _DOUBLED.search(base):
        forms |= {base + base[-1] + "ed", base + base[-1] + "ing"}
    return forms
