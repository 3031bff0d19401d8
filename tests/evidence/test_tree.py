"""The Merkle tree: growing leaf by leaf gives the tree of RFC 6962, and a proof proves exactly its claim."""

import hashlib
from typing import Final

import pymerkle  # type: ignore[import-untyped]
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.evidence.outside import consistent, included
from timemachine.evidence.pure.tree import EMPTY, Frontier, Tree, leaf_hash
from timemachine.verifier import tm_verify

DATA: Final = [
    b"",
    b"\x00",
    b"\x10",
    b"\x20\x21",
    b"\x30\x31",
    b"\x40\x41\x42\x43",
    bytes(range(0x50, 0x58)),
    bytes(range(0x60, 0x70)),
]
# the roots of the first 1 to 8 of these, as in the reference implementation of Certificate Transparency
ROOTS: Final = (
    "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
    "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
    "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
    "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
    "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
    "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
    "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
    "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
)
records = st.lists(st.binary(max_size=40), min_size=1, max_size=70)


@pytest.mark.parametrize("size", range(1, 9))
def test_the_roots_are_those_of_the_reference_implementation(size: int) -> None:
    leaves = [leaf_hash(data) for data in DATA[:size]]
    assert Tree(leaves).root().hex() == Frontier().grown(leaves).root.hex() == ROOTS[size - 1]


def test_an_empty_tree_has_the_hash_of_the_empty_string() -> None:
    assert Frontier().root == Tree([]).root() == EMPTY == hashlib.sha256(b"").digest()


@given(records)
def test_the_root_equals_that_of_an_independent_implementation(data: list[bytes]) -> None:
    reference = pymerkle.InmemoryTree(algorithm="sha256")
    for each in data:
        reference.append_entry(each)
    assert Tree([leaf_hash(each) for each in data]).root() == reference.get_root()


@given(records, st.data())
def test_growing_in_pieces_equals_growing_in_one_step(data: list[bytes], drawn: st.DataObject) -> None:
    leaves, cut = [leaf_hash(each) for each in data], drawn.draw(st.integers(0, len(data)))
    grown = Frontier().grown(leaves[:cut]).grown(leaves[cut:])
    assert (grown.size, grown.root) == (len(leaves), Tree(leaves).root())
    assert tm_verify.roots(leaves, [cut])[cut] == Tree(leaves).root(cut)


@given(records, st.data())
def test_a_leaf_is_proven_at_its_own_index_only(data: list[bytes], drawn: st.DataObject) -> None:
    leaves = [leaf_hash(b"%d" % index + each) for index, each in enumerate(data)]
    size = drawn.draw(st.integers(1, len(leaves)))
    index, other = drawn.draw(st.integers(0, size - 1)), drawn.draw(st.integers(0, size - 1))
    tree = Tree(leaves)
    proof, root = tree.inclusion(index, size), tree.root(size)
    assert included(leaves[index], index, size, proof, root)
    assert tm_verify.root_by_path(leaves[index], index, size, proof) == root
    assert included(leaves[other], index, size, proof, root) == (other == index)
    assert included(leaves[index], other, size, proof, root) == (other == index)
    assert not included(leaves[index], index, size, [*proof, root], root)
    assert not proof or not included(leaves[index], index, size, proof[:-1], root)


@given(records, st.data())
def test_a_tree_is_a_prefix_of_what_it_grew_to(data: list[bytes], drawn: st.DataObject) -> None:
    leaves = [leaf_hash(b"%d" % index + each) for index, each in enumerate(data)]
    new = drawn.draw(st.integers(1, len(leaves)))
    old = drawn.draw(st.integers(1, new))
    tree = Tree(leaves)
    proof = tree.consistency(old, new)
    assert consistent(old, new, tree.root(old), tree.root(new), proof)
    assert not consistent(old, new, EMPTY, tree.root(new), proof)
    assert not consistent(old, new, tree.root(old), EMPTY, proof)
    assert not consistent(old, new, tree.root(old), tree.root(new), [*proof, EMPTY])
    assert not proof or not consistent(old, new, tree.root(old), tree.root(new), proof[1:])


@pytest.mark.parametrize(("index", "size"), [(-1, 3), (3, 3), (0, 0), (0, 4)])
def test_there_is_no_proof_for_a_leaf_outside_the_tree(index: int, size: int) -> None:
    tree = Tree([leaf_hash(data) for data in DATA[:3]])
    with pytest.raises(ValueError, match="leaf"):
        tree.inclusion(index, size)
    assert not included(leaf_hash(b""), 3, 3, [], tree.root())
    assert tm_verify.root_by_path(leaf_hash(b""), -1, 3, []) is None


@pytest.mark.parametrize(("old", "new"), [(0, 3), (3, 2), (1, 4)])
def test_only_an_earlier_size_of_the_tree_has_a_consistency_proof(old: int, new: int) -> None:
    tree = Tree([leaf_hash(data) for data in DATA[:3]])
    with pytest.raises(ValueError, match="a tree of"):
        tree.consistency(old, new)
    assert not consistent(old, min(new, 3), EMPTY, EMPTY, [])
