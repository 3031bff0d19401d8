"""The demo's documents and its story. All of it is made up for this purpose; no bank, person or fee in it exists.

The story: a card desk's assistant is asked what a replacement card costs for a customer who lost theirs abroad. The passage
with the answer uses the words "plastic" and "courier", so it has rank 12, after many with "lost", "card" and "fee".
The assistant looked at eight, and its answer quotes the domestic fee, which is the wrong one. An adaptive cut-off finds the
passage.
"""

from typing import Final

COLLECTION: Final = "demo: card desk handbook"
SESSION_NAME: Final = "Demo: what does a replacement card cost abroad?"
SESSION_KEY: Final = "demo-card-desk"
AGENT: Final = "card-desk-assistant"
QUESTION: Final = "A customer lost their card abroad. What is the fee for a replacement card?"
COMPLAINT: Final = "The customer was charged 45 francs, not 12. Where does the handbook say that, and why did we not find it?"
FOLLOW_UP: Final = "Which fee applies to a replacement sent by courier to another country?"
ROOT_CAUSE: Final = (
    "The passage about courier delivery abroad calls the card “plastic”, so it ranked below the general passages about "
    "lost cards and fell outside the first eight. The answer was based on the domestic fee."
)
MISSED_TITLE: Final = "Emergency plastic outside the home country"

DOCUMENTS: Final = (
    (
        "Lost card: first steps",
        "When a customer reports a lost card, block the card at once and confirm the last payments with the customer. "
        "A lost card stays blocked for good; a replacement card gets a new number.",
    ),
    (
        "Replacement card: fee at home",
        "The fee for a replacement card is 12 francs when the customer lost the card. "
        "The fee is charged to the account on the day the replacement card is printed.",
    ),
    (
        "Replacement card: when there is no fee",
        "There is no replacement fee when the card is defective, when the bank recalls the card, "
        "or when the customer holds the premium package.",
    ),
    (
        "Stolen card",
        "A stolen card is treated like a lost card, and the customer is asked for the police report. "
        "The fee for the replacement card is waived once the report is on file.",
    ),
    (
        "Card lost in the post",
        "A card lost in the post before it reaches the customer is replaced without a fee. "
        "Send the replacement card by registered mail.",
    ),
    (
        "Lost card found again",
        "A customer who finds a lost card after it was blocked cannot use it again. "
        "Ask the customer to destroy the card and wait for the replacement.",
    ),
    (
        "Lost PIN",
        "A customer who lost the PIN of a card gets a new PIN letter. The fee for the PIN letter is 5 francs; "
        "the card itself is not replaced.",
    ),
    (
        "Using a card abroad",
        "Before a trip abroad the customer can raise the limit of the card. Payments abroad carry a fee of 1.5 percent; "
        "cash withdrawals abroad carry a fee of 5 francs.",
    ),
    (
        "Card refused abroad",
        "When a card is refused abroad, check the regional block first. "
        "The customer can lift the block for the card in the app without a fee.",
    ),
    (
        "Lost business card",
        "For a lost business card the account manager of the customer orders the replacement card. "
        "The fee is part of the contract and is not quoted by the card desk.",
    ),
    (
        "Partner cards",
        "When a partner card is lost, only that card is blocked. The replacement fee is the same as for the main card.",
    ),
    (
        "Fee overview for accounts",
        "The yearly fee of an account is 48 francs. The fee for paper statements is 2 francs a month. "
        "Fees are reviewed every January.",
    ),
    (
        MISSED_TITLE,
        "A customer's lost plastic is replaced by courier outside the home country. "
        "Courier delivery costs 45 francs, whatever package the customer holds; the domestic fee does not apply.",
    ),
    (
        "Emergency cash",
        "Up to 500 francs of emergency cash can be sent to a partner office within two hours. "
        "The holder collects it with a passport and the code word.",
    ),
    (
        "Code words",
        "Every holder agrees on a code word when the account is opened. Without it the desk gives no information on the phone.",
    ),
    (
        "Hours of the desk",
        "The card desk answers day and night. Between midnight and six o'clock two colleagues are on duty.",
    ),
    (
        "Disputed payments",
        "A disputed payment is opened as a case within 30 days. The amount is credited provisionally after 10 days.",
    ),
    (
        "Contactless limit",
        "Contactless payments need the PIN above 80 francs. After five contactless payments in a row the PIN is asked for.",
    ),
    (
        "Travel insurance",
        "The premium package includes travel insurance for luggage and delays. Claims go to the insurer, not to the desk.",
    ),
    (
        "Closing an account",
        "An account is closed at the end of the month. Cards are cut in front of the holder or sent back in two pieces.",
    ),
)
