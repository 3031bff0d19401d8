import pytest

from timemachine.core.pure.errors import InvalidInput
from timemachine.core.pure.single_values import check_once_each


def test_two_values_for_one_parameter_are_refused_and_a_duplicate_value_counts_once() -> None:
    check_once_each([("agent", ["a", "a"]), ("tag", ["x"]), ("run", ["a", "b"])], {"run"})
    with pytest.raises(InvalidInput) as refused:
        check_once_each([("tag", ["x"]), ("agent", ["a", "b", "c"])])
    assert refused.value.message == "`agent` appears twice in the URL, as 'a' and 'b'; send it once."
    assert refused.value.facts == {"field": "agent"}
