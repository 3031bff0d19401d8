"""Scales and units as people write them, and their values in one base unit per kind."""

from fractions import Fraction
from typing import Final

_BYTES: Final = {"k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12, "p": 10**15}
_BINARY: Final = {"ki": 2**10, "mi": 2**20, "gi": 2**30, "ti": 2**40}

SCALES: Final = {
    **dict.fromkeys(("thousand", "k"), 10**3),
    **dict.fromkeys(("million", "millions", "mn", "mio", "m"), 10**6),
    **dict.fromkeys(("billion", "billions", "bn", "b"), 10**9),
    **dict.fromkeys(("trillion", "trillions", "tn", "trn", "t"), 10**12),
    "hundred": 100,
    "dozen": 12,
}

CURRENCIES: Final = {
    **dict.fromkeys(("$", "us$", "usd", "dollar", "dollars"), "USD"),
    **dict.fromkeys(("€", "eur", "euro", "euros"), "EUR"),
    **dict.fromkeys(("£", "gbp"), "GBP"),
    **dict.fromkeys(("¥", "jpy", "yen"), "JPY"),
    **dict.fromkeys(("₹", "inr", "rupee", "rupees"), "INR"),
    **{code: code.upper() for code in ("chf", "cad", "aud", "cny", "sek", "nok", "krw", "brl")},
}
_CENTS: Final = {"cent": ("USD", Fraction(1, 100)), "cents": ("USD", Fraction(1, 100))}


def _all(names: str, unit: str, factor: int | Fraction = 1) -> dict[str, tuple[str, Fraction]]:
    return {name: (unit, Fraction(factor)) for name in names.split()}


# name in lower case -> its base unit, and how many of those it is
UNITS: Final[dict[str, tuple[str, Fraction]]] = {
    **{name: (unit, Fraction(1)) for name, unit in CURRENCIES.items()},
    **_CENTS,
    **_all("% percent pct", "%"),
    **_all("bps bp", "%", Fraction(1, 100)),
    **_all("ns nanosecond nanoseconds", "s", Fraction(1, 10**9)),
    **_all("µs μs us microsecond microseconds", "s", Fraction(1, 10**6)),
    **_all("ms msec millisecond milliseconds", "s", Fraction(1, 1000)),
    **_all("s sec secs second seconds", "s"),
    **_all("min mins minute minutes", "s", 60),
    **_all("h hr hrs hour hours", "s", 3600),
    **_all("day days", "s", 86_400),
    **_all("week weeks", "s", 604_800),
    **_all("fortnight fortnights", "s", 1_209_600),
    **_all("month months", "month"),
    **_all("decade decades", "month", 120),
    **_all("century centuries", "month", 1200),
    **_all("year years yr yrs", "month", 12),
    **_all("byte bytes", "byte"),
    **{name: ("byte", Fraction(size)) for key, size in _BYTES.items() for name in (f"{key}b", f"{key}bytes")},
    **{f"{key}b": ("byte", Fraction(size)) for key, size in _BINARY.items()},
    **_all("mm millimetre millimetres millimeter millimeters", "m", Fraction(1, 1000)),
    **_all("cm centimetre centimetres centimeter centimeters", "m", Fraction(1, 100)),
    **_all("m metre metres meter meters", "m"),
    **_all("km kilometre kilometres kilometer kilometers", "m", 1000),
    **_all("mile miles mi", "mile"),
    **_all("ft foot feet", "foot"),
    **_all("inch inches", "inch"),
    **_all("mg milligram milligrams", "g", Fraction(1, 1000)),
    **_all("g gram grams", "g"),
    **_all("kg kilogram kilograms kilo kilos", "g", 1000),
    **_all("tonne tonnes", "g", 10**6),
    **_all("lb lbs", "lb"),
    **_all("°c ℃", "°C"),
    **_all("°f ℉", "°F"),
    **_all("x times", "times"),
    **_all("hz", "Hz"),
    **_all("khz", "Hz", 1000),
    **_all("mhz", "Hz", 10**6),
    **_all("ghz", "Hz", 10**9),
    **_all("w watt watts", "W"),
    **_all("kw kilowatt kilowatts", "W", 1000),
    **_all("mw megawatt megawatts", "W", 10**6),
}

_SMALL: Final = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen"
)
_TENS: Final = "twenty thirty forty fifty sixty seventy eighty ninety"
COUNTS: Final = {
    **{word: number for number, word in enumerate(_SMALL.split())},
    **{word: 10 * number for number, word in enumerate(_TENS.split(), start=2)},
}

_MONTHS: Final = "January February March April May June July August September October November December"
MONTHS: Final = {
    **{name: number for number, name in enumerate(_MONTHS.split(), start=1)},
    **{name[:3]: number for number, name in enumerate(_MONTHS.split(), start=1)},
    "Sept": 9,
}
WEEKDAYS: Final = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
