from timemachine.core.pure.unknown_prices import by_frequency, reasons_in_words


def test_the_most_frequent_reason_comes_first_and_calls_without_one_are_counted() -> None:
    found = by_frequency([("model_not_listed", 2), (None, 1), ("call_failed", 4), ("not_recorded", 2)])
    assert list(found.items()) == [("call_failed", 4), ("not_recorded", 3), ("model_not_listed", 2)]
    assert by_frequency([]) == {}
    assert by_frequency([("model_not_listed", 2), ("call_failed", 1), ("call_failed", -1)]) == {
        "model_not_listed": 2
    }


def test_reasons_are_words_with_their_number_of_calls() -> None:
    assert (
        reasons_in_words({"model_not_recorded": 2, "of another version": 1})
        == "2 calls: no model was recorded; 1 call: of another version"
    )
    assert reasons_in_words({}) == ""
