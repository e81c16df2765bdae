"""Sharing of adapters: their files, their card, and checksums that are verified before anything is used."""
