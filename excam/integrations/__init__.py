"""The metric inside other people's evaluation libraries. Each module needs its library, and nothing else imports it."""
