/** A closed socket fires its close event: sending to it or closing it again does nothing. */

export function sendText(socket: WebSocket, text: string): void {
  try {
    socket.send(text)
  } catch {
    // It has closed.
  }
}

export function closeSocket(socket: WebSocket, code: number, reason: string): void {
  try {
    socket.close(code, reason)
  } catch {
    // It has closed.
  }
}
