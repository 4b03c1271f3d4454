/** Errors of closed sockets are ignored: the close event handles them. */

export function sendText(socket: WebSocket, text: string): void {
  try {
    socket.send(text)
  } catch {
    // Already closed.
  }
}

export function closeSocket(socket: WebSocket, code: number, reason: string): void {
  try {
    socket.close(code, reason)
  } catch {
    // Already closed.
  }
}
