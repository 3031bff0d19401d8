"""What paired figures of two arms show, and what they do not. Pure: numbers in, frozen values out.

The choices follow Miller (2024, arXiv:2411.00640): differences question by question, clustered by session, answers asked several
times averaged first; and Bowyer, Aitchison and Ivanova (2025, arXiv:2503.01747): no interval from a normal limit for few questions.
"""
