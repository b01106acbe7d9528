"""An ontology in OWL or RDF Schema as ``ontology.yaml``, from Turtle, RDF/XML or JSON-LD.

Classes become types, properties that lead to classes relations, other properties attributes of their domains. What our
exporter writes comes back by its annotations, but for what ``LOST`` lists. Of what others write, individuals, complex
classes and properties of properties are not kept; the notes say so.
"""

from __future__ import annotations

import json
import warnings
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from ontology.attributes import PAGE_KEYS
from ontology.exports.rdf_terms import require_rdflib
from ontology.importers.imported import semantic, written
from ontology.importers.legal_names import Names, ontology_name
from ontology.importers.owl_graph import FLAGS, OwlGraph
from ontology.schema import Attribute, Cardinality, EntityType, Ontology, Relation
from ontoloom.errors import OntologyError

if TYPE_CHECKING:
    from rdflib import Graph, URIRef

FORMATS = {
    ".ttl": "turtle", ".nt": "nt", ".rdf": "xml", ".owl": "xml", ".xml": "xml",
    ".jsonld": "json-ld", ".json": "json-ld",
}  # fmt: skip
LOST = (
    "the order of types, mixins, attributes, relations and words",
    "what a type adds to an attribute that it inherits",
    "labels of values of an enum, and of a record as such",
    "how many values there are at least where there are any",
    "patterns in words of RE2 alone; classes such as \\d come back written out",
    "whether an attribute is unique or a key of its own, and keys of parts of records",
    "limits, pattern and labels of the name",
    "defaults, and policies for conflicts",
)
"""What does not come back from OWL of what our exporter was given."""


def import_owl(data: bytes | str, *, file: str = "ontology.ttl") -> tuple[str, list[str]]:
    """The text of ``ontology.yaml``, and notes of what could not be kept. The suffix of the file tells its format.

    Raises OntologyError where it cannot be read, has no classes, or rdflib is not installed.
    """
    require_rdflib()
    graph = OwlGraph(_parse(data, file))
    reading = _Reading(graph, file)
    if not reading.types:
        raise OntologyError(f"{file} has no classes", code="bad-import", hint="is it an ontology?")
    name, version, description = graph.header(PurePath(file).stem)
    ontology = Ontology(
        name=ontology_name(name),
        version=semantic(version, graph.notes),
        hash="",
        types=reading.types,
        relations=reading.relations,
        description=description,
    )
    return written(ontology, graph.notes)


def _parse(data: bytes | str, file: str) -> Graph:
    from rdflib import Graph

    suffix = PurePath(file).suffix.lower()
    if suffix not in FORMATS:
        hint = f"name it by its format: {', '.join(FORMATS)}"
        raise OntologyError(f"{file} is of no known format", code="bad-import", hint=hint)
    try:
        if FORMATS[suffix] == "json-ld":
            _refuse_remote(json.loads(data), file)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of terms that are spelled otherwise; what they say is noted here
            return Graph().parse(data=data, format=FORMATS[suffix])
    except OntologyError:
        raise
    except Exception as error:  # noqa: BLE001  # each parser has errors of its own
        message = " ".join(str(error).split())[:200]
        raise OntologyError(f"{file} cannot be read: {message}", code="bad-import") from None


def _refuse_remote(data: Any, file: str) -> None:
    """Contexts by their addresses would be fetched. Raises OntologyError where there is one."""
    pending = [data]
    while pending:
        one = pending.pop()
        pending += one if isinstance(one, list) else one.values() if isinstance(one, dict) else []
        contexts = [one.get(key) for key in ("@context", "@import")] if isinstance(one, dict) else []
        named = [c for given in contexts for c in (given if isinstance(given, list) else [given]) if isinstance(c, str)]
        if named:
            hint = "write the context into the file"
            raise OntologyError(
                f"{file} names the context {named[0]}, which is not fetched", code="bad-import", hint=hint
            )


