"""Statistics of paired measurements of two variants: numbers in, frozen values out.

The choices follow Miller (2024, arXiv:2411.00640): differences question by question, clustered by session,
repeated answers averaged first; and Bowyer, Aitchison and Ivanova (2025, arXiv:2503.01747): no interval from
a normal approximation for few questions.
"""
