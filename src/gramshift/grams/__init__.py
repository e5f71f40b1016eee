"""The gram of documents: tiles, their plan, and the only loop over them."""
