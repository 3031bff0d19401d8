"""What an agent did: sessions and their actions, how they come in, and the read side of them."""
