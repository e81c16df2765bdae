"""What a licence asks, by its identifier alone: the whole SPDX list, and nothing permissive that nobody knows."""

import pytest
from license_expression import get_license_index
from text_tables import table

from excam.core import licences


@pytest.mark.parametrize(("licence", "kind", "permissive"), table(__file__, "the_terms_of_a_licence"))
def test_the_terms_of_a_licence(licence, kind, permissive):
    assert licences.licence_kind(licence) == kind
    assert licences.is_permissive(licence) == permissive
    assert (licences.terms(licence) is None) == kind.startswith("unknown")


def test_every_identifier_of_the_list_is_a_named_licence():
    identifiers = {entry["spdx_license_key"] for entry in get_license_index() if not entry["is_exception"]}
    named = {identifier for identifier in identifiers if identifier and not identifier.startswith("LicenseRef-")}
    assert len(named) > 600
    assert not [identifier for identifier in named if not licences.is_named(identifier)]
    # every licence of Creative Commons says in its name what it asks
    for identifier in named:
        parts = set(identifier.split("-"))
        if identifier.startswith("CC-BY"):
            assert ("NC" in parts) == ("non-commercial" in licences.terms(identifier))
            assert ("SA" in parts) == ("share-alike" in licences.terms(identifier))
            assert ("ND" in parts) != licences.may_be_adapted(identifier)


def test_stated_terms_count_where_the_list_does_not_tell_and_are_never_permissive():
    assert licences.licence_kind("LicenseRef-own", ["non-commercial", "attribution"]) == "non-commercial"
    assert licences.licence_kind("LicenseRef-own", ["attribution"]) == "unrestricted as stated"
    assert not licences.is_permissive("LicenseRef-own")
    assert not licences.may_be_adapted("C-UDA-1.0", ["no-derivatives"])
    assert licences.licence_kind("CC-BY-SA-4.0", ["attribution"]) == "share-alike"
    assert licences.terms("see the page", ["attribution"]) is None


def test_what_is_expected_instead_is_near_to_what_was_written():
    assert "its `terms` as you read them, some of attribution" in licences.expected_instead("LicenseRef-own")
    near = licences.expected_instead("cc-by-4.0").partition(" such as ")[2].split(", ")
    assert near[0] == "CC-BY-4.0"
    assert len(near) == 4, "three, and the way to name one's own"
    assert " such as CC-BY-4.0, CC0-1.0, MIT, or LicenseRef-NAME" in licences.expected_instead("all rights reserved!?")
