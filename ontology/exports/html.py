"""An ontology as one page for people to read: a diagram, every type and every relation, with examples of pages."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ontology.exports.example_page import example_page
from ontology.exports.markup import asset, escaped
from ontology.exports.svg import to_svg
from ontology.outline import (
    amount,
    bases,
    declared_in,
    deprecation,
    details,
    how_many,
    keys,
    leading_to,
    limits,
    properties,
    sentence,
    starting_at,
    topmost,
)
from ontology.schema import Attribute, Cardinality, Described, EntityType, EnumValue, Ontology, Relation

CONFLICTS = {
    "keep_all": "",
    "latest": "that of the latest document is taken",
    "most_trusted": "that of the most trusted document is taken",
    "error": "it is an error",
}


def to_html(ontology: Ontology) -> str:
    """A page that needs nothing beside itself, and no script but for the search in its table of contents.

    Types have the anchors ``#type-NAME``, relations ``#relation-NAME``. What is inherited is marked with the type that
    declares it.
    """
    title = escaped(ontology.name)
    types = "\n".join(_type(ontology, one) for one in ontology.types.values())
    relations = "\n".join(_relation(ontology, one) for one in ontology.relations.values())
    groups = [_group("types", "Types", types), _group("relations", "Relations", relations)]
    return f"""\
