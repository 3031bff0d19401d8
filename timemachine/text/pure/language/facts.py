"""The facts that a text states, read in one place: its numbers, its names, what it negates."""

from timemachine.text.pure.language.names import Name, missing_names, names
from timemachine.text.pure.language.numbers import Number, missing_numbers, numbers
from timemachine.text.pure.language.polarity import Negation, negations

__all__ = ["Name", "Negation", "Number", "missing_names", "missing_numbers", "names", "negations", "numbers"]
