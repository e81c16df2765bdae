"""Knowledge packs: documents become passages, an index finds them, and they stand before a judge as an open book."""
