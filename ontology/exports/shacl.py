"""An ontology as SHACL shapes that refuse what our check refuses, without any inference.

Each type that pages may be of has a closed shape, and each property a shape of where it may start: subtypes are named
wherever a type is meant. What takes several pages is said in SPARQL, once for the whole graph: the focus node is then
the ontology, and the value the page at fault.

Shapes are about what is stated, so they cannot see what RDF does not keep: values that are there twice, empty lists, a
list of one where a value is due. Names are compared letter for letter, cycles of relations with identifying attributes
and patterns in words of RE2 alone are left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, TypeAlias

from ontology.exports.json_schema import TIME, URL
from ontology.exports.portable_patterns import anchored
from ontology.exports.rdf_terms import Terms, Triples, datatype_of
from ontology.outline import concrete, how_many, keys, topmost
from ontology.schema import Attribute, Cardinality, Described, Ontology, Relation

if TYPE_CHECKING:
    from rdflib import URIRef
    from rdflib.term import Node

Parts: TypeAlias = "list[tuple[str, Node]]"
ZONED = f"T{TIME}$"
INTEGERS = (-(2**63) + 1, 2**63 - 1)
OTHER = "FILTER(?other != ?value)"


def shacl_of(ontology: Ontology, base: str = "") -> str:
    """The shapes, in Turtle. Raises OntologyError where rdflib is not installed."""
    return _Shapes(Terms(ontology, base)).turtle()


class _Shapes(Triples):
    """The shapes of an ontology."""

    def __init__(self, terms: Terms) -> None:
        super().__init__(terms.base)
        from rdflib import SH

        self.sh, self.terms, self.ontology = SH, terms, terms.ontology
        self.concrete = concrete(self.ontology, self.ontology.types)
        self.wiki = self.terms.iri("Any-Wiki")
        self._pages()
        for name in self.concrete:
            self._type(name)
        self._starts()
        self._keys()
        for relation in self.ontology.relations.values():
            self._ways(relation)
            if relation.attributes:
                self._statement(relation)

    # Pages

    def _pages(self) -> None:
        """Whatever has a name is of a type that something can be of, and of one name alone."""
        from rdflib import OWL, RDF, SKOS, URIRef

        self.add(self.wiki, (RDF.type, self.sh.NodeShape), (self.sh.targetNode, URIRef(self.terms.base.rstrip("#/"))))
        types = [self.terms.iri(name) for name in self.concrete]
        shape = self.terms.iri("Any-Page")
        self.add(
            shape,
            (RDF.type, self.sh.NodeShape),
            (self.sh.targetSubjectsOf, SKOS.prefLabel),
            (self.sh.nodeKind, self.sh.IRI),
            (
                self.sh.property,
                self._property(RDF.type, Cardinality(1), ("in", self.sequence([*types, OWL.NamedIndividual]))),
            ),
        )
        named = f"({SKOS.prefLabel.n3()}|{SKOS.altLabel.n3()})"
        self._sparql("{?value} has a name of another page", f"?value {named} ?n . ?other {named} ?n", OTHER)

    def _type(self, name: str) -> None:
        """The closed shape of a type. What pages of its subtypes may say is left to the shapes of those properties."""
        from rdflib import RDF, Literal

        one, shape = self.ontology.types[name], self.terms.iri(f"{name}-Shape")
        self.add(shape, (RDF.type, self.sh.NodeShape), (self.sh.targetClass, self.terms.iri(name)))
        self.add(shape, (self.sh.closed, Literal(True)))
        below = [p for t in self.ontology.subtypes(name) for p in self.terms.properties(t)]
        self.add(shape, (self.sh.ignoredProperties, self.sequence(dict.fromkeys([RDF.type, *below]))))
        for path, attribute in _page_properties().items():
            self.add(shape, (self.sh.property, self._attribute(path, attribute)))
        records = self.terms.records(name)
        for attribute in one.attributes.values():
            if not attribute.name.startswith(tuple(f"{record}." for record in records)):
                path = self.terms.attribute(name, attribute.name)
                self.add(shape, (self.sh.property, self._attribute(path, attribute)))
                self._several(shape, path, attribute)
        for record, fields in records.items():
            self.add(shape, (self.sh.property, self._record(name, record, fields)))
        for relation in self.ontology.relations.values():
            self._ends(shape, name, relation)
        for other in self._disjoint(name):
            self.add(shape, (self.sh["not"], self.blank((self.sh["class"], self.terms.iri(other)))))

    def _disjoint(self, name: str) -> list[str]:
        """All types of which nothing is that is of this one."""
        types, line = self.ontology.types, {name, *self.ontology.ancestors(name)}
        roots = {other for one in line for other in types[one].disjoint}
        roots |= {other for other in types if line & set(types[other].disjoint)}
        return list(concrete(self.ontology, roots))

    def _record(self, type_name: str, name: str, fields: Sequence[Attribute]) -> Node:
        """A record is a node of its own, with nothing but its fields."""
        from rdflib import RDF, Literal

        node = self.blank((self.sh.closed, Literal(True)), (self.sh.ignoredProperties, self.sequence([RDF.type])))
        self.add(node, (self.sh["class"], self.terms.record(type_name, name)))
        for one in fields:
            path = self.terms.attribute(type_name, one.name)
            self.add(node, (self.sh.property, self._attribute(path, one)))
            self._several(node, path, one)
        count = Cardinality(int(any(one.required for one in fields)), 1)
        return self._property(self.terms.attribute(type_name, name), count, ("node", node))

    def _ends(self, shape: Node, name: str, relation: Relation) -> None:
        """A relation as it starts and ends at a type."""
        path = self.terms.iri(relation.name)
        if name in relation.domain:
            ends = [("nodeKind", self.sh.IRI), *self._classes(relation.range)]
            self.add(shape, (self.sh.property, self._property(path, relation.objects, *ends, said=relation)))
        if name in relation.range and relation.subjects != Cardinality():
            inverse = self.blank((self.sh.inversePath, path))
            self.add(shape, (self.sh.property, self._property(inverse, relation.subjects)))

    # Statements, and where properties start

    def _statement(self, relation: Relation) -> None:
        """The nodes that state a relation with attributes."""
        from rdflib import RDF, Literal

        shape, own = self.terms.iri(f"{relation.name}-Statement-Shape"), self.terms.statement(relation.name)
        self.add(shape, (RDF.type, self.sh.NodeShape), (self.sh.targetClass, own))
        self.add(shape, (self.sh.closed, Literal(True)), (self.sh.ignoredProperties, self.sequence([RDF.type])))
        for end, types in (("subject", relation.domain), ("object", relation.range)):
            path = self.terms.iri(f"{relation.name}-{end}")
            self.add(shape, (self.sh.property, self._property(path, Cardinality(1, 1), *self._classes(types))))
        for one in relation.attributes.values():
            path = self.terms.iri(f"{relation.name}.{one.name}")
            self.add(shape, (self.sh.property, self._attribute(path, one)))

    def _ways(self, relation: Relation) -> None:
        """That a relation leads in no circle and does not hold both ways, and that its statements agree with it."""
        name, path, identifying = relation.name, self.terms.iri(relation.name).n3(), _identifying(relation)
        if relation.acyclic and not identifying:
            self._sparql(f"'{name}' leads in a circle", f"?value {path}+ ?value")
        elif relation.asymmetric and not identifying:
            self._sparql(f"'{name}' holds both ways", f"?value {path} ?o . ?o {path} ?value")
        if not relation.attributes:
            return
        stated, same = self._states(relation, "?s", "?value", "?o"), self._same(relation, "?s", "?other")
        plain = f"?value {path} ?o ."
        self._sparql(f"'{name}' lacks a plain triple", f"{stated} FILTER NOT EXISTS {{ {plain} }}")
        if any(one.required for one in relation.attributes.values()):
            self._sparql(f"'{name}' lacks a statement", f"{plain} FILTER NOT EXISTS {{ {stated} }}")
        twice = f"{stated} {self._states(relation, '?other', '?value', '?o')} {same} FILTER(?other != ?s)"
        self._sparql(f"'{name}' is stated twice", twice)
        if identifying and (relation.asymmetric or relation.acyclic):
            back = self._states(relation, "?other", "?o", "?value")
            self._sparql(f"'{name}' holds both ways", f"{stated} {back} {same}")

    def _states(self, relation: Relation, statement: str, subject: str, object_: str) -> str:
        """That a statement leads from one to another, in SPARQL."""
        ends = (self.terms.iri(f"{relation.name}-{end}").n3() for end in ("subject", "object"))
        return " ".join(f"{statement} {end} {one} ." for end, one in zip(ends, (subject, object_), strict=True))

    def _same(self, relation: Relation, one: str, other: str) -> str:
        """That two statements agree in all identifying attributes, in SPARQL."""
        paths = [self.terms.iri(f"{relation.name}.{a.name}").n3() for a in _identifying(relation)]
        pairs = [(path, *ends) for path in paths for ends in ((one, other), (other, one))]
        lacks = "FILTER NOT EXISTS {{ {1} {0} ?v . FILTER NOT EXISTS {{ {2} {0} ?v }} }}"
        return " ".join(lacks.format(*pair) for pair in pairs)

    def _starts(self) -> None:
        """Where each property may start, so that no page says what only those of other types may, or of none."""
        from rdflib import RDF, SKOS

        having: dict[URIRef, list[str]] = {}
        for name in self.concrete:
            for path in self.terms.properties(name):
                if path != SKOS.prefLabel:
                    having.setdefault(path, []).append(name)
        for path, types in having.items():
            shape = self.terms.iri(f"{path.removeprefix(self.terms.base)}-Shape")
            self.add(shape, (RDF.type, self.sh.NodeShape), (self.sh.targetSubjectsOf, path))
            for key, value in self._classes(types):
                self.add(shape, (self.sh[key], value))

    # Parts

    def _attribute(self, path: Node, attribute: Attribute) -> Node:
        return self._property(path, how_many(attribute), *self._values(attribute), said=attribute)

    def _several(self, shape: Node, path: Node, attribute: Attribute) -> None:
        """Several values at least, where there are any."""
        from rdflib import Literal

        if attribute.at_least > 1 and not attribute.required:
            none = self._property(path, Cardinality(0, 0))
            several = self.blank((self.sh.path, path), (self.sh.minCount, Literal(attribute.at_least)))
            self.add(shape, (self.sh["or"], self.sequence([none, several])))

    def _values(self, attribute: Attribute) -> Parts:
        """What each value of an attribute is."""
        from rdflib import Literal

        if attribute.type == "reference":
            return self._classes(attribute.targets)
        if attribute.type == "enum":
            return [("in", self.sequence(Literal(value.name) for value in attribute.values))]
        datatype = datatype_of(attribute)
        found: Parts = [("datatype", datatype)]
        low, high = attribute.minimum, attribute.maximum
        if attribute.type == "integer":
            low = INTEGERS[0] if low is None else max(int(low), INTEGERS[0])
            high = INTEGERS[1] if high is None else min(int(high), INTEGERS[1])
        limits = (("minInclusive", low), ("maxInclusive", high))
        found += [(key, Literal(limit, datatype=datatype)) for key, limit in limits if limit is not None]
        shapes = {"string": r"\S", "text": r"\S", "url": URL, "datetime": ZONED}
        found += [("pattern", Literal(shapes[attribute.type]))] if attribute.type in shapes else []
        pattern = anchored(attribute.pattern) if attribute.pattern is not None else None
        if pattern is not None:
            node = self.blank((self.sh.pattern, Literal(pattern)))
            found.append(("node", node))
        return found

    def _classes(self, types: Iterable[str]) -> Parts:
        """That something is of one of these types or below; no subclass needs to be inferred."""
        classes = [self.terms.iri(name) for name in concrete(self.ontology, types) or topmost(self.ontology, types)]
        if len(classes) == 1:
            return [("class", classes[0])]
        return [("or", self.sequence(self.blank((self.sh["class"], one)) for one in classes))]

    def _property(
        self, path: Node, count: Cardinality, *parts: tuple[str, Node], said: Described | None = None
    ) -> Node:
        from rdflib import Literal

        node = self.blank((self.sh.path, path))
        if count.least:
            self.add(node, (self.sh.minCount, Literal(count.least)))
        if count.most is not None:
            self.add(node, (self.sh.maxCount, Literal(count.most)))
        for key, value in parts:
            self.add(node, (self.sh[key], value))
        if said is not None and said.description:
            self.add(node, (self.sh.description, Literal(said.description)))
        return node

    def _keys(self) -> None:
        """No two pages have the same values for a key, of all types below the one that has it first."""
        for name, one in self.ontology.types.items():
            above = {key for up in self.ontology.ancestors(name) for key in keys(self.ontology.types[up])}
            for key in keys(one):
                if key not in above and concrete(self.ontology, [name]):
                    self._key(name, key)

    def _key(self, name: str, key: Sequence[str]) -> None:
        types = ", ".join(self.terms.iri(one).n3() for one in concrete(self.ontology, [name]))
        parts = [(self._path(name, part), f"?v{at}") for at, part in enumerate(key)]
        same = " ".join(f"?value {path} {value} . ?other {path} {value} ." for path, value in parts)
        typed = f"?value a ?t . ?other a ?u . FILTER(?t IN ({types}) && ?u IN ({types}))"
        self._sparql(f"{{?value}} has the {' and '.join(key)} of another page", f"{same} {typed}", OTHER)

    def _path(self, type_name: str, attribute: str) -> str:
        """The property of an attribute, or those that lead to a field, in SPARQL."""
        record, dot, _ = attribute.partition(".")
        path = self.terms.attribute(type_name, attribute).n3()
        return f"{self.terms.attribute(type_name, record).n3()}/{path}" if dot else path

    def _sparql(self, message: str, *where: str) -> None:
        """What must not be found anywhere; ``?value`` is the page to blame."""
        from rdflib import RDF, Literal

        select = f"SELECT DISTINCT $this ?value WHERE {{ {' '.join(where)} }}"
        constraint = self.blank((RDF.type, self.sh.SPARQLConstraint), (self.sh.message, Literal(message)))
        self.add(constraint, (self.sh.select, Literal(select)))
        self.add(self.wiki, (self.sh.sparql, constraint))


def _page_properties() -> dict[URIRef, Attribute]:
    """What every page may have beside its name."""
    from rdflib import DCTERMS, SKOS

    return {
        SKOS.altLabel: Attribute("aliases", "string", many=True),
        DCTERMS.source: Attribute("source", "url", many=True),
        DCTERMS.description: Attribute("description", "text"),
    }


def _identifying(relation: Relation) -> list[Attribute]:
    return [one for one in relation.attributes.values() if one.identifying]
