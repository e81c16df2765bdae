"""The base of every other package: errors, files, tables, texts, languages, versions. It imports only itself."""
