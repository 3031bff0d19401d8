from timemachine.web.sessions.presenters.sentences import Sentence
from timemachine.web.sessions.presenters.supporting_passages import Piece, Source, evidence

TEXT = "Cats sleep. Dogs bark."


def sentence(
    number: int, span: tuple[int, int] | None, *, frame: object = 3, grounded: bool = True
) -> Sentence:
    start, end = span or (None, None)
    return Sentence(
        text="x", number=number, grounded=grounded, frame=frame, passage_start=start, passage_end=end
    )


def test_the_span_that_a_sentence_rests_on_is_marked() -> None:
    (found,) = evidence([sentence(1, (0, 11))], [Source(frame=3, text=TEXT), Source(frame=4, text="Other.")])
    assert found.pieces == (Piece(text="Cats sleep.", marked=True, rest=(1,)), Piece(text=" Dogs bark."))
    assert found.elsewhere == ()


def test_several_sentences_may_rest_on_one_span_and_one_may_oppose_another() -> None:
    (found,) = evidence(
        [sentence(1, (0, 11)), sentence(2, (0, 11)), sentence(3, (12, 22), grounded=False)],
        [Source(frame=3, text=TEXT)],
    )
    assert found.pieces == (
        Piece(text="Cats sleep.", marked=True, rest=(1, 2)),
        Piece(text=" "),
        Piece(text="Dogs bark.", marked=True, against=True, oppose=(3,)),
    )


def test_overlapping_spans_are_split_into_marked_pieces() -> None:
    (found,) = evidence([sentence(1, (0, 11)), sentence(2, (5, 22))], [Source(frame=3, text=TEXT)])
    assert "".join(piece.text for piece in found.pieces) == TEXT
    assert [piece.rest for piece in found.pieces] == [(1,), (2,), ()]
    assert all(piece.marked for piece in found.pieces)


def test_a_sentence_without_a_valid_span_still_refers_to_its_passage() -> None:
    (found,) = evidence([sentence(1, None), sentence(2, (5, 500))], [Source(frame=3, text=TEXT)])
    assert found.elsewhere == (1, 2)
    (unknown,) = evidence([sentence(1, (0, 11), frame=9)], [Source(frame=3, text=TEXT)])
    assert (unknown.source.frame, unknown.pieces, unknown.elsewhere) == (9, (), (1,))


def test_a_long_passage_is_shown_around_its_marks() -> None:
    text = "a" * 1000 + TEXT + "b" * 1000
    (found,) = evidence([sentence(1, (1000, 1011))], [Source(frame=3, text=text)])
    assert [piece.text for piece in found.pieces] == [
        " … " + "a" * 160,
        "Cats sleep.",
        " Dogs bark." + "b" * (160 - 11) + " … ",
    ]


def test_sentences_without_a_number_or_a_frame_have_no_evidence() -> None:
    assert evidence([Sentence(text="x"), sentence(1, None, frame=None)], [Source(frame=3, text=TEXT)]) == []
