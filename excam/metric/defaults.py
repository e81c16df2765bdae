"""What commands, servers and programs take where nothing else is said. Imports nothing: `--help` is soon there."""

MAX_TOKENS = 512  # longest report, as the paper's Phi-3 (Table 6)
BAND = (0.4, 0.6)  # probabilities of an error between which a verdict is "unsure"
MAX_PAIRS = 64  # of one request to a server, and of one batch there
QUEUE = 256  # pairs that may wait in a server
TIMEOUT = 600.0  # seconds after which a server gives a request up
KEY = "EXCAM_SERVER_KEY"  # variable of the key that a server wants and its clients show
