"""Handing an adapter on: what goes with it, its card, checksums that are verified before anything is used."""
