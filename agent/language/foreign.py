"""What is said in another language, or asked of the program itself: answered, and read no further."""

from __future__ import annotations

import re
import unicodedata

from taskloom.memory.words import word_set

from .everyday import EVERYDAY

ONLY_ENGLISH = "I understand only English, so I changed nothing."
WHO_I_AM = (
    "I am Taskloom. I keep your tasks, their values and what they depend on. "
    "Tell me what you plan or what changes, and ask me about it."
)

_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?")

_TELLING = word_set(
    """je tu il elle nous vous ils elles moi qui que quoi quand pourquoi comment où quel quelle est es suis
    sont êtes êtres c'est ai as avons avez ont j'ai veux veut voudrais peux peut pouvez faut fais faire
    dois allons vais pas ne n'est une avec pour dans sans sur chez mais donc aussi très ce cette ces mon
    ma mes ton ta tes notre votre leur bonjour bonsoir salut merci oui non demain hier aujourd'hui soir
    matin acheter ajoute ajouter supprime supprimer annule annuler réserver réserve rendez lundi mardi
    mercredi jeudi vendredi samedi dimanche ich du er wir ihr mich dich mir dir uns wer wie wann wo
    warum welche welcher ist bin bist sind seid habe hast haben möchte möchten will kann kannst können
    muss müssen soll sollen bitte nicht kein keine keinen ein eine einen einem einer und oder aber auch
    mit für ohne auf nach bei zum zur um noch schon mein meine meinen dein deine hallo danke guten ja
    nein doch heute morgen gestern abend uhr kaufen füge hinzu buchen buche plane planen lösche löschen
    ändere ändern verschiebe bestelle mach mache vergiss zeig gib ab aus montag dienstag mittwoch
    donnerstag freitag samstag sonntag yo tú él ella nosotros ustedes quién qué cuándo dónde cómo cuál
    porqué soy eres somos estoy estás está estamos hay tengo tienes tiene quiero quieres quiere puedo
    puedes puede puedas necesito debo hacer no con para por sin sobre pero también muy este esta estos
    mi mis tus nuestro una unos unas y hola gracias buenos buenas sí mañana hoy ayer noche comprar
    compra añadir añade agrega reservar reserva planear cambiar cambia borra haz lunes martes miércoles
    jueves viernes sábado domingo io lui lei noi voi chi che cosa quando perché sono sei siamo ho hai
    abbiamo voglio vorrei posso devo non con per senza ma anche questo questa ciao grazie domani oggi
    ieri comprare prenotare eu você nós quem não com uma para meu minha olá obrigado obrigada amanhã
    hoje quero preciso comprar ik jij wij jullie hebben heb niet een het met voor maar ook naar mijn
    hallo dank morgen vandaag kopen wil graag bedankt tag beaucoup"""
) - word_set("will as am no on me sea sei hay con ma per sin sur non morgen")
"""Words of French, German, Spanish, Italian, Portuguese and Dutch that names seldom have."""

_IN_NAMES = word_set(
    """de la le les du des un el los las del al der die das den dem von vom zu im am van di da do dos il lo
    gli della et en au aux à e o te morgen"""
)
"""Little words of the same that names have, too."""

_ALONE = word_set(
    """bonjour bonsoir salut merci oui hallo danke nein ja hola gracias sí ciao grazie olá obrigado bedankt"""
)
"""Those that are said alone."""

_SHARED = word_set("a an as in on non was will so plan plane hotel budget party restaurant no me us man")
"""Words that English has with one of them."""

_ENGLISH = EVERYDAY - _TELLING - _IN_NAMES - _SHARED

_ABOUT_ME = word_set(
    """who what are is you your do can could does for me here a an the name exactly actually please
    bot robot human person machine program app ai real help hi hello hey and so ok taskloom"""
)
_ASKED = word_set("who what bot robot human person machine program ai real help")
_ME = word_set("you your taskloom")


def fixed_reply(utterance: str) -> str:
    """The reply to what is said in another language, or asked of the program; '' where it is neither."""
    return WHO_I_AM if asks_who(utterance) else ONLY_ENGLISH if foreign(utterance) else ""


def asks_who(utterance: str) -> bool:
    """Whether all that is asked is who or what one talks to, or what that can do."""
    words = [word.lower() for word in _WORD.findall(_full(utterance))]
    asked = {*words}
    return len(words) >= 3 and asked <= _ABOUT_ME and bool(asked & _ASKED) and bool(asked & _ME)


def _full(text: str) -> str:
    return text.replace("’", "'").replace("'re", " are").replace("'s", " is")


def foreign(utterance: str) -> bool:
    """Whether nearly all of a text is in another language; names and words borrowed from one are English."""
    letters = [char for char in utterance if char.isalpha()]
    latin = sum(unicodedata.name(char, "").startswith(("LATIN", "FULLWIDTH LATIN")) for char in letters)
    if 2 * latin < len(letters):
        return True
    words = [word for found in _WORD.findall(utterance) for word in _parts(found.lower())]
    told = sum(word in _TELLING for word in words)
    little = sum(word in _IN_NAMES for word in words)
    english = sum(word in _ENGLISH for word in words)
    if len(words) == 1:
        return words[0] in _ALONE
    return told >= 1 and told + little >= max(2, 3 * english)


def _parts(word: str) -> list[str]:
    """A word, or the two that an apostrophe joins in French: "l'hôtel" is 'le hôtel'."""
    before, mark, after = word.replace("’", "'").partition("'")
    if mark and word not in _TELLING and before in _ELIDED and len(after) > 2:
        return [_ELIDED[before], after]
    return [word.replace("’", "'")]


_ELIDED = {
    "j": "je",
    "l": "le",
    "d": "de",
    "c": "ce",
    "qu": "que",
    "n": "ne",
    "m": "ne",
    "t": "tu",
    "s": "se",
}
