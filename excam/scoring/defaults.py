"""Default settings of commands, servers and programs. Imports nothing, so that `--help` is fast."""

BAND = (0.4, 0.6)  # probabilities of an error between which a verdict is "unsure"
FEW = 100  # clusters of labelled rows; with fewer, a command says that its numbers are rough
MAX_ROWS = 64  # in one request to a server, and in one batch there
BATCH = 256  # rows per batch; bounds memory for long files
QUEUE = 256  # limit of waiting rows in a server
TIMEOUT = 600.0  # seconds after which a waiting request fails
KEY = "EXCAM_SERVER_KEY"  # environment variable of the key that a server requires and its clients send

STAND_IN_INSTRUCTION = "Generate a culturally correct text"  # of a text without one
