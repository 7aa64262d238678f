"""How much an owner may do: rates as token buckets, and how many things at once. Stores keep them."""