class _Reading:
    """Types and relations of a graph; ``names`` are those of types by their IRIs."""

    def __init__(self, graph: OwlGraph, file: str) -> None:
        self.graph, self.notes, self.file = graph, graph.notes, file
        pool = Names()
        self.names = {node: pool.pick(graph.local(node), prefix="Type") for node in graph.classes()}
        self.types = {name: self._type(node, name) for node, name in self.names.items()}
        self.properties = Names([*PAGE_KEYS, *self.types])
        self.relations: dict[str, Relation] = {}
        self.relation_names: dict[URIRef, str] = {}
        self._relations()
        self._attributes()
        self._inverses()
        graph.note_rest()

    def _type(self, node: URIRef, name: str) -> EntityType:
        graph = self.graph
        ups = [self.names[up] for up in graph.superclasses(node) if up in self.names and up != node]
        mixins = [self.names[up] for up in graph.mixins(node) if up in self.names]
        others = [up for up in ups if up not in mixins]
        if len(others) > 1:
            self.notes.append(f"{name} is {' and '.join(others)}; kept is the first, as a type is one of its kind")
        return EntityType(
            name,
            {},
            parent=others[0] if others else "",
            mixins=tuple(mixins),
            abstract=graph.is_abstract(node),
            disjoint=tuple(self.names[other] for other in graph.disjoint(node) if other in self.names),
            **graph.said(node, name, self.names),
        )

    def _ends(self, node: URIRef, end: str) -> tuple[str, ...]:
        """The types at an end of a property; all that are below no other where the graph does not say."""
        found = tuple(dict.fromkeys(self.names[one] for one in self.graph.ends(node, end) if one in self.names))
        if found:
            return found
        self.notes.append(f"nothing is said of the {end} of '{self.graph.local(node)}'; all types are taken")
        return tuple(name for name, one in self.types.items() if not one.parent)

    def _relations(self) -> None:
        nodes = [node for node in self.graph.relations() if node not in self.graph.inverses()]
        self.relation_names = {node: self.properties.pick(self.graph.local(node), prefix="has") for node in nodes}
        for node, name in self.relation_names.items():
            domain, range_ = self._ends(node, "domain"), self._ends(node, "range")
            objects = self._count(node, domain, self.graph.is_a(node, "FunctionalProperty"))
            subjects = self._count(node, range_, self.graph.is_a(node, "InverseFunctionalProperty"), back=True)
            attributes = {one.name: one for part in self.graph.statement_parts(node) for one in self._attribute(part)}
            flags = {flag: self.graph.is_a(node, kind) for flag, kind in FLAGS.items()}
            self.relations[name] = Relation(
                name,
                domain,
                range_,
                objects=objects,
                subjects=subjects,
                attributes=attributes,
                symmetric=flags["symmetric"],
                asymmetric=flags["asymmetric"] and not flags["symmetric"],
                transitive=flags["transitive"],
                acyclic=self.graph.is_acyclic(node) and not flags["symmetric"],
                **self.graph.said(node, name, self.relation_names),
            )

    def _count(self, node: URIRef, types: tuple[str, ...], single: bool, *, back: bool = False) -> Cardinality:
        """How many there are, where the classes at the end say the same."""
        counts = Counter(self.graph.limits(one, node, back=back) for one, name in self.names.items() if name in types)
        counts.pop(Cardinality(), None)
        limits = counts.most_common(1)[0][0] if len(counts) == 1 else Cardinality()
        if len(counts) > 1:
            self.notes.append(f"how many '{self.graph.local(node)}' there are differs between classes: left out")
        return Cardinality(limits.least, 1 if single else limits.most)

    def _attribute(self, node: URIRef, owner: URIRef | None = None) -> Iterator[Attribute]:
        attribute = self.graph.attribute(node, owner)
        targets = self._ends(node, "range") if self.graph.leads(node) else ()
        yield replace(attribute, type="reference", targets=targets, pattern=None) if targets else attribute

    def _attributes(self) -> None:
        """Attributes by the types of their domains. Properties of one name, of several types, keep it in each."""
        names: dict[str, str] = {}
        for node in self.graph.attributes():
            local = self.graph.attribute_name(node)
            if local not in names:
                names[local] = self.properties.pick(local, prefix="has")
            fields = list(self.graph.fields(node))
            for owner, type_name in self.names.items():
                if type_name in self._ends(node, "domain"):
                    self._add(type_name, owner, node, names[local], fields)

    def _add(self, type_name: str, owner: URIRef, node: URIRef, name: str, fields: list[URIRef]) -> None:
        attributes = dict(self.types[type_name].attributes)
        if name in attributes:
            self.notes.append(f"'{name}' of {type_name} is there twice; kept is the first")
            return
        pool = Names()
        if fields:
            for one in fields:
                part = self.graph.attribute(one, self.graph.record_of(node))
                inner = f"{name}.{pool.pick(part.name, prefix='field')}"
                attributes[inner] = replace(part, name=inner)
        else:
            said = self.graph.said(node, name, {})
            attribute = self.graph.attribute(node, owner)
            attributes[name] = replace(attribute, name=name, labels=said["labels"], synonyms=said["synonyms"])
        self.types[type_name] = replace(
            self.types[type_name], attributes=attributes, keys=tuple(self.graph.keys(owner, attributes))
        )

    def _inverses(self) -> None:
        for inverse, node in self.graph.inverses().items():
            relation = self.relations.get(self.relation_names.get(node, ""))
            if relation is not None and not relation.inverse and not relation.symmetric:
                name = self.properties.pick(self.graph.local(inverse), prefix="inverse")
                self.relations[relation.name] = replace(relation, inverse=name)
