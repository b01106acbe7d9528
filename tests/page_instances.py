"""Pages as instances of what other languages validate: front matter in JSON, and a wiki in RDF."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from rdflib import DCTERMS, RDF, SKOS, XSD, BNode, Graph, Literal, URIRef
from rdflib.term import Node as Term
from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from ontology.exports.rdf_terms import Terms, datatype_of
from ontology.quantities import in_unit
from ontology.schema import Attribute, Ontology, Relation
from ontology.strict_yaml import Source, compose, entries
from ontology.values import INTEGER, NUMBER, BadValue, read_value


def front_matter(text: str) -> MappingNode:
    """The front matter of a page, as the strict reader composes it."""
    root = compose(Source("page.md", text.split("---\n", 2)[1]))
    assert isinstance(root, MappingNode)
    return root


def json_instance(text: str, ontology: Ontology) -> dict[str, Any]:
    """Front matter in JSON: numbers and truth values where attributes are such and they can be read, strings else."""
    found = entries(front_matter(text))
    type_node = found["type"][1] if "type" in found else None
    type_name = type_node.value if isinstance(type_node, ScalarNode) else ""
    attributes = ontology.types[type_name].attributes if type_name in ontology.types else {}
    return {key: _typed(node, _within(attributes, ontology, key)) for key, (_, node) in found.items()}


def _within(attributes: Mapping[str, Attribute], ontology: Ontology, key: str) -> dict[str, Attribute]:
    """What stands under a key: an attribute by an empty name, fields of a record or attributes of a relation."""
    relation = ontology.relations.get(key) or ontology.inverses.get(key)
    fields = {name.partition(".")[2]: one for name, one in attributes.items() if name.startswith(f"{key}.")}
    alone = {"": attributes[key]} if key in attributes else {}
    return alone or fields or (dict(relation.attributes) if relation else {})


def _typed(node: Node, within: Mapping[str, Attribute]) -> Any:
    if isinstance(node, SequenceNode):
        return [_typed(item, within) for item in node.value]
    if isinstance(node, MappingNode):
        return {k: _typed(v, {"": within[k]} if k in within else {}) for k, (_, v) in entries(node).items()}
    kind = within[""].type if "" in within else "string"
    word = node.value.strip()
    if kind == "integer" and INTEGER.fullmatch(word):
        return int(word)
    if kind in ("integer", "number") and NUMBER.fullmatch(word):
        return float(word)
    if kind == "boolean" and word in ("true", "false"):
        return word == "true"
    return word


PAGES = "urn:page:"
KEYS = {"aliases": SKOS.altLabel, "source": DCTERMS.source, "description": DCTERMS.description}


def rdf_instance(pages: Mapping[str, str], ontology: Ontology) -> Graph:
    """A wiki in RDF, faults and all: values that cannot be read are literals of the wrong form."""
    wiki = _Wiki(ontology)
    for page_id, text in pages.items():
        wiki.page(URIRef(PAGES + page_id), entries(front_matter(text)))
    return wiki.graph


class _Wiki:
    def __init__(self, ontology: Ontology) -> None:
        self.ontology, self.terms, self.graph = ontology, Terms(ontology), Graph()

    def page(self, page: URIRef, found: Mapping[str, tuple[ScalarNode, Node]]) -> None:
        type_name = found["type"][1].value if "type" in found else ""
        attributes = self.ontology.types[type_name].attributes if type_name in self.ontology.types else {}
        for key, (_, node) in found.items():
            relation, inverse = self.ontology.relations.get(key), self.ontology.inverses.get(key)
            if key == "type":
                self.graph.add((page, RDF.type, self.terms.iri(type_name)))
            elif key in KEYS:
                self.values(page, KEYS[key], Attribute(key, "url" if key == "source" else "string"), node)
            elif relation or inverse:
                for item in _items(node):
                    self.link(page, relation or inverse, item, back=relation is None)
            elif isinstance(node, MappingNode):
                self.record(page, type_name, key, attributes, node)
            else:
                owner = next((t for t in (type_name, *self.ontology.types) if (t, key) in self.terms.owners), type_name)
                self.values(page, self.terms.attribute(owner, key), attributes.get(key, Attribute(key, "string")), node)

    def values(self, subject: Term, path: URIRef, attribute: Attribute, node: Node) -> None:
        for item in _items(node):
            if isinstance(item, MappingNode):
                self.graph.add((subject, path, BNode()))
            elif attribute.type == "reference":
                self.graph.add((subject, path, URIRef(PAGES + item.value.strip())))
            elif item.value.strip():
                self.graph.add((subject, path, _literal(attribute, item.value.strip())))

    def record(
        self, page: URIRef, type_name: str, key: str, attributes: Mapping[str, Attribute], node: MappingNode
    ) -> None:
        record = BNode()
        self.graph.add((page, self.terms.attribute(type_name, key), record))
        self.graph.add((record, RDF.type, self.terms.record(type_name, key)))
        for name, (_, value) in entries(node).items():
            attribute = attributes.get(f"{key}.{name}", Attribute(name, "string"))
            self.values(record, self.terms.attribute(type_name, f"{key}.{name}"), attribute, value)

    def link(self, page: URIRef, relation: Relation | None, item: Node, *, back: bool) -> None:
        assert relation is not None
        found = entries(item) if isinstance(item, MappingNode) else {"target": (item, item)}
        target = found["target"][1] if "target" in found else None
        other: Term = URIRef(PAGES + target.value.strip()) if isinstance(target, ScalarNode) else BNode()
        subject, object_ = (other, page) if back else (page, other)
        self.graph.add((subject, self.terms.iri(relation.name), object_))
        if relation.attributes:
            statement = BNode()
            self.graph.add((statement, RDF.type, self.terms.statement(relation.name)))
            self.graph.add((statement, self.terms.iri(f"{relation.name}-subject"), subject))
            self.graph.add((statement, self.terms.iri(f"{relation.name}-object"), object_))
            for name in found.keys() - {"target"}:
                path = self.terms.iri(f"{relation.name}.{name}")
                self.values(statement, path, relation.attributes.get(name, Attribute(name, "string")), found[name][1])


def _items(node: Node) -> Iterator[Node]:
    """The items of a list, those of lists within it too; a list is nothing more in RDF."""
    if isinstance(node, SequenceNode):
        for item in node.value:
            yield from _items(item)
    else:
        yield node


def _literal(attribute: Attribute, word: str) -> Literal:
    datatype = datatype_of(attribute)
    try:
        value = read_value(attribute, word)
    except BadValue as bad:
        far = in_unit(word, attribute.unit) if bad.code == "out-of-range" and attribute.type == "quantity" else word
        return Literal(far, datatype=None if datatype == XSD.string else datatype)
    return Literal(value, datatype=None if datatype == XSD.string else datatype)