<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}: ontology</title>
<style>
{asset("reference.css")}</style>
</head>
<body>
<div class="wrap">
<header>
<h1>{title}</h1>
<p class="soft">{_counts(ontology)} · version <code>{escaped(ontology.stamp)}</code></p>
<p>{escaped(ontology.description)}</p>
</header>
{_contents(ontology)}
<main>
<div class="diagram" tabindex="0" role="region" aria-label="Diagram">
{to_svg(ontology, linked=True).rstrip()}
</div>
{"".join(groups)}</main>
</div>
<script>
{asset("reference.js")}</script>
</body>
</html>
"""


def _group(name: str, title: str, content: str) -> str:
    return f'<section class="group" id="{name}">\n<h2>{title}</h2>\n{content}\n</section>\n' if content else ""


def _counts(ontology: Ontology) -> str:
    found = ((len(ontology.types), "type"), (len(ontology.relations), "relation"))
    return ", ".join(f"{number} {word}{'' if number == 1 else 's'}" for number, word in found)


def _contents(ontology: Ontology) -> str:
    """The table of contents; what ``search`` looks for is in ``data-words``."""
    lines = ['<nav aria-label="Contents">']
    lines.append('<p id="find" hidden><input id="search" type="search" placeholder="Search" aria-label="Search"></p>')
    lines.append('<p id="none" class="soft" hidden>Nothing is called so.</p>')
    for kind, title, found in (("type", "Types", ontology.types), ("relation", "Relations", ontology.relations)):
        if found:
            items = "".join(_content(kind, one) for one in found.values())
            lines.append(f"<h2>{title}</h2>\n<ul>\n{items}</ul>")
    return "\n".join([*lines, "</nav>"])


def _content(kind: str, one: EntityType | Relation) -> str:
    words = [one.name, one.description, *one.synonyms, *one.attributes]
    words += [word for a in one.attributes.values() for word in (*a.synonyms, *(v.name for v in a.values))]
    words += [one.inverse] if isinstance(one, Relation) else []
    below = ' class="below"' if isinstance(one, EntityType) and one.parent else ""
    listed = escaped(" ".join(dict.fromkeys(" ".join(words).lower().split())))
    return f'<li{below} data-words="{listed}"><a href="#{kind}-{one.name}">{one.name}</a></li>\n'


def _type(ontology: Ontology, one: EntityType) -> str:
    below = [name for name in ontology.types if one.name in bases(ontology, name)]
    facts = {
        "Is a": _links("type", bases(ontology, one.name)),
        "Kinds of it": _links("type", below),
        "Is never also": _links("type", one.disjoint),
        "Key": " · ".join(" + ".join(f"<code>{escaped(part)}</code>" for part in key) for key in keys(one)),
        **_words(one),
    }
    parts = [_heading("type", one, ["abstract"] if one.abstract else []), _described(one), _facts(facts)]
    origins = {a.name: _origin(ontology, one, a) for a in one.attributes.values()}
    ordered = sorted(one.attributes.values(), key=lambda a: origins[a.name] != "")
    rows = [_attribute_row(ontology, a, origins[a.name]) for a in ordered]
    parts.append(_table("Attributes", ("Name", "Values", "Meaning"), rows))
    outgoing = [_relation_row(ontology, r, r.name, r.objects, r.range) for r in starting_at(ontology, one.name)]
    parts.append(_table("Relations from it", ("Name", "Leads to", "Meaning"), outgoing))
    incoming = [
        _relation_row(ontology, r, r.inverse or r.name, r.subjects, r.domain) for r in leading_to(ontology, one.name)
    ]
    parts.append(_table("Relations to it", ("Name", "Come from", "Meaning"), incoming))
    parts.append("" if one.abstract else _example(ontology, one))
    return _article("type", one.name, parts)


def _relation(ontology: Ontology, one: Relation) -> str:
    facts = {
        "From": _ends(ontology, one.domain),
        "To": _ends(ontology, one.range),
        "Objects of a subject": amount(one.objects),
        "Subjects of an object": amount(one.subjects),
        "From the other side": f"<code>{one.inverse}</code>" if one.inverse else "",
        "It is": ", ".join(properties(one)),
        "Where documents differ": CONFLICTS[one.conflict],
        **_words(one),
    }
    rows = [_attribute_row(ontology, attribute, "") for attribute in one.attributes.values()]
    table = _table("Attributes", ("Name", "Values", "Meaning"), rows)
    return _article("relation", one.name, [_heading("relation", one, []), _described(one), _facts(facts), table])


def _article(kind: str, name: str, parts: Iterable[str]) -> str:
    return f'<article id="{kind}-{name}">\n' + "\n".join(part for part in parts if part) + "\n</article>"


def _heading(kind: str, one: EntityType | Relation, marks: list[str]) -> str:
    badges = "".join(f'<span class="badge">{mark}</span>' for mark in marks)
    badges += '<span class="badge gone">deprecated</span>' if one.deprecated else ""
    return f'<h2><a class="anchor" href="#{kind}-{one.name}">{one.name}</a>{badges}</h2>'


def _described(one: Described) -> str:
    gone = f'<p class="gone">Deprecated {escaped(deprecation(one.deprecated))}.</p>' if one.deprecated else ""
    return gone + (f"<p>{escaped(one.description)}</p>" if one.description else "")


def _words(one: Described) -> dict[str, str]:
    """Labels by language, all other words for it, and examples."""
    labels = " · ".join(_tagged(tag, word) for tag, word in one.labels)
    taken = {word for _, word in one.labels}
    translated = {word: tag for tag, words in one.translations for word in words}
    synonyms = " · ".join(_tagged(translated.get(word, ""), word) for word in one.synonyms if word not in taken)
    return {"Called": labels, "Also": synonyms, "For example": escaped(" · ".join(one.examples))}


def _tagged(tag: str, word: str) -> str:
    """A word in its language."""
    return f'<span lang="{tag}">{escaped(word)}</span> <small>{tag}</small>' if tag else escaped(word)


def _facts(facts: Mapping[str, str]) -> str:
    rows = "".join(f"<dt>{name}</dt><dd>{text}</dd>\n" for name, text in facts.items() if text)
    return f"<dl>\n{rows}</dl>" if rows else ""


def _links(kind: str, names: Iterable[str]) -> str:
    return ", ".join(f'<a href="#{kind}-{name}">{name}</a>' for name in names)


def _ends(ontology: Ontology, names: tuple[str, ...]) -> str:
    return " or ".join(_links("type", [name]) for name in topmost(ontology, names))


def _table(title: str, heads: Iterable[str], rows: list[str]) -> str:
    head = "".join(f"<th>{name}</th>" for name in heads)
    body = "\n".join(rows)
    return (
        f"<h3>{title}</h3>\n<table>\n<thead><tr>{head}</tr></thead>\n<tbody>\n{body}\n</tbody>\n</table>"
        if rows
        else ""
    )


def _origin(ontology: Ontology, one: EntityType, attribute: Attribute) -> str:
    """The type that declares an attribute, where that is not the type itself; every type has a name of its own."""
    origin = declared_in(ontology, one.name, attribute.name)
    return "" if origin == one.name else origin


def _attribute_row(ontology: Ontology, attribute: Attribute, origin: str) -> str:
    ends = how_many(attribute)
    marks = '<br><small class="required">required</small>' if attribute.required else ""
    marks += '<br><span class="badge gone">deprecated</span>' if attribute.deprecated else ""
    marks += f"<br><small>from {_links('type', [origin])}</small>" if origin else ""
    kind = _ends(ontology, attribute.targets) or attribute.type
    counted = attribute.at_least > 1 or attribute.at_most is not None
    many = f", {amount(ends)}" if attribute.many and not counted else ""
    limited = sentence(escaped(limits(attribute)))
    said = [limited, *(sentence(escaped(d)) for d in details(attribute) if not (limited and d.startswith("In ")))]
    said += [f"Matches <code>{escaped(attribute.pattern)}</code>"] if attribute.pattern else []
    values = f"{kind}{many}" + "".join(f"<br><small>{line}</small>" for line in said if line)
    name = attribute.name.replace(".", ".<wbr>")
    look = ' class="inherited"' if origin else ""
    meaning = _meaning(attribute, brief=bool(origin))
    return f"<tr{look}><td><code>{name}</code>{marks}</td><td>{values}</td><td>{meaning}</td></tr>"


def _meaning(attribute: Attribute, *, brief: bool) -> str:
    """What an attribute means; in brief where the type that declares it says the rest."""
    if brief:
        names = " · ".join(f"<code>{escaped(value.name)}</code>" for value in attribute.values)
        return _described(attribute) + (f"<p>{names}</p>" if names else "")
    parts = [_described(attribute)]
    parts += [f'<p class="soft">{name}: {text}</p>' for name, text in _words(attribute).items() if text]
    items = "".join(f"<li>{_value(value)}</li>" for value in attribute.values)
    return "".join(parts) + (f'<ul class="plain">{items}</ul>' if items else "")


def _value(value: EnumValue) -> str:
    gone = f" <small>Deprecated {escaped(deprecation(value.deprecated))}.</small>" if value.deprecated else ""
    words = "".join(f" <small>{text}</small>" for text in _words(value).values() if text)
    return f"<code>{escaped(value.name)}</code> {escaped(value.description)}{gone}{words}".rstrip()


def _relation_row(ontology: Ontology, relation: Relation, name: str, ends: Cardinality, types: tuple[str, ...]) -> str:
    many = f"<br><small>{amount(ends)}</small>" if ends != Cardinality() else ""
    gone = ' <span class="badge gone">deprecated</span>' if relation.deprecated else ""
    link = f'<a href="#relation-{relation.name}"><code>{name}</code></a>{gone}'
    inverse = f"<small>The inverse of {relation.name}.</small> " if name != relation.name else ""
    said = f"{inverse}{escaped(relation.description)}"
    return f"<tr><td>{link}</td><td>{_ends(ontology, types)}{many}</td><td>{said}</td></tr>"


def _example(ontology: Ontology, one: EntityType) -> str:
    text, missing = example_page(ontology, one.name)
    if missing:
        names = ", ".join(f"<code>{name}</code>" for name in missing)
        return f'<p class="soft">There is no example of a page: {names} has none in the ontology.</p>'
    return f"<details>\n<summary>Example of a page</summary>\n<pre><code>{escaped(text)}</code></pre>\n</details>"
