import pytest

from timemachine.core.pure.errors import InvalidInput
from timemachine.core.pure.single_values import check_once_each


def test_two_values_of_one_name_are_refused_and_the_same_value_twice_is_one() -> None:
    check_once_each([("agent", ["a", "a"]), ("tag", ["x"]), ("run", ["a", "b"])], {"run"})
    with pytest.raises(InvalidInput) as why:
        check_once_each([("tag", ["x"]), ("agent", ["a", "b", "c"])])
    assert why.value.message == "`agent` appears twice in the URL, as 'a' and 'b'; send it once."
    assert why.value.facts == {"field": "agent"}
