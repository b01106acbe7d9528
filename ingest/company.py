"""Names of companies without their legal form and article: Acme Corp, Acme Corporation and ACME CORP. are one."""

from __future__ import annotations

import re

_LISTED = "inc incorporated corp corporation ltd llc llp plc gmbh mbh kgaa sarl srl pty oyj 有限公司 株式会社"
_FORMS = frozenset(_LISTED.split())
"""Forms that nothing but a company has; after any name."""
_LISTED_WEAK = "co company limited group holding holdings ag sa se ab as asa oy lp bv nv spa pte kk 公司 集团"
_WEAK_FORMS = frozenset(_LISTED_WEAK.split())
"""Forms of companies that are words of other names too; only after the name of an organization."""
_ORGANIZATION = re.compile(
    r"organi[sz]ation|compan|corporat|firm|business|enterprise|institut|vendor|supplier|manufacturer|employer|publisher"
    r"|agency|bank|universit|laborator|publicbody|startup|^org$|^lab$|机构|公司|组织|企业",
    re.IGNORECASE,
)
_LAST_WORD = re.compile(r"[\s,(&]+([^\s,()]+?)[.,)]*$")
_CJK_FORM = re.compile(r"^(?P<name>.{2,}?)(?:股份有限公司|有限责任公司|有限公司|株式会社)$")
_ARTICLE = re.compile(r"^the\s+(?=\S)", re.IGNORECASE)


def names_organizations(type_name: str, synonyms: tuple[str, ...] = ()) -> bool:
    """Whether a type is one of organizations, told by its name and synonyms."""
    return any(_ORGANIZATION.search(word) for word in (type_name, *synonyms))


def without_company_form(name: str, *, is_organization: bool = False) -> str:
    """The name without a leading "The" and without legal forms at its end; never nothing.

    ``is_organization`` takes off words such as "Group" and "Company" too.
    """
    rest = _ARTICLE.sub("", name.strip(), count=1)
    while (last := _LAST_WORD.search(rest)) and _is_form(last.group(1), is_organization):
        shorter = rest[: last.start()].rstrip(" ,(&.")
        if not shorter:
            break
        rest = shorter
    written_together = _CJK_FORM.match(rest)
    return written_together["name"] if written_together else rest


def _is_form(word: str, is_organization: bool) -> bool:
    folded = word.replace(".", "").casefold()
    return folded in _FORMS or (is_organization and folded in _WEAK_FORMS)
