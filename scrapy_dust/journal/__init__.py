"""What became of each URL that rules kept from being fetched, on disk: written, read leniently, and given back."""
