"""Collections, their immutable versioned frames, and finding them. pgvector lives here and nowhere else."""
