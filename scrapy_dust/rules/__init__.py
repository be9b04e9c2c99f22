"""The language of rules: operations that are made on a URL where a guard holds, and the function that applies them."""
