"""TRL: the two accuracy rewards of its GRPO examples."""
