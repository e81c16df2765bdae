"""What the sockets of both servers hand on to their connections."""

import socket

from excam.core import listening


def test_an_answer_does_not_wait_for_the_client_to_acknowledge_its_first_part():
    """Head and body are sent apart: with Nagle's algorithm each answer took 40 ms longer."""
    with listening.listening_socket("127.0.0.1", 0) as listener, socket.create_connection(listener.getsockname()[:2]):
        connection, _ = listener.accept()
        with connection:
            assert connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
            assert connection.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE), "a client that is gone is noticed"
