"""How an answer is made to fit into the tokens that its reader has for it."""
